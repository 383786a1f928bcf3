"use strict";
// The roofline: FLOP/s over FLOP/byte of every op of a profiled step, and the measured limits above them.

// Ops of a step by time, the longest first: [{name, phase, ms, flops, bytes, least, ...}]. `least` is NaN where the limits are not known.
function roofOps(profile, { flops, bandwidth }) {
  const steps = profile.steps;
  const rows = profile.ops.map((op) => {
    const stats = profile.gpu ? op.device : op.host;
    const ms = stats && steps > 0 ? stats.total / steps / 1e6 : 0;
    const compute = data.multiplies.includes(op.category) ? op.flops / flops : 0;
    const least = 1e3 * Math.max(compute, op.bytes / bandwidth);
    return { name: `${op.scope} ${op.op}`, phase: op.phase, nodes: op.nodes, ms, flops: op.flops, bytes: op.bytes, least,
      intensity: op.flops / op.bytes, rate: op.flops / (ms / 1e3) };
  });
  return rows.filter(({ ms }) => ms > 0).sort((a, b) => b.ms - a.ms);
}

// Kernels of a GPU, as roofOps(): each by its phase and name. What a kernel computes is known where it is the only one of its op; those of
// ops that several kernels share have no FLOPs here.
function roofKernels(profile, { flops, bandwidth }) {
  const times = (row) => profile.kernels.filter((kernel) => kernel.row === row).length;
  const kernels = new Map();
  for (const kernel of profile.kernels) {
    const op = profile.ops[kernel.row], known = op && times(kernel.row) === 1;
    const name = `${op ? op.phase : ""} ${kernel.name} ${known}`, ms = kernel.time.total / profile.steps / 1e6;
    const sum = kernels.get(name) ||
      { name: known ? kernel.short : `${kernel.short}`, phase: op ? op.phase : "", nodes: 0, ms: 0, flops: 0, bytes: 0, least: known ? 0 : NaN };
    if (known) {
      const compute = data.multiplies.includes(op.category) ? op.flops / flops : 0;
      Object.assign(sum, { nodes: sum.nodes + op.nodes, flops: sum.flops + op.flops, bytes: sum.bytes + op.bytes, least: sum.least + 1e3 * Math.max(compute, op.bytes / bandwidth) });
    }
    kernels.set(name, { ...sum, ms: sum.ms + ms });
  }
  return [...kernels.values()].filter(({ ms }) => ms > 0).map((one) => ({ ...one, intensity: one.flops / one.bytes, rate: one.flops / (one.ms / 1e3) }))
    .sort((a, b) => b.ms - a.ms);
}

// An op that hardly counts does not stretch the axes.
function plottedOps(all) {
  const most = Math.max(...all.map((op) => op.rate || 0)), whole = all.reduce((sum, op) => sum + op.ms, 0);
  return all.filter((op) => op.flops > 0 && op.bytes > 0 && (op.ms > whole / 1000 || op.rate > most / 1e4));
}

function aboutOp(op) {
  const nodes = op.nodes > 1 ? `, ${op.nodes} nodes` : "";
  const gap = Number.isFinite(op.least)
    ? `; shortest possible ${number(op.least)} ms: ${op.ms > op.least ? `gap ${number(op.ms - op.least)} ms` : "no gap"}` : "";
  return `${op.phase} ${op.name}${nodes}: ${number(op.ms)} ms a step${gap}`;
}

// "836 TFLOP/s"
const si = (x, unit) => d3.format(".3~s")(x).replace(/(?=[kMGTP]$)/, "\u00a0") + unit;

// {flops, bandwidth, ceilings, caches}: what the profile went by, or else a file of limits for the same device, which also has the
// other precisions and the caches. NaN: not known.
function roofLimits(record, machine) {
  const { profile, precision } = record;
  const rates = data.files.filter(({ limits }) => limits && machine && limits.device.startsWith(machine)).flatMap(({ limits }) => limits.rates);
  const most = (some) => d3.max(rates.filter(some), ({ rate }) => rate) ?? NaN;
  const flops = profile.limit_flops ?? most(({ name }) => name.startsWith(`${precision}_`));
  const others = rates.filter(({ name }) => name.endsWith("_largest")).map(({ name }) => name.replace("_largest", ""))
    .map((label) => ({ label, rate: most(({ name }) => name.startsWith(`${label}_`)) }));
  const once = new Map(others.filter(({ label }) => label !== precision).map((one) => [one.label, one]));
  const caches = new Map(rates.filter(({ is_cache }) => is_cache).map(({ label, rate }) => [label, { label: label.replace(" caches, read", ""), rate }]));
  return { flops, bandwidth: profile.limit_bandwidth ?? most(({ is_memory }) => is_memory), caches: [...caches.values()],
    ceilings: [...(flops > 0 ? [{ label: precision, rate: flops, own: true }] : []), ...once.values()] };
}

