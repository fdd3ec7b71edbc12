// Makes forms more comfortable. They work without it.
"use strict";

// A form that makes a change is sent once. The server makes sure of it; this only
// shows that something happens.
document.addEventListener("submit", (event) => {
  const form = event.target;
  // A button that only shows something, perhaps in another tab, leaves the form as it is.
  if (!form.matches("[data-once]") || event.submitter?.formMethod === "get") return;
  if (form.dataset.sent) event.preventDefault();
  form.dataset.sent = "yes";
  form.setAttribute("aria-busy", "true");
});
// A page that the browser kept may be sent again.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) {
    delete form.dataset.sent;
    form.removeAttribute("aria-busy");
  }
});

// Files: limits before the upload, drag and drop, progress.
const extensions = /\.(pdf|png|jpe?g)$/i;
function prepareUpload(form) {
  const input = form.querySelector("input[type=file]");
  const problem = form.querySelector("[data-problem]");
  const progress = form.querySelector("progress");
  const show = (text) => {
    problem.textContent = text;
    problem.hidden = !text;
  };
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
    request.upload.addEventListener("progress", (event) => {
      progress.value = event.loaded / event.total;
    });
    request.addEventListener("error", () => {
      progress.hidden = true;
      show(form.dataset.failed);
    });
    request.addEventListener("load", () => {
      // The response is the page that follows, as without this script.
      const main = new DOMParser().parseFromString(request.responseText, "text/html").querySelector("main");
      if (request.status < 300 || !main) {
        location.replace(request.responseURL);
        return;
      }
      progress.hidden = true;
      const notice = main.querySelector(".notice.bad, .lead");
      show(notice ? notice.innerText.trim() : form.dataset.failed);
    });
    show("");
    progress.hidden = false;
    request.open("POST", form.action);
    request.send(new FormData(form, button));
  };
  input.addEventListener("change", () => show(check()));
  // A photo is one more file.
  form.querySelector("[data-camera]")?.addEventListener("change", (event) => {
    const all = new DataTransfer();
    for (const file of [...input.files, ...event.target.files]) all.items.add(file);
    input.files = all.files;
    event.target.value = "";
    show(check());
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = check();
    if (text) show(text);
    else send(event.submitter);
  });
  dropFiles(form, input, () => {
    show(check());
    if (problem.hidden) send();
  });
}

// dropFiles makes a form take files that are dropped on it.
function dropFiles(form, input, done) {
  for (const type of ["dragenter", "dragover"]) {
    form.addEventListener(type, (event) => {
      event.preventDefault();
      form.classList.add("over");
    });
  }
  form.addEventListener("dragleave", () => form.classList.remove("over"));
  form.addEventListener("drop", (event) => {
    event.preventDefault();
    form.classList.remove("over");
    if (!event.dataTransfer.files.length) return;
    input.files = event.dataTransfer.files;
    done();
  });
}

// Files for many orders: the server says for which, by their names, before they are sent.
function prepareMatch(form) {
  const input = form.querySelector("input[type=file]");
  const problem = form.querySelector("[data-problem]");
  const matches = form.querySelector("[data-match]");
  const button = form.querySelector("button");
  const choose = async () => {
    const files = [...input.files];
    const total = files.reduce((sum, file) => sum + file.size, 0);
    problem.textContent = files.length > Number(form.dataset.left) ? form.dataset.countProblem : total > Number(form.dataset.total) ? form.dataset.totalProblem : "";
    problem.hidden = !problem.textContent;
    button.disabled = !problem.hidden || !files.length;
    matches.replaceChildren();
    if (button.disabled) return;
    const url = new URL(form.action);
    for (const file of files) url.searchParams.append("file", file.name);
    const response = await fetch(url, { headers: { "Console-Background": "1" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("[data-match]");
    if (page) matches.replaceChildren(...page.childNodes);
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
