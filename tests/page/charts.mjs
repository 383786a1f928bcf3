// The charts that show a profiled step, read from the page as a browser has drawn them.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export { checkRoofs } from "./roofs.mjs";

const near = (a, b, share) => Math.abs(a - b) <= share * Math.abs(b);

// "6.44G" and "28.0 MiB" as numbers.
function amount(text) {
  const unit = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
  const [, value, of] = text.replace(/,/g, "").match(/^([\d.e+-]+)\s*([A-Za-z]*)$/) || [];
  return Number(value) * (of ? unit[of] : 1);
}

// The table of ops as objects by its headings.
function opRows(page) {
  return page.$$eval("#profile table.data", (tables) => tables.map((table) => {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.replace(/\u00a0/g, " "));
    return [...table.tBodies[0].rows].map((row) => Object.fromEntries(names.map((name, i) => [name, row.cells[i].textContent])));
  }).find((rows) => rows.length && "bytes a step" in rows[0]) || []);
}

// What each dot stands for by where it is drawn and how large.
function dots(page) {
  return page.$eval("#roofline svg", (svg) => [...svg.querySelectorAll("circle[data-op]")].map((dot) => {
    const at = (name) => Number(dot.getAttribute(name));
    return { op: dot.dataset.op, phase: dot.dataset.phase, intensity: svg.scale("x").invert(at("cx")), rate: svg.scale("y").invert(at("cy")), r: at("r") };
  }));
}

// Dots are where the table says, and their areas are the times.
export async function checkRoofline({ check, page, what }) {
  const rows = await opRows(page), drawn = await dots(page);
  check(rows.length > 5 && drawn.length > 5, `${what}: ${drawn.length} dots, ${rows.length} rows of ops`);
  const rowOf = (dot) => rows.find((row) => row.in.toLowerCase() === dot.phase && row.op === dot.op);
  for (const dot of drawn) {
    const row = rowOf(dot);
    if (!row) { check(rows.length >= 80, `${what}: no row of ${dot.op}`); continue; }
    check(near(dot.rate, 1e12 * amount(row["TFLOP/s"]), 0.002), `${what}: ${dot.op} at ${dot.rate} FLOP/s, the table says ${row["TFLOP/s"]} TFLOP/s`);
    const intensity = amount(row["FLOPs a step"]) / amount(row["bytes a step"]);
    check(near(dot.intensity, intensity, 0.02), `${what}: ${dot.op} at ${dot.intensity} FLOP/byte, the table says ${intensity}`);
    const [most, ms] = [amount(rowOf(drawn[0])["ms a step"]), amount(row["ms a step"])];
    check(ms < most / 50 || near((dot.r / drawn[0].r) ** 2, ms / most, 0.02), `${what}: ${dot.op} has a radius of ${dot.r} for ${ms} of ${most} ms`);
  }
  return drawn;
}

async function checkRooflineReads({ check, page, what }) {
  const plot = page.locator("#roofline .plot");
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  const said = await page.locator("#roofline .where").first().textContent();
  check(/ms a step; shortest possible .+ ms: (gap .+ ms|no gap)$/.test(said), `${what}: the arrow key says: ${said}`);
  check(await page.locator("#roofline circle.chosen").count() === 1, `${what}: the chosen dot is not marked`);
  const dot = page.locator("#roofline circle[data-op]").first();
  await dot.evaluate((e) => e.scrollIntoView({ block: "center", behavior: "instant" }));
  const box = await dot.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  const tip = await page.waitForFunction(() => /shortest.possible/.test(document.querySelector("#roofline svg").textContent), null, { timeout: 2000 }).catch(() => null);
  check(tip, `${what}: hovering a dot says nothing`);
}

