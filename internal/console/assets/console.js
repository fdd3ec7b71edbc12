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

// A box that selects all rows of its table. live.js replaces the rows.
document.addEventListener("change", (event) => {
  if (!event.target.closest("[data-select-all]")) return;
  for (const box of event.target.form.querySelectorAll("tbody input[type=checkbox]")) box.checked = event.target.checked;
});
function showHidden(part) {
  for (const element of part.querySelectorAll("[data-select-all], [data-print]")) element.hidden = false;
}
showHidden(document);

document.addEventListener("click", (event) => {
  if (event.target.closest("[data-print]")) print();
});

document.addEventListener("live", (event) => {
  localTimes(event.detail);
  showHidden(event.detail);
});
