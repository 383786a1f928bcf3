"use strict";
// Drawing: elements, bars that are tables, and lines by uPlot. Text from files goes in as text, never as HTML.

// el("p", {class: "x", onclick: f}, "text", child...)
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// Integers as they are, other numbers with four significant digits. Exponents for very small and very large ones only.
function number(x) {
  if (x === null || x === undefined || !Number.isFinite(x)) return "-";
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e9) return String(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return x.toExponential(2);
  return String(Number(x.toPrecision(4)));
}

// Rows with the same label together: [{label, rows}], in the order of the first ones.
function groupBy(rows, labelOf) {
  const groups = new Map();
  for (const row of rows) {
    const label = labelOf(row);
    if (!groups.has(label)) groups.set(label, { label, rows: [] });
    groups.get(label).rows.push(row);
  }
  return [...groups.values()];
}

// ---- bars ----

// rows: [[label, drawn, figure], ...]
function addTracks(host, about, rows) {
  const made = rows.map(([label, track, figure]) => el("tr", {},
    el("th", { scope: "row" }, el("span", {}, label)), el("td", {}, track), el("td", { class: "figure" }, figure)));
  const table = el("table", { class: "bars", "aria-label": about }, el("tbody", {}, ...made));
  host.append(table);
  return table;
}

// rows: [{label, parts: [{name, colour, value, text}], low, high, figure}]; `most` is the right end.
function bars(host, about, rows, most) {
  const percent = (value) => `${(100 * value) / most}%`;
  const table = addTracks(host, about, rows.map((row) => {
    const track = el("div", { class: "track" }, ...row.parts.map((part) => el("div", {
      class: "part", title: `${part.name}: ${part.text}`, style: `width: ${percent(part.value)}; background: var(${part.colour})`,
    })));
    const low = Math.max(0, row.low), high = Math.min(most, row.high);
    if (Number.isFinite(low) && Number.isFinite(high)) track.append(el("div", {
      class: "whisker", title: `95 % interval: ${number(row.low)} to ${number(row.high)} ms`,
      style: `left: ${percent(low)}; width: ${percent(high - low)}`,
    }));
    return [row.label, track, row.figure];
  }));
  addChartFiles(host, about, () => tracksSvg(rows.map(barSegments), most), () => [
    ["row", "part", "value", "low", "high", "figure"], ...rows.flatMap((row) => row.parts.map((part) => [row.label, part.name, part.value, row.low, row.high, row.figure]))]);
  return table;
}

// Parts of a bar one after the other.
function barSegments({ label, parts, figure }) {
  let at = 0;
  return { label, figure, segments: parts.map((part) => ({ from: at, to: (at += part.value), colour: `var(${part.colour})` })) };
}

// tracks: [{name, events: [[name, scope, begin, time], ...]}]; all between `begin` and `end`.
function lanes(host, about, tracks, begin, end) {
  const percent = (time) => (100 * time) / (end - begin);
  addTracks(host, about, tracks.map((track) => {
    const scopes = [...new Set(track.events.map(([, scope]) => scope))];
    const events = track.events.map(([name, scope, at, time]) => el("div", {
      class: "event", title: `${scope} ${name}: ${number(time)} us, from ${number(at - begin)} us`,
      style: `left: ${percent(at - begin)}%; width: ${percent(time)}%; background: var(${COLOURS[scopes.indexOf(scope) % COLOURS.length]})`,
    }, name));
    const busy = percent(track.events.reduce((sum, [, , , time]) => sum + time, 0));
    return [track.name, el("div", { class: "track lane" }, ...events), `${busy.toFixed(1)} % busy`];
  }));
  const colourOf = (track, scope) => `var(${COLOURS[[...new Set(track.events.map(([, one]) => one))].indexOf(scope) % COLOURS.length]})`;
  addChartFiles(host, about, () => tracksSvg(tracks.map((track) => ({
    label: track.name, figure: "", segments: track.events.map(([, scope, at, time]) => ({ from: at - begin, to: at - begin + time, colour: colourOf(track, scope) })),
  })), end - begin), () => [["track", "event", "scope", "begin (us)", "us"], ...tracks.flatMap((track) => track.events.map(([name, scope, at, time]) => [track.name, name, scope, at - begin, time]))]);
}

function key(host, entries) {
  const list = entries.map(([name, of]) => el("li", {}, el("i", { "aria-hidden": "true", style: `background: var(${of})` }), name));
  host.append(el("ul", { class: "key" }, ...list));
}

// ---- lines ----

const COLOURS = ["--c1", "--c2", "--c3", "--c4", "--c5", "--c6", "--c7", "--c8"];
const DASHES = [[], [9, 4], [3, 3], [12, 3, 3, 3], [1, 4], [6, 2, 2, 2, 2, 2]];
const drawn = []; // every chart, to be drawn again when the colours or the width change

