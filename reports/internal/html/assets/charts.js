"use strict";
// Line charts: percentile spectra, what happened over time, fairness.
(() => {
  const { data, duration, count, color, element, whenSeen } = lockbench;
  const font = "11px system-ui, sans-serif";
  const strokes = ["s1", "s2", "s3", "s4", "s5", "s6"];
  const dashes = [[], [6, 4], [2, 3], [10, 3, 2, 3]];

  // style tells the i-th line from the others by colour and by dashes.
  function style(i) {
    return { stroke: color(strokes[i % strokes.length]), dash: dashes[(i + Math.floor(i / strokes.length)) % dashes.length], width: 1.75, points: { show: false }, spanGaps: true };
  }

  function axis(more) {
    return { stroke: color("muted"), font, ticks: { stroke: color("line"), size: 4 }, grid: { stroke: color("line"), width: 1 }, ...more };
  }

  // make draws a chart in host in place of what was there. Arrow keys move its cursor, plus
  // and minus zoom around it, zero shows all.
  function make(host, options, columns, readout) {
    host.replaceChildren();
    const u = new uPlot({
      width: Math.max(host.clientWidth, 200), height: options.height ?? 270, ms: 1,
      cursor: { drag: { x: true, y: false }, points: { size: 7 }, ...options.cursor },
      legend: { markers: { width: 2, dash: (self, i) => (self.series[i].dash?.length ? "dashed" : "solid") } },
      ...options, hooks: { ...options.hooks, setCursor: [(self) => readout && say(self)] },
    }, columns, host);
    for (const canvas of host.querySelectorAll("canvas")) canvas.setAttribute("aria-hidden", "true");
    const line = element("p", { class: "readout", "aria-live": "polite" });
    if (readout) host.append(line);
    function say(self) { line.textContent = self.cursor.idx == null ? "" : readout(self.cursor.idx); }
    host.tabIndex = 0;
    host.setAttribute("role", "group");
    host.onkeydown = (event) => key(u, event);
    legendKeys(host);
    return u;
  }

  function key(u, event) {
    const x = u.data[0], scale = u.scales.x;
    if (event.target !== event.currentTarget) return;
    let i = u.cursor.idx ?? x.findIndex((v) => v >= scale.min);
    const zoom = (factor) => {
      const log = scale.distr === 3, to = (v) => (log ? Math.log(v) : v), from = (v) => (log ? Math.exp(v) : v);
      const at = to(x[i]), min = at - (at - to(scale.min)) * factor, max = at + (to(scale.max) - at) * factor;
      u.setScale("x", { min: Math.max(from(min), x[0]), max: Math.min(from(max), x.at(-1)) });
    };
    switch (event.key) {
      case "ArrowLeft": i = Math.max(0, i - 1); break;
      case "ArrowRight": i = Math.min(x.length - 1, i + 1); break;
      case "Home": i = 0; break;
      case "End": i = x.length - 1; break;
      case "+": case "=": zoom(0.5); break;
      case "-": zoom(2); break;
      case "0": u.setScale("x", { min: x[0], max: x.at(-1) }); break;
      default: return;
    }
    event.preventDefault();
    u.setCursor({ left: u.valToPos(x[i], "x"), top: 10 });
  }

  // legendKeys lets the keyboard, too, show and hide a line.
  function legendKeys(host) {
    for (const label of host.querySelectorAll(".u-legend .u-series > th")) {
      label.tabIndex = 0;
      label.setAttribute("role", "button");
      label.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); label.click(); }
      });
    }
  }

  // curve is a spectrum over x = 1/(1-share). The longest of n durations stands at n.
  function curve({ shares, ns, count: n }) {
    const x = shares.map((s) => (s < 1 ? 1 / (1 - s) : 0));
    const last = x.length - 1;
    x[last] = Math.max(n, last > 0 ? x[last - 1] * 1.000001 : 1);
    return { x, ns };
  }

  // along is the curve at each of the rising positions: the shortest duration that the
  // share there did not exceed.
  function along({ x, ns }, positions) {
    let i = 0;
    return positions.map((p) => {
      while (i < x.length && x[i] < p) i++;
      return i < x.length ? ns[i] : null;
    });
  }

  const percent = (x) => `${Number((100 * (1 - 1 / x)).toPrecision(2 + Math.max(1, Math.ceil(Math.log10(x)))))}%`;
  const powers = (self, axisIndex, min, max) => {
    const all = [];
    for (let p = Math.floor(Math.log10(min)); p <= Math.ceil(Math.log10(max)); p++) all.push(10 ** p);
    return all.filter((v) => v >= min * 0.999 && v <= max * 1.001);
  };

  function spectrum(host, lines) {
    lines = lines.filter((l) => l.spectrum);
    if (lines.length === 0) {
      host.replaceChildren(element("p", { class: "note" }, "None were measured."));
      return;
    }
    const curves = lines.map((l) => curve(l.spectrum));
    const x = [...new Set(curves.flatMap((c) => c.x))].sort((a, b) => a - b);
    const all = curves.flatMap((c) => c.ns).filter((v) => v > 0);
    const low = 10 ** Math.floor(Math.log10(Math.min(...all))), high = 10 ** Math.ceil(Math.log10(Math.max(...all) * 1.01));
    make(host, {
      scales: { x: { time: false, distr: 3, log: 10 }, y: { distr: 3, log: 10, range: [low, high] } },
      axes: [
        axis({ splits: powers, filter: (self, splits) => splits, values: (self, splits) => splits.map((v) => (v == null ? "" : percent(v))), space: 20 }),
        axis({ splits: powers, filter: (self, splits) => splits, values: (self, splits) => splits.map((v) => (v == null ? "" : duration(v))), size: 58 }),
      ],
      series: [
        { label: "share", value: (self, v) => (v == null ? "–" : percent(v)) },
        ...lines.map((l, i) => ({ ...style(i), label: l.label, show: !l.hidden, value: (self, v) => (v == null ? "–" : duration(v)) })),
      ],
    }, [x, ...curves.map((c) => along(c, x).map((v) => (v === 0 ? low : v)))]);
  }

  // buckets writes a list out to n buckets.
  const buckets = (list, n) => Array.from({ length: n }, (_, i) => list?.[i] ?? 0);

  // summed adds up the violations of cells with some verdict.
  function summed(over, verdicts, wanted, n) {
    const out = new Array(n).fill(0);
    for (const [name, list] of Object.entries(over.violations ?? {})) {
      if (wanted(verdicts[name])) list.forEach((v, i) => { out[i] += v; });
    }
    return out;
  }

  function time(run) {
    const over = run.over_time, width = over.bucket_ns / 1e9;
    const lists = [over.grants, over.refused, over.slowest_acquire_ns, ...Object.values(over.violations ?? {}), ...(over.faults ?? []).map((f) => f.occurrences)];
    const listed = Math.max(1, ...lists.map((l) => l?.length ?? 0));
    const end = Math.max(over.end_ns / 1e9, (listed - 1) * width), n = Math.max(listed, Math.ceil(end / width));
    const x = Array.from({ length: n }, (_, i) => i * width);
    const lengthOf = (i) => Math.max(Math.min(width, end - i * width), width / 10);
    return { over, width, n, x, rate: (list) => buckets(list, n).map((v, i) => v / lengthOf(i)) };
  }

  const anyViolation = (t) => Object.values(t.over.violations ?? {}).some((list) => list.some((v) => v > 0));

  // closed repeats the last value at the end, so that the last step has its length.
  const closed = (t, list) => [...list, list.at(-1)];
  const seconds = (s) => `${Number(s.toPrecision(5))} s`;

  const strip = 13; // height of a row of faults

  // shade draws the periods of faults and the warm-up behind a chart.
  function shade(t) {
    return (u) => {
      const { ctx } = u, { left, top, width, height } = u.bbox, ratio = uPlot.pxRatio;
      const pos = (s) => Math.min(Math.max(u.valToPos(s, "x", true), left), left + width);
      ctx.save();
      if (t.over.warmup_ns > 0) {
        ctx.fillStyle = color("warmup");
        ctx.fillRect(left, top, pos(t.over.warmup_ns / 1e9) - left, height);
      }
      for (const fault of t.over.faults ?? []) {
        for (const p of fault.periods ?? []) {
          const from = pos(p.from_ns / 1e9), to = Math.max(pos(p.to_ns / 1e9), from + 2 * ratio);
          ctx.fillStyle = color("shade");
          ctx.fillRect(from, top, to - from, height);
          hatch(ctx, from, top, to - from, height, ratio);
        }
      }
      ctx.restore();
    };
  }

  function hatch(ctx, x, y, w, h, ratio) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(x, y, w, h);
    ctx.clip();
    ctx.strokeStyle = color("hatch");
    ctx.lineWidth = ratio;
    ctx.beginPath();
    for (let d = -h; d < w; d += 8 * ratio) { ctx.moveTo(x + d, y + h); ctx.lineTo(x + d + h, y); }
    ctx.stroke();
    ctx.restore();
  }

  // faultRows draws a row per kind of fault above a chart, a tick where it occurred.
  function faultRows(t) {
    return (u) => {
      const { ctx } = u, { left, top, width } = u.bbox, ratio = uPlot.pxRatio, rows = t.over.faults ?? [];
      ctx.save();
      ctx.font = `${10 * ratio}px system-ui, sans-serif`;
      ctx.textAlign = "right";
      ctx.textBaseline = "middle";
      rows.forEach((fault, row) => {
        const y = top - (rows.length - row) * strip * ratio;
        ctx.fillStyle = color("muted");
        ctx.fillText(fault.note, left - 6 * ratio, y + (strip * ratio) / 2);
        ctx.fillStyle = color("fault");
        fault.occurrences.forEach((n, i) => {
          const at = u.valToPos((i + 0.5) * t.width, "x", true);
          if (n > 0 && at >= left && at <= left + width) ctx.fillRect(at - ratio, y + 2 * ratio, 2 * ratio, (strip - 4) * ratio);
        });
        for (const p of fault.periods ?? []) {
          const from = Math.max(u.valToPos(p.from_ns / 1e9, "x", true), left), to = Math.min(u.valToPos(p.to_ns / 1e9, "x", true), left + width);
          if (to > from) ctx.fillRect(from, y + 5 * ratio, to - from, (strip - 10) * ratio);
        }
      });
      ctx.restore();
    };
  }

  // happening is what else there is to say of a bucket.
  function happening(t, verdicts, i) {
    const from = i * t.width, to = from + t.width, parts = [];
    for (const [name, list] of Object.entries(t.over.violations ?? {})) if (list[i]) parts.push(`${count(list[i])} × ${name} (${verdicts[name]})`);
    for (const fault of t.over.faults ?? []) {
      const during = (fault.periods ?? []).some((p) => p.from_ns / 1e9 < to && p.to_ns / 1e9 > from);
      if (fault.occurrences[i]) parts.push(`${fault.note} occurred ${count(fault.occurrences[i])} ×`);
      else if (during) parts.push(`${fault.note} lasts`);
    }
    return `${seconds(from)} to ${seconds(to)}: ${parts.join("; ") || "no violation, no fault"}`;
  }

  function overTime(host, run) {
    const t = time(run), rows = (run.over_time.faults ?? []).length;
    const broken = summed(t.over, run.verdicts, (v) => v === "claimed", t.n), unclaimed = summed(t.over, run.verdicts, (v) => v !== "claimed", t.n);
    const most = Math.max(...broken, ...unclaimed), bars = (align) => uPlot.paths.bars({ size: [0.5, 100, 3], align });
    const none = (list) => [...list.map((v) => v || null), null];
    const steps = uPlot.paths.stepped({ align: 1 }), rate = { scale: "y", paths: steps, value: (self, v) => (v == null ? "–" : `${count(v)}/s`) };
    const event = { scale: "v", value: (self, v) => count(v ?? 0), points: { show: false }, width: 1 };
    make(host, {
      height: 250 + rows * strip, padding: [8 + rows * strip, 10, 0, 0],
      scales: { x: { time: false }, y: { range: (u, min, max) => [0, Math.max(max, 1) * 1.05] }, v: { range: [0, Math.max(most, 1) * 2.5] } },
      axes: [
        axis({ values: (self, splits) => splits.map(seconds) }),
        axis({ values: (self, splits) => splits.map(count), size: 76 }),
        ...(most > 0 ? [axis({ scale: "v", side: 1, grid: { show: false }, size: 40, incrs: [1, 2, 5, 10, 20, 50, 100, 500, 1000, 1e4, 1e5], values: (self, splits) => splits.map((v) => (v <= most ? count(v) : "")) })] : []),
      ],
      series: [
        { label: "from", value: (self, v) => (v == null ? "–" : seconds(v)) },
        { ...style(0), ...rate, label: "grants", fill: color("fill") },
        { ...style(1), ...rate, label: "refused" },
        { ...event, label: "claims broken ■", paths: bars(1), stroke: color("bad"), fill: color("bad") },
        { ...event, label: "not claimed □", paths: bars(-1), stroke: color("warn"), fill: "transparent", width: 1.5 },
      ],
      hooks: { drawClear: [shade(t)], draw: [faultRows(t)] },
      cursor: { sync: { key: host.closest("section").id } },
    }, [closed(t, t.x).map((v, i) => (i === t.n ? t.x[t.n - 1] + t.width : v)), closed(t, t.rate(t.over.grants)), closed(t, t.rate(t.over.refused)), none(broken), none(unclaimed)],
    (i) => happening(t, run.verdicts, Math.min(i, t.n - 1)));
  }

  function slowest(host, run) {
    const t = time(run), values = buckets(t.over.slowest_acquire_ns, t.n).map((v) => v || null);
    const all = values.filter((v) => v), low = 10 ** Math.floor(Math.log10(Math.min(...all))), high = 10 ** Math.ceil(Math.log10(Math.max(...all) * 1.01));
    if (all.length === 0) return host.replaceChildren(element("p", { class: "note" }, "Nothing was granted."));
    make(host, {
      height: 190, padding: [8, anyViolation(t) ? 50 : 10, 0, 0],
      scales: { x: { time: false }, y: { distr: 3, log: 10, range: [low, high] } },
      axes: [
        axis({ values: (self, splits) => splits.map(seconds) }),
        axis({ splits: powers, filter: (self, splits) => splits, values: (self, splits) => splits.map((v) => (v == null ? "" : duration(v))), size: 76 }),
      ],
      series: [
        { label: "from", value: (self, v) => (v == null ? "–" : seconds(v)) },
        { ...style(2), dash: [], spanGaps: false, paths: uPlot.paths.stepped({ align: 1 }), points: { show: true, size: 3, fill: color("s3") }, label: "slowest acquire", value: (self, v) => (v == null ? "none" : duration(v)) },
      ],
      hooks: { drawClear: [shade(t)] },
      cursor: { sync: { key: host.closest("section").id } },
    }, [t.x, values]);
  }

  function fairness(host, run) {
    const grants = run.grants_by_client, mean = grants.reduce((a, b) => a + b, 0) / grants.length;
    const x = grants.map((_, i) => i + 1);
    make(host, {
      height: 190,
      scales: { x: { time: false, range: [0.4, grants.length + 0.6] }, y: { range: (u, min, max) => [0, Math.max(max, 1) * 1.05] } },
      axes: [axis({ incrs: [1, 2, 5, 10, 20, 50], values: (self, splits) => splits.map((v) => (Number.isInteger(v) && v > 0 ? v : "")) }), axis({ values: (self, splits) => splits.map(count), size: 58 })],
      series: [
        { label: "client, by rank" },
        { label: "grants", stroke: color("s1"), fill: color("fill"), width: 1, points: { show: false }, paths: uPlot.paths.bars({ size: [0.7, 40] }), value: (self, v) => count(v) },
        { ...style(1), label: "an even share", value: (self, v) => count(v) },
      ],
    }, [x, grants, grants.map(() => mean)]);
  }

  const runOf = (figure) => data.runs[Number(figure.dataset.run.slice(4)) - 1];
  const kinds = {
    spectrum: (host, figure) => {
      const { spectra } = runOf(figure);
      spectrum(host, [
        { label: spectra.service ? "acquire, response time" : "acquire", spectrum: spectra.acquire },
        { label: "acquire, service time", spectrum: spectra.service },
        { label: "release", spectrum: spectra.release },
        { label: "extend", spectrum: spectra.extend },
        { label: "refused", spectrum: spectra.refused },
      ]);
    },
    handoff: (host, figure) => {
      const { spectra } = runOf(figure);
      spectrum(host, [{ label: "hand-off", spectrum: spectra.handoff }, { label: "hold", spectrum: spectra.hold }]);
    },
    compare: (host) => spectrum(host, data.runs.map((r) => ({ label: r.label, hidden: r.hidden, spectrum: r.spectra.acquire }))),
    overtime: (host, figure) => overTime(host, runOf(figure)),
    slowest: (host, figure) => slowest(host, runOf(figure)),
    fairness: (host, figure) => fairness(host, runOf(figure)),
  };
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    whenSeen(figure.querySelector(".plot"), (host) => kinds[figure.dataset.chart](host, figure));
  }
})();
