"use strict";
// Fills the sections of page.html with tables and charts. Sections without data are removed.

const data = JSON.parse(document.getElementById("data").textContent);
const body = (id) => document.getElementById(id);

// A phase that was cut short keeps its samples in the file. Charts and tables leave it out.
function withoutUnfinished(record) {
  const cut = ["forward", "backward", "optimizer", "step"].filter((name) => record[name] && record[name].status !== "ok");
  return { ...record, ...Object.fromEntries(cut.map((name) => [name, null])) };
}

// Every row of a kind with its label: [{record, label, file, of}]; `of` is " (file)" where several files have such rows.
function rowsOf(kind) {
  const several = data.files.filter((file) => file.rows[kind].length).length > 1;
  return data.files.flatMap((file) => file.rows[kind].map((record, i) => ({
    record: withoutUnfinished(record), file, of: several ? ` (${file.name})` : "", label: file.labels[kind][i] + (several ? ` (${file.name})` : ""),
  })));
}

// Scaling sentences beside a chart: those of sweeps of this kind and shape.
function addGrowth(host, kind, shape = {}) {
  const own = data.files.flatMap((file) => file.growth).filter((sweep) => sweep.kind === kind && Object.keys(shape).every((name) => sweep.where[name] === shape[name]));
  if (!own.length) return;
  const list = notes(own);
  list.classList.add("wide");
  host.append(list);
}

// ---- whole models ----

const PHASES = [["forward", "--c1"], ["backward", "--c2"], ["optimizer", "--c3"]];
// A phase's time and interval by the record's statistic, as in its table. Older files name none: the mean.
const statOf = (record) => record.stat || "mean";
const time = (record, name) => { const phase = record[name]; const ms = phase && (phase[`${statOf(record)}_ms`] ?? phase.mean_ms); return Number.isFinite(ms) ? ms : 0; };
const INTERVAL = { median: ["median_low_ms", "median_high_ms"], mean: ["ci95_low_ms", "ci95_high_ms"] };
const end = (record, name, side) => { const of = INTERVAL[statOf(record)]; return (of && record[name] && record[name][of[side]]) ?? NaN; };

function phaseParts(record, unit, whole) {
  return PHASES.filter(([name]) => time(record, name) > 0).map(([name, of]) => {
    const value = whole ? (100 * time(record, name)) / whole : time(record, name);
    return { name, colour: of, value, text: `${number(value)} ${unit}` };
  });
}

const sumOfPhases = (record) => PHASES.reduce((sum, [name]) => sum + time(record, name), 0);

// Training did not fit, so a smaller mode was measured.
const isSmallerMode = (record) => record.measured_mode && record.mode && record.measured_mode !== record.mode;

function drawPhases() {
  const rows = rowsOf("model").filter(({ record }) => sumOfPhases(record) > 0);
  if (!rows.length) return;
  const right = (r) => Math.max(sumOfPhases(r), end(r, "step", 1) || 0, time(r, "step"));
  const most = Math.max(...rows.map(({ record }) => right(record)));
  key(body("end-to-end"), PHASES);
  bars(body("end-to-end"), "Time of a step by phase", rows.map(({ record, label }) => ({
    label, parts: phaseParts(record, "ms"),
    low: end(record, "step", 0), high: end(record, "step", 1),
    figure: `${number(time(record, "step") || sumOfPhases(record))} ms` + (isSmallerMode(record) ? `, ${record.measured_mode} only` : ""),
  })), most);
  addGrowth(body("end-to-end"), "model");
  key(body("phases"), PHASES);
  bars(body("phases"), "Share of each phase", rows.map(({ record, label }) => {
    const parts = phaseParts(record, "%", sumOfPhases(record));
    return { label, parts, figure: parts.map((part) => `${part.value.toFixed(0)} %`).join(" / ") };
  }), 100);
}

function drawRoof() {
  const rows = rowsOf("model").filter(({ record }) => record.percent_of_limit > 0);
  if (!rows.length) return;
  bars(body("roof"), "Share of the limit", rows.map(({ record, label }) => ({
    label, parts: [{ name: "of the limit", colour: "--c1", value: record.percent_of_limit, text: `${number(record.percent_of_limit)} %` }],
    figure: `${record.percent_of_limit.toFixed(1)} %` + (record.mfu > 0 ? `, MFU ${(100 * record.mfu).toFixed(1)} %` : ""),
  })), Math.max(100, ...rows.map(({ record }) => record.percent_of_limit)));
}