// spec: {title, xLabel, yLabel, logX, logY, x: [...], series: [{label, values: [...], colour: of an area}]}; `stacked` puts each series on
// those before it; `bands`: [{from, to, name}] along x; `about(i)` describes the position of the pointer.
function lines(host, spec) {
  const plot = el("div", {
    class: "plot", tabindex: "0", role: "group",
    "aria-label": `Chart: ${spec.title}. Left and right arrow keys read the values.`,
  });
  const said = el("p", { class: "tools", "aria-live": "polite" });
  const where = el("p", { class: "where" }, spec.about ? spec.about(0) : null);
  const chart = { plot, spec, said, where, u: null };
  plot.addEventListener("keydown", (event) => readByKey(chart, event));
  const figure = el("figure", {}, el("figcaption", {}, spec.title), plot, spec.about ? where : null, said);
  host.append(figure);
  drawn.push(chart);
  draw(chart);
  addChartFiles(figure, spec.title, () => linesSvg(spec), () => linesRows(spec));
  return chart;
}

// A linear x counts samples, steps or nodes: there is no sample 1.5.
const INTEGER_STEPS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6].flatMap((unit) => [unit, 2 * unit, 5 * unit]);

function axis(spec, label, log, size) {
  return {
    label, size, stroke: colour("--ink"), font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif",
    labelSize: 22, grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 },
    values: (u, splits) => splits.map((v) => (v === null ? "" : number(v))),
    ...(log === 2 ? { filter: (u, splits) => splits } : {}),
  };
}

function draw(chart, fixed) {
  const { spec, plot } = chart;
  const width = fixed || Math.max(240, plot.clientWidth || 600);
  if (chart.u) chart.u.destroy();
  const stacks = spec.stacked ? stack(spec.series) : null;
  const scale = (log) => (log ? { time: false, distr: 3, log } : { time: false });
  const options = {
    width, height: Math.round(Math.min(340, Math.max(220, width * 0.62))),
    scales: { x: scale(spec.logX), y: scale(spec.logY) },
    axes: [{ ...axis(spec, spec.xLabel, spec.logX, 34), ...(spec.logX ? {} : { incrs: INTEGER_STEPS }) }, axis(spec, spec.yLabel, spec.logY, 60)],
    series: [{ label: spec.xLabel, value: (u, v) => number(v) }, ...(stacks ? areas(spec) : curves(spec))],
    cursor: { drag: { x: false, y: false } },
    hooks: { drawClear: [(u) => drawBands(u, spec.bands || [])], setCursor: [(u) => showPosition(chart, u.cursor.idx)] },
  };
  if (stacks) options.scales.y.range = (u, low, high) => [0, high * 1.08];
  chart.u = new uPlot(options, [spec.x, ...(stacks || spec.series.map((s) => s.values))], plot);
}

function curves(spec) {
  return spec.series.map((s, i) => ({
    label: s.label, stroke: colour(COLOURS[i % COLOURS.length]), width: 2, dash: DASHES[i % DASHES.length],
    points: { show: spec.x.length < 200, size: 6 }, value: (u, v) => number(v),
  }));
}

// Draws the whole stack first and each lower area over it. The legend shows the values of each series alone.
function areas(spec) {
  return spec.series.map((s, i) => ({
    label: s.label, stroke: s.colour || colour(COLOURS[i % COLOURS.length]), fill: s.colour || colour(COLOURS[i % COLOURS.length]), width: 1,
    points: { show: false }, paths: uPlot.paths.stepped({ align: 1 }), value: (u, v, at, x) => number(x === null ? null : s.values[x]),
  })).reverse();
}

function stack(series) {
  const sums = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, i) => value + (below ? below[i] : 0)));
  }
  return sums.reverse();
}

function drawBands(u, bands) {
  const { ctx, bbox } = u;
  ctx.save();
  bands.forEach((band, i) => {
    const left = u.valToPos(band.from, "x", true), right = u.valToPos(band.to, "x", true);
    ctx.fillStyle = colour(i % 2 ? "--paper" : "--band");
    ctx.fillRect(left, bbox.top, right - left, bbox.height);
    ctx.fillStyle = colour("--ink");
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "center";
    if (right - left > 60 * devicePixelRatio) ctx.fillText(band.name, (left + right) / 2, bbox.top + 14 * devicePixelRatio);
  });
  ctx.restore();
}

function showPosition(chart, i) {
  if (chart.spec.about && i !== null && i !== undefined) chart.where.textContent = chart.spec.about(i);
}

// Drops charts that a new choice has replaced. `width`: of a chart on paper, which the browser does not tell beforehand.
function redraw(width) {
  drawn.splice(0, drawn.length, ...drawn.filter((chart) => chart.plot.isConnected));
  for (const chart of drawn) draw(chart, width);
  redrawPlots(width);
}

function readByKey(chart, event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const { u, spec } = chart;
  const last = spec.x.length - 1;
  const now = u.cursor.idx === null || u.cursor.idx === undefined ? (step > 0 ? -1 : last + 1) : u.cursor.idx;
  const i = Math.min(last, Math.max(0, now + step));
  u.setCursor({ left: u.valToPos(spec.x[i], "x"), top: u.over.clientHeight / 2 });
  chart.said.textContent = `${spec.xLabel} ${number(spec.x[i])}: ` +
    spec.series.map((s) => `${s.label} ${number(s.values[i])}`).join(", ");
}

// Drawing changes the observed size: wait for the next frame, or the browser reports a ResizeObserver loop.
let lastWidth = 0;
new ResizeObserver(() => {
  const width = document.documentElement.clientWidth;
  if (width === lastWidth) return;
  lastWidth = width;
  requestAnimationFrame(() => redraw());
}).observe(document.documentElement);
