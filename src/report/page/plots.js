"use strict";
// Charts by Observable Plot: SVG, whose colours are variables of page.css, so that a change of theme needs no drawing.

const plots = []; // every one, to be drawn again when the width changes

// The colour of a phase, here and everywhere.
const phaseColour = (phase) => `var(${(PHASES.find(([name]) => name === phase) || ["", "--c4"])[1]})`;

// spec: {title, make(width): an SVG, items: [text of each mark, in the order of the arrow keys],
//        rows(): the figures under their names, marks(svg): the elements of the items, enter(i): Enter on an item, leave(): Escape}
function plotted(host, spec) {
  const plot = el("div", {
    class: "plot", tabindex: "0", role: "group",
    "aria-label": `Chart: ${spec.title}. Left and right arrow keys read the values.`,
  });
  const chart = { plot, spec, at: -1, width: 0, said: el("p", { class: "where", "aria-live": "polite" }, spec.hint || "") };
  plot.addEventListener("keydown", (event) => readPlot(chart, event));
  const figure = el("figure", { class: "wide" }, el("figcaption", {}, spec.title), plot, chart.said);
  host.append(figure);
  plots.push(chart);
  drawPlot(chart);
  addChartFiles(figure, spec.title, () => plot.firstChild, spec.rows);
  return chart;
}

function drawPlot(chart, fixed) {
  chart.width = fixed || Math.max(240, chart.plot.clientWidth || 600);
  const svg = chart.spec.make(chart.width);
  svg.setAttribute("aria-hidden", "true"); // the keys read it, and its labels name marks, not what they show
  chart.marks = chart.spec.marks ? chart.spec.marks(svg) : [];
  chart.plot.replaceChildren(svg);
}

function redrawPlots(fixed) {
  plots.splice(0, plots.length, ...plots.filter((chart) => chart.plot.isConnected));
  for (const chart of plots) drawPlot(chart, fixed && 2 * fixed); // each takes a row of the paper
}

function sayPlot(chart, i) {
  chart.at = i;
  chart.marks.forEach((mark, at) => mark.classList.toggle("chosen", at === i));
  chart.said.textContent = chart.spec.items[i];
}

function readPlot(chart, event) {
  if (event.key === "Enter" && chart.spec.enter && chart.at >= 0) chart.spec.enter(chart.at);
  if (event.key === "Escape" && chart.spec.leave) chart.spec.leave();
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step || !chart.spec.items.length) return;
  event.preventDefault();
  sayPlot(chart, Math.min(chart.spec.items.length - 1, Math.max(0, chart.at + step)));
}

// What all of them have in common.
function plotOptions(width, options) {
  return {
    width, style: "--plot-background: var(--paper); background: none; color: var(--ink); font: 12px system-ui, sans-serif; overflow: visible",
    ...options,
  };
}
