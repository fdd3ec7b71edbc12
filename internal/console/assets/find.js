// Shows what the search of the header finds while one types. Enter shows all of it, as without
// this script.
"use strict";

(() => {
  const form = document.querySelector("form[data-find]");
  if (!form) return;
  const input = form.querySelector("input");
  const box = form.querySelector("dialog");
  const show = (open) => {
    box.toggleAttribute("open", open); // not show(), which takes the focus
    input.setAttribute("aria-expanded", String(open));
  };
  let timer;
  let request = new AbortController();

  async function find(text, show) {
    request = new AbortController();
    const response = await fetch(form.dataset.find + "?q=" + encodeURIComponent(text), { signal: request.signal, redirect: "manual" }).catch(() => null);
    if (!response?.ok) return;
    const found = new DOMParser().parseFromString(await response.text(), "text/html");
    if (!request.signal.aborted) show(found.body);
  }
  const whileTyping = (field, shown, empty) => field.addEventListener("input", () => {
    clearTimeout(timer);
    request.abort();
    const text = field.value.trim();
    if (text.length < 2) empty();
    else timer = setTimeout(find, 150, text, shown);
  });

  whileTyping(input, (found) => {
    box.replaceChildren(...found.childNodes);
    show(true);
    document.querySelector("[data-status]").textContent = box.querySelector("[data-found]").textContent;
  }, () => show(false));
  // Fields for a store suggest names.
  for (const field of document.querySelectorAll("[data-stores]")) {
    whileTyping(field, (found) => field.list.replaceChildren(...[...found.querySelectorAll("[data-store]")].map((store) => new Option(store.dataset.store, store.querySelector("bdi").textContent))), () => {});
  }
  form.addEventListener("keydown", (event) => {
    const stops = [input, ...box.querySelectorAll("a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && box.open) {
      show(false);
      input.focus();
    } else if (step && box.open) stops[(stops.indexOf(document.activeElement) + step + stops.length) % stops.length].focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  form.addEventListener("focusout", (event) => { if (!form.contains(event.relatedTarget)) show(false); });
})();
