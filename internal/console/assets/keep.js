// Keeps what is typed and selected in forms, but no files and secrets, for the page in the other
// language, and for who goes back to it. Whoever signs in next does not see it.
"use strict";

(() => {
  const read = () => {
    try { return JSON.parse(sessionStorage.getItem("kept")) ?? {}; } catch { return {}; }
  };
  const write = (kept) => {
    try { sessionStorage.setItem("kept", JSON.stringify(kept)); } catch { /* nothing is kept */ }
  };
  if (!document.body.matches(".signed-in")) return write({});

  const question = document.querySelector("form[data-question]"); // has what was chosen in hidden fields
  const boxed = (field) => ["checkbox", "radio"].includes(field.type);
  const fieldsOf = (form) => [...form.elements].filter((field) => field.name && !["file", "password", "submit", "button"].includes(field.type)
    && (field.type !== "hidden" || (form === question ? !["key", "do", "sure", "shown"].includes(field.name) : field.name === "revision")));
  // Lists send their selection to the same addresses, and name themselves.
  const nameOf = (form) => form.getAttribute("method") + " " + (form.matches("[method=get]") && form.elements.back?.value
    || form.dataset.question || (form.getAttribute("action") ?? location.pathname));

  addEventListener("pagehide", () => {
    const kept = read();
    for (const form of document.forms) delete kept[nameOf(form)];
    for (const form of document.forms) {
      const fields = fieldsOf(form);
      const open = fields.map((field) => field.closest("details[id][open]")?.id);
      if (form !== question && !open.includes("reject") && !fields.some((field) => wrong || changed(field))) continue;
      const values = {};
      for (const field of fields) if (!boxed(field) || field.checked) (values[field.name] ??= []).push(field.value);
      kept[nameOf(form)] = { values, open, sent: form === sent && form.dataset.select === undefined || Boolean(form.dataset.sent) }; // see forms.js
    }
    write(kept);
  });

  // What was sent comes back to who goes back from an error of the browser. A page that follows has it.
  const kept = read();
  const way = performance.getEntriesByType("navigation")[0]?.type;
  if (way !== "back_forward") {
    for (const name in kept) if (kept[name].sent) delete kept[name];
    write(kept);
  }

  if (question) {
    // The other language asks the same question.
    const language = document.querySelector("form.language");
    language.addEventListener("submit", async (event) => {
      event.preventDefault();
      await fetch(language.action, { method: "POST", body: new URLSearchParams(new FormData(language)), redirect: "manual" }).catch(() => {});
      question.querySelector("[name=sure]")?.remove();
      question.action = question.dataset.question || question.action;
      question.submit();
    });
    return;
  }
  // Who comes by a link finds a new page.
  if (document.referrer !== location.href.split("#")[0] && way === "navigate") return;
  for (const form of document.forms) {
    const { values, open } = kept[nameOf(form)] ?? {};
    for (const field of values ? fieldsOf(form) : []) {
      const was = values[field.name];
      if (boxed(field)) field.checked = Boolean(was?.includes(field.value));
      else if (was && (!field.options || [...field.options].some((option) => option.value === was[0]))) [field.value] = was;
      const details = field.closest("details[id]");
      if (details && (changed(field) || open.includes(details.id))) details.open = true;
    }
  }
  countAll();
})();