// A list to choose from; `show` draws the choice, at first number `start`. A single choice has no list.
function chooser(host, label, choices, show, start = 0) {
  const place = el("div", { class: "charts" });
  const select = el("select", { onchange: () => { place.replaceChildren(); show(place, choices[select.selectedIndex]); } });
  for (const choice of choices) select.append(el("option", {}, choice.label));
  if (choices.length > 1) host.append(el("p", { class: "tools" }, el("label", {}, `${label} `, select)));
  host.append(place);
  select.selectedIndex = start;
  show(place, choices[start]);
}

// ---- attention alone ----

const ATTENTION_GROUP = ["device", "precision", "mode", "mask", "d_head", "heads", "batch"];

// Groups of rows that differ in ctx and implementation only. The label names what differs between groups.
function attentionGroups(rows) {
  const varying = ATTENTION_GROUP.filter((name) => new Set(rows.map(({ record }) => record[name])).size > 1);
  return groupBy(rows, ({ record }) => varying.map((name) => `${name} ${record[name]}`).join(", ") || "all rows");
}

// Our implementation has a name; a peer has a program and a variant.
const PEERS = { torch: "PyTorch" };
const implementation = (record) => (record.peer ? `${PEERS[record.peer] || record.peer} ${record.variant}` : record.attention);

// The line for a value of this name. Two values at one place go to two lines.
function seriesOf(series, name, x, at) {
  for (let n = 1; ; n++) {
    const label = n > 1 ? `${name} (${n})` : name;
    if (!series.has(label)) series.set(label, { label, values: x.map(() => null) });
    if (series.get(label).values[at] === null) return series.get(label);
  }
}

function attentionChart(place, rows, title, yLabel, value) {
  const x = [...new Set(rows.map(({ record }) => record.ctx))].sort((a, b) => a - b);
  const series = new Map();
  for (const { record, of } of rows) {
    const y = value(record), at = x.indexOf(record.ctx);
    if (y > 0) seriesOf(series, implementation(record) + of, x, at).values[at] = y;
  }
  if (series.size) lines(place, { title, xLabel: "tokens", yLabel, logX: 2, logY: 10, x, series: [...series.values()] });
}

function drawAttention() {
  const rows = rowsOf("attention");
  if (!rows.length) return;
  chooser(body("attention"), "Shape", attentionGroups(rows), (place, group) => {
    attentionChart(place, group.rows, "Forward", "ms", (r) => time(r, "forward"));
    attentionChart(place, group.rows, "Backward", "ms", (r) => time(r, "backward"));
    attentionChart(place, group.rows, "Memory before backward", "MiB", (r) => r.mem_before_bwd_mib);
    addGrowth(place, "attention", Object.fromEntries(ATTENTION_GROUP.map((name) => [name, group.rows[0].record[name]])));
  });
}

// ---- profile ----

// Time of a step by category and phase: kernels on a GPU, nodes on a CPU.
function categories(profile) {
  const times = new Map();
  for (const op of profile.ops) {
    const stats = op.device || op.host;
    if (!stats || !(profile.steps > 0)) continue;
    if (!times.has(op.category)) times.set(op.category, { label: op.category, forward: 0, backward: 0, optimizer: 0, all: 0 });
    const row = times.get(op.category);
    row[op.phase] += stats.total / profile.steps / 1e6;
    row.all += stats.total / profile.steps / 1e6;
  }
  return [...times.values()].sort((a, b) => b.all - a.all);
}

function drawProfile() {
  const rows = rowsOf("profile").filter(({ record }) => record.profile && Array.isArray(record.profile.ops) && record.profile.ops.length);
  if (!rows.length) return;
  key(body("profile"), PHASES);
  chooser(body("profile"), "Row", rows, (place, { record, label }) => {
    const list = categories(record.profile);
    const whole = list.reduce((sum, row) => sum + row.all, 0);
    const host = el("div", { class: "wide" });
    bars(host, `${label}: time of a step by category`, list.map((row) => ({
      label: row.label, parts: PHASES.filter(([name]) => row[name] > 0).map(([name, of]) => ({ name, colour: of, value: row[name], text: `${number(row[name])} ms` })),
      figure: `${number(row.all)} ms, ${((100 * row.all) / whole).toFixed(1)} %`,
    })), Math.max(...list.map((row) => row.all)));
    place.append(host);
  });
}