// The cards have the figures of the record, and a command that the program takes.
export async function checkAnswer({ check, page, what, program }) {
  const cards = await page.$$eval("#answer .card", (all) => Object.fromEntries(all.map((one) => [one.querySelector("dt").textContent, one.textContent])));
  const { label, step, tokens } = await page.evaluate(() => {
    const chosen = document.querySelector("#answer select")?.value;
    const { record, label } = rowsOf("model").find((row) => !chosen || row.label === chosen);
    return { label, step: record.step.median_ms, tokens: record.tokens_per_s };
  });
  check(cards.Step?.includes(`${Number(step.toPrecision(4))}\u00a0ms`), `${what}: the step of ${label} takes ${step} ms, the card says: ${cards.Step}`);
  check(cards["Tokens/s"]?.includes(Math.round(tokens).toLocaleString("en-US")), `${what}: ${tokens} tokens/s, the card says: ${cards["Tokens/s"]}`);
  for (const name of ["% of limit", "Peak memory", "Largest gap", "Biggest win"]) check(name in cards, `${what}: no card "${name}"`);
  const [command] = await page.$$eval("#answer code", (all) => all.map((e) => e.textContent));
  const words = (command || "").split(" ");
  check(words.shift() === "roofstep" && words.includes("--precision"), `${what}: the card's command is: ${command}`);
  try {
    execFileSync(program, [...words, "--dry-run"], { stdio: "ignore" });
  } catch (error) {
    check(false, `${what}: the card's command fails: ${command}: ${error.message}`);
  }
}

// The cards of every cell are about it: the win is its own, the gap is its own profile's or names the cell.
export async function checkCells({ check, page, what }) {
  const rows = await page.evaluate(() => rowsOf("model").map(({ record, label }) => ({ label, cell: record.cell, precision: record.precision,
    profiled: profileRows().some((row) => isSameCell(row.record, record)), wins: data.advice.wins.filter((win) => win.cell === record.cell).length })));
  check(rows.some(({ wins }) => wins) && rows.some(({ wins }) => !wins) && rows.some(({ profiled }) => profiled) && rows.some(({ profiled }) => !profiled), `${what}: cells of one kind alone`);
  for (const { label, wins, profiled } of rows) {
    await page.locator("#answer select").selectOption({ label });
    const cards = await page.$$eval("#answer .card", (all) => Object.fromEntries(all.map((one) => [one.querySelector("dt").textContent, one.textContent])));
    check(/makes this step/.test(cards["Biggest win"]) === wins > 0, `${what}: of ${label} the card says: ${cards["Biggest win"]}`);
    check(/another cell \(.+\)/.test(cards["Largest gap"]) === !profiled, `${what}: of ${label} the card says: ${cards["Largest gap"]}`);
  }
}

// The rectangles of the icicle: their paths, and their widths in milliseconds of its axis.
function parts(page) {
  return page.$eval("#icicle svg", (svg) => [...svg.querySelectorAll("rect[data-path]")].map((rect) => {
    const at = (name) => Number(rect.getAttribute(name)), ms = (x) => svg.scale("x").invert(x);
    return { path: rect.dataset.path, depth: Number(rect.dataset.depth), said: Number(rect.dataset.ms), ms: ms(at("x") + at("width")) - ms(at("x")) };
  }));
}

// The children of every part are as wide as it, the whole is as wide as the step.
export async function checkIcicle({ check, page, what }) {
  const step = await page.evaluate(() => { const { profile } = profileRows()[0].record; return profile.step.total / profile.steps / 1e6; });
  const all = await parts(page);
  check(all.length > 15 && all.some(({ depth }) => depth === 3), `${what}: the icicle has ${all.length} parts`);
  for (const part of all) {
    check(near(part.ms, part.said, 0.001) || Math.abs(part.ms - part.said) < step / 1e4, `${what}: ${part.path} is ${part.ms} ms wide for ${part.said} ms`);
    const inside = all.filter((other) => other.depth === part.depth + 1 && other.path.startsWith(`${part.path}/`));
    const sum = inside.reduce((ms, other) => ms + other.ms, 0);
    check(!inside.length || Math.abs(sum - part.ms) < step / 1000, `${what}: the parts of ${part.path} are ${sum} ms wide, it is ${part.ms}`);
  }
  check(near(all[0].ms, step, 0.001), `${what}: the icicle is ${all[0].ms} ms wide, the step takes ${step}`);
}

