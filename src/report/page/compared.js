"use strict";
// Files against each other: the change of every cell with its interval, and a cell over several files in the order of time.

const VERDICT_COLOURS = { faster: "var(--good)", slower: "var(--bad)" };
const verdictColour = ({ verdict }) => VERDICT_COLOURS[verdict] || "var(--faint)";

const aboutChange = ({ label, phase, change, low, high, verdict }) =>
  `${label}, ${phase}: ${number(change)} %, 95 % interval ${number(low)} to ${number(high)} %, ${verdict}`;

function changePlot(rows, width) {
  const narrow = width < 600, letters = Math.max(...rows.map(({ label }) => label.length));
  const left = narrow ? 12 : Math.min(Math.round(width / 3), 7 * letters + 16);
  const ends = d3.extent(rows.flatMap(({ low, high }) => [low, high, 0])), room = (ends[1] - ends[0]) * 0.05 || 1;
  const name = narrow ? { x: () => ends[0] - room, dy: -11, textAnchor: "start" } : { frameAnchor: "left", dx: -left + 2, textAnchor: "start" };
  return Plot.plot(plotOptions(width, {
    height: rows.length * (narrow ? 36 : 24) + 54, marginLeft: left, marginRight: 14, marginTop: 14, marginBottom: 38,
    x: { domain: [ends[0] - room, ends[1] + room], label: "change of B against A, %", grid: true, ticks: Math.max(3, Math.round(width / 130)) },
    y: { domain: [rows.length - 0.5, -0.5], axis: null },
    marks: [
      Plot.ruleX([0], { stroke: "var(--ink)" }),
      Plot.link(rows, { x1: "low", x2: "high", y1: (_, i) => i, y2: (_, i) => i, stroke: verdictColour, strokeWidth: 3 }),
      Plot.dot(rows, { x: "change", y: (_, i) => i, r: 4.5, fill: verdictColour, title: aboutChange, sort: null }),
      Plot.text(rows, { ...name, y: (_, i) => i, text: "label", fill: "var(--ink)" }),
    ],
  }));
}

function drawChanges() {
  for (const { a, b, phases } of data.comparisons) {
    const choices = groupBy(phases, ({ phase }) => phase).map(({ label, rows }) => ({ label, rows }));
    if (!choices.length) continue;
    key(body("comparison"), [["faster", "--good"], ["slower", "--bad"], ["neither", "--faint"]]);
    chooser(body("comparison"), "Phase", choices, (place, choice) => plotted(place, {
      title: `${choice.label}: ${b} (B) against ${a} (A)`, items: choice.rows.map(aboutChange), marks: (svg) => [...svg.querySelectorAll("circle")],
      rows: () => [["cell", "phase", "change (%)", "low (%)", "high (%)", "verdict"], ...choice.rows.map((row) => [row.label, row.phase, row.change, row.low, row.high, row.verdict])],
      make: (width) => changePlot(choice.rows, width), hint: "Left of 0 B is faster. The line is the 95 % interval of the change.",
    }), Math.max(0, choices.findIndex(({ label }) => label === "step")));
  }
}

// ---- over the files, in the order of time ----

// Cells with a step in three files or more: [{label, points: [{file, when, ms, low, high}]}].
function histories() {
  const found = new Map();
  for (const { name, rows, labels } of data.files) {
    rows.model.forEach((record, i) => {
      const ms = record.peer ? 0 : time(withoutUnfinished(record), "step");
      if (!(ms > 0) || !record.cell) return;
      if (!found.has(record.cell)) found.set(record.cell, { label: labels.model[i] || record.size, points: [] });
      found.get(record.cell).points.push({ file: name, when: record.time_utc || "", ms, low: end(record, "step", 0), high: end(record, "step", 1) });
    });
  }
  const long = [...found.values()].filter(({ points }) => new Set(points.map(({ file }) => file)).size > 2);
  return long.map((one) => ({ ...one, points: one.points.sort((a, b) => d3.ascending(a.when, b.when)) }));
}

const aboutPoint = ({ file, when, ms, low, high }) =>
  `${file}${when ? `, ${when.replace("T", " ").replace("Z", "")}` : ""}: ${number(ms)} ms${Number.isFinite(low) ? `, 95 % interval ${number(low)} to ${number(high)} ms` : ""}`;

function historyPlot(points, width) {
  const all = points.flatMap(({ ms, low, high }) => [ms, low, high]).filter(Number.isFinite), [least, most] = d3.extent(all);
  const room = (most - least) * 0.15 || most * 0.05, fits = Math.max(8, Math.floor((width - 80) / points.length / 7));
  const name = ({ file }) => (file.length > fits ? `${file.slice(0, fits - 1)}…` : file);
  return Plot.plot(plotOptions(width, {
    height: 260, marginLeft: 60, marginRight: 14, marginTop: 20, marginBottom: 34,
    x: { type: "point", domain: d3.range(points.length), tickFormat: (i) => name(points[i]), label: null, padding: 0.5 },
    y: { domain: [least - room, most + room], label: "step, ms", grid: true, ticks: 5 },
    marks: [
      Plot.line(points, { x: (_, i) => i, y: "ms", stroke: "var(--c1)", strokeWidth: 1.5 }),
      Plot.link(points.map((one, i) => ({ ...one, i })).filter(({ low }) => Number.isFinite(low)), { x1: "i", x2: "i", y1: "low", y2: "high", stroke: "var(--c1)", strokeWidth: 3 }),
      Plot.dot(points, { x: (_, i) => i, y: "ms", r: 4.5, fill: "var(--c1)", title: aboutPoint, sort: null }),
    ],
  }));
}

function drawHistory() {
  const cells = histories();
  if (!cells.length) return;
  body("comparison").append(el("h3", {}, "Over the files, in the order of time"));
  chooser(body("comparison"), "Cell", cells, (place, { label, points }) => plotted(place, {
    title: `Step of ${label} over ${points.length} files`, items: points.map(aboutPoint), marks: (svg) => [...svg.querySelectorAll("circle")],
    rows: () => [["file", "time", "step (ms)", "low (ms)", "high (ms)"], ...points.map(({ file, when, ms, low, high }) => [file, when, ms, low, high])],
    make: (width) => historyPlot(points, width), hint: aboutPoint(points.at(-1)),
  }));
}
