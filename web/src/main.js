import { App } from "./app.js";
import { tell } from "./blind.js";
import { loadRecording } from "./data.js";

loadRecording()
  .then((recording) => {
    window.moreau = new App(recording);
    document.body.classList.add("ready");
  })
  .catch((error) => {
    // Nothing else on the page means anything then.
    document.body.classList.add("broken");
    tell("This page cannot show the run", String(error.message ?? error), "It needs a browser with DecompressionStream, and WebGL 2 for the picture: Chrome 103, Firefox 113, Safari 16.4 or later.");
    console.error(error);
  });