// Enter zooms in and Escape out, and the memory goes along.
export async function checkZoom({ check, page, what }) {
  const domains = () => page.$$eval("#icicle svg", (all) => all.map((svg) => svg.scale("x").domain.map((x) => Number(x.toPrecision(6))).join()));
  const before = await domains();
  check(before.length === 2 && before[0] === before[1], `${what}: memory and time have the axes ${before}`);
  await page.locator("#icicle .plot").first().focus();
  for (const key of ["ArrowRight", "ArrowRight", "Enter"]) await page.keyboard.press(key);
  const inside = await domains();
  check(inside[0] !== before[0] && inside[0] === inside[1], `${what}: zoomed in, the axes are ${inside}, before ${before}`);
  await page.keyboard.press("Escape");
  check((await domains()).join() === before.join(), `${what}: Escape does not zoom out`);
  const backward = page.locator("#icicle rect[data-path='step/backward']");
  await backward.evaluate((e) => e.scrollIntoView({ block: "center", behavior: "instant" }));
  await backward.click();
  check((await domains())[0] !== before[0], `${what}: a click does not zoom`);
  await page.keyboard.press("Escape");
  await page.locator("#icicle input[type=checkbox]").check();
  check((await parts(page)).some(({ path }) => path === "step/forward/layer.1"), `${what}: every layer is not there`);
  await checkIcicle({ check, page, what: `${what}, every layer` });
  check(/^Peak: [\d.]+ MiB in \w+, \S+/.test(await page.locator("#icicle .where").last().textContent()), `${what}: the peak has no op`);
}

export async function checkStepCharts(t) {
  await checkAnswer(t);
  await checkCells(t);
  await checkRoofline(t);
  await checkRooflineReads(t);
  await checkIcicle(t);
  await checkTables(t);
  await checkFiles(t);
}

// Key figures need no scrolling at 1,280 pixels; the heading and the first column stay where a table is scrolled; captions are words.
export async function checkTables({ check, page, what }) {
  const far = await page.$$eval("table.data", (tables) => tables.flatMap((table) => [...table.tHead.rows[0].cells]
    .filter((cell) => KEY_COLUMN.test(cell.textContent.replace(/\u00a0/g, " ")) && cell.getBoundingClientRect().right > innerWidth)
    .map((cell) => `${cell.textContent} at ${cell.getBoundingClientRect().right}`)));
  check(far.length === 0, `${what}: off the screen: ${far}`);
  const moved = await page.$$eval(".scroll", (all) => all.filter((scroll) => scroll.scrollWidth > scroll.clientWidth + 40).map((scroll) => {
    scroll.scrollTo({ left: 40, top: 40, behavior: "instant" });
    const box = scroll.getBoundingClientRect(), [head, first] = ["thead th", "tbody tr:last-child th"].map((at) => scroll.querySelector(at).getBoundingClientRect());
    return Math.max(Math.abs(head.top - box.top), Math.abs(head.left - box.left), Math.abs(first.left - box.left));
  }));
  check(moved.every((pixels) => pixels < 2), `${what}: headings and first columns scroll away by ${moved} pixels`);
  const captions = await page.$$eval("#profile h3", (all) => all.map((head) => head.textContent));
  for (const caption of ["Where the time goes, by op, tiny fp32", "Every op against the measured limits, tiny fp32"])
    check(what !== "suite" || captions.includes(caption), `${what}: no table "${caption}" among ${captions}`);
}

// Each sample is a dot where it lies about the median; each has one in every phase.
export async function checkSamples({ check, page, what }) {
  const { drawn, wanted } = await page.evaluate(() => {
    const svg = document.querySelector("#samples svg"), { record } = rowsOf("model").find(({ record: row }) => row.step?.samples_ms?.length > 1);
    const names = ["step", "forward", "backward", "optimizer"].filter((name) => record[name]?.samples_ms?.length > 1);
    return {
      drawn: [...svg.querySelectorAll("circle")].map((dot) => svg.scale("x").invert(Number(dot.getAttribute("cx")))),
      wanted: names.flatMap((name) => { const all = record[name].samples_ms, middle = d3.median(all); return all.map((ms) => 100 * (ms / middle - 1)); }),
    };
  });
  check(drawn.length === wanted.length && drawn.length > 2, `${what}: ${drawn.length} dots for ${wanted.length} samples`);
  drawn.forEach((off, i) => check(Math.abs(off - wanted[i]) < 1e-3, `${what}: sample ${i} is drawn at ${off} %, it is ${wanted[i]} % off`));
}

