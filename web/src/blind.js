// In the picture's place where the browser draws nothing in three dimensions: it keeps what is chosen, so
// that all that is told in numbers works.

/** Whether this browser has WebGL 2. */
export function drawsHere() {
  const gl = document.createElement("canvas").getContext("webgl2");
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return Boolean(gl);
}

/** Everything of a `View` that the page asks for. */
export class Blind {
  constructor(canvas, runs) {
    Object.assign(this, { run: runs[0], colorBy: "body", selected: -1, island: -1, frame: 0, draft: false, touched: false, showOther: false });
    this.controls = new EventTarget();
    this.marks = { shown: { points: false, normals: false, impulses: false, boxes: false, joints: false } };
    this.bodies = { poseOf: () => new Float32Array(7) };
    canvas.hidden = true;
    document.body.classList.add("blind");
    tell("There is no picture here", "This browser draws nothing in three dimensions: WebGL 2 is missing or switched off. All figures, contacts, islands and plots of the run are here.");
  }

  resize() {}
  fit() {}
  setTheme() {}
  lookAt() {}
  render() {}

  pose(f) {
    this.frame = f;
  }

  pickBody() {
    return -1;
  }

  pickContact() {
    return -1;
  }
}

/** Says in the picture's place why there is none; `needs`: what the page asks of a browser. */
export function tell(title, text, needs = "") {
  const trouble = document.getElementById("trouble");
  trouble.querySelector("h2").textContent = title;
  trouble.querySelector("p").textContent = text;
  trouble.querySelector("small").textContent = needs;
  // Readers of screens are told once, when it is all there.
  trouble.hidden = false;
}
