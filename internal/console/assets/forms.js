// Makes forms more comfortable. They work without it.
"use strict";

// After a refused form a person begins where something is wrong.
const wrong = document.querySelector("[aria-invalid=true]") ?? document.querySelector("main > .notice.bad[role=alert]");
if (wrong) {
  if (wrong.matches(".notice")) wrong.tabIndex = -1;
  wrong.focus();
}
// A step back onto a question, or loading it again, leads to the page before: the browser would
// ask whether to send a form again, or show what is answered.
const cancel = document.querySelector("form[data-question] a.button");
if (cancel) {
  history.replaceState(null, "", cancel.href);
  addEventListener("pageshow", (event) => { if (event.persisted) location.replace(cancel.href); });
}
if (!navigator.cookieEnabled) document.querySelector("[data-cookies]")?.removeAttribute("hidden");

// The second half of a double click on the page before means nothing here: it would answer the next
// order, or a question.
const shown = performance.now();
let clicked = false;
document.addEventListener("click", (event) => {
  const early = event.timeStamp - shown < 500 && event.target.closest(".answer") && document.querySelector(".notice.good");
  clicked ||= event.detail < 2;
  if (clicked && !early) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

// A form that makes a change is sent once. The server makes sure of it; this only
// shows that something happens.
let sent = null; // the form that leads to the next page
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!event.defaultPrevented) sent = form;
  if (!form.matches("[data-once]")) return;
  // A button that only shows something, perhaps in another tab, leaves the form as it is.
  if (event.submitter?.dataset.shows !== undefined) return;
  if (event.submitter?.value === "none") { // Enter in a box
    event.preventDefault();
    return;
  }
  if (form.dataset.sent === "yes") {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  showBusy(event.submitter);
  // Not every browser tells that somebody pressed Stop. Files may take long.
  if (!form.querySelector("[type=file]")) setTimeout(() => {
    if (form.dataset.sent) form.dataset.sent = "long ago";
    event.submitter?.removeAttribute("aria-busy");
  }, 10000);
});
// A file that is chosen while a form is sent would not be in it, nor on the page that follows.
document.addEventListener("click", (event) => {
  if (event.target.matches("[type=file]") && event.target.form.dataset.sent) event.preventDefault();
});
// Whoever leaves with something typed is asked. The other language keeps it, but no files and no
// secrets that are shown once.
addEventListener("beforeunload", (event) => {
  const switched = sent?.matches(".language");
  const fields = [...document.querySelectorAll("form[data-ask]:not([data-sent])")].flatMap((form) => [...form.elements]);
  const secret = switched && document.querySelector(".secret") && !document.querySelector(".copied");
  if (!secret && !fields.some((field) => changed(field) && (field.type === "file" || !switched))) return;
  event.preventDefault();
  setTimeout(settle); // for whoever stays
});
// showBusy shows that a button works.
function showBusy(button) {
  button?.setAttribute("aria-busy", "true");
  const status = document.querySelector("[data-status]");
  status.textContent = status.dataset.busy;
}
// A page that the browser kept may be sent again.
function settle() {
  sent = null;
  release();
}
function release() {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
}
addEventListener("pageshow", settle);
// Somebody pressed Stop, in Chromium, or sent another form, which is sent then.
window.navigation?.addEventListener("navigateerror", release);

// A picture over the limit becomes a smaller JPEG. Everything else stays as it is.
async function shrink(file, max) {
  if (file.size <= max || !/\.(png|jpe?g)$/i.test(file.name)) return file;
  try {
    const picture = await createImageBitmap(file);
    const canvas = document.createElement("canvas");
    for (let longest = 3000; longest > 300; longest *= 0.7) {
      const scale = Math.min(1, longest / Math.max(picture.width, picture.height));
      canvas.width = Math.max(1, picture.width * scale);
      canvas.height = Math.max(1, picture.height * scale);
      const paper = canvas.getContext("2d");
      paper.fillStyle = "#fff"; // a JPEG is not transparent
      paper.fillRect(0, 0, canvas.width, canvas.height);
      paper.drawImage(picture, 0, 0, canvas.width, canvas.height);
      const smaller = await new Promise((done) => canvas.toBlob(done, "image/jpeg", 0.85));
      if (smaller && smaller.size <= max) return new File([smaller], file.name.replace(/\.[^.]*$/, ".jpg"), { type: "image/jpeg" });
    }
  } catch { /* not a picture that the browser can read */ }
  return file;
}

// shrinkPictures replaces the pictures over the limit that were chosen in a form, and says so.
async function shrinkPictures(form, input) {
  const note = form.querySelector("[data-smaller]");
  const files = input.files;
  const chosen = new DataTransfer();
  const lines = [];
  for (const file of files) {
    const smaller = await shrink(file, Number(form.dataset.max));
    if (smaller !== file) lines.push(note.dataset.smaller.replace("%s", file.name).replace("%s", megabytes(file)).replace("%s", megabytes(smaller)));
    chosen.items.add(smaller);
  }
  if (input.files !== files) return; // others were chosen meanwhile
  if (lines.length) {
    input.files = chosen.files;
    note.textContent = lines.join(" ");
  }
  note.hidden = !lines.length;
}
const megabytes = (file) => (file.size / 1e6).toLocaleString(document.documentElement.lang, { maximumFractionDigits: 1 }) + "\u00a0MB";

