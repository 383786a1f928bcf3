"use strict";
// Steps that several ranks share: time and efficiency over their number, and one step of each strategy.

// Rows that differ in ranks and how they share a step only are in one chart.
const RANK_GROUP = ["size", "model", "d_model", "num_layers", "ctx", "batch", "accumulate", "device", "precision", "attention", "exec", "recompute", "mode", "threads", "peer"];

const ranksOf = (record) => record.ranks || 1;

// How a row shares the step: "ddp", "zero1, sent as bf16". One rank shares it with nobody.
function strategyOf(record) {
  const sent = record.comm_precision && record.comm_precision !== "auto" ? `sent as ${record.comm_precision}` : null;
  const bucket = record.bucket_bytes ? `bucket ${record.bucket_bytes}` : null;
  return [record.parallel, bucket, sent].filter(Boolean).join(", ");
}

// Groups of rows with more than one number of ranks: [{label, alone, rows}]; `alone` is the row of one rank, if any.
function rankGroups(rows) {
  const varying = RANK_GROUP.filter((name) => new Set(rows.map(({ record }) => record[name])).size > 1);
  const groups = groupBy(rows, ({ record, of }) => varying.map((name) => `${name} ${record[name] ?? "-"}`).join(", ") + of || "all rows");
  return groups.filter((group) => new Set(group.rows.map(({ record }) => ranksOf(record))).size > 1)
    .map((group) => ({ ...group, alone: group.rows.find(({ record }) => ranksOf(record) === 1) }));
}

// A line for each strategy, all of which begin at the row of one rank.
function rankSeries(group, value) {
  const x = [...new Set(group.rows.map(({ record }) => ranksOf(record)))].sort((a, b) => a - b);
  const series = new Map();
  for (const { record } of group.rows.filter((row) => ranksOf(row.record) > 1)) {
    const y = value(record), at = x.indexOf(ranksOf(record));
    if (y > 0) seriesOf(series, strategyOf(record), x, at).values[at] = y;
  }
  const first = group.alone ? value(group.alone.record) : 0;
  if (first > 0) for (const { values } of series.values()) values[0] = first;
  return { x, series: [...series.values()] };
}

function rankChart(place, group, title, yLabel, value) {
  const { x, series } = rankSeries(group, value);
  if (series.length) lines(place, { title, xLabel: "ranks", yLabel, logX: 2, x, series });
}

function drawRanks() {
  const groups = rankGroups(rowsOf("model").filter(({ record }) => time(record, "step") > 0 && !isSmallerMode(record)));
  if (!groups.length) return;
  chooser(body("ranks"), "Step", groups, (place, group) => {
    rankChart(place, group, "Step", "ms", (record) => time(record, "step"));
    const alone = group.alone && group.alone.record.tokens_per_s;
    if (alone > 0) rankChart(place, group, "Efficiency", "%", (record) => (100 * record.tokens_per_s) / ranksOf(record) / alone);
  });
}

// Under each other on one scale: a longer step is a longer line.
function drawRankSteps() {
  const files = data.files.filter(({ step }) => step);
  const end = Math.max(...files.map(({ step }) => step.end_us));
  for (const { name, step } of files) {
    const title = `${name}: ${number(step.end_us)} us`;
    body("rank-steps").append(el("h3", {}, title));
    lanes(body("rank-steps"), title, step.tracks, 0, end);
  }
}
