"use strict";
// The memory timeline on the time axis of the icicle: every node of the plan at the time when the profile has it.

// The command that measures the memory of a profiled cell.
function memoryCommand(record) {
  const dims = ["d_model", "d_ff", "num_layers", "num_heads", "vocab"].map((name) => `--${name.replace("_", "-")} ${record[name]}`).join(" ");
  const model = record.model ? `--model ${record.size}` : record.size === "custom" ? dims : `--size ${record.size}`;
  return `roofstep memory ${model} --ctx ${record.ctx} --batch ${record.batch} --precision ${record.precision} --exec ${record.exec}`;
}

// Time that the profile has for a scope of a phase: of its range, or else of its ops.
function scopeTimes(times) {
  const found = new Map();
  for (const range of times.ranges) found.set(`${range.phase} ${range.name}`, range.ms);
  const ops = new Map();
  for (const op of times.ops) ops.set(`${op.phase} ${op.scope}`, (ops.get(`${op.phase} ${op.scope}`) || 0) + op.ms);
  for (const [name, ms] of ops) if (!found.has(name)) found.set(name, ms);
  return found;
}

// Where each node begins, in milliseconds: {x: [of each node], end, peak: {node, x, mib}}. Nodes of one scope share its time.
function memoryAxis(profile, memory) {
  const times = stepTimes(profile), scopes = scopeTimes(times);
  const names = memory.phases.map((phase, i) => `${phase} ${memory.scopes[i]}`);
  const counts = d3.rollup(names, (all) => all.length, (name) => name);
  const raw = names.map((name) => (scopes.get(name) || 0) / counts.get(name));
  const x = [];
  let at = 0;
  for (const phase of profile.phases) {
    const nodes = d3.range(names.length).filter((i) => memory.phases[i] === phase.phase);
    const attributed = totalOf(times.ranges.filter((range) => range.phase === phase.phase && range.level === 0));
    const sum = d3.sum(nodes, (i) => raw[i]), wall = times.wall(phase), used = Math.min(attributed || wall, wall);
    let inside = 0;
    for (const i of nodes) { x[i] = at + (sum > 0 ? (inside / sum) * used : (used * (i - nodes[0])) / nodes.length); inside += raw[i]; }
    at += wall;
  }
  for (let i = 0; i < names.length; i++) x[i] ??= i ? x[i - 1] : 0; // a phase that the profile has not
  const all = names.map((_, i) => d3.sum(memory.uses, (use) => use.mib[i]));
  const node = d3.maxIndex(all);
  const next = x.findIndex((value, i) => i > node && value > x[node]);
  return { x, end: times.step, all, peak: { node, x: (x[node] + (next < 0 ? x[node] : x[next])) / 2, mib: all[node] } };
}

function stepMemoryPlot(memory, axis, state, width) {
  const { focus, peak } = state;
  const rows = memory.uses.flatMap((use) => [...use.mib.map((mib, i) => ({ x: axis.x[i], mib, use: use.name })), { x: axis.end, mib: use.mib.at(-1), use: use.name }]);
  const colours = new Map(memory.uses.map((use) => [use.name, use.colour]));
  const right = peak.x > (focus.x0 + focus.x1) / 2;
  return Plot.plot(plotOptions(width, {
    ...ICICLE_MARGINS, height: 260, marginTop: 20, marginBottom: 38,
    x: { domain: [focus.x0, focus.x1], label: "ms of the step" }, y: { label: "MiB", grid: true, domain: [0, peak.mib * 1.1] },
    marks: [
      Plot.areaY(rows, { x: "x", y: "mib", z: "use", fill: (row) => colours.get(row.use), curve: "step-after", order: memory.uses.map(({ name }) => name), clip: true }),
      Plot.ruleX([peak.x], { stroke: "var(--bad)", strokeWidth: 1.5, clip: true }),
      Plot.text(peak.x >= focus.x0 && peak.x <= focus.x1 ? [peak] : [], {
        x: "x", y: () => peak.mib * 1.1, text: () => `peak ${number(peak.mib)} MiB`, lineAnchor: "bottom", textAnchor: right ? "end" : "start", dy: -3, fill: "var(--bad)",
      }),
    ],
  }));
}

function drawStepMemory(place, memory, axis, state) {
  const { node } = axis.peak, op = memory.cell.peak?.node === node ? ` ${memory.cell.peak.op}` : "";
  const about = (i) => `at ${number(axis.x[i])} ms: ${number(axis.all[i])} MiB, ${memory.phases[i]} ${memory.scopes[i]}`;
  const made = plotted(place, {
    title: "Memory over the same step", hint: `Peak: ${number(axis.peak.mib)} MiB in ${memory.phases[node]}, ${memory.scopes[node]}${op}.`,
    make: (width) => stepMemoryPlot(memory, axis, state, width),
    rows: () => [["begin (ms)", "phase", "scope", ...memory.uses.map(({ name }) => `${name} (MiB)`)], ...axis.x.map((x, i) => [x, memory.phases[i], memory.scopes[i], ...memory.uses.map(({ mib }) => mib[i])])],
    items: axis.x.map((_, i) => about(i)),
  });
  made.plot.addEventListener("pointermove", (event) => {
    const svg = made.plot.querySelector("svg"), box = svg.getBoundingClientRect();
    const at = svg.scale("x").invert(((event.clientX - box.left) * made.width) / box.width);
    sayPlot(made, Math.max(0, d3.bisectRight(axis.x, at) - 1));
  });
  const list = memory.uses.map((use) => el("li", {}, el("i", { "aria-hidden": "true", style: `background: ${use.colour}` }), use.name));
  place.append(el("ul", { class: "key wide" }, ...list));
  return made;
}
