// The page as a reader meets it: opened from disk without a network, read, hovered, sorted, filtered, printed.
// Screenshots go to $WORK (PAGE_SHOTS=folder ctest -R page_browser keeps them).
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, writeFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { checkChanges, checkHistory, checkIcicle, checkRoofline, checkRoofs, checkSamples, checkStepCharts, checkForecast, checkTables, checkZoom, filesOverTime, profileWithoutLimits } from "./charts.mjs";

const { PROGRAM, BROWSER, PACKAGES, WORK, MADE, GOLDEN, RESULTS } = process.env;
const require = createRequire(`${PACKAGES}/`);
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

let failures = 0;
function check(right, what) {
  if (right) return;
  failures++;
  console.log(`FAILED: ${what}`);
}

function makePage(name, files) {
  const path = `${WORK}/${name}.html`;
  execFileSync(PROGRAM, ["report", ...files, "--out", path], { stdio: ["ignore", "ignore", "ignore"] });
  return path;
}

// Nothing is fetched, nothing is complained about.
async function open(browser, path, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, offline: true, ...options });
  const page = await context.newPage();
  page.on("request", (request) => check(request.url() === `file://${path}`, `the page asks for ${request.url()}`));
  page.on("console", (message) => check(false, `console: ${message.text()}`));
  page.on("pageerror", (error) => check(false, `script error: ${error.message}`));
  await page.addInitScript(() => addEventListener("error", (event) => console.error(event.message))); // of loops among them
  await page.goto(`file://${path}`);
  return page;
}

async function checkAxe(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const v of violations) check(false, `${what}: axe: ${v.impact} ${v.id}: ${v.nodes[0].html.slice(0, 120)}`);
}

// The colours on each chart: an empty one has none, one without lines has those of the axes alone.
function chartColours(page) {
  return page.$$eval(".plot canvas", (all) => all.map((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set();
    for (let i = 0; i < data.length; i += 4) if (data[i + 3] === 255) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return [...seen];
  }));
}

async function checkCharts(page) {
  const wanted = await page.evaluate(() => ["--c1", "--c2"].map((name) => {
    const [r, g, b] = getComputedStyle(document.documentElement).getPropertyValue(name).match(/[0-9a-f]{2}/g).map((hex) => parseInt(hex, 16));
    return (r << 16) | (g << 8) | b;
  }));
  const charts = await chartColours(page);
  check(charts.length >= 3, `${charts.length} charts, expected 3 or more`);
  charts.forEach((seen, i) => check(seen.includes(wanted[0]), `chart ${i} has no line in its first colour`));
}

async function checkHover(page) {
  const plot = page.locator("#attention .plot").first();
  await plot.scrollIntoViewIfNeeded();
  const values = () => plot.locator(".u-value").allTextContents();
  check((await values()).every((text) => text === "-"), "the legend has values before the pointer is there");
  const box = await plot.locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width - 2, box.y + box.height / 2);
  const [x, ...shown] = await values();
  const rows = await page.evaluate(() => data.files.flatMap((file) => file.rows.attention).map((r) => [r.ctx, r.forward && r.forward.mean_ms]));
  const most = Math.max(...rows.map(([ctx]) => ctx));
  check(Number(x) === most, `hovering the right end shows ${x} tokens, not ${most}`);
  const there = rows.filter(([ctx, ms]) => ctx === most && ms > 0).map(([, ms]) => String(Number(ms.toPrecision(4))));
  check(shown.some((text) => there.includes(text)), `hovering shows ${shown}, none of ${there}`);
}

async function checkKeys(page) {
  const plot = page.locator("#attention .plot").first();
  await plot.focus();
  await page.keyboard.press("ArrowRight");
  const said = await page.locator("#attention figure p[aria-live]").first().textContent();
  check(/^tokens \d+: .+ [\d.]+/.test(said), `the arrow key says: ${said}`);
}

// Of the first table: others may follow it.
const column = (page, i) => page.$eval("#end-to-end table.data tbody", (body, at) => [...body.rows].filter((row) => !row.hidden).map((row) => row.cells[at].textContent), i);