// Lines that are close to each other share a text, at the uppermost.
function ceilingTexts(ceilings) {
  const groups = [];
  for (const one of [...ceilings].sort((a, b) => b.rate - a.rate)) {
    if (groups.length && groups.at(-1).at(-1).rate < 1.35 * one.rate) groups.at(-1).push(one);
    else groups.push([one]);
  }
  return groups.map((group) => ({ rate: group[0].rate, text: group.map(({ label, rate }) => `${label} ${si(rate, "FLOP/s")}`).join(", ") }));
}

// Where the lines are, and what they span together with the dots: a slope for memory and for each level of caches that is faster.
function roofLines(ops, { ceilings, bandwidth, caches }) {
  const knee = (rate) => (bandwidth > 0 ? rate / bandwidth : 0);
  const rates = ceilings.map(({ rate }) => rate);
  const x = [...ops.map((op) => op.intensity), ...rates.map(knee).filter((at) => at > 0)];
  const y = [...ops.map((op) => op.rate), ...rates];
  const [left, right] = [Math.min(...x) / 2, Math.max(...x) * 6];
  const highest = rates.length ? Math.max(...rates) : Math.max(...y);
  const levels = bandwidth > 0 ? [{ label: "memory", rate: bandwidth, own: true }, ...caches.filter(({ rate }) => rate > bandwidth)] : [];
  const slopes = levels.map((level) => ({ ...level, from: left, low: left * level.rate, to: highest / level.rate, high: highest })).filter(({ from, to }) => from < to);
  const fastest = Math.max(0, ...slopes.map(({ rate }) => rate));
  return {
    x: [left, right], y: [Math.min(...y, ...slopes.map(({ low }) => low)) / 2, Math.max(...y) * 2.5], slopes,
    flat: ceilings.map((one) => ({ ...one, from: fastest > 0 ? Math.max(left, one.rate / fastest) : left })),
  };
}

const powersOfTen = ([low, high]) => d3.range(Math.ceil(Math.log10(low)), Math.floor(Math.log10(high)) + 1).map((power) => Number(`1e${power}`));

// Texts of slopes that are near each other stand on one line, the fastest first.
function slopeTexts(slopes) {
  const texts = [];
  for (const one of [...slopes].sort((a, b) => b.rate - a.rate)) {
    const last = texts.at(-1), text = `${one.label} ${si(one.rate, "B/s")}`;
    if (last && last.least < 2.2 * one.rate) Object.assign(last, { text: `${last.text}, ${text}`, least: one.rate });
    else texts.push({ ...one, text, least: one.rate });
  }
  return texts;
}

