"use strict";
// What charts and pictures share: the data, how figures are written, when to draw.
const lockbench = (() => {
  const data = JSON.parse(document.getElementById("lockbench-data").textContent);
  const root = document.documentElement;

  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

  // duration writes ns with three digits, or with as many as digits says.
  function duration(ns, digits = 3) {
    if (ns === 0) return "0";
    const [size, unit] = units.find(([size]) => Math.abs(ns) >= size) ?? units[3];
    return `${Number((ns / size).toPrecision(digits))} ${unit}`;
  }

  function count(n) {
    if (n == null) return "–";
    return n.toLocaleString("en", { maximumFractionDigits: n < 10 ? 1 : 0 });
  }

  const color = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

  function element(name, attributes = {}, ...children) {
    const svg = ["svg", "g", "rect", "line", "text", "path", "pattern", "defs", "circle", "clipPath"].includes(name);
    const e = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  }

  // Everything drawn: by what, and whether it was drawn yet.
  const drawn = new Map();
  const near = "IntersectionObserver" in window && new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) drawNow(target);
  }, { rootMargin: "300px" });

  function drawNow(host) {
    near && near.unobserve(host);
    const entry = drawn.get(host);
    entry.done = true;
    entry.width = host.clientWidth;
    entry.draw(host);
  }

  // whenSeen calls draw(host) when host comes near the window, and again when its width or
  // the theme changes.
  function whenSeen(host, draw) {
    drawn.set(host, { draw, done: false });
    near ? near.observe(host) : drawNow(host);
  }

  function redraw() {
    for (const [host, entry] of drawn) if (entry.done) drawNow(host);
  }

  let resizing;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => {
      for (const [host, entry] of drawn) if (entry.done && entry.width !== host.clientWidth) drawNow(host);
    }, 80);
  });

  const buttons = document.querySelectorAll("[data-theme-choice]");
  function theme(choice) {
    root.dataset.theme = choice;
    for (const b of buttons) b.setAttribute("aria-pressed", String(b.dataset.themeChoice === choice));
    redraw();
  }
  for (const b of buttons) {
    b.addEventListener("click", () => {
      theme(b.dataset.themeChoice);
      try { localStorage.setItem("lockbench-theme", b.dataset.themeChoice); } catch { /* not remembered */ }
    });
    b.setAttribute("aria-pressed", String(b.dataset.themeChoice === root.dataset.theme));
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  // The cells of a matrix are packed, design by design, until the reader comes near.
  const unpacked = new Map(); // the promise of each host
  const afterUnpacking = [];
  async function unpack(host) {
    const bytes = Uint8Array.from(atob(host.dataset.packed.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
    const { html, pictures } = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
    Object.assign(data.pictures ??= {}, pictures);
    host.innerHTML = html;
    delete host.dataset.packed;
    for (const act of afterUnpacking) act(host);
  }
  function unpackOnce(host) {
    if (!unpacked.has(host)) unpacked.set(host, unpack(host));
    return unpacked.get(host);
  }
  if ("DecompressionStream" in window) for (const host of document.querySelectorAll("[data-packed]")) whenSeen(host, unpackOnce);

  // A link into what is packed or folded unpacks and unfolds it. What is packed above it goes first, so
  // that nothing moves while the reader is scrolled there.
  async function unfold() {
    const id = decodeURIComponent(location.hash.slice(1));
    const hosts = [...document.querySelectorAll(".packed")];
    const last = hosts.findIndex((host) => id.startsWith(`${host.dataset.of}-`));
    if ("DecompressionStream" in window) await Promise.all(hosts.slice(0, last + 1).map(unpackOnce));
    const target = document.getElementById(id);
    for (let d = target?.closest("details"); d; d = d.parentElement.closest("details")) d.open = true;
    target?.scrollIntoView();
  }
  addEventListener("hashchange", unfold);
  document.addEventListener("click", (event) => { if (event.target.closest("a[href^='#']")) setTimeout(unfold); });
  if (location.hash) setTimeout(unfold);

  // On paper everything is there, and light; of a matrix, the cells that the reader opened.
  let before;
  addEventListener("beforeprint", () => {
    before = { theme: root.dataset.theme, closed: [...document.querySelectorAll("details:not([open], .cell, .cell *)")] };
    root.dataset.theme = "light";
    for (const d of before.closed) d.open = true;
    root.classList.add("printing");
    for (const host of drawn.keys()) if (host.checkVisibility()) drawNow(host);
  });
  addEventListener("afterprint", () => {
    root.classList.remove("printing");
    for (const d of before.closed) d.open = false;
    theme(before.theme);
  });

  return { data, duration, count, color, element, whenSeen, afterUnpacking };
})();
