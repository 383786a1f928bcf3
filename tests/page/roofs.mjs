// What the roofline shows beside ops: a GPU's kernels, and the caches of a CPU.
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const near = (a, b, share) => Math.abs(a - b) <= share * Math.abs(b);
const unpacked = (path) => JSON.parse(gunzipSync(readFileSync(path)));

// Each kernel of a phase that is the only one of its op, by name: its time and what it computes, summed over those ops.
function kernelsOf(profile) {
  const sums = new Map();
  profile.ops.forEach((op, row) => {
    const own = profile.kernels.filter((kernel) => kernel.row === row);
    if (own.length !== 1) return;
    const [kernel] = own, key = `${op.phase} ${kernel.name}`, sum = sums.get(key) || { phase: op.phase, op: kernel.short, ms: 0, flops: 0, bytes: 0 };
    sums.set(key, { ...sum, ms: sum.ms + kernel.time.total / profile.steps / 1e6, flops: sum.flops + op.flops, bytes: sum.bytes + op.bytes });
  });
  return [...sums.values()];
}

async function checkKernels({ check, page, path }) {
  const wanted = kernelsOf(unpacked(path).results[0].profile);
  await page.locator("#roofline select").last().selectOption({ label: "kernels" });
  const dots = await page.$eval("#roofline svg", (svg) => [...svg.querySelectorAll("circle[data-op]")].map((dot) => {
    const at = (name) => Number(dot.getAttribute(name));
    return { op: dot.dataset.op, phase: dot.dataset.phase, ms: Number(dot.dataset.ms), intensity: svg.scale("x").invert(at("cx")), rate: svg.scale("y").invert(at("cy")) };
  }));
  check(dots.length > 5, `${dots.length} dots of kernels`);
  for (const dot of dots) {
    const same = wanted.find((one) => one.op === dot.op && one.phase === dot.phase && near(dot.ms, one.ms, 1e-6));
    check(same && near(dot.intensity, same.flops / same.bytes, 1e-3) && near(dot.rate, same.flops / (same.ms / 1e3), 1e-3), `no kernel of the profile is where the dot of ${dot.phase} ${dot.op} is`);
  }
  const left = await page.locator("#roofline .where").last().textContent();
  check(/^Not in the plot, their ops ran other kernels beside them, .* and \d+ more \([\d.]+ ms\)\.$/.test(left), `kernels without FLOPs: ${left}`);
  await page.locator("#roofline .plot").focus();
  await page.keyboard.press("ArrowRight");
  const said = await page.locator("#roofline .where").first().textContent();
  check(/ms a step; shortest possible .+ ms: (gap .+ ms|no gap)$/.test(said), `the arrow key says of a kernel: ${said}`);
}

// A limits file of the machine that was profiled, with rates of caches as `limits` writes them; without, as older programs did.
async function linesOf({ browser, open, makePage, name, files }) {
  const page = await open(browser, makePage(name, files), { colorScheme: "light" });
  const lines = await page.locator("#roofline svg").textContent();
  await page.context().close();
  return lines;
}

export async function checkRoofs(browser, { check, open, makePage, checkAxe, RESULTS, WORK }) {
  const path = `${RESULTS}/h200-gpt2-profile.json.gz`;
  const page = await open(browser, makePage("roofs", [path, `${RESULTS}/h200-limits.json`]), { colorScheme: "light" });
  await checkKernels({ check, page, path });
  const widths = await page.$eval("#roofline", (section) => [section.querySelector("svg"), section].map((e) => e.getBoundingClientRect().width));
  check(widths[0] > 0.9 * widths[1], `the roofline is ${widths[0]} of ${widths[1]} pixels wide`);
  await checkAxe(page, "kernels");
  await page.locator("#roofline").screenshot({ path: `${WORK}/kernels.png` });
  await page.context().close();
  const { files } = unpacked(`${RESULTS}/v1-suite.json.gz`), made = [`${WORK}/roofs-profile.json`, `${WORK}/roofs-limits.json`];
  const write = (limits) => [files["profile/profile.json"], limits].forEach((json, i) => writeFileSync(made[i], JSON.stringify(json)));
  write(files["limits.json"]);
  const before = await linesOf({ browser, open, makePage, name: "roofs-old", files: made });
  check(before.includes("memory ") && !/L[123] /.test(before), `lines by limits without caches: ${before}`);
  const rate = (gbs) => ({ unit: "byte/s", ...Object.fromEntries(["one_core", "all"].map((scope) => [scope, { median: gbs * 1e9, min: gbs * 1e9, max: gbs * 1e9, n: 15 }])) });
  write({ ...files["limits.json"], limits: { ...files["limits.json"].limits, l1_read: rate(4000), l2_read: rate(900), l3_read: rate(1) } });
  const after = await linesOf({ browser, open, makePage, name: "roofs-caches", files: made });
  check(/L1 4\sTB\/s/.test(after) && /L2 900\sGB\/s/.test(after) && !after.includes("L3"), `lines by limits with caches, the last slower than memory: ${after}`);
}
