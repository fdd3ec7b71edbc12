// Tells of new orders by notifications of the browser, if a person has asked for them in
// this browser.
"use strict";

(() => {
  const body = document.body;
  if (!body.dataset.liveUrl || !document.querySelector("[data-live]") || !("Notification" in window) || !navigator.locks) return;
  const wanted = () => {
    try { return localStorage.getItem("notify") === "on" && Notification.permission === "granted"; } catch { return false; }
  };

  // Of several pages one tells, also while it is hidden.
  let asked = false;
  let release = () => {};
  function takePart() {
    if (!wanted()) return release();
    if (asked) return;
    asked = true;
    navigator.locks.request("notify", () => new Promise((done) => {
      release = () => {
        delete body.dataset.notifies;
        asked = false;
        done();
      };
      if (!wanted()) return release();
      body.dataset.notifies = "yes";
      document.dispatchEvent(new Event("visibilitychange")); // live.js goes on
    }));
  }
  addEventListener("storage", takePart);
  takePart();

  function tell(text) {
    const notification = new Notification(text, { tag: "new-orders" });
    notification.addEventListener("click", () => {
      notification.close();
      focus();
      // What is typed or selected on this page stays.
      if ([...document.querySelectorAll("main :is(input, select, textarea)")].some(changed)) open(body.dataset.queueUrl);
      else location.assign(body.dataset.queueUrl);
    });
  }
  let created = 0; // since somebody looked at the page
  document.addEventListener("visibilitychange", () => { if (!document.hidden) created = 0; });
  document.addEventListener("created", (event) => {
    if (!body.dataset.notifies || !wanted()) return;
    created += event.detail;
    tell(created === 1 ? body.dataset.createdOne : body.dataset.createdMany.replace("%s", created));
  });

  const button = document.querySelector("[data-notify]");
  if (!button) return;
  const show = () => {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(wanted()));
  };
  const want = (on) => {
    try { localStorage.setItem("notify", on ? "on" : "off"); } catch { /* nothing is kept */ }
    show();
    takePart();
  };
  show();
  button.addEventListener("click", async () => {
    if (wanted()) return want(false);
    const permission = await Notification.requestPermission();
    document.querySelector("[data-notify-denied]").hidden = permission !== "denied";
    if (permission !== "granted") return;
    want(true);
    try {
      tell(button.dataset.notify);
    } catch { // browsers of phones have the name only
      want(false);
      button.hidden = true;
    }
  });
})();