async function checkTable(page) {
  const headings = await page.locator("#end-to-end table.data").first().locator("thead button").allTextContents();
  const at = headings.indexOf("parameters");
  const button = page.locator("#end-to-end table.data thead button").nth(at);
  const numbers = async () => (await column(page, at)).map((text) => Number(text.replace(/,/g, "")));
  await button.click();
  const up = await numbers();
  check(up.length > 2 && up.every((n, i) => i === 0 || n >= up[i - 1]), `sorted up: ${up}`);
  await button.press("Enter");
  const down = await numbers();
  check(down.every((n, i) => i === 0 || n <= down[i - 1]) && down[0] > down.at(-1), `sorted down: ${down}`);
  check(await page.locator("th[aria-sort=descending]").count() === 1, "aria-sort does not say descending");
  await page.locator("#attention input[type=search]").fill("flash");
  const left = await page.$$eval("#attention table.data tbody tr", (rows) => rows.filter((row) => !row.hidden).map((row) => row.textContent));
  check(left.length > 0 && left.every((text) => text.includes("flash")), "filtering keeps other rows");
  check(/^ \d+ of \d+ rows$/.test(await page.locator("#attention [role=status]").textContent()), "filtering does not say how many rows are left");
  await page.locator("#attention input[type=search]").fill("");
}

async function checkWhole(browser, path) {
  const page = await open(browser, path, { colorScheme: "light" });
  const sections = await page.$$eval("main > section", (all) => all.map((section) => section.id));
  for (const id of ["answer", "summary", "end-to-end", "roof", "phases", "samples", "attention", "limits", "environment", "commands"])
    check(sections.includes(id), `no section ${id}`);
  check(!sections.includes("precision"), "a section without data is there");
  check((await page.locator("#left-out").textContent()).includes("Precision (roofstep precision)"), "what is left out is not said");
  await checkCharts(page);
  check(await page.evaluate(() => drawn.filter((c) => !c.spec.logX).every((c) => c.u.axes[0]._splits.every(Number.isInteger))), "a sample between two samples");
  const tall = await page.$$eval("table.bars th", (all) => all.filter((label) => label.clientHeight > 40).map((label) => label.textContent));
  check(tall.length === 0, `labels of bars take several lines: ${tall}`);
  await page.screenshot({ path: `${WORK}/light.png`, fullPage: true });
  await checkAxe(page, "light");
  await checkHover(page);
  await checkKeys(page);
  await checkTable(page);
  await checkTables({ check, page, what: "whole" });
  await checkSamples({ check, page, what: "whole" });
  await page.context().close();
}

async function checkDark(browser, path) {
  const page = await open(browser, path, { colorScheme: "dark" });
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await paper();
  await checkCharts(page);
  await checkAxe(page, "dark");
  await page.screenshot({ path: `${WORK}/dark.png`, fullPage: true });
  // Paper is white, and afterwards it is dark again.
  await page.evaluate(() => addEventListener("beforeprint", () => { window.printed = getComputedStyle(document.body).backgroundColor; }));
  const pdf = await page.pdf({ path: `${WORK}/print.pdf`, format: "A4" });
  check(pdf.length > 20000, "the printed page is empty");
  check(await page.evaluate(() => window.printed) === "rgb(255, 255, 255)", "printing is not on white");
  check(await paper() === dark, "after printing the page is not dark again");
  await page.locator("#theme").click();
  check(await paper() === "rgb(255, 255, 255)", "the button does not make it light");
  await checkCharts(page);
  await page.context().close();
}

// Turned on its side and back, too: charts follow the width, and nothing is wider than the screen.
async function checkPhone(browser, path, shot) {
  const page = await open(browser, path, { viewport: { width: 390, height: 844 }, hasTouch: true });
  for (const [width, height] of [[390, 844], [844, 390], [390, 844]]) {
    await page.setViewportSize({ width, height });
    await page.waitForFunction((w) => drawn.every(({ u, plot }) => u.width === Math.max(240, plot.clientWidth)) && innerWidth === w, width);
    const content = await page.evaluate(() => document.documentElement.scrollWidth);
    check(content <= width, `${shot}: on a phone the page is ${content} wide, the screen ${width}`);
  }
  await page.screenshot({ path: `${WORK}/${shot}.png`, fullPage: true });
  return page;
}

async function checkPhones(browser, whole) {
  const page = await checkPhone(browser, whole, "phone");
  await checkCharts(page);
  await page.context().close();
  const long = `${WORK}/${"a-result-of-a-machine-with-a-long-name-".repeat(4)}.json`;
  copyFileSync(`${RESULTS}/h200-small-fp32-torch.json`, long);
  const files = { compared: [`${RESULTS}/h200-small-fp32-torch.json`, `${RESULTS}/h200-small-128.json`], long: [long, `${RESULTS}/h200-small-128.json`], studies: STUDIES, suite: SUITE };
  for (const [name, of] of Object.entries(files)) {
    const other = await checkPhone(browser, makePage(`phone-${name}`, of), `phone-${name}`);
    await other.context().close();
  }
}