// showIn returns a function that shows a text in an element, or hides it without one.
const showIn = (element) => (text) => {
  element.textContent = text;
  element.hidden = !text;
};

// Files: limits before the upload, drag and drop, progress.
const extensions = /\.(pdf|png|jpe?g)$/i;
function prepareUpload(form) {
  const input = form.querySelector("input[type=file]");
  let chosen = Promise.resolve(); // waits for pictures
  const problem = form.querySelector("[data-problem]");
  const progress = form.querySelector("progress");
  const show = showIn(problem);
  const check = () => {
    const data = form.dataset;
    for (const file of input.files) {
      if (!extensions.test(file.name)) return file.name + ": " + data.typeProblem;
      if (file.size > Number(data.max)) return file.name + ": " + data.sizeProblem;
    }
    return input.files.length > Number(data.left) ? data.countProblem : "";
  };
  const send = (button) => {
    if (!progress.hidden) return; // a double click
    const request = new XMLHttpRequest();
    form.dataset.sent = "yes";
    const ended = () => {
      delete form.dataset.sent;
      progress.hidden = true;
      button?.removeAttribute("aria-busy");
    };
    request.upload.addEventListener("progress", (event) => {
      progress.value = event.loaded / event.total;
    });
    request.addEventListener("error", () => {
      ended();
      show(form.dataset.failed);
    });
    request.addEventListener("load", () => {
      // The response is the page that follows, as without this script.
      const main = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
      if (request.status < 300 || !main) {
        location.replace(request.responseURL);
        return;
      }
      ended();
      const notice = main.querySelector(".notice.bad, .lead");
      show(notice ? notice.innerText.trim() : form.dataset.failed);
    });
    show("");
    progress.hidden = false;
    showBusy(button);
    request.open("POST", form.action);
    request.send(new FormData(form, button));
  };
  const choose = () => {
    chosen = shrinkPictures(form, input).then(() => show(check()));
    return chosen;
  };
  input.addEventListener("change", choose);
  // A photo is one more file.
  form.querySelector("[data-camera]")?.addEventListener("change", (event) => {
    const all = new DataTransfer();
    for (const file of [...input.files, ...event.target.files]) all.items.add(file);
    input.files = all.files;
    event.target.value = "";
    choose();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    await chosen;
    const text = check();
    if (text) show(text);
    else send(event.submitter);
  });
  dropFiles(form, input, async () => {
    await choose();
    if (problem.hidden) send();
  });
}

// dropFiles makes a form take files that are dropped on it.
function dropFiles(form, input, done) {
  // Beside it the browser would replace the page by the file.
  for (const type of ["dragover", "drop"]) addEventListener(type, (event) => { if (event.dataTransfer.types.includes("Files")) event.preventDefault(); });
  for (const type of ["dragenter", "dragover"]) {
    form.addEventListener(type, (event) => {
      event.preventDefault();
      if (form.dataset.sent) event.dataTransfer.dropEffect = "none"; // the page that follows would not have them
      else form.classList.add("over");
    });
  }
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (form.dataset.sent || !event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    done();
  });
}

// matchFiles asks the server for which orders files are, and returns the part of the page that
// says it; null: the session has ended.
async function matchFiles(form, files) {
  const url = new URL(form.action);
  for (const file of files) url.searchParams.append("file", file.name);
  const response = await fetch(url, { headers: { "Console-Background": "1" } });
  if (!response.ok) throw new Error(String(response.status));
  return new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-match]");
}

// Files for many orders: the server says for which, by their names, before they are sent.
function prepareMatch(form) {
  const input = form.querySelector("input[type=file]");
  const problem = form.querySelector("[data-problem]");
  const matches = form.querySelector("[data-match]");
  const button = form.querySelector("button");
  const show = showIn(problem);
  let newest = 0; // number of the newest choice of files
  const choose = async () => {
    const choice = ++newest;
    button.disabled = true;
    matches.replaceChildren();
    await shrinkPictures(form, input);
    if (choice !== newest) return;
    const files = [...input.files];
    const total = files.reduce((sum, file) => sum + file.size, 0);
    show(files.length > Number(form.dataset.left) ? form.dataset.countProblem : total > Number(form.dataset.total) ? form.dataset.totalProblem : "");
    button.disabled = !problem.hidden || !files.length;
    if (button.disabled) return;
    const found = await matchFiles(form, files).catch(() => null);
    if (choice !== newest) return;
    if (found) matches.replaceChildren(...found.childNodes);
    else show(form.dataset.failed);
  };
  button.disabled = !input.files.length;
  input.addEventListener("change", choose);
  dropFiles(form, input, choose);
}
document.querySelectorAll("form[data-match-form]").forEach(prepareMatch);

// live.js replaces forms.
const prepareUploads = (part) => part.querySelectorAll("form[data-upload]").forEach(prepareUpload);
prepareUploads(document);
document.addEventListener("live", (event) => prepareUploads(event.detail));
