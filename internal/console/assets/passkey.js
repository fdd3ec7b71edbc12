// Signs in with a passkey, and makes one. What is about passkeys appears where the browser has
// them, at the address that they are for.
"use strict";

(() => {
  const able = window.PublicKeyCredential?.parseRequestOptionsFromJSON && PublicKeyCredential.prototype.toJSON;
  if (!able) return;
  const offer = document.querySelector("[data-passkey-offer]");
  const key = "passkey of " + document.querySelector(".merchant")?.textContent; // several people use one computer
  let made = false;
  try { made = localStorage.getItem(key) === "made"; } catch { /* nothing is kept */ }
  if (offer) offer.hidden = made || offer.dataset.passkeyOffer !== location.origin;

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const data = form.dataset;
    if (data.passkey !== location.origin) continue;
    const button = form.querySelector("button");
    const problem = form.querySelector("[role=alert]");
    if (data.make !== undefined && !document.querySelector("main .list")) try { localStorage.removeItem(key); } catch { /* likewise */ }
    form.hidden = false;
    button.addEventListener("click", async () => {
      if (button.getAttribute("aria-busy")) return;
      problem.textContent = "";
      let told = data.unreachable;
      showBusy(button); // see forms.js
      try {
        const asked = await fetch(data.ask, { method: "POST" });
        if (asked.status === 403) { // the session has ended: the page that follows says so
          form.requestSubmit();
          return;
        }
        if (!asked.ok) throw new Error(String(asked.status));
        told = data.failed;
        const options = await asked.json();
        const credential = data.make === undefined
          ? await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
          : await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
        if (data.make !== undefined) try { localStorage.setItem(key, "made"); } catch { /* likewise */ }
        form.elements.passkey.value = JSON.stringify(credential.toJSON());
        form.requestSubmit();
      } catch (error) {
        button.removeAttribute("aria-busy");
        problem.textContent = (error.name === "InvalidStateError" && data.known) || told;
      }
    });
  }
})();
