"use strict";
// Which columns a table shows, and in which order: what is the same in every row goes into its caption, and the figures
// that are read first stand beside the names, where no scrolling is needed.

// Figures that are never to be scrolled for.
const KEY_COLUMN = /^(step(, \w+)? \(ms\)|ms a step|(% )?of limit( \(%\))?|peak \(MiB\)|status|verdict)$/;
// Numbers that name a row, as words do.
const NAMING_NUMBER = /^(ctx|batch|d_head|heads|layers|ranks|warmup|steps|accumulate|warm-ups|parameters|nodes)$/;

const isNaming = (column) => !column.right || NAMING_NUMBER.test(column.label);

// Names before figures, the key figures first of all. Where things are ("in") stands behind what they are.
function columnOrder(columns) {
  const all = columns.map((column, i) => ({ ...column, i }));
  if (all.length > 1 && all[0].label === "in") all.splice(0, 2, all[1], all[0]);
  const firstFigure = all.findIndex((column) => !isNaming(column));
  if (firstFigure < 0) return all.map(({ i }) => i);
  const names = all.slice(0, firstFigure), rest = all.slice(firstFigure);
  const isKey = (column) => KEY_COLUMN.test(column.label);
  return [...names.filter((column) => !isKey(column)), ...all.filter(isKey), ...rest.filter((column) => !isKey(column))].map(({ i }) => i);
}

// Of several rows a name that all of them share says nothing of each. A single row keeps what sets no rows apart.
function isConstant(spec, i) {
  const [first] = spec.rows, column = spec.columns[i];
  if (i === 0 || spec.rows.length < 2 || column.label === "verdict") return false;
  return (isNaming(column) || first[i] === "-") && spec.rows.every((row) => row[i] === first[i]);
}

// {columns, rows, same}: `same` is the sentence on columns that are left out, or "".
function tableLayout(spec) {
  const order = columnOrder(spec.columns), constant = order.filter((i) => isConstant(spec, i));
  const shown = order.filter((i) => !constant.includes(i));
  const said = constant.filter((i) => spec.rows[0][i] !== "-").map((i) => `${spec.columns[i].label} ${spec.rows[0][i]}`);
  const unknown = constant.filter((i) => spec.rows[0][i] === "-").map((i) => spec.columns[i].label);
  const same = [said.length ? `In every row: ${said.join(", ")}.` : "", unknown.length ? `Not known in any row: ${unknown.join(", ")}.` : ""];
  return { columns: shown.map((i) => spec.columns[i]), rows: spec.rows.map((row) => shown.map((i) => row[i])), same: same.filter(Boolean).join(" ") };
}