// Changes are drawn where the table has them, with their intervals.
export async function checkChanges({ check, page, what }) {
  const rows = await page.$$eval("#comparison table.data", (tables) => tables.map((table) => {
    const names = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.replace(/\u00a0/g, " "));
    return [...table.tBodies[0].rows].map((row) => Object.fromEntries(names.map((name, i) => [name, row.cells[i].textContent])));
  }).find((all) => all.length && "change (%)" in all[0]) || []);
  const wanted = rows.filter((row) => row.phase === "step" && row["95 % interval (%)"] !== "-").map((row) => [row["change (%)"], ...row["95 % interval (%)"].split(" .. ")].map(Number));
  const drawn = await page.$eval("#comparison svg", (svg) => {
    const x = (value) => svg.scale("x").invert(Number(value)), lines = [...svg.querySelectorAll("g[stroke-linejoin], g path")].filter((e) => e.tagName === "path" && /^M[^C]+L/.test(e.getAttribute("d")));
    const ends = lines.map((line) => line.getAttribute("d").match(/-?[\d.]+/g)).map(([from, , to]) => [x(from), x(to)]);
    return [...svg.querySelectorAll("circle")].map((dot, i) => [x(dot.getAttribute("cx")), ...(ends.slice(-svg.querySelectorAll("circle").length)[i] || [])]);
  });
  check(drawn.length === wanted.length && drawn.length > 2, `${what}: ${drawn.length} changes for ${wanted.length} rows`);
  drawn.forEach((row, i) => check(row.every((x, k) => Math.abs(x - wanted[i]?.[k]) < 0.06), `${what}: drawn ${row}, the table says ${wanted[i]}`));
}

// Over the files in the order of time, whatever order they were named in.
export async function checkHistory({ check, page, what, wanted }) {
  const ticks = await page.$$eval("#comparison svg", (all) => [...all.at(-1).querySelectorAll("g text")].map((e) => e.textContent).filter((text) => text.endsWith(".json")));
  check(ticks.join() === wanted.join(), `${what}: the files are in the order ${ticks}`);
  const steps = await page.$$eval("#comparison svg", (all) => { const svg = all.at(-1); return [...svg.querySelectorAll("circle")].map((dot) => svg.scale("y").invert(Number(dot.getAttribute("cy")))); });
  check(steps.length === 3 && Math.abs(steps[1] / steps[0] - 0.9) < 1e-3 && Math.abs(steps[2] / steps[0] - 0.95) < 1e-3, `${what}: the steps are ${steps}`);
}

// Three copies of a file, of which the second is the oldest: their paths.
export function filesOverTime(path, folder) {
  const file = JSON.parse(readFileSync(path, "utf8"));
  const days = { late: ["2026-03-01T00:00:00Z", 0.95], early: ["2026-01-01T00:00:00Z", 1], middle: ["2026-02-01T00:00:00Z", 0.9] };
  return Object.entries(days).map(([name, [time_utc, factor]]) => {
    const scaled = (phase) => phase && Object.fromEntries(Object.entries(phase).map(([key, value]) => [key, typeof value === "number" && key.endsWith("_ms") ? factor * value : value]));
    const made = `${folder}/${name}.json`;
    writeFileSync(made, JSON.stringify({ ...file, results: file.results.map((row) => ({ ...row, time_utc, step: scaled(row.step) })) }));
    return made;
  });
}

