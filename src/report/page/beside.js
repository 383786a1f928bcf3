"use strict";
// Published figures and ours in one chart, from the tables of a write-up: columns "forward, published (ms)", "forward, here (ms)".

const BESIDE = [["published", "--c1"], ["here", "--c2"], ["here, estimated", "--c3"]];
const PUBLISHED = /^(.*), published(?: \((.*)\))?$/;
const SPREAD = /( std| min| max| median|against fp32|minus the row before)$/; // in the table only
const MANY = 12; // more rows than this are lines, not bars
const WIDE = 50; // a wider range than this has a logarithmic scale

// "≈12.3" is an estimate; null where there is no figure.
function figureOf(text) {
  const value = parseFloat(text.replace(/[≈,]/g, ""));
  return value > 0 ? { value, name: text.startsWith("≈") ? "here, estimated" : "here", text } : null;
}

// Figures that are published and measured here: [{label, unit, rows: [{label, published, here}]}].
function pairsOf(spec) {
  return spec.columns.flatMap(({ label }, i) => {
    const [, name, unit = ""] = label.match(PUBLISHED) || [];
    if (!name || SPREAD.test(name)) return [];
    const rows = spec.rows.map((row) => ({ label: row[0], published: figureOf(row[i]), here: figureOf(row[i + 1]) }))
      .filter((row) => row.published || row.here);
    return rows.length ? [{ label: unit ? `${name} (${unit})` : name, unit, rows }] : [];
  });
}

// ---- bars ----

function besideBars(place, pair) {
  const values = pair.rows.flatMap((row) => [row.published, row.here].filter(Boolean).map(({ value }) => value));
  const most = Math.max(...values), floor = Math.min(...values) / 2;
  const log = most / floor > 2 * WIDE;
  const share = (value) => (log ? Math.log(value / floor) / Math.log(most / floor) : value / most);
  const title = log ? `${pair.label}, logarithmic scale` : pair.label;
  const rows = pair.rows.flatMap((row) => [row.published && { ...row.published, name: "published" }, row.here].filter(Boolean).map(({ name, value, text }, i) => ({
    label: i === 0 ? row.label : name, figure: `${text} ${pair.unit}`,
    parts: [{ name: `${row.label}, ${name}`, value: share(value), text: `${text} ${pair.unit}`, colour: BESIDE.find(([known]) => known === name)[1] }],
  })));
  const figure = el("figure", { class: "wide" }, el("figcaption", {}, title));
  bars(figure, title, rows, 1).classList.add("beside");
  place.append(figure);
}

// ---- lines ----

// Groups rows such as "d-head 64, ctx 1024" by their label without ctx; null where a row has no ctx.
function byContext(pair) {
  const parts = pair.rows.map((row) => [row, row.label.match(/^(.*?),? ?\bctx (\d+)(.*)$/)]);
  if (!parts.every(([, match]) => match)) return null;
  const rows = parts.map(([row, [, before, ctx, after]]) => ({ ...row, ctx: Number(ctx), rest: before + after }));
  return groupBy(rows, ({ rest }) => [pair.label, rest].filter(Boolean).join(", ")).map((group) => ({ ...group, unit: pair.unit }));
}

function besideLines(place, group) {
  const x = [...new Set(group.rows.map(({ ctx }) => ctx))].sort((a, b) => a - b);
  const series = BESIDE.map(([name]) => ({
    label: name,
    values: x.map((ctx) => {
      const row = group.rows.find((other) => other.ctx === ctx);
      const of = name === "published" ? row.published : row.here && row.here.name === name ? row.here : null;
      return of ? of.value : null;
    }),
  })).filter(({ values }) => values.some((value) => value !== null));
  lines(place, { title: group.label, xLabel: "tokens", yLabel: group.unit, logX: 2, logY: 10, x, series });
  place.lastChild.classList.add("wide");
}

// ---- one table ----

function drawBeside(host, spec) {
  const pairs = pairsOf(spec);
  if (!pairs.some(({ rows }) => rows.some(({ here }) => here))) return; // nothing of ours to compare
  const choices = pairs.flatMap((pair) => {
    const groups = pair.rows.length > MANY ? byContext(pair) : null;
    return groups ? groups.map((group) => ({ ...group, show: besideLines })) : [{ ...pair, show: besideBars }];
  });
  if (choices.some(({ show }) => show === besideBars)) key(host, BESIDE);
  chooser(host, "Figure", choices, (place, choice) => choice.show(place, choice));
}
