"use strict";
// The pictures of broken guarantees: a lane per client, to zoom, to point at and to walk
// through by keyboard.
(() => {
  const { data, duration, element, whenSeen, afterUnpacking } = lockbench;
  const lane = { height: 62, bar: 20, thick: 18, name: 13, sign: 53 }, axisHeight = 26, overlapHeight = 40, side = 10;

  const moment = (ns) => `${(ns / 1e9).toFixed(6)} s`;
  const clamp = (v, low, high) => Math.min(Math.max(v, low), high);

  // items are all there is to point at, by rising time.
  function itemsOf(picture) {
    const items = [];
    picture.lanes.forEach((l, row) => {
      for (const b of l.bars ?? []) items.push({ ...b, row, shape: "bar" });
      for (const m of l.marks ?? []) items.push({ ...m, from: m.at, row, shape: "mark", kind: m.bad ? "bad" : "" });
    });
    for (const o of picture.overlaps ?? []) items.push({ ...o, row: picture.lanes.length, shape: "overlap", kind: o.within ? "both" : "late" });
    return items.sort((a, b) => a.from - b.from);
  }

  // A scale takes a time to a place. Even ones give every stretch between two events the
  // logarithm of its length, since a race of microseconds may follow a lease of seconds.
  function scaleOf(stamps, even) {
    if (!even) return { to: (t) => t, from: (u) => u };
    const places = [0];
    for (let i = 1; i < stamps.length; i++) places.push(places[i - 1] + 1 + Math.log10(1 + (stamps[i] - stamps[i - 1]) / 1e3));
    const between = (xs, ys, x) => {
      let i = xs.findIndex((v) => v >= x);
      if (i < 0) return ys.at(-1);
      if (i === 0) return ys[0];
      return ys[i - 1] + ((x - xs[i - 1]) / (xs[i] - xs[i - 1])) * (ys[i] - ys[i - 1]);
    };
    return { to: (t) => between(stamps, places, t), from: (u) => between(places, stamps, u) };
  }

  class Picture {
    constructor(figure, picture) {
      this.picture = picture;
      this.figure = figure;
      this.stage = figure.querySelector(".stage");
      this.readout = figure.querySelector(".readout");
      this.items = itemsOf(picture);
      this.stamps = [...new Set(this.items.flatMap((i) => [i.from, i.to]))].sort((a, b) => a - b);
      this.start = this.stamps[0];
      this.setScale(!picture.steps);
      this.toolbar();
      this.height = axisHeight + picture.lanes.length * lane.height + (picture.overlaps?.length ? overlapHeight : 0) + 4;
      this.stage.style.minHeight = `${this.height + 2}px`; // so that nothing moves when it is drawn
      this.stage.tabIndex = 0;
      this.stage.setAttribute("role", "group");
      this.stage.setAttribute("aria-label", this.alternative());
      this.tip = element("div", { class: "tip", hidden: "" });
      this.listen();
    }

    // alternative is the picture in words.
    alternative() {
      const worst = (this.picture.overlaps ?? []).map((o) => o.says).join(". ");
      return `${this.picture.lanes.length} lanes, ${this.items.length} events. ${worst || "No overlap."} The table below has the operations in words.`;
    }

    setScale(even) {
      this.even = even;
      this.scale = scaleOf(this.stamps, even);
      this.fit();
    }

    fit() { this.window(this.stamps[0], this.stamps.at(-1) + (this.picture.steps ? 1 : 0), 0.04); }

    toOverlap() {
      const all = this.picture.overlaps, only = all.filter((o) => o.within);
      const shown = only.length ? only : all;
      this.window(Math.min(...shown.map((o) => o.from)), Math.max(...shown.map((o) => o.to)), 0.35);
    }

    window(from, to, margin) {
      const a = this.scale.to(from), b = this.scale.to(to), pad = Math.max((b - a) * margin, this.even ? 0.2 : 1e-3);
      [this.low, this.high] = [a - pad, b + pad];
    }

    zoom(factor, at = (this.low + this.high) / 2) {
      const least = this.even ? 0.01 : this.picture.steps ? 1 : 100;
      if (factor < 1 && (this.high - this.low) * factor < least) return;
      this.low = at - (at - this.low) * factor;
      this.high = at + (this.high - at) * factor;
      this.draw();
    }

    pan(by) {
      this.low += by;
      this.high += by;
      this.draw();
    }

    toolbar() {
      const button = (text, label, act) => {
        const b = element("button", { type: "button", "aria-label": label, title: label }, text);
        b.addEventListener("click", () => { act(b); this.draw(); });
        return b;
      };
      const bar = element("div", { class: "toolbar" },
        button("−", "Zoom out", () => this.zoom(1.6)), button("+", "Zoom in", () => this.zoom(1 / 1.6)),
        button("Whole story", "Show the whole story", () => this.fit()));
      if (this.picture.overlaps?.length) bar.append(button("Overlap", "Zoom to the overlap", () => this.toOverlap()));
      if (!this.picture.steps) {
        const toggle = button("To scale", "Draw time to scale", (b) => {
          this.setScale(!this.even);
          b.setAttribute("aria-pressed", String(!this.even));
          this.note.textContent = this.scaleNote();
        });
        toggle.setAttribute("aria-pressed", "false");
        bar.append(toggle);
      }
      this.note = element("span", { class: "dim" }, this.scaleNote());
      bar.append(this.note);
      this.stage.before(bar);
    }

    scaleNote() {
      if (this.picture.steps) return "one column per server command";
      const from = `times from ${moment(this.start)} of the run on`;
      return this.even ? `${from}; not to scale: quiet stretches are shortened` : `${from}; to scale`;
    }

    x(t) { return side + ((this.scale.to(t) - this.low) / (this.high - this.low)) * (this.width - 2 * side); }
    place(px) { return this.low + ((px - side) / (this.width - 2 * side)) * (this.high - this.low); }

    draw() {
      this.width = Math.max(this.stage.clientWidth, 240);
      const rows = this.picture.lanes.length, overlaps = this.picture.overlaps?.length;
      const svg = element("svg", { width: this.width, height: this.height, viewBox: `0 0 ${this.width} ${this.height}`, "aria-hidden": "true" });
      svg.append(this.patterns());
      this.drawAxis(svg);
      this.picture.lanes.forEach((l, row) => this.drawLane(svg, l, row));
      if (overlaps) svg.append(element("text", { class: "name", x: side, y: axisHeight + rows * lane.height + lane.name }, "overlap"));
      this.signs = new Map();
      const order = { overlap: 0, bar: 1, mark: 2 };
      const shown = this.items.map((item, index) => ({ item, index })).sort((a, b) => order[a.item.shape] - order[b.item.shape]);
      for (const { item, index } of shown) svg.append(this.drawItem(item, index));
      this.lengths(svg);
      this.svg = svg;
      this.stage.replaceChildren(svg, this.tip);
    }

    patterns() {
      const id = this.figure.id;
      const hatch = (name, ...lines) => element("pattern", { id: `${id}-${name}`, width: 7, height: 7, patternUnits: "userSpaceOnUse", class: name }, element("rect", { width: 7, height: 7 }), ...lines.map((d) => element("path", { d })));
      return element("defs", {}, hatch("late", "M0 7L7 0"), hatch("both", "M0 7L7 0", "M0 0L7 7"));
    }

    drawAxis(svg) {
      let last = -Infinity, before = "";
      for (const t of this.ticks()) {
        const x = this.x(t);
        if (x < side - 1 || x > this.width - side + 1) continue;
        svg.append(element("line", { class: "grid", x1: x, x2: x, y1: axisHeight - 6, y2: this.height - 4 }));
        let words = this.picture.steps ? String(t + 1) : `+${duration(t - this.start, 4)}`;
        if (words === before) words = `+${duration(t - this.start, 7)}`;
        const half = words.length * 3.2, center = clamp(x, half + 2, this.width - half - 2);
        if (center - half < last + 8) continue;
        [last, before] = [center + half, words];
        svg.append(element("text", { class: "tick", x: center, y: axisHeight - 11, "text-anchor": "middle" }, words));
      }
    }

    // ticks are the events themselves or, to scale, round times.
    ticks() {
      if (this.picture.steps) return Array.from({ length: this.stamps.at(-1) + 1 }, (_, i) => i);
      if (this.even) return this.stamps;
      const rough = (this.high - this.low) / (this.width / 90), power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
      const first = Math.max(0, Math.ceil((this.low - this.start) / step)), out = [];
      for (let i = first; this.start + i * step <= this.high; i++) out.push(this.start + i * step);
      return out;
    }

    drawLane(svg, l, row) {
      const y = axisHeight + row * lane.height;
      svg.append(
        element("line", { class: "grid", x1: 0, x2: this.width, y1: y, y2: y }),
        element("text", { class: "name", x: side, y: y + lane.name }, l.name),
        element("line", { class: "rail", x1: side, x2: this.width - side, y1: y + lane.bar + lane.thick / 2, y2: y + lane.bar + lane.thick / 2 }),
      );
    }

    drawItem(item, index) {
      const g = element("g", { class: `item ${item.shape} ${item.kind ?? ""}${index === this.current ? " current" : ""}`, "data-item": index });
      const x = this.x(item.from), to = this.x(item.to), width = Math.max(to - x, 3), top = axisHeight + item.row * lane.height;
      this[`${item.shape}Shape`](g, item, { x, to, width, top });
      return g;
    }

    barShape(g, item, { x, width, top }) {
      const thin = item.kind === "waiting";
      const y = top + lane.bar + (thin ? lane.thick / 2 - 3 : 0);
      const rect = element("rect", { x, y, width, height: thin ? 6 : lane.thick, rx: 2 });
      if (item.kind === "past") rect.style.fill = `url(#${this.figure.id}-late)`;
      g.append(rect);
    }

    markShape(g, item, { x, to, top }) {
      const y = top + lane.bar, low = y + lane.thick + 3;
      g.append(element("rect", { class: "target", x: x - 6, y: y - 6, width: Math.max(12, to - x), height: lane.thick + 26 }));
      g.append(element("line", { class: "at", x1: x, x2: x, y1: y - 4, y2: low }));
      if (to > x + 1) g.append(element("path", { class: "answer", d: `M${x} ${low}H${to}v-4` }));
      const room = this.picture.steps ? (this.x(item.at + 1) - x) / 6.4 : 1;
      const words = this.picture.steps ? item.sign.slice(0, Math.max(1, Math.floor(room))) : item.sign;
      const free = this.signs.get(item.row) ?? -Infinity, half = words.length * 3.4;
      if (x - half < free) return;
      this.signs.set(item.row, x + half + 1);
      g.append(element("text", { x, y: top + lane.sign, "text-anchor": "middle" }, words));
    }

    overlapShape(g, item, { x, width, top }) {
      const first = axisHeight + Math.min(...item.lanes) * lane.height, y = top + 18;
      g.append(element("rect", { class: "band", x, y: first, width, height: y - first }));
      const rect = element("rect", { class: "row", x, y, width, height: 16, rx: 2 });
      rect.style.fill = `url(#${this.figure.id}-${item.kind})`;
      g.append(rect);
    }

    // lengths writes how long overlaps are, those within both leases first, where there is
    // room.
    lengths(svg) {
      const taken = [], y = axisHeight + this.picture.lanes.length * lane.height + 18;
      const overlaps = [...(this.picture.overlaps ?? [])].sort((a, b) => b.within - a.within);
      const boxes = overlaps.map((o) => [this.x(o.from), Math.max(this.x(o.to), this.x(o.from) + 3)]);
      const clear = (from, to, own) => from > 0 && to < this.width && !taken.some(([a, b]) => from < b && to > a) && !boxes.some(([a, b], i) => i !== own && from < b && to > a);
      overlaps.forEach((o, i) => {
        const words = this.picture.steps ? "both believe" : duration(o.to - o.from, 4), half = words.length * 3.3 + 3;
        const [x, to] = boxes[i], middle = (x + to) / 2;
        const at = [middle, to + half + 4, x - half - 4].find((c) => clear(c - half, c + half, i));
        if (at === undefined) return;
        taken.push([at - half, at + half]);
        svg.append(element("g", { class: "length" },
          element("rect", { x: at - half, y: y + 1.5, width: 2 * half, height: 13, rx: 2 }),
          element("text", { x: at, y: y + 12, "text-anchor": "middle" }, words)));
      });
    }

    // numbers are what is told of an item when it is pointed at.
    numbers(item) {
      if (this.picture.steps) return item.says;
      const span = item.to > item.from ? `from ${moment(item.from)} to ${moment(item.to)} (${duration(item.to - item.from, 6)})` : `at ${moment(item.from)}`;
      return `${item.says}; ${span}`;
    }

    show(index, px, py) {
      this.current = index;
      for (const g of this.svg.querySelectorAll(".item")) g.classList.toggle("current", Number(g.dataset.item) === index);
      const item = this.items[index];
      this.tip.hidden = !item;
      this.readout.textContent = item ? this.numbers(item) : "";
      if (!item) return;
      this.tip.textContent = this.readout.textContent;
      const room = this.width - this.tip.offsetWidth - 4;
      this.tip.style.left = `${clamp(px - this.tip.offsetWidth / 2, 4, Math.max(4, room))}px`;
      this.tip.style.top = `${py + 14}px`;
    }

    listen() {
      const fingers = new Map();
      let span = 0;
      const inside = (event) => {
        const box = this.svg.getBoundingClientRect();
        return [event.clientX - box.left, event.clientY - box.top];
      };
      const pointAt = (event) => {
        const g = event.target.closest?.("[data-item]");
        this.show(g ? Number(g.dataset.item) : -1, ...inside(event));
      };
      this.stage.addEventListener("pointerdown", (event) => {
        fingers.set(event.pointerId, event.clientX);
        span = 0;
        pointAt(event);
      });
      addEventListener("pointerup", (event) => fingers.delete(event.pointerId));
      addEventListener("pointercancel", (event) => fingers.delete(event.pointerId));
      this.stage.addEventListener("pointermove", (event) => {
        if (!fingers.has(event.pointerId)) return pointAt(event);
        const moved = event.clientX - fingers.get(event.pointerId);
        fingers.set(event.pointerId, event.clientX);
        if (fingers.size === 1) return this.pan((-moved / (this.width - 2 * side)) * (this.high - this.low));
        const [a, b] = [...fingers.values()], now = Math.abs(a - b);
        if (span > 0 && now > 0) this.zoom(span / now, this.place((a + b) / 2 - this.svg.getBoundingClientRect().left));
        span = now;
      });
      this.stage.addEventListener("pointerleave", () => this.show(-1));
      this.stage.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2, this.place(inside(event)[0]));
      }, { passive: false });
      this.stage.addEventListener("keydown", (event) => this.key(event));
      this.stage.addEventListener("blur", () => this.show(-1));
    }

    key(event) {
      const last = this.items.length - 1, at = this.current ?? -1;
      switch (event.key) {
        case "ArrowRight": return this.walk(event, Math.min(at + 1, last));
        case "ArrowLeft": return this.walk(event, Math.max(at - 1, 0));
        case "Home": return this.walk(event, 0);
        case "End": return this.walk(event, last);
        case "+": case "=": this.zoom(1 / 1.6, at >= 0 ? this.scale.to(this.items[at].from) : undefined); break;
        case "-": this.zoom(1.6); break;
        case "0": this.fit(); this.draw(); break;
        case "Escape": this.show(-1); break;
        default: return;
      }
      event.preventDefault();
    }

    // walk goes to an item, and has it in view.
    walk(event, index) {
      event.preventDefault();
      const item = this.items[index], u = this.scale.to(item.from);
      if (u < this.low || u > this.high) this.pan(u - (this.low + this.high) / 2);
      this.show(index, clamp(this.x(item.from), 0, this.width), axisHeight + item.row * lane.height + lane.bar + lane.thick);
    }
  }
  function drawWithin(host) {
    for (const figure of host.querySelectorAll("figure[data-picture]")) {
      const picture = new Picture(figure, data.pictures[figure.dataset.picture]);
      whenSeen(picture.stage, () => picture.draw());
    }
  }
  drawWithin(document);
  afterUnpacking.push(drawWithin);
})();
