// Shows changes of orders as they happen, also those made elsewhere. The server says
// which orders have changed; the script then loads the page again in the background
// and replaces the parts with the attribute data-live, which is their name.
"use strict";

(() => {
  const body = document.body;
  const title = document.title;
  count(Number(body.dataset.new));
  if (!body.dataset.liveUrl || !document.querySelector("[data-live]")) return;
  const background = { headers: { "Console-Background": "1" }, redirect: "manual", cache: "no-store" };
  let after = Number(body.dataset.liveAfter);
  let history = "";
  let request = null; // AbortController of the request that waits
  let failures = 0;
  let told = Date.now(); // when the page was told how much time is left
  let again = () => {}; // ends the pause after a failure
  const work = document.querySelector("[data-live=work]"); // that goes on

  // A browser opens few connections to a host, and a hidden page needs none: it asks
  // for everything that it has missed when it is visible again. One page stays for
  // notifications, if they are wanted: see notify.js.
  const idle = () => work || document.hidden && !body.dataset.notifies;
  document.addEventListener("visibilitychange", () => {
    if (idle()) request?.abort();
    else watch();
  });
  addEventListener("online", () => {
    again();
    watch();
  });
  addEventListener("pageshow", (event) => {
    if (!event.persisted) return;
    again(); // WebKit ends the request with an error
    watch();
  });
  addEventListener("pagehide", () => request?.abort());

  async function watch() {
    if (request) return;
    while (!idle()) {
      request = new AbortController();
      try {
        if (Date.now() - told > 60000 && document.querySelector(".left")) await refresh(null);
        const response = await fetch(body.dataset.liveUrl + "&after=" + after, { ...background, signal: request.signal }).catch((error) => {
          if (error.name !== "AbortError") report(true);
          throw error;
        });
        report(false);
        if (response.type === "opaqueredirect") { load(); return; } // signed out
        if (!response.ok) throw new Error(String(response.status));
        const feed = await response.json();
        // After a restore the numbers mean other events.
        const other = (history && history !== feed.history) || after > feed.newest;
        history = feed.history;
        if (other || feed.orders.length) await refresh(other ? null : new Set(feed.orders));
        after = other ? feed.newest : feed.next;
        failures = 0;
        count(feed.new);
        for (const tally of document.querySelectorAll("[data-tally]")) tally.textContent = feed[tally.dataset.tally]?.toLocaleString(document.documentElement.lang) || "";
        if (!other && feed.created) document.dispatchEvent(new CustomEvent("created", { detail: feed.created }));
      } catch (error) {
        if (error.name === "AbortError") break;
        failures++;
        await new Promise((done) => {
          again = done;
          setTimeout(done, Math.min(60, 2 ** failures) * 1000);
        });
      }
    }
    request = null;
  }

  // load opens the page anew, also one that a form led to.
  const load = () => location.replace(location.pathname + location.search);

  // report says whether the connection is lost: see offline.js.
  const report = (lost) => document.dispatchEvent(new CustomEvent("connection", { detail: { lost } }));

  // count shows the number of new orders in the title, after what is wrong.
  function count(orders) {
    document.title = orders ? title.replace(/^(Error: |Σφάλμα: |)/, `$1(${orders}) `) : title;
  }

  // refresh replaces the parts of the page that have changed. A page of one order
  // names it, and is loaded for its changes only. orders is null if all may have changed.
  async function refresh(orders) {
    const own = body.dataset.liveOrder;
    if (own && orders && !orders.has(own)) return;
    told = Date.now();
    const response = await fetch(location.href, { ...background, signal: request?.signal });
    if (response.type === "opaqueredirect") { load(); return; }
    if (!response.ok) throw new Error(String(response.status));
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = new Map([...page.querySelectorAll("[data-live]")].map((part) => [part.dataset.live, part]));
    let changed = false;
    for (const part of document.querySelectorAll("[data-live]")) {
      const next = fresh.get(part.dataset.live);
      if (!next && work) { load(); return; } // it has ended
      if (!next) continue;
      if (part.liveSource === content(next)) {
        const left = next.querySelectorAll(".left");
        [...part.querySelectorAll(".left")].forEach((old, i) => left[i] && old.replaceWith(left[i]));
        continue;
      }
      changed = true;
      // What can no longer be done is not offered, even if it was begun.
      if (holdRows(part, next)) continue;
      if (busy(part) && next.querySelector("button")) document.querySelector("[data-live-notice]")?.removeAttribute("hidden");
      else replace(part, next);
    }
    if (changed && !work) announce();
    for (const row of document.querySelectorAll("[data-order]")) row.classList.toggle("fresh", orders?.has(row.dataset.order) ?? false);
  }

  // holdRows keeps the rows of a list where they are while the pointer or the focus is in it:
  // the next click would hit another order. A row that has left the list is struck out, with
  // who did it. It returns whether it holds them; the list is replaced when both have left.
  function holdRows(part, next) {
    const rows = [...part.querySelectorAll("tr[data-order]")];
    if (!rows.length || !(part.matches(":hover") || part.contains(document.activeElement))) return false;
    for (const row of rows) {
      const name = CSS.escape(row.dataset.order);
      if (next.querySelector(`tr[data-order="${name}"]`) || row.matches(".gone")) continue;
      row.classList.add("gone");
      const box = row.querySelector("input[type=checkbox]");
      if (box) box.checked = !(box.disabled = true);
      row.querySelector("[name=shown]")?.remove();
      saidBy(row);
    }
    document.dispatchEvent(new CustomEvent("live", { detail: part }));
    part.held = next;
    if (part.holds) return true;
    part.holds = true;
    const release = () => setTimeout(() => {
      if (!part.held || part.matches(":hover") || part.contains(document.activeElement)) return;
      replace(part, part.held);
      part.held = null;
    });
    part.addEventListener("mouseleave", release);
    part.addEventListener("focusout", release);
    return true;
  }

  // saidBy adds to a row what was done to its order, and by whom: the newest line of the
  // order's history.
  async function saidBy(row) {
    const page = await fetch(row.querySelector("th a").href, background).then((response) => response.text()).catch(() => "");
    const newest = new DOMParser().parseFromString(page, "text/html").querySelector("[data-live=history] li:last-child");
    if (!newest) return;
    const note = document.createElement("span");
    note.className = "said";
    note.textContent = newest.querySelector("strong").textContent + " · " + newest.querySelector(".help").textContent.trim();
    row.querySelector("th").append(" ", note);
  }

  // busy reports whether a person is filling in a form of a part.
  const busy = (part) => [...part.querySelectorAll("input, select, textarea")].some((field) => field.type !== "checkbox" && changed(field)); // see console.js

  // replace keeps selections, open details and the focus.
  function replace(part, next) {
    const checked = new Set([...part.querySelectorAll("input:checked")].map((box) => box.value));
    const open = new Set([...part.querySelectorAll("details[open]")].map((details) => details.id));
    const focused = part.contains(document.activeElement) ? signature(document.activeElement) : "";
    const source = content(next);
    part.replaceChildren(...next.childNodes);
    part.liveSource = source;
    for (const box of part.querySelectorAll("input[type=checkbox]")) box.checked = checked.has(box.value);
    for (const details of part.querySelectorAll("details[id]")) details.open = open.has(details.id);
    if (focused) [...part.querySelectorAll("a, button, input, select, summary")].find((element) => signature(element) === focused)?.focus();
    document.dispatchEvent(new CustomEvent("live", { detail: part }));
  }

  // content is the content of a part without what each rendering makes anew, and the time that is left.
  const content = (part) => part.innerHTML.replace(/name="key" value="[^"]*"|class="left[^<]*/g, "");

  const signature = (element) => [element.tagName, element.id, element.name, element.getAttribute("href"), element.type === "checkbox" ? element.value : element.textContent].join("|");

  // announce tells a screen reader, politely.
  function announce() {
    const status = document.querySelector("[data-status]");
    status.textContent = "";
    setTimeout(() => { status.textContent = status.dataset.changed; }, 100);
  }

  // follow loads the page of work that goes on again and again.
  const follow = () => setTimeout(() => refresh(null).catch(() => {}).then(follow), 1000);

  // Before other scripts change anything.
  for (const part of document.querySelectorAll("[data-live]")) part.liveSource = content(part);
  if (work) follow();
  else watch();
})();
