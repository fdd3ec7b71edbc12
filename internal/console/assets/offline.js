// Says that the connection is lost. Meanwhile no form is sent and no link followed: the browser
// would replace the page, with what was typed, by an error of its own.
"use strict";

(() => {
  const notice = document.querySelector("[data-offline]");
  const show = (lost) => { notice.hidden = !lost; };
  addEventListener("pageshow", () => show(!navigator.onLine)); // WebKit sends nothing from a page that is left
  addEventListener("offline", () => show(true));
  addEventListener("online", () => show(false));
  // See live.js. Stop, and in Firefox each form and link, also ends what waits for an answer.
  document.addEventListener("connection", async (event) => show(event.detail.lost && !await reached()));

  // The browser may not know yet that the connection is back.
  const reached = () => fetch(document.querySelector("link[rel=icon]").href, { method: "HEAD", cache: "no-store" }).then(() => true, () => false);

  // hold does something only with a connection.
  async function hold(event, then) {
    event.preventDefault();
    event.stopImmediatePropagation();
    show(!await reached());
    if (notice.hidden) then();
    else notice.focus();
  }
  document.addEventListener("submit", (event) => {
    const { target: form, submitter } = event;
    if (!notice.hidden && form.method !== "dialog") hold(event, () => form.requestSubmit(submitter));
  }, true);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!notice.hidden && link?.origin === location.origin) hold(event, () => location.assign(link.href));
  }, true);
})();
