import { App } from "./app.js";
import { loadRecording } from "./data.js";

loadRecording()
  .then((recording) => {
    window.moreau = new App(recording);
    document.body.classList.add("ready");
  })
  .catch((error) => {
    const trouble = document.getElementById("trouble");
    trouble.hidden = false;
    trouble.querySelector("p").textContent = String(error.message ?? error);
    console.error(error);
  });