function drawLayers() {
  for (const file of data.files.filter(({ layer, step }) => layer && !step)) { // of ranks: drawRankSteps()
    for (const { phase, begin_us, end_us, tracks } of file.layer.phases) {
      const title = `${file.layer.layer}, ${phase}: ${number(end_us - begin_us)} us (${file.name})`;
      body("layer").append(el("h3", {}, title));
      lanes(body("layer"), title, tracks, begin_us, end_us);
      const rows = tracks.flatMap((track) => track.events.map(([name, scope, at, time]) => [track.name, number(at - begin_us), number(time), name, scope]));
      const columns = [["track", false], ["begin (us)", true], ["time (us)", true], ["what", false], ["scope", false]].map(([label, right]) => ({ label, right }));
      const details = el("details", {}, el("summary", {}, `All ${rows.length} events`));
      body("layer").append(details);
      addTable({ title, columns, rows, notes: [] }, details);
    }
  }
}

// ---- memory ----

function phaseBands(phases) {
  const bands = [];
  phases.forEach((name, i) => {
    if (!bands.length || bands.at(-1).name !== name) bands.push({ from: i, to: i, name });
    bands.at(-1).to = Math.min(i + 1, phases.length - 1);
  });
  return bands;
}

function drawMemory() {
  const cells = data.files.flatMap((file) => file.memory || []);
  if (!cells.length) return;
  chooser(body("memory"), "Cell", cells, (place, { label, phases, scopes, uses }) => {
    const all = phases.map((_, i) => uses.reduce((sum, use) => sum + use.mib[i], 0));
    const peak = all.indexOf(Math.max(...all));
    lines(place, {
      title: `${label}: peak ${number(all[peak])} MiB at node ${peak} (${scopes[peak]})`, xLabel: "node", yLabel: "MiB", stacked: true,
      x: phases.map((_, i) => i), series: uses.map((use) => ({ label: use.name, colour: use.colour, values: use.mib })), bands: phaseBands(phases),
      about: (i) => `node ${i}: ${phases[i]} ${scopes[i]}, ${number(all[i])} MiB`,
    });
  });
}

// ---- warm-up ----

// Mean time of step 1, 2, ... of the processes with each number of warm-ups.
function drawWarmup() {
  const rows = rowsOf("warmup").filter(({ record }) => record.step && record.step.samples_ms);
  if (!rows.length) return;
  const last = Math.max(...rows.map(({ record }) => record.warmup + record.step.samples_ms.length));
  const settings = [...new Set(rows.map(({ record }) => record.warmup))].sort((a, b) => a - b);
  const series = settings.map((warmup) => {
    const sums = Array.from({ length: last }, () => [0, 0]);
    for (const { record } of rows.filter((row) => row.record.warmup === warmup))
      record.step.samples_ms.forEach((ms, i) => { sums[warmup + i][0] += ms; sums[warmup + i][1]++; });
    return { label: `${warmup} warm-ups`, values: sums.map(([sum, n]) => (n ? sum / n : null)) };
  });
  lines(body("warmup"), { title: "Mean time of each step of a process", xLabel: "step", yLabel: "ms", x: Array.from({ length: last }, (_, i) => i + 1), series });
}

// ---- collectives alone ----

// A line for each op and number of ranks, and for what else differs.
function drawCollectives() {
  const rows = rowsOf("collective").filter(({ record }) => record.median_ms > 0);
  if (!rows.length) return;
  const varying = ["precision", "device"].filter((name) => new Set(rows.map(({ record }) => record[name])).size > 1);
  const nameOf = (record) => [`${record.op}, ${record.ranks} ranks`, ...varying.map((name) => record[name])].join(", ");
  const x = [...new Set(rows.map(({ record }) => record.bytes))].sort((a, b) => a - b);
  const place = el("div", { class: "charts" });
  body("collective").append(place);
  for (const [title, yLabel, value] of [["Time of a collective", "us", (r) => 1e3 * r.median_ms], ["Bus bandwidth", "GB/s", (r) => r.busbw_gbs]]) {
    const series = new Map();
    for (const { record, of } of rows) {
      const at = x.indexOf(record.bytes);
      if (value(record) > 0) seriesOf(series, nameOf(record) + of, x, at).values[at] = value(record);
    }
    if (series.size) lines(place, { title, xLabel: "bytes", yLabel, logX: 2, logY: 10, x, series: [...series.values()] });
  }
}

