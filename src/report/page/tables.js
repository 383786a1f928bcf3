"use strict";
// Tables that sort and filter. Text from files goes in as text, never as HTML.

const GOOD = new Set(["faster", "ok"]);
const BAD = new Set(["slower", "OOM", "failed", "killed", "timeout"]);

// Sorts a cell by its number, or by its text.
function sortKey(text) {
  const n = parseFloat(text.replace(/,/g, ""));
  return Number.isNaN(n) ? text.toLowerCase() : n;
}

function compareCells(a, b) {
  if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
  return typeof a === "number" ? -1 : 1; // numbers before words
}

function sortBy(table, column, button) {
  const heading = button.parentElement;
  const down = heading.getAttribute("aria-sort") === "ascending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", down ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows];
  const keys = new Map(rows.map((row) => [row, sortKey(row.cells[column].textContent)]));
  rows.sort((a, b) => (down ? -1 : 1) * compareCells(keys.get(a), keys.get(b)));
  table.tBodies[0].append(...rows);
}

// A heading may break before its unit.
const headText = (label) => label.replace(/ (?!\()/g, "\u00a0");

function tableHead(table, columns) {
  const row = el("tr");
  columns.forEach((column, i) => {
    const button = el("button", { type: "button", onclick: () => sortBy(table, i, button) }, headText(column.label) || "value");
    row.append(el("th", { scope: "col", class: column.right && "right" }, button));
  });
  table.append(el("thead", {}, row));
}

function tableBody(table, columns, rows) {
  const made = el("tbody");
  for (const cells of rows) {
    made.append(el("tr", {}, ...cells.map((text, i) => {
      const mood = GOOD.has(text) ? "good" : BAD.has(text) ? "bad" : "";
      const name = [columns[i].right ? "right" : "", mood].filter(Boolean).join(" ");
      return i === 0 ? el("th", { scope: "row", class: name || null }, el("span", {}, text)) : el("td", { class: name || null }, text);
    })));
  }
  table.append(made);
}

function filterBox(table, title) {
  const count = el("span", { role: "status" });
  const narrow = (event) => {
    const words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown++;
    }
    count.textContent = words.length ? ` ${shown} of ${table.tBodies[0].rows.length} rows` : "";
  };
  return el("p", { class: "tools" }, el("label", {}, "Filter ", el("input", { type: "search", "aria-label": `Filter: ${title}`, oninput: narrow })), count);
}

function notes(list) {
  const made = el("ul", { class: "notes" });
  for (const note of list) made.append(el("li", {}, note.text || "", note.code ? ": " : null, note.code ? el("code", {}, note.code) : null));
  return made;
}

// A title that is unique in its section: the first column's label, then a number, makes it so.
const titles = new Map();
function uniqueTitle(spec) {
  const alike = data.tables.filter((other) => other.section === spec.section && other.title === spec.title).length;
  const about = spec.columns.find((column) => column.label !== "in"); // which says where, not what
  const title = alike > 1 ? `${spec.title}: ${about.label}` : spec.title;
  const key = `${spec.section}: ${title}`;
  titles.set(key, (titles.get(key) || 0) + 1);
  return titles.get(key) > 1 ? `${title} (${titles.get(key)})` : title;
}

// Name of a table for screen readers. Two sections may have a table of the same title.
function regionName(host, title) {
  const heading = host.closest("section")?.querySelector("h2")?.textContent;
  return heading && heading !== title ? `${heading}: ${title}` : title;
}

function addTable(spec, host = body(spec.section)) {
  const table = el("table", { class: "data" }), layout = tableLayout(spec);
  tableHead(table, layout.columns);
  tableBody(table, layout.columns, layout.rows);
  const title = uniqueTitle(spec);
  host.append(el("h3", {}, title));
  if (layout.same) host.append(el("p", { class: "where" }, layout.same));
  if (spec.section === "like") drawBeside(host, spec);
  if (spec.rows.length > 7) host.append(filterBox(table, title));
  host.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": regionName(host, title) }, table));
  if (spec.notes.length) host.append(notes(spec.notes));
}
