// Makes the pages more comfortable. Everything works without it.
"use strict";

// Times in the time zone of the browser.
function localTimes(part) {
  // Day before month and 24 hours, as the server writes them.
  const format = new Intl.DateTimeFormat(document.documentElement.lang === "en" ? "en-GB" : "el", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });
  for (const time of part.querySelectorAll("time[data-local]")) {
    time.title = time.textContent;
    time.textContent = format.format(new Date(time.dateTime));
  }
}
localTimes(document);

// changed reports whether a person has typed, chosen or selected something in a field.
const changed = (field) => field.type === "file" ? field.files.length > 0
  : field.options ? field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected))
    : ["checkbox", "radio"].includes(field.type) ? field.checked !== field.defaultChecked
      : field.matches("textarea, input:not([type=hidden])") && field.value !== field.defaultValue;

// Forms whose buttons are for the selected rows. live.js replaces the rows.
function countSelected(form) {
  const boxes = [...form.querySelectorAll("tbody input[type=checkbox]")];
  const every = form.querySelector("[data-all]"); // of all pages
  for (const box of boxes) if (every && !box.closest(".gone")) box.disabled = every.checked;
  const n = every?.checked ? Number(every.dataset.all) : boxes.filter((box) => box.checked).length;
  const all = form.querySelector("[data-select-all] input");
  if (all) {
    all.disabled = Boolean(every?.checked);
    all.checked = n > 0 && n >= boxes.length;
    all.indeterminate = n > 0 && n < boxes.length;
  }
  const text = form.querySelector("[data-selected]");
  text.hidden = false;
  form.dataset.select = n;
  text.value = n === 0 ? text.dataset.none : n === 1 ? text.dataset.single : text.dataset.many.replace("%s", n);
  for (const button of form.querySelectorAll("[data-counted]")) {
    const [one, many] = button.dataset.counted.split("|");
    if (n) button.textContent = n === 1 ? one : many.replace("%s", n);
  }
  for (const element of form.querySelectorAll("[data-needs-selection]")) {
    element.disabled = n === 0;
    if (element.matches("summary")) {
      element.setAttribute("aria-disabled", String(n === 0));
      if (n === 0) element.parentElement.open = false;
    }
  }
}
const countAll = () => document.querySelectorAll("form[data-select]").forEach(countSelected);
document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-select]");
  if (!form) return;
  if (event.target.closest("[data-select-all]")) {
    for (const box of form.querySelectorAll("tbody input[type=checkbox]:not(:disabled)")) box.checked = event.target.checked;
  }
  countSelected(form);
});
countAll();
addEventListener("pageshow", countAll); // the browser keeps selections
let last = null; // the box that was clicked before
document.addEventListener("click", (event) => {
  if (event.target.closest("summary[aria-disabled=true]")) event.preventDefault();
  const box = event.target.closest("form[data-select] tbody input[type=checkbox]");
  if (box) {
    // With Shift a click selects, or not, all rows from the one that was clicked before.
    const boxes = [...box.form.querySelectorAll("tbody input[type=checkbox]:not(:disabled)")];
    const ends = [boxes.indexOf(last), boxes.indexOf(box)].sort((a, b) => a - b);
    if (event.shiftKey && ends[0] >= 0) for (const other of boxes.slice(ends[0], ends[1] + 1)) other.checked = box.checked;
    last = box;
    countSelected(box.form);
    return;
  }
  // A row leads to its order, also with the keys by which a browser opens a tab.
  const row = event.target.closest("tr[data-order]:not(.gone)");
  if (row && !event.target.closest("a, button, input, label") && !getSelection().toString()) {
    row.querySelector("th a").dispatchEvent(new MouseEvent("click", event));
  }
});
function showHidden(part) {
  for (const element of part.querySelectorAll("[data-select-all], [data-print]")) element.hidden = false;
}
showHidden(document);

// A phone shows folded what is asked for less often.
if (matchMedia("(max-width: 60rem)").matches) for (const details of document.querySelectorAll(".fold")) details.open = false;

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});
// Who comes to papers from another page wants them printed; who comes back or reloads, has.
if (document.querySelector("[data-print=now]") && performance.getEntriesByType("navigation")[0]?.type === "navigate" && document.referrer.startsWith(location.origin)) print();

document.addEventListener("live", (event) => {
  localTimes(event.detail);
  showHidden(event.detail);
  countAll();
});