// ---- the rest ----

function drawSummary() {
  const list = el("ul");
  const together = (line) => line.replace(/(\d) (%|ms|us|s\b|MiB|GiB)/g, "$1\u00a0$2"); // a number and its unit
  const missing = data.gaps.filter(({ part }) => part).length; // they come first
  data.summary.forEach((line, i) => list.append(el("li", i < missing ? { class: "bad" } : {}, together(line))));
  if (data.summary.length) body("summary").append(list);
}

async function copy(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.parentElement.querySelector("pre"));
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function addCommand(text, about) {
  body("commands").append(el("p", {}, about), commandLine(text));
}

function drawCommands() {
  for (const file of data.files) {
    for (const { command, machine, time_utc } of file.commands)
      addCommand(command, [file.name, machine, time_utc].filter(Boolean).join(", "));
  }
  addCommand(data.program.command, "this page");
}

// ---- putting it together ----

// The machines and days, then the files.
function subtitle() {
  const made = data.files.flatMap((file) => file.commands);
  const once = (list) => [...new Set(list.filter(Boolean))].join(", ");
  const about = [once(made.map(({ machine }) => machine)), once(made.map(({ time_utc }) => time_utc && time_utc.slice(0, 10)))];
  return [...about.filter(Boolean), data.files.map((file) => file.name).join(", ")].join(" · ");
}

// Says why a section is empty where its command ran and measured nothing; removes other empty ones.
function closeEmptySections() {
  const missing = [];
  const parts = [...document.querySelectorAll("[data-part]")].map((section) => section.dataset.part);
  for (const section of document.querySelectorAll("main > section")) {
    const title = section.querySelector("h2").textContent;
    const commands = section.querySelector("table, figure") ? [] : (section.dataset.from || "").split(/[^a-z]+/);
    const part = section.dataset.part;
    const gap = commands.length && data.gaps.find((one) => (part ? one.part === part : commands.includes(one.command) && !parts.includes(one.part)));
    if (gap) section.append(el("p", { class: "gap" }, `No data, because ${gap.command} measured nothing: ${gap.why}.`));
    if (section.querySelector("table, figure, dl, li, pre, .gap")) {
      body("contents").append(el("li", {}, el("a", { href: `#${section.id}` }, title)));
      continue;
    }
    if (section.dataset.from) missing.push(`${title} (roofstep ${section.dataset.from})`);
    section.remove();
  }
  if (missing.length) body("left-out").textContent = `Sections without data: ${missing.join("; ")}.`;
}

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function setTheme(theme, width) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  body("theme").textContent = isDark() ? "Light" : "Dark";
  redraw(width);
}

const PAPER_WIDTH = 330; // pixels: two charts beside each other on A4

// Paper is white: charts are redrawn in light colours to print, then as before.
function watchColours() {
  let before;
  body("theme").addEventListener("click", () => setTheme(isDark() ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => setTheme(document.documentElement.dataset.theme));
  addEventListener("beforeprint", () => { before = document.documentElement.dataset.theme; setTheme("light", PAPER_WIDTH); });
  addEventListener("afterprint", () => setTheme(before));
  setTheme();
}

drawCards();
drawSummary();
drawRoofline();
drawIcicles();
drawChanges();
drawHistory();
drawPhases();
drawRoof();
drawSamples();
drawAttention();
drawProfile();
drawLayers();
drawMemory();
drawWarmup();
drawRanks();
drawRankSteps();
drawCurves();
drawCollectives();
drawForecasts();
data.tables.forEach((spec) => addTable(spec));
drawFiles();
drawCommands();
closeEmptySections();
watchColours();
body("subtitle").textContent = subtitle();
body("colophon").textContent = `Made by roofstep ${data.program.version}, commit ${data.program.commit}.`;
document.title = `roofstep: ${data.files.map((file) => file.name).join(", ")}`;
if (location.hash === "#charts") showChartFiles();
