"use strict";
// Loss curves of several precisions, ours and PyTorch's.

const curvePeer = ({ peer, variant }) => (peer ? `, ${PEERS[peer] || peer}${variant === "eager" ? "" : ` ${variant}`}` : "");
const curveName = (record) => [record.precision, record.fp8_recipe].filter(Boolean).join(" ") +
  (record.precision === "fp16" && record.loss_scale === "none" ? ", unscaled" : "") + curvePeer(record);

// Means of `width` steps each; null where a loss is missing.
function curvePoints(losses, width) {
  return Array.from({ length: Math.ceil(losses.length / width) }, (_, i) => {
    const part = losses.slice(i * width, (i + 1) * width);
    return part.includes(null) ? null : part.reduce((sum, loss) => sum + loss, 0) / part.length;
  });
}

// Each curve against ours of fp32 in the same file: that one is a line at 0, so that all keep their colours.
function curveDifferences(series) {
  return series.flatMap(({ label, of, values }) => {
    const base = series.find((other) => other.fp32 && other.of === of);
    if (!base) return [];
    return [{ label, values: values.map((loss, i) => (loss === null || !base.values[i] ? null : 100 * (loss / base.values[i] - 1))) }];
  });
}

function drawCurves() {
  const rows = rowsOf("curve").filter(({ record }) => record.curve && record.curve.losses);
  if (!rows.length) return;
  const steps = Math.max(...rows.map(({ record }) => record.curve.losses.length));
  const width = Math.ceil(steps / 100);
  const x = Array.from({ length: Math.ceil(steps / width) }, (_, i) => Math.min((i + 1) * width, steps));
  const series = rows.map(({ record, of }) => ({
    label: curveName(record) + of, of, fp32: record.precision === "fp32" && !record.peer, values: curvePoints(record.curve.losses, width),
  }));
  const place = el("div", { class: "charts" }), differences = curveDifferences(series);
  body("curve").append(place);
  lines(place, { title: "Loss", xLabel: "step", yLabel: "loss", x, series });
  if (differences.length > 1) lines(place, { title: "Loss against fp32", xLabel: "step", yLabel: "%", x, series: differences });
}
