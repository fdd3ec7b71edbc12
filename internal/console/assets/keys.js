// Keys for what is done often. The page names what a key does with the attribute data-key;
// j, k and x are for the rows of a list. A person can turn them off. No letter decides
// anything, because people type where no field has the focus: an answer needs Ctrl+Enter.
"use strict";

(() => {
  const help = document.querySelector("[data-keys]");
  if (!help) return;
  const on = help.querySelector("input");
  try { on.checked = localStorage.getItem("keys") !== "off"; } catch { /* nothing is kept */ }
  on.addEventListener("change", () => {
    try { localStorage.setItem("keys", on.checked ? "on" : "off"); } catch { /* nothing is kept */ }
  });
  const open = document.querySelector("[data-keys-open]");
  open.hidden = false;
  open.addEventListener("click", () => help.showModal());

  // letter returns the Latin letter of a key, also on a Greek keyboard.
  const letter = (event) => event.key.length === 1 && event.key > "~" && event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : event.key;

  // step puts the focus on the next row of the list, or on the one before.
  function step(by) {
    const rows = [...document.querySelectorAll("tr[data-order]")];
    const at = rows.findIndex((row) => row.contains(document.activeElement));
    const row = rows[at < 0 ? 0 : at + by];
    row?.querySelector("th a").focus();
    return Boolean(row);
  }

  function press(key) {
    const row = document.activeElement.closest("tr[data-order]");
    const target = document.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (key === "?") help.showModal();
    else if (target?.matches("summary")) {
      if (!target.parentElement.open) target.click();
      target.parentElement.querySelector("select, input[type=radio]").focus();
    } else if (target?.matches("input")) target.focus();
    else if (target) target.click();
    else if (key === "j" || key === "k") return step(key === "j" ? 1 : -1);
    else if (key === "x" && row) row.querySelector("input[type=checkbox]")?.click();
    else return false;
    return true;
  }

  document.addEventListener("keydown", (event) => {
    const reject = document.querySelector("details.reject[open]");
    if (event.key === "Escape" && reject) {
      reject.open = false;
      reject.querySelector("summary").focus();
    }
    const field = event.target.closest("input:not([type=checkbox]), select, textarea, dialog");
    if (event.altKey || event.repeat) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      const answer = on.checked && document.querySelector("[data-key=Enter]");
      if (!answer || field?.matches("dialog")) return;
      // On a link, in another form, as the search, and among the reasons of a rejection it means something else.
      if (reject || event.target.closest("a, form") && !answer.form.contains(event.target)) return;
      event.preventDefault();
      answer.click();
      return;
    }
    if (event.ctrlKey || event.metaKey || field || event.key === "Enter") return;
    if ((on.checked || event.key === "?") && press(letter(event))) event.preventDefault();
  });
})();
