"use strict";
// The answer first: a cell's step, rate, share of the limit and memory; the largest gap; what to change first.

const SAME_CELL = ["size", "ctx", "batch", "device", "precision", "exec", "mode", "recompute", "ranks"];
const isSameCell = (a, b) => SAME_CELL.every((name) => (a[name] ?? null) === (b[name] ?? null));

// Rows of profiles that have ops, with the machine they ran on.
function profileRows() {
  const of = (kind) => rowsOf(kind).filter(({ record }) => record.profile && Array.isArray(record.profile.ops) && record.profile.ops.length);
  const machine = (record) => {
    const file = data.files.find(({ rows }) => rows.profile.some((row) => row.cell === record.cell && row.time_utc === record.time_utc));
    return file && file.commands.length ? file.commands[0].machine : null;
  };
  return of("profile").map((row) => ({ ...row, machine: machine(row.record) }));
}

// A line does not break between a number and its unit.
const shortTime = (ms) => (ms >= 1000 ? `${number(ms / 1000)}\u00a0s` : ms < 1 ? `${number(1000 * ms)}\u00a0us` : `${number(ms)}\u00a0ms`);
const shortMemory = (mib) => (mib >= 1024 ? `${number(mib / 1024)}\u00a0GiB` : `${number(mib)}\u00a0MiB`);
const shortPercent = (percent, digits = 0) => `${percent.toFixed(digits)}\u00a0%`;
const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
const shortCount = (x) => (x >= 1000 ? Math.round(x).toLocaleString("en-US") : number(x));

function card(name, answer, about, more) {
  return el("div", { class: typeof answer === "string" && !more?.querySelector ? "card" : "card broad" }, el("dt", {}, name), el("dd", { class: "answer" }, answer), about ? el("dd", {}, about) : null, more ? el("dd", {}, more) : null);
}

// Limits of a busy machine are no roof.
const busyLimits = ({ limit_busy_percent: busy }) => (busy > 0 ? `, by limits measured while others used ${shortPercent(busy)} of the device: it may be shorter` : "");

function stepCards(record) {
  const whole = sumOfPhases(record), low = end(record, "step", 0), high = end(record, "step", 1);
  const parts = PHASES.filter(([name]) => time(record, name) > 0).map(([name]) => `${name}\u00a0${shortPercent(100 * time(record, name) / whole)}`);
  const interval = Number.isFinite(low) ? `95\u00a0% interval ${number(low)} to ${shortTime(high)}` : `no interval from ${counted(record.samples || 1, "sample")}`;
  const cards = [card("Step", shortTime(time(record, "step") || whole), interval, parts.join(", "))];
  const bought = record.tokens_per_unit > 0 ? `${si(record.tokens_per_unit, "")} for 1, at ${number(record.price_per_hour)} an hour` : null;
  if (record.tokens_per_s > 0) cards.push(card("Tokens/s", shortCount(record.tokens_per_s), `batch ${record.batch}, ctx ${record.ctx}`, bought));
  if (record.percent_of_limit > 0) cards.push(card("% of limit", shortPercent(record.percent_of_limit, 1), `shortest possible step ${shortTime(record.limit_step_ms)}${busyLimits(record)}`));
  else cards.push(card("% of limit", "unknown", "run 'roofstep limits' once (on a busy machine with --keep), then measure again"));
  if (record.peak_alloc_mib > 0)
    cards.push(card("Peak memory", shortMemory(record.peak_alloc_mib), record.planned_peak_mib > 0 ? `planned ${shortMemory(record.planned_peak_mib)}` : null));
  return cards;
}

// The row that advice is about.
const adviceRow = ({ file, cell }) => Object.values(data.files[file].rows).flat().find((row) => row.cell === cell);

// "ctx 128, bf16": in what a cell differs from the one that is shown.
function otherCell(cell, shown) {
  const words = SAME_CELL.filter((name) => (cell[name] ?? null) !== (shown[name] ?? null))
    .map((name) => (typeof cell[name] === "number" ? `${name}\u00a0${cell[name]}` : cell[name] ?? `no ${name}`));
  return words.join(", ");
}

// Of the cell's own profile, or else the largest of any, with the name of its cell.
function gapCard(record) {
  const all = [...data.advice.gaps].sort((a, b) => (b.ms - b.least_ms) - (a.ms - a.least_ms)).map((gap) => ({ ...gap, row: adviceRow(gap) })).filter(({ row }) => row);
  const gap = all.find(({ row }) => isSameCell(row, record)) ?? all[0];
  if (!gap) return [];
  const other = otherCell(gap.row, record);
  const about = `${other ? `profile of another cell (${other}): ` : ""}takes ${shortTime(gap.ms)} of a profiled step; shortest possible ${shortTime(gap.least_ms)}: the gap is ${shortPercent(gap.step_percent)} of the step`;
  return [card("Largest gap", el("a", { href: "#roofline" }, `${gap.op} in ${gap.phase}`), about)];
}

// A command with its button, as in the section of commands.
function commandLine(text) {
  const button = el("button", { type: "button", "aria-label": `Copy: ${text}`, onclick: () => copy(button, text) }, "Copy");
  return el("div", { class: "command" }, el("pre", {}, el("code", {}, text)), button);
}

function winCard(record, file) {
  const { wins, compare, measured } = data.advice;
  const [win] = wins.filter((one) => data.files[one.file] === file && one.cell === record.cell).sort((a, b) => b.shorter_percent - a.shorter_percent);
  if (win) return [card("Biggest win", `--${win.field} ${win.value}`, `makes this step ${shortPercent(win.shorter_percent)} shorter`, commandLine(win.command))];
  if (measured > 1) return [card("Biggest win", "none", "no other --precision or --exec measured of this cell is surely faster")];
  return compare ? [card("Biggest win", "unknown", "nothing was compared yet; this compares", commandLine(compare))] : [];
}

function drawCards() {
  const usable = (kind) => rowsOf(kind).filter(({ record }) => !record.peer && sumOfPhases(record) > 0);
  const rows = usable("model").length ? usable("model") : usable("profile");
  if (!rows.length) return;
  const profiled = usable("profile")[0];
  const start = profiled ? rows.findIndex(({ record }) => isSameCell(record, profiled.record)) : 0;
  chooser(body("answer"), "Cell", rows, (place, { record, label, file }) => {
    const list = el("dl", { class: "cards wide" }, ...stepCards(record), ...gapCard(record), ...winCard(record, file));
    if (rows.length === 1 && label) place.append(el("p", { class: "wide where" }, label));
    place.append(list);
  }, Math.max(0, start));
}