async function checkHostile(browser) {
  const evil = "</script><script>window.stolen=1</script><img src=x onerror='window.stolen=1'><!--";
  const whole = JSON.parse(readFileSync(`${GOLDEN}/results.json`, "utf8"));
  for (const result of whole.results) Object.assign(result, { size: evil, message: evil, warnings: [evil] });
  // Ends of lines in JavaScript, controls, a mark of direction: data as well.
  const unseen = `\u2028window.stolen=1\u2029\u0085\u001b]0;x\u0007\u009b\u202e${evil}`;
  whole.results[0].warnings = [unseen];
  Object.assign(whole.environment, { cpu: evil, kernel: unseen, command: `${evil}${unseen}` });
  writeFileSync(`${WORK}/hostile.json`, JSON.stringify(whole));
  const page = await open(browser, makePage("hostile", [`${WORK}/hostile.json`]), {});
  await page.waitForTimeout(100);
  check(await page.evaluate(() => window.stolen === undefined), "a name from a file ran as a script");
  check((await page.locator("#end-to-end table.data").first().textContent()).includes(evil), "the name is not shown as it is");
  check((await page.locator("body").textContent()).includes(unseen), "a text with controls is not shown whole");
  await page.context().close();
}

async function checkCompared(browser) {
  const page = await open(browser, makePage("compared", [`${GOLDEN}/compare-a.json`, `${GOLDEN}/compare-b.jsonl`]), {});
  const verdicts = await page.locator("#comparison td.bad, #comparison td.good").allTextContents();
  check(verdicts.includes("slower") && verdicts.includes("faster"), `the verdicts are ${verdicts}`);
  await checkChanges({ check, page, what: "compared" });
  await checkAxe(page, "compared");
  await page.screenshot({ path: `${WORK}/compared.png`, fullPage: true });
  await page.context().close();
}

// The same cells in three files: named in one order, measured in another.
async function checkTime(browser) {
  const days = filesOverTime(`${GOLDEN}/compare-a.json`, WORK);
  const page = await open(browser, makePage("time", days), { colorScheme: "light" });
  await checkHistory({ check, page, what: "time", wanted: ["early.json", "middle.json", "late.json"] });
  await checkAxe(page, "time");
  await page.context().close();
}

// A peer's rows have lines of their own, whatever their attention is called, and none hides another's values.
async function checkPeers(browser) {
  const file = JSON.parse(readFileSync(`${GOLDEN}/attention.json`, "utf8"));
  const ours = file.results.filter((row) => row.attention === "naive" && row.status === "ok" && row.forward);
  check(ours.length > 0, "the golden file has no naive row");
  const theirs = ours.map((row) => ({ ...row, cell: `peer=torch variant=eager ${row.cell}`, peer: "torch", variant: "eager",
    forward: { ...row.forward, mean_ms: 3 * row.forward.mean_ms, median_ms: 3 * row.forward.median_ms } }));
  const again = ours.map((row) => ({ ...row, cell: `${row.cell} seed=7`, seed: 7, forward: { ...row.forward, mean_ms: 5 * row.forward.mean_ms, median_ms: 5 * row.forward.median_ms } }));
  writeFileSync(`${WORK}/peers.json`, JSON.stringify({ ...file, results: [...file.results, ...theirs, ...again] }));
  const page = await open(browser, makePage("peers", [`${WORK}/peers.json`]), { colorScheme: "light" });
  const first = await page.evaluate(() => drawn.find((chart) => chart.spec.title === "Forward").spec);
  const line = (label) => (first.series.find((series) => series.label === label) || { values: [] }).values;
  for (const row of ours) {
    const at = first.x.indexOf(row.ctx), own = line("naive")[at];
    check(own > 0 && Math.abs(line("PyTorch eager")[at] / own - 3) < 1e-9, `naive ${own}, PyTorch eager ${line("PyTorch eager")[at]} over ${row.ctx} tokens`);
    check(Math.abs(line("naive (2)")[at] / own - 5) < 1e-9, `naive ${own}, the other naive ${line("naive (2)")[at]} over ${row.ctx} tokens`);
  }
  await page.context().close();
}