// Both buttons of a chart, as files: the SVG stands alone, the CSV has the figures.
export async function checkFiles({ check, page, what }) {
  const files = await page.evaluate(() => chartFiles.map(({ host, name, svg, rows }) => ({ name, shown: host.isConnected, svg: svg(), rows: rows() })));
  const charts = await page.$$eval("main .plot, main table.bars", (all) => all.length);
  check(files.length >= charts && charts > 5, `${what}: ${files.length} files for ${charts} charts`);
  check(new Set(files.map(({ name }) => name)).size === files.length, `${what}: names of files twice: ${files.map(({ name }) => name)}`);
  for (const { name, svg, rows } of files) {
    check(/^<svg[^>]+xmlns="http:\/\/www.w3.org\/2000\/svg"/.test(svg) && !/var\(|currentColor|NaN|undefined/.test(svg), `${what}: ${name}.svg: ${svg.match(/.{40}(var\(|currentColor|NaN|undefined).{20}/s)?.[0] || svg.slice(0, 80)}`);
    check(rows.length > 1 && rows.every((row) => row.length === rows[0].length), `${what}: ${name}.csv has ${rows.length} lines`);
  }
  const button = page.locator("#roofline .files button");
  const [svg] = await Promise.all([page.waitForEvent("download"), button.first().click()]);
  const [csv] = await Promise.all([page.waitForEvent("download"), button.last().click()]);
  check(svg.suggestedFilename().endsWith(".svg") && readFileSync(await svg.path(), "utf8").startsWith("<svg"), `${what}: ${svg.suggestedFilename()} is no picture`);
  const lines = readFileSync(await csv.path(), "utf8").split("\r\n");
  check(lines[0].startsWith("phase,op,nodes,ms a step") && lines.length > 5, `${what}: ${csv.suggestedFilename()} begins with ${lines[0]}`);
}

// A copy of a profile that was made where the limits were not known: its path.
export function profileWithoutLimits(path, folder) {
  const file = JSON.parse(gunzipSync(readFileSync(path))), made = `${folder}/without.json`;
  Object.assign(file.results[0].profile, { limit_flops: null, limit_bandwidth: null });
  writeFileSync(made, JSON.stringify(file));
  return made;
}

// A bar for each device and cell, the shortest step first, an interval where it was measured, and what it costs.
export async function checkForecast({ browser, open, makePage, check, checkAxe, PROGRAM, WORK, RESULTS }) {
  const path = `${WORK}/forecast.json`;
  execFileSync(PROGRAM, ["forecast", "--gpu", "rtx4090,h100-sxm", "--limits", `${RESULTS}/h200-limits.json`, "--size", "small,medium", "--price", "2/h", "--format", "json", "--out", path]);
  const told = JSON.parse(readFileSync(path, "utf8")).forecasts;
  const page = await open(browser, makePage("forecast", [path]), {});
  const [times, costs] = await page.$$eval("#forecast figure", (all) => all.map((figure) => [...figure.querySelectorAll("g[aria-label=rect] rect")].map((bar) => Number(bar.getAttribute("width")))));
  check(times.length === 6 && costs.length === 6, `forecast: ${times} and ${costs} bars, not 6`);
  const ms = told.map(({ forecast }) => forecast.step_ms).sort((a, b) => a - b);
  check(ms.every((x, i) => Math.abs(times[i] / times[5] - x / ms[5]) < 0.01), `forecast: bars ${times} of ${ms} ms`);
  check(costs.every((x, i) => i === 0 || x <= costs[i - 1]), `forecast: costs ${costs} are not in order`);
  check(await page.locator("#forecast figure").first().locator("g[aria-label=link] path").count() === 2, "forecast: an interval for each step on the measured device, and no other");
  await page.locator("#forecast .plot").first().focus();
  await page.keyboard.press("ArrowRight");
  const said = await page.locator("#forecast figure p[aria-live]").first().textContent();
  check(said.includes("size small") && said.includes(" ms"), `forecast: the arrow key says ${said}`);
  const files = await page.locator("#forecast figure").first().locator("button").allTextContents();
  check(files.some((text) => text.includes("SVG")) && files.some((text) => text.includes("CSV")), `forecast: the buttons are ${files}`);
  check(await page.locator("#forecast table.data tbody tr").count() === 6, "forecast: the table has not 6 rows");
  await checkAxe(page, "forecast");
  await page.screenshot({ path: `${WORK}/forecast.png`, fullPage: true });
  await page.context().close();
}
