"use strict";
// Adds a button to examples, and to what the pages of the console name with data-copy.
// Browsers offer the clipboard only to pages that came over TLS or from this machine.
if (navigator.clipboard) {
  const words = document.body.dataset;
  const addCopy = (element) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = words.copyWord ?? "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(element.dataset.copy || element.innerText);
      button.textContent = words.copiedWord ?? "Copied";
      button.classList.add("copied");
    });
    if (!element.matches("pre")) return element.after(button);
    const example = document.createElement("div");
    example.className = "example";
    element.replaceWith(example);
    example.append(element, button);
  };
  const addAll = (part) => part.querySelectorAll("main pre, main [data-copy]").forEach(addCopy);
  addAll(document);
  document.addEventListener("live", (event) => addAll(event.detail)); // see live.js of the console
}
