"use strict";
// Browsers offer the clipboard only to pages that came over TLS or from this machine.
if (navigator.clipboard) {
  for (const pre of document.querySelectorAll("main pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "Copied";
      button.className = "copied";
    });
    const example = document.createElement("div");
    example.className = "example";
    pre.replaceWith(example);
    example.append(pre, button);
  }
}
