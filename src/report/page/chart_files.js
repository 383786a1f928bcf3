"use strict";
// Every chart as an SVG and its figures as a CSV, by two buttons below it.

const chartFiles = []; // {name, host, svg(), rows()}, in the order of the page

// ---- pictures ----

const SVG_WIDTH = 800; // pixels of a chart that is no SVG on the page

// Paper is white: colours of the page as they are in light, so that the picture stands alone.
function standalone(svg, title) {
  const before = document.documentElement.dataset.theme, whole = svg.cloneNode(true);
  whole.removeAttribute("aria-hidden");
  whole.setAttribute("role", "img");
  whole.setAttribute("aria-label", title);
  document.documentElement.dataset.theme = "light";
  const text = new XMLSerializer().serializeToString(whole).replace(/var\((--[\w-]+)\)/g, (_, name) => colour(name) || "currentColor");
  const ink = colour("--ink");
  if (before) document.documentElement.dataset.theme = before;
  else delete document.documentElement.dataset.theme;
  return `${text.replace(/currentColor/g, ink)}\n`;
}

const lineAxis = (label, log) => ({ label, grid: true, ...(log ? { type: "log", base: log, tickFormat: number } : {}) });

// What uPlot draws on the page, from the same spec; see lines().
function linesSvg(spec) {
  const colours = spec.series.map((s, i) => s.colour || `var(${COLOURS[i % COLOURS.length]})`), labels = spec.series.map(({ label }) => label);
  const points = spec.series.flatMap((s, i) => spec.x.map((x, at) => ({ x, y: s.values[at], label: s.label, i })).filter(({ y }) => y !== null));
  const of = { x: "x", y: "y", z: "label" };
  const mark = spec.stacked
    ? [Plot.areaY(points, { ...of, fill: ({ i }) => colours[i], curve: "step-after", order: labels })]
    : spec.series.map((s, i) => Plot.line(points.filter((point) => point.i === i), { x: "x", y: "y", stroke: colours[i], strokeWidth: 2, strokeDasharray: DASHES[i % DASHES.length].join(" ") || null, marker: spec.x.length < 200 ? "dot" : null }));
  return Plot.plot(plotOptions(SVG_WIDTH, {
    height: 400 + 16 * labels.length, marginLeft: 64, marginTop: 20, marginBottom: 40 + 16 * labels.length,
    x: lineAxis(spec.xLabel, spec.logX), y: lineAxis(spec.yLabel, spec.logY),
    marks: [...mark, ...keyMarks(labels, colours)],
  }));
}

// The key below a chart.
const keyMarks = (labels, colours) => labels.map((label, i) =>
  Plot.text([label], { frameAnchor: "bottom-left", textAnchor: "start", dy: 52 + 16 * i, text: () => `■ ${label}`, fill: colours[i] }));

// rows: [{label, segments: [{from, to, colour}], figure}]: bars and lanes, whose tables have no picture of their own.
function tracksSvg(rows, most) {
  const letters = Math.max(...rows.map(({ label }) => label.length)), left = Math.min(320, 7 * letters + 12);
  const segments = rows.flatMap((row, i) => row.segments.map((segment) => ({ ...segment, i })));
  return Plot.plot(plotOptions(SVG_WIDTH, {
    height: 30 * rows.length + 16, marginLeft: left, marginRight: 170, marginTop: 8, marginBottom: 8,
    x: { domain: [0, most], axis: null }, y: { domain: [rows.length, 0], axis: null },
    marks: [
      Plot.rect(segments, { x1: "from", x2: "to", y1: ({ i }) => i + 0.12, y2: ({ i }) => i + 0.88, fill: "colour" }),
      Plot.text(rows, { frameAnchor: "left", y: (_, i) => i + 0.5, dx: 4 - left, textAnchor: "start", text: "label", fill: "var(--ink)" }),
      Plot.text(rows, { frameAnchor: "right", y: (_, i) => i + 0.5, dx: 6, textAnchor: "start", text: "figure", fill: "var(--ink)" }),
    ],
  }));
}

// ---- figures ----

// As the program writes CSV: a text that a spreadsheet would take for a formula is quoted with an apostrophe.
function csvField(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const isFormula = /^[=+\-@\t\r]/.test(value);
  return isFormula || /[",\r\n]/.test(value) ? `"${isFormula ? "'" : ""}${value.replace(/"/g, '""')}"` : value;
}

const csvText = (rows) => rows.map((row) => `${row.map(csvField).join(",")}\r\n`).join("");

// ---- the buttons ----

const fileName = (title) => title.toLowerCase().replace(/[^a-z0-9.]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 80) || "chart";

function save(name, type, text) {
  const link = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// svg(): an element; rows(): the figures, the first row names them.
function addChartFiles(host, title, svg, rows) {
  const file = { host, get name() { return fileName(`${host.closest("section")?.id || ""} ${title}`); }, svg: () => standalone(svg(), title), rows };
  const button = (kind, make) => el("button", { type: "button", "aria-label": `${kind} of ${title}`, onclick: make }, kind);
  chartFiles.push(file);
  host.append(el("p", { class: "tools files" }, button("SVG", () => save(`${file.name}.svg`, "image/svg+xml", file.svg())), " ",
    button("CSV", () => save(`${file.name}.csv`, "text/csv", csvText(file.rows())))));
}

const linesRows = (spec) => [[spec.xLabel, ...spec.series.map(({ label }) => label)], ...spec.x.map((x, i) => [x, ...spec.series.map(({ values }) => values[i])])];

// ---- all of them, for `report --charts` ----

// Every choice of every list, one after the other, and what each shows that was not there before.
function everyChart() {
  const found = new Map();
  const collect = () => {
    for (const { host, name, svg, rows } of chartFiles) {
      if (!host.isConnected) continue;
      const chart = { chart: name, svg: svg(), csv: csvText(rows()) };
      if (!found.has(chart.csv)) found.set(chart.csv, chart);
    }
  };
  collect();
  for (const select of document.querySelectorAll("main select")) {
    for (let i = 1; i < select.options.length; i++) {
      select.selectedIndex = i;
      select.dispatchEvent(new Event("change"));
      collect();
    }
  }
  return [...found.values()];
}

// A name that another chart has gets a number.
function numbered(charts) {
  const seen = new Map();
  return charts.map(({ chart, ...rest }) => {
    seen.set(chart, (seen.get(chart) || 0) + 1);
    return { chart: seen.get(chart) > 1 ? `${chart}-${seen.get(chart)}` : chart, ...rest };
  });
}

// At #charts the page is a line for each of them, which the program reads.
function showChartFiles() {
  const lines = numbered(everyChart()).map((chart) => JSON.stringify(chart).replace(/</g, "\\u003c"));
  document.documentElement.replaceChildren(el("script", { type: "application/json" }, `\n${lines.join("\n")}\n`));
}
