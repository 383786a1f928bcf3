"use strict";
// Samples of a cell: where they lie about their median, and whether they drift.

const SAMPLED = ["step", "forward", "backward", "optimizer"];

// [{name, median, samples: [{name, at: 0 to 1 in order, ms, off: percent of the median}], low, high: of the interval, percent}]
function sampleRows(record) {
  return SAMPLED.filter((name) => record[name]?.samples_ms?.length > 1).map((name) => {
    const all = record[name].samples_ms, middle = d3.median(all), off = (ms) => 100 * (ms / middle - 1);
    const [low, high] = [record[name].median_low_ms, record[name].median_high_ms].map((ms) => (Number.isFinite(ms) ? off(ms) : null));
    return { name, median: middle, low, high, samples: all.map((ms, i) => ({ name, i, ms, at: (i + 0.5) / all.length, off: off(ms) })) };
  });
}

// A line of dots for each phase, from the first sample above to the last below.
function samplePlot(rows, width) {
  const row = new Map(rows.map(({ name }, i) => [name, i])), inset = 0.12;
  const top = ({ name }) => row.get(name) + inset, low = ({ name }) => row.get(name) + 1 - inset;
  const known = rows.filter((one) => one.low !== null);
  const colourOf = ({ name }) => (name === "step" ? "var(--ink)" : phaseColour(name));
  const offs = rows.flatMap(({ samples }) => samples.map(({ off }) => off)), most = Math.max(0.1, ...offs.map(Math.abs));
  const domain = [Math.max(Math.min(...offs), -most), Math.max(...offs)], room = (domain[1] - domain[0] || 0.1) * 0.04;
  return Plot.plot(plotOptions(width, {
    height: rows.length * 64 + 50, marginLeft: 150, marginRight: 14, marginTop: 6, marginBottom: 38,
    x: { domain: [domain[0] - room, domain[1] + room], label: "% from the median", grid: true, ticks: Math.max(3, Math.round(width / 130)) },
    y: { domain: [rows.length, 0], axis: null },
    marks: [
      Plot.rect(known, { x1: "low", x2: "high", y1: top, y2: low, fill: colourOf, fillOpacity: 0.18 }),
      Plot.ruleX(rows, { x: () => 0, y1: top, y2: low, stroke: colourOf, strokeWidth: 2 }),
      Plot.dot(rows.flatMap(({ samples }) => samples), {
        x: "off", y: (one) => top(one) + one.at * (1 - 2 * inset), r: 3, fill: colourOf, fillOpacity: 0.55, title: (one) => `${one.name}, sample ${one.i + 1}: ${number(one.ms)} ms`,
      }),
      Plot.text(rows, { frameAnchor: "left", y: (one) => row.get(one.name) + 0.5, dx: -142, textAnchor: "start", text: (one) => `${one.name}\nmedian ${number(one.median)} ms`, fill: "var(--ink)" }),
    ],
  }));
}

function aboutSamples({ name, median, low, high, samples }) {
  const ends = low === null ? "too few samples for an interval" : `95 % interval ${number(median * (1 + low / 100))} to ${number(median * (1 + high / 100))} ms`;
  return `${name}: ${samples.length} samples, median ${number(median)} ms, ${ends}, from ${number(d3.min(samples, ({ ms }) => ms))} to ${number(d3.max(samples, ({ ms }) => ms))} ms`;
}

function drawSamples() {
  const rows = rowsOf("model").filter(({ record }) => record.step?.samples_ms?.length > 1);
  if (!rows.length) return;
  chooser(body("samples"), "Row", rows, (place, { record, label }) => {
    if (record.cold_step_ms > 0) place.append(el("p", { class: "wide" }, `The first step of the process took ${number(record.cold_step_ms)} ms, the ${statOf(record)} is ${number(time(record, "step"))} ms.`));
    const strips = sampleRows(record);
    plotted(place, { title: `${label}: samples about their median`, hint: aboutSamples(strips[0]), items: strips.map(aboutSamples), make: (width) => samplePlot(strips, width),
      rows: () => [["phase", "sample", "ms", "% from the median"], ...strips.flatMap(({ samples }) => samples.map(({ name, i, ms, off }) => [name, i + 1, ms, off]))] });
  });
}