function roofPlot(ops, limits, width) {
  const { x, y, flat, slopes } = roofLines(ops, limits);
  const text = { fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 4 };
  const height = Math.round(Math.min(460, Math.max(300, width * 0.6))), margins = { marginLeft: 52, marginRight: 12, marginTop: 22, marginBottom: 38 };
  const tenfold = ([low, high], pixels) => pixels / Math.log10(high / low); // pixels
  const rotate = (-180 / Math.PI) * Math.atan2(tenfold(y, height - 60), tenfold(x, width - 64));
  const scale = (domain, label, tickFormat) => ({ type: "log", domain, label, tickFormat, ticks: powersOfTen(domain), grid: true });
  return Plot.plot(plotOptions(width, {
    height, ...margins,
    x: scale(x, "FLOP/byte", number), y: scale(y, "FLOP/s", (v) => si(v, "")),
    r: { domain: [0, ops[0].ms], range: [0, width < 500 ? 16 : 22] },
    marks: [
      Plot.link(slopes, { x1: "from", y1: "low", x2: "to", y2: "high", stroke: "var(--ink)", strokeWidth: (one) => (one.own ? 2 : 1) }),
      Plot.link(flat, { x1: "from", y1: "rate", x2: () => x[1], y2: "rate", stroke: "var(--ink)", strokeWidth: (one) => (one.own ? 2 : 1) }),
      Plot.text(slopeTexts(slopes), { x: (one) => 1.2 * one.from, y: (one) => 1.2 * one.low, text: "text", rotate, textAnchor: "start", lineAnchor: "bottom", dy: -3, ...text }),
      Plot.dot(ops, {
        x: "intensity", y: "rate", r: (op) => Math.max(op.ms, ops[0].ms / 100), sort: null, fill: (op) => phaseColour(op.phase), fillOpacity: 0.5,
        stroke: (op) => phaseColour(op.phase),
      }),
      Plot.text(ceilingTexts(limits.ceilings), { x: () => x[1], y: "rate", text: "text", textAnchor: "end", lineAnchor: "bottom", dy: -4, ...text }),
      Plot.tip(ops, Plot.pointer({ x: "intensity", y: "rate", title: aboutOp, fill: "var(--paper)", stroke: "var(--faint)", lineWidth: 22 })),
    ],
  }));
}

// The dots say what they stand for: for tests, and for who looks at the page's source.
function markDots(svg, ops) {
  const dots = [...svg.querySelectorAll("circle")].slice(0, ops.length);
  dots.forEach((dot, i) => {
    for (const [name, value] of Object.entries({ op: ops[i].name, phase: ops[i].phase, ms: ops[i].ms, intensity: ops[i].intensity, rate: ops[i].rate }))
      dot.setAttribute(`data-${name}`, value);
  });
  return dots;
}

// The longest of them; the CSV has all.
function listed(ops, most) {
  const rest = ops.slice(most), name = (op) => `${op.phase} ${op.name} (${number(op.ms)} ms)`;
  const more = rest.length ? ` and ${rest.length} more (${number(rest.reduce((ms, op) => ms + op.ms, 0))} ms)` : "";
  return ops.slice(0, most).map(name).join(", ") + more;
}

// Ops of a step or, with `kernels`, what a GPU ran for them.
function drawDots(place, { record, label, limits }, kernels) {
  const all = (kernels ? roofKernels : roofOps)(record.profile, limits), ops = plottedOps(all);
  const widest = [...ops].sort((a, b) => (b.ms - b.least) - (a.ms - a.least))[0];
  plotted(place, {
    title: `${kernels ? "Kernels" : "Ops"} of a step of ${label}, against the measured limits`, items: ops.map(aboutOp), marks: (svg) => markDots(svg, ops),
    make: (width) => roofPlot(ops, limits, width),
    rows: () => [["phase", kernels ? "kernel" : "op", "nodes", "ms a step", "shortest possible (ms)", "FLOPs a step", "bytes a step", "FLOP/byte", "FLOP/s"],
      ...all.map((op) => [op.phase, op.name, op.nodes, op.ms, op.least, op.flops, op.bytes, op.intensity, op.rate])],
    hint: Number.isFinite(widest.least) ? `Dot with the largest gap: ${aboutOp(widest)}.` : "The limits are not known: run 'roofstep limits' once (on a busy machine with --keep), then profile again.",
  });
  const others = all.filter((op) => !ops.includes(op)), why = kernels ? "their ops ran other kernels beside them, and which computes what is not known" : "with no FLOPs or hardly any";
  if (others.length) place.append(el("p", { class: "wide where" }, `Not in the plot, ${why}: ${listed(others, kernels ? 8 : 40)}.`));
}

function drawRoofline() {
  const rows = profileRows().map((row) => ({ ...row, limits: roofLimits(row.record, row.machine) }))
    .filter(({ record, limits }) => plottedOps(roofOps(record.profile, limits)).length);
  if (!rows.length) return;
  key(body("roofline"), PHASES);
  chooser(body("roofline"), "Cell", rows, (place, row) => {
    const { profile } = row.record;
    if (!profile.gpu || !plottedOps(roofKernels(profile, row.limits)).length) { drawDots(place, row, false); return; }
    chooser(place, "Dots", [{ label: "ops", kernels: false }, { label: "kernels", kernels: true }], (under, { kernels }) => drawDots(under, row, kernels));
  });
}