// What had no time: each section says so, and a row that was cut short is in no chart.
async function checkVain(browser) {
  const bench = JSON.parse(readFileSync(`${GOLDEN}/results.json`, "utf8"));
  const cut = { status: "timeout", message: "not done after 2 s" };
  const profile = { ...bench, results: [{ ...bench.results[0], ...cut, profile: null }] };
  Object.assign(bench.results[0], cut, { size: "hasty" });
  for (const phase of ["forward", "backward", "optimizer", "step"]) bench.results[0][phase].status = "timeout";
  for (const [name, file] of Object.entries({ bench, profile })) writeFileSync(`${WORK}/vain-${name}.json`, JSON.stringify(file));
  const page = await open(browser, makePage("vain", [`${WORK}/vain-bench.json`, `${WORK}/vain-profile.json`]), { colorScheme: "light" });
  check(await page.locator("#comparison").count() === 0, "a profile in vain is compared with bench");
  check((await page.locator("#layer .gap").allTextContents()).join().includes("profile measured nothing: small: timeout: not done after 2 s"), "an empty section does not say why");
  check(await page.locator("#contents a[href='#layer']").count() === 1, "the contents do not name the empty section");
  check((await page.locator("#profile table.data").textContent()).includes("timeout"), "the profile's table does not say why it is empty");
  check((await page.locator("#summary li").allTextContents()).some((line) => line.startsWith("profile measured nothing: ")), "the summary does not name what is empty");
  const shown = await page.$$eval("#end-to-end .bars th, #phases .bars th, #samples option", (all) => all.map((e) => e.textContent));
  check(shown.length > 2 && !shown.some((label) => label.includes("hasty")), `a row that was cut short is drawn: ${shown}`);
  check((await page.locator("#end-to-end table.data").textContent()).includes("hasty"), "a row that was cut short is not in the table");
  await checkAxe(page, "vain");
  await page.screenshot({ path: `${WORK}/vain.png`, fullPage: true });
  await page.context().close();
}

const STUDIES = ["profile/profile.json", "profile/profile_trace.json.gz", "memory.json", "warmup.json", "precision.json"].map((name) => `${MADE}/${name}`);
const SUITE = [`${RESULTS}/v1-suite.json.gz`];

async function checkStudies(browser) {
  const path = makePage("studies", STUDIES);
  const page = await open(browser, path, { colorScheme: "light" });
  const sections = await page.$$eval("main > section", (all) => all.map((section) => section.id));
  for (const id of ["icicle", "profile", "layer", "memory", "precision", "warmup", "environment", "commands"]) check(sections.includes(id), `no section ${id}`);
  check(await page.locator("#layer .event").count() > 10, "the layer's timeline has no events");
  await checkIcicle({ check, page, what: "studies" });
  await checkZoom({ check, page, what: "studies" });
  const plot = page.locator("#memory .plot");
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2);
  const [where, values] = [await page.locator("#memory .where").textContent(), await plot.locator(".u-value").allTextContents()];
  check(/^node \d+: backward .+, [\d.]+ MiB$/.test(where), `hovering the memory says: ${where}`);
  const sum = values.slice(1).reduce((all, text) => all + Number(text), 0);
  check(Math.abs(sum - Number(where.match(/([\d.]+) MiB$/)[1])) < 0.01 * sum, `the parts ${values} are not what is alive: ${where}`);
  await checkAxe(page, "studies");
  await page.screenshot({ path: `${WORK}/studies.png`, fullPage: true });
  await page.context().close();
}

// Of a whole suite nothing is left out but what it does not do.
async function checkSuite(browser) {
  const path = makePage("suite", SUITE);
  const page = await open(browser, path, { colorScheme: "light" });
  const sections = await page.$$eval("main > section", (all) => all.map((section) => section.id));
  const all = [...readFileSync(path, "utf8").matchAll(/^<section id="([a-z-]+)"/gm)].map(([, id]) => id);
  const missing = all.filter((id) => !sections.includes(id));
  check(missing.join() === "like,comparison,curve,ranks,rank-steps,collective,forecast,files", `a suite's page is without ${missing}`);
  check((await page.locator("#summary li").allTextContents()).some((line) => line.startsWith("Biggest win: ")), "the page does not name the biggest win");
  await checkStepCharts({ check, page, what: "suite", program: PROGRAM });
  await checkAxe(page, "suite");
  await page.screenshot({ path: `${WORK}/suite.png`, fullPage: true });
  await page.context().close();
}

