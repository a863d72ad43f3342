// How roughly to draw: whole pictures at rest, and while things move what the machine can keep up with.
//
// A picture is timed from the call that draws it to the fence behind it, which is passed when the graphics
// card, or the processor in its place, has done it. None is begun before the last one is done: what is stale
// by then is never drawn.

/** A picture that takes longer does not look like motion, ms. */
const LATE = 70;
/** The same of one that is rough, ms. */
const ROUGH_AND_LATE = 120;
/** A whole picture that takes longer is none to begin a motion with, ms; the first one prepares much. */
const SLOW = 200;
const SLOW_AT_FIRST = 1500;
/** How long nothing moves before the whole picture is drawn, ms: longer where that takes long. */
const PATIENCE = 250;
const MOST_PATIENCE = 1500;

export class Pace {
  constructor(view) {
    Object.assign(this, { view, gl: view.renderer?.getContext(), level: 0, rough: 1, late: 0, slow: false, moving: false, held: false, fence: null, begun: 0, whole: NaN });
    // Whoever holds the scrubber or turns the scene goes on in a moment.
    const hold = (held) => () => (this.held = held);
    addEventListener("pointerdown", hold(true), true);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, hold(false), true);
    addEventListener("pointermove", (e) => (this.held &&= e.buttons > 0), true);
  }

  /** Whether the last picture is done. */
  ready(now) {
    const { gl, fence } = this;
    if (!fence) return true;
    if (gl.getSyncParameter(fence, gl.SYNC_STATUS) === gl.UNSIGNALED) return false;
    gl.deleteSync(fence);
    this.fence = null;
    this.took(now - this.begun);
    return true;
  }

  /** Before a picture of something that changes. */
  begin() {
    if (this.level === 0 && this.slow) this.setLevel(this.rough);
  }

  /** After any picture. */
  drawn(begun) {
    if (!this.gl) return;
    this.begun = begun;
    this.counts = this.moving;
    this.moving = true;
    this.fence = this.gl.fenceSync(this.gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    this.gl.flush();
  }

  /** Takes the time of a picture, ms: where several of a motion are late the next ones are rougher. */
  took(ms) {
    if (this.level === 0) {
      this.slow ||= ms > (Number.isNaN(this.whole) ? SLOW_AT_FIRST : SLOW);
      this.whole = ms;
    }
    if (!this.counts) return;
    const bound = this.level === 0 ? LATE : ROUGH_AND_LATE;
    this.late = ms > bound ? this.late + (ms > 4 * bound ? 2 : 1) : 0;
    if (this.late < (this.slow ? 2 : 3)) return;
    this.late = 0;
    this.slow = true;
    this.rough = Math.max(this.rough, this.level + 1);
    this.setLevel(this.rough);
  }

  /** Where nothing changes: whether it is time to draw the whole picture. */
  rests(now) {
    this.moving = false;
    this.late = 0;
    const patience = Math.min(Math.max(PATIENCE, this.whole || 0), MOST_PATIENCE);
    if (this.level === 0 || this.held || now - this.begun < patience) return false;
    this.setLevel(0);
    return true;
  }

  setLevel(level) {
    const { LEVELS } = this.view.constructor;
    this.level = Math.min(level, LEVELS.length - 1);
    this.view.setRoughness(this.level);
  }
}
