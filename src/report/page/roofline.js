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

// {flops, bandwidth, ceilings}: what the profile went by, or else a file of limits for the same device, which also has the
// other precisions. NaN: not known.
function roofLimits(record, machine) {
  const { profile, precision } = record;
  const rates = data.files.filter(({ limits }) => limits && machine && limits.device.startsWith(machine)).flatMap(({ limits }) => limits.rates);
  const most = (some) => d3.max(rates.filter(some), ({ rate }) => rate) ?? NaN;
  const flops = profile.limit_flops ?? most(({ name }) => name.startsWith(`${precision}_`));
  const others = rates.filter(({ name }) => name.endsWith("_largest")).map(({ name, rate }) => ({ label: name.replace("_largest", ""), rate }));
  const once = new Map(others.filter(({ label }) => label !== precision).map((one) => [one.label, one]));
  return { flops, bandwidth: profile.limit_bandwidth ?? most(({ is_memory }) => is_memory), ceilings: [...(flops > 0 ? [{ label: precision, rate: flops, own: true }] : []), ...once.values()] };
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

// Where the lines are, and what they span together with the dots.
function roofLines(ops, ceilings, bandwidth) {
  const knee = (rate) => (bandwidth > 0 ? rate / bandwidth : 0);
  const rates = ceilings.map(({ rate }) => rate);
  const x = [...ops.map((op) => op.intensity), ...rates.map(knee).filter((at) => at > 0)];
  const y = [...ops.map((op) => op.rate), ...rates];
  const [left, right] = [Math.min(...x) / 2, Math.max(...x) * 6];
  const highest = rates.length ? Math.max(...rates) : Math.max(...y);
  const slope = bandwidth > 0 ? [{ from: left, low: left * bandwidth, to: knee(highest), high: highest }] : [];
  return {
    x: [left, right], y: [Math.min(...y, ...slope.map(({ low }) => low)) / 2, Math.max(...y) * 2.5], slope,
    flat: ceilings.map((one) => ({ ...one, from: knee(one.rate) || left })),
  };
}

const powersOfTen = ([low, high]) => d3.range(Math.ceil(Math.log10(low)), Math.floor(Math.log10(high)) + 1).map((power) => Number(`1e${power}`));

function roofPlot(ops, ceilings, bandwidth, width) {
  const { x, y, flat, slope } = roofLines(ops, ceilings, bandwidth);
  const text = { fill: "var(--ink)", stroke: "var(--paper)", strokeWidth: 4 };
  const scale = (domain, label, tickFormat) => ({ type: "log", domain, label, tickFormat, ticks: powersOfTen(domain), grid: true });
  return Plot.plot(plotOptions(width, {
    height: Math.round(Math.min(460, Math.max(300, width * 0.6))), marginLeft: 52, marginRight: 12, marginTop: 22, marginBottom: 38,
    x: scale(x, "FLOP/byte", number), y: scale(y, "FLOP/s", (v) => si(v, "")),
    r: { domain: [0, ops[0].ms], range: [0, width < 500 ? 16 : 22] },
    marks: [
      Plot.link(slope, { x1: "from", y1: "low", x2: "to", y2: "high", stroke: "var(--ink)", strokeWidth: 2 }),
      Plot.link(flat, { x1: "from", y1: "rate", x2: () => x[1], y2: "rate", stroke: "var(--ink)", strokeWidth: (one) => (one.own ? 2 : 1) }),
      Plot.dot(ops, {
        x: "intensity", y: "rate", r: (op) => Math.max(op.ms, ops[0].ms / 100), sort: null, fill: (op) => phaseColour(op.phase), fillOpacity: 0.5,
        stroke: (op) => phaseColour(op.phase),
      }),
      Plot.text(ceilingTexts(ceilings), { x: () => x[1], y: "rate", text: "text", textAnchor: "end", lineAnchor: "bottom", dy: -4, ...text }),
      Plot.text(slope, { x: "from", y: "low", text: () => `memory ${si(bandwidth, "B/s")}`, textAnchor: "start", lineAnchor: "top", dx: 40, dy: -2, ...text }),
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

function drawRoofline() {
  const rows = profileRows().map((row) => ({ ...row, limits: roofLimits(row.record, row.machine) }))
    .filter(({ record, limits }) => plottedOps(roofOps(record.profile, limits)).length);
  if (!rows.length) return;
  key(body("roofline"), PHASES);
  chooser(body("roofline"), "Cell", rows, (place, { record, label, limits }) => {
    const all = roofOps(record.profile, limits), ops = plottedOps(all), { ceilings, bandwidth } = limits;
    const widest = [...ops].sort((a, b) => (b.ms - b.least) - (a.ms - a.least))[0];
    plotted(place, {
      title: `Ops of a step of ${label}, against the measured limits`, items: ops.map(aboutOp), marks: (svg) => markDots(svg, ops),
      make: (width) => roofPlot(ops, ceilings, bandwidth, width),
      rows: () => [["phase", "op", "nodes", "ms a step", "shortest possible (ms)", "FLOPs a step", "bytes a step", "FLOP/byte", "FLOP/s"],
        ...all.map((op) => [op.phase, op.name, op.nodes, op.ms, op.least, op.flops, op.bytes, op.intensity, op.rate])],
      hint: Number.isFinite(widest.least) ? `Dot with the largest gap: ${aboutOp(widest)}.` : "The limits are not known: run 'roofstep limits' once, then profile again.",
    });
    const others = all.filter((op) => !ops.includes(op));
    if (others.length)
      place.append(el("p", { class: "wide where" }, `Not in the plot, with no FLOPs or hardly any: ${others.map((op) => `${op.phase} ${op.name} (${number(op.ms)} ms)`).join(", ")}.`));
  });
}
