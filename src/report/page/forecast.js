"use strict";
// Steps that were forecast: what each device would take, and what one unit of its cost would buy.

const FORECAST_CELL = ["as", "size", "precision", "batch", "ctx", "exec", "recompute"];

// Every forecast with its label: [{device, cell, label, ms, low, high, million}], the shortest first.
function forecastRows() {
  const all = data.files.flatMap(({ forecasts }) => forecasts || []).filter((row) => row?.forecast?.step_ms > 0);
  const varying = FORECAST_CELL.filter((name) => new Set(all.map((row) => row[name])).size > 1);
  return all.map((row) => {
    const f = row.forecast, device = String(row.limits_of), cell = varying.map((name) => `${name} ${row[name] ?? "-"}`).join(", ");
    const finite = (x) => (Number.isFinite(x) ? x : null);
    return { device, cell, label: cell ? `${device}: ${cell}` : device, ms: f.step_ms, low: finite(f.low_ms), high: finite(f.high_ms), million: f.tokens_per_unit > 0 ? f.tokens_per_unit / 1e6 : null };
  }).sort((a, b) => a.ms - b.ms);
}

const aboutForecast = ({ label, ms, low, high }) =>
  `${label}: ${number(ms)} ms${low === null ? ", no interval" : `, 90 % are between ${number(low)} and ${number(high)} ms`}`;
const aboutTokens = ({ label, million }) => `${label}: ${number(million)} million tokens for one unit of what it costs`;

// A bar for each row, whose label stands above it; an interval is a line through its end.
function forecastPlot(rows, width, { value, xLabel, about }) {
  const at = (row) => rows.indexOf(row), known = rows.filter(({ low }) => value === "ms" && low !== null);
  const most = Math.max(...rows.map((row) => row[value]), ...known.map(({ high }) => high));
  return Plot.plot(plotOptions(width, {
    height: rows.length * 40 + 50, marginLeft: 12, marginRight: 14, marginTop: 6, marginBottom: 38,
    x: { domain: [0, most * 1.05], label: xLabel, grid: true, ticks: Math.max(3, Math.round(width / 130)) },
    y: { domain: [rows.length, 0], axis: null },
    marks: [
      Plot.rect(rows, { x1: 0, x2: value, y1: (row) => at(row) + 0.45, y2: (row) => at(row) + 0.85, fill: "var(--c1)", title: about }),
      Plot.link(known, { x1: "low", x2: "high", y1: (row) => at(row) + 0.65, y2: (row) => at(row) + 0.65, stroke: "var(--ink)", strokeWidth: 2 }),
      Plot.text(rows, { x: 0, y: (row) => at(row) + 0.24, textAnchor: "start", text: (row) => `${row.label}  ${number(row[value])}`, fill: "var(--ink)" }),
    ],
  }));
}

function forecastChart(place, rows, spec) {
  plotted(place, {
    title: spec.title, hint: spec.hint, items: rows.map(spec.about), marks: (svg) => [...svg.querySelectorAll("g[aria-label=rect] rect")],
    make: (width) => forecastPlot(rows, width, spec), rows: () => [["device", "cell", ...spec.names], ...rows.map((row) => [row.device, row.cell, ...spec.figures(row)])],
  });
}

function drawForecasts() {
  const rows = forecastRows(), priced = rows.filter(({ million }) => million !== null).sort((a, b) => b.million - a.million);
  if (!rows.length) return;
  forecastChart(body("forecast"), rows, {
    title: "Forecast of a step by device", value: "ms", xLabel: "step, ms", about: aboutForecast, hint: "The line is the interval that 90 % of steps are in, where one was measured.",
    names: ["step (ms)", "low (ms)", "high (ms)"], figures: ({ ms, low, high }) => [ms, low, high],
  });
  if (!priced.length) return;
  forecastChart(body("forecast"), priced, {
    title: "Tokens for one unit of what a device costs", value: "million", xLabel: "million tokens", about: aboutTokens, hint: "At the price of an hour that was given.",
    names: ["million tokens"], figures: ({ million }) => [million],
  });
}