// A profile of a GPU: its dots are kernels' times.
async function checkGpuProfile(browser) {
  const path = makePage("gpu", [`${RESULTS}/h200-gpt2-profile.json.gz`, `${RESULTS}/h200-limits.json`]);
  const page = await open(browser, path, { colorScheme: "light" });
  const drawn = await checkRoofline({ check, page, what: "gpu" });
  check(drawn.some(({ phase }) => phase === "optimizer"), "no dot of the optimizer");
  await checkIcicle({ check, page, what: "gpu" });
  await checkTables({ check, page, what: "gpu" });
  const without = profileWithoutLimits(`${RESULTS}/h200-gpt2-profile.json.gz`, WORK);
  const other = await open(browser, makePage("without", [without, `${RESULTS}/h200-limits.json`]), {});
  const [hint, drawnLines] = [await other.locator("#roofline .where").first().textContent(), await other.locator("#roofline svg").textContent()];
  check(/bf16 826/.test(drawnLines) && /memory 4\.67/.test(drawnLines) && hint.includes("gap"), `limits of a file beside the profile: ${drawnLines} ${hint}`);
  await other.context().close();
  const ceilings = await page.locator("#roofline svg").textContent();
  for (const text of ["bf16 836", "fp32 51.3", "memory 4.67"]) check(ceilings.includes(text), `no line of ${text} in: ${ceilings}`);
  await checkAxe(page, "gpu");
  await page.screenshot({ path: `${WORK}/gpu.png`, fullPage: true });
  await page.context().close();
}

// The lines on growth beside a chart are those of the head width that is chosen.
async function checkGrowth(browser) {
  const page = await open(browser, makePage("growth", [`${MADE}/attention.json`]), { colorScheme: "light" });
  const growth = () => page.$$eval("#attention .charts .notes li", (all) => all.map((e) => e.textContent));
  for (const width of [16, 32]) {
    await page.locator("#attention select").first().selectOption({ label: `d_head ${width}` });
    const lines = await growth();
    check(lines.length === 3 && lines.every((line) => line.startsWith(`d_head ${width}, `) && line.includes("memory before backward is ")), `beside the chart of d_head ${width}: ${lines}`);
  }
  await page.context().close();
}

// Rows of ranks: a line for each strategy from the row of one rank on, and efficiency by tokens per second.
async function checkRanks(browser) {
  const file = JSON.parse(readFileSync(`${GOLDEN}/results.json`, "utf8"));
  const one = file.results.find((row) => row.status === "ok" && row.step && row.tokens_per_s > 0);
  const row = (ranks, parallel, slower) => ({ ...one, cell: `${one.cell} ranks=${ranks} parallel=${parallel}`, ranks, parallel, comm_precision: "auto",
    tokens_per_s: ranks * one.tokens_per_s / slower, step: { ...one.step, mean_ms: slower * one.step.mean_ms, median_ms: slower * one.step.median_ms } });
  const results = [one, row(2, "ddp", 1.25), row(4, "ddp", 2), row(2, "fsdp", 1), row(4, "fsdp", 1.6)];
  writeFileSync(`${WORK}/ranks.json`, JSON.stringify({ ...file, results }));
  const page = await open(browser, makePage("ranks", [`${WORK}/ranks.json`]), { colorScheme: "light" });
  const charts = await page.evaluate(() => drawn.map(({ spec }) => spec).filter((spec) => spec.xLabel === "ranks"));
  check(charts.map((spec) => spec.title).join() === "Step,Efficiency", `charts over ranks: ${charts.map((spec) => spec.title)}`);
  for (const [label, wanted] of [["ddp", [100, 80, 50]], ["fsdp", [100, 100, 62.5]]]) {
    const values = ((charts[1] || { series: [] }).series.find((series) => series.label === label) || { values: [] }).values;
    check(values.length === 3 && values.every((value, i) => Math.abs(value - wanted[i]) < 1e-6), `efficiency of ${label}: ${values}`);
  }
  await checkAxe(page, "ranks");
  await page.screenshot({ path: `${WORK}/ranks.png`, fullPage: true });
  await page.context().close();
}

