"use strict";
// The icicle of a step: step, phase, layer, op; width is time. The memory timeline stands under it, on the same axis.

// ---- the tree: {name, phase, ms, about, children}, whose children are as long as it is ----

const nested = (name, phase, ms, children = [], more = {}) => ({ name, phase, ms, children, ...more });
const totalOf = (parts) => parts.reduce((sum, part) => sum + part.ms, 0);

// What the parts leave of the time above them is a part as well. Parts that overlap are squeezed into it.
function filled(parts, ms, rest, phase) {
  const sum = totalOf(parts);
  if (sum > ms) return parts.map((part) => squeezed(part, ms / sum));
  return ms - sum > ms * 1e-9 ? [...parts, nested(rest, phase, ms - sum, [], { isRest: true })] : parts;
}

const squeezed = (part, share) => ({ ...part, ms: part.ms * share, children: part.children.map((child) => squeezed(child, share)) });

const isLayer = (name) => /^layer\.\d+$/.test(name);
const withoutLayer = (scope) => scope.replace(/^layer\.\d+\//, "");

// What of a profile the tree is made of, in milliseconds of a step.
function stepTimes(profile) {
  const per = (ns) => ns / profile.steps / 1e6;
  const ranges = (profile.ranges || []).map((range) => ({ ...range, ms: per(range.device ?? range.host?.total ?? 0) }));
  const ops = profile.ops.map((op) => ({ ...op, ms: per((profile.gpu ? op.device : op.host)?.total ?? 0) })).filter(({ ms }) => ms > 0);
  return { ranges, ops, step: per(profile.step.total), wall: (phase) => per(phase.wall.total) };
}

// Ops of a layer's scopes: by the time that this layer spent in each scope, shared as over all layers.
function layerOps(times, phase, layer, opsOfLayers) {
  const scopeTime = new Map(times.ranges.filter((r) => r.phase === phase && r.name.startsWith(`${layer.name}/`)).map((r) => [withoutLayer(r.name), r.ms]));
  const all = totalOf(opsOfLayers);
  return opsOfLayers.map((op) => {
    const alike = totalOf(opsOfLayers.filter(({ scope }) => scope === op.scope));
    const ms = scopeTime.has(op.scope) ? (scopeTime.get(op.scope) * op.ms) / alike : (layer.ms * op.ms) / all;
    return nested(`${op.scope} ${op.op}`, phase, ms);
  });
}

function layerParts(times, phase, layers, ops, folded) {
  const whole = totalOf(layers), each = layers.map(({ ms }) => ms);
  if (!folded || layers.length < 2)
    return layers.map((layer) => nested(layer.name, phase, layer.ms, filled(layerOps(times, phase, layer, ops), layer.ms, "other", phase)));
  const about = `each ${number(whole / layers.length)} ms, ${number(Math.min(...each))} to ${number(Math.max(...each))}`;
  const parts = ops.map((op) => nested(`${op.scope} ${op.op}`, phase, op.ms, [], { about: op.nodes > 1 ? `${op.nodes} nodes` : "" }));
  return [nested(`${layers.length} layers`, phase, whole, filled(parts, whole, "other", phase), { about })];
}

// Parts of a phase in the order of its ranges; all layers stand where the first of them is.
function partsOfPhase(times, phase, folded) {
  const top = times.ranges.filter((range) => range.phase === phase && range.level === 0);
  const own = times.ops.filter((op) => op.phase === phase), layers = top.filter(({ name }) => isLayer(name));
  const others = new Set(top.filter(({ name }) => !isLayer(name)).map(({ name }) => name));
  const outside = (op) => others.has(op.scope.split("/")[0]);
  if (!top.length) return own.map((op) => nested(`${op.scope} ${op.op}`, phase, op.ms));
  return top.flatMap((range) => {
    if (isLayer(range.name)) return range === layers[0] ? layerParts(times, phase, layers, own.filter((op) => !outside(op)), folded) : [];
    const ops = own.filter((op) => op.scope.split("/")[0] === range.name).map((op) => nested(`${op.scope} ${op.op}`, phase, op.ms));
    return [nested(range.name, phase, range.ms, filled(ops, range.ms, "other", phase))];
  });
}

function stepTree(profile, folded) {
  const times = stepTimes(profile);
  const phases = profile.phases.map((phase) => {
    const ms = times.wall(phase);
    return nested(phase.phase, phase.phase, ms, filled(partsOfPhase(times, phase.phase, folded), ms, profile.gpu ? "launches and gaps" : "between ops", phase.phase));
  });
  return nested("step", "", times.step, filled(phases, times.step, "between phases", ""));
}

// ---- where every node is: [{node, depth, x0, x1, parents}] by d3 ----

function partitioned(tree) {
  const root = d3.hierarchy(tree).sum((part) => (part.children.length ? 0 : part.ms));
  return d3.partition().size([root.value, root.height + 1])(root);
}

const pathOf = (node) => node.ancestors().reverse().map((part) => part.data.name);

function aboutPart(node, step) {
  const { ms, about } = node.data;
  return `${pathOf(node).slice(node.depth ? 1 : 0).join(" / ")}: ${number(ms)} ms, ${(100 * ms / step).toFixed(1)} % of the step${about ? `; ${about}` : ""}`;
}

// ---- the drawing ----

const ICICLE_ROW = 26, ICICLE_MARGINS = { marginLeft: 60, marginRight: 12 };

// As many letters as fit, of 7 pixels each.
const clipped = (text, pixels) => (pixels < 24 ? "" : text.length * 7 <= pixels ? text : `${text.slice(0, Math.floor(pixels / 7) - 1)}…`);

function iciclePlot(state, width) {
  const { focus, nodes, step } = state;
  const pixels = (node) => ((Math.min(node.x1, focus.x1) - Math.max(node.x0, focus.x0)) / (focus.x1 - focus.x0)) * (width - 72);
  const shown = nodes.filter((node) => node.x1 > focus.x0 && node.x0 < focus.x1);
  const left = (node) => Math.max(node.x0, focus.x0), right = (node) => Math.min(node.x1, focus.x1);
  const rows = Math.max(...nodes.map(({ depth }) => depth)) + 1;
  state.shown = shown;
  return Plot.plot(plotOptions(width, {
    ...ICICLE_MARGINS, height: rows * ICICLE_ROW + 42, marginTop: 4, marginBottom: 38,
    x: { domain: [focus.x0, focus.x1], label: "ms of the step" }, y: { domain: [0, rows], reverse: true, axis: null },
    marks: [
      Plot.rect(shown, {
        x1: left, x2: right, y1: "depth", y2: (node) => node.depth + 1, sort: null,
        fill: (node) => (node.data.isRest || !node.data.phase ? "var(--band)" : phaseColour(node.data.phase)), fillOpacity: (node) => (node.depth < 2 ? 0.6 : node.depth < 3 ? 0.42 : 0.26),
        stroke: "var(--paper)", strokeWidth: 1,
      }),
      Plot.text(shown.filter((node) => pixels(node) > 24), {
        x: left, y: (node) => node.depth + 0.5, text: (node) => clipped(node.data.name, pixels(node) - 6), textAnchor: "start", dx: 4, fill: "var(--ink)", pointerEvents: "none",
      }),
      Plot.ruleX(state.peak ? [state.peak.x] : [], { stroke: "var(--bad)", strokeWidth: 1.5, pointerEvents: "none" }),
    ],
  }));
}

// Each rectangle says what it is to the pointer, and zooms in; the ones above zoom out.
function markParts(svg, state, zoom) {
  const rects = [...svg.querySelectorAll("g > rect")].slice(0, state.shown.length);
  rects.forEach((rect, i) => {
    const node = state.shown[i];
    for (const [name, value] of Object.entries({ path: pathOf(node).join("/"), depth: node.depth, ms: node.data.ms })) rect.setAttribute(`data-${name}`, value);
    rect.addEventListener("click", () => zoom(node));
    rect.addEventListener("pointerenter", () => sayPlot(state.chart, i));
  });
  return rects;
}

function drawIcicle(place, { record, label }, memory, folded) {
  const nodes = partitioned(stepTree(record.profile, folded)).descendants(), step = nodes[0].data.ms;
  const axis = memory && memoryAxis(record.profile, memory);
  const state = { nodes, step, focus: nodes[0], shown: [], peak: axis && axis.peak, charts: [] };
  const zoom = (node) => {
    state.focus = node === state.focus && node.parent ? node.parent : node;
    state.charts.forEach((chart) => { chart.at = -1; drawPlot(chart); });
  };
  state.chart = plotted(place, {
    title: `Where the time of a step of ${label} goes`, hint: aboutPart(nodes[0], step), make: (width) => iciclePlot(state, width),
    marks: (svg) => markParts(svg, state, zoom), get items() { return state.shown.map((node) => aboutPart(node, step)); },
    rows: () => [["part", "depth", "begin (ms)", "ms"], ...nodes.map((node) => [pathOf(node).join(" / "), node.depth, node.x0, node.data.ms])],
    enter: (i) => zoom(state.shown[i]), leave: () => zoom(state.focus),
  });
  state.charts.push(state.chart);
  if (axis) state.charts.push(drawStepMemory(place, memory, axis, state));
  else place.append(el("p", { class: "wide where" }, "To see its memory on the same axis, add the file of ", el("code", {}, `${memoryCommand(record)} --out memory.json`), "."));
}

function drawIcicles() {
  const rows = profileRows().filter(({ record }) => record.profile.step?.total > 0 && record.profile.steps > 0);
  if (!rows.length) return;
  key(body("icicle"), PHASES);
  chooser(body("icicle"), "Cell", rows, (place, row) => {
    const memory = data.files.flatMap((file) => file.memory || []).find(({ cell }) => isSameCell(row.record, cell));
    const layers = new Set(row.record.profile.ranges?.map(({ name }) => name).filter(isLayer));
    const charts = el("div", { class: "charts wide" }), box = el("input", { type: "checkbox" });
    const show = () => { charts.replaceChildren(); drawIcicle(charts, row, memory, !box.checked); };
    box.addEventListener("change", show);
    if (layers.size > 1) place.append(el("p", { class: "tools wide" }, el("label", {}, box, " Every layer")));
    place.append(charts);
    show();
  });
}