// A line for each precision, up to where it diverges, and their distance from fp32.
async function checkCurves(browser) {
  const file = JSON.parse(readFileSync(`${GOLDEN}/results.json`, "utf8"));
  const one = file.results.find((row) => row.status === "ok" && row.precision === "fp32");
  const row = (precision, recipe, losses) => ({ ...one, cell: `${one.cell} ${precision} ${recipe}`, precision, ...(recipe ? { fp8_recipe: recipe, emulated: "fp8" } : {}),
    curve_steps: 4, curve: { losses, warmup: 1, last: 4, mean: losses.includes(null) ? null : 3, diverged_at: losses.includes(null) ? 3 : 0, text: { source: "<b>book</b>", bytes: 1e6, hash: "0", windows: 100, used: 16 } } });
  const theirs = { ...row("fp32", "torch", [5, 4, 3, 1]), fp8_recipe: undefined, emulated: undefined, peer: "torch", variant: "eager" };
  const results = [row("fp32", "", [5, 4, 2, 1]), theirs, row("fp8", "block", [5, 4.4, 2, 1]), row("fp16", "", [5, 4, null, null])];
  writeFileSync(`${WORK}/curves.json`, JSON.stringify({ ...file, results }));
  const page = await open(browser, makePage("curves", [`${WORK}/curves.json`]), { colorScheme: "light" });
  const charts = await page.evaluate(() => drawn.map(({ spec }) => spec).filter((spec) => spec.xLabel === "step"));
  check(charts.map((spec) => spec.title).join() === "Loss,Loss against fp32", `charts of curves: ${charts.map((spec) => spec.title)}`);
  check(charts.every((spec) => spec.series.map(({ label }) => label).join("|") === "fp32|fp32, PyTorch|fp8 block|fp16"), "each precision is one line in both charts");
  const values = charts.length === 2 ? charts[1].series.map((series) => series.values.map((v) => (v === null ? "-" : Math.round(v))).join(" ")) : [];
  check(values.join() === "0 0 0 0,0 0 50 0,0 10 0 0,0 0 - -", `percent from fp32: ${values}`);
  const text = await page.locator("#curve").textContent();
  check(text.includes("at step 3") && text.includes("emulated") && text.includes("<b>book</b>"), "the table of curves");
  await checkAxe(page, "curves");
  await page.screenshot({ path: `${WORK}/curves.png`, fullPage: true });
  await page.context().close();
}

// Published figures and ours share a chart: bars of a few rows, lines over the context of many.
async function checkLike(browser) {
  const page = await open(browser, makePage("like", [`${MADE}/like/results.json`]), { colorScheme: "light" });
  const tables = await page.$$eval("#like h3", (all) => all.map((e) => e.textContent));
  check(tables.includes("End to end") && tables.includes("Attention"), `tables beside the write-up: ${tables}`);
  const bars = await page.$$eval("#like table.beside tr", (all) => all.map((e) => e.textContent));
  check(bars.some((text) => /215\.206 ms$/.test(text)), `no bar of a published figure: ${bars.slice(0, 4)}`);
  const legends = await page.$$eval("#like .plot", (all) => all.map((e) => [...e.querySelectorAll(".u-label")].map((label) => label.textContent).join()));
  check(legends.some((text) => text.startsWith("tokens,published,here")), `no chart with both: ${legends}`);
  const drawn = await page.$$eval("#like h3", (all) => all.filter((head) => {
    let next = head.nextElementSibling;
    for (; next && next.tagName !== "H3"; next = next.nextElementSibling) if (next.querySelector(".beside, .plot")) return true;
    return false;
  }).map((e) => e.textContent));
  check(drawn.includes("Attention") && !drawn.includes("Attention compiled, tf32"), `tables with charts: ${drawn}`);
  await checkAxe(page, "like");
  await page.screenshot({ path: `${WORK}/like.png`, fullPage: true });
  await page.context().close();
}

// PAGE_ONLY=suite,curves tries these alone.
const checks = { hostile: checkHostile, compared: checkCompared, time: checkTime, peers: checkPeers, vain: checkVain, studies: checkStudies, suite: checkSuite, gpu: checkGpuProfile,
  roofs: (started) => checkRoofs(started, { check, open, makePage, checkAxe, RESULTS, WORK }), growth: checkGrowth, ranks: checkRanks, curves: checkCurves, like: checkLike, forecast: (browser) => checkForecast({ browser, open, makePage, check, checkAxe, PROGRAM, WORK, RESULTS }) };
const only = (process.env.PAGE_ONLY || "").split(",").filter(Boolean);
const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
try {
  const whole = makePage("whole", [`${RESULTS}/v1-six-sizes.json`, `${GOLDEN}/attention.json`, `${RESULTS}/h200-limits.json`]);
  check(statSync(whole).size < 5e6, "the page is larger than 5 MB");
  for (const [name, run] of Object.entries({ whole: checkWhole, dark: checkDark, phones: checkPhones, ...checks })) {
    if (!only.length || only.includes(name)) await run(browser, whole);
  }
} finally {
  await browser.close();
}
process.exit(failures ? 1 : 0);
