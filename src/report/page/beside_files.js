"use strict";
// Links to what lies beside the page: traces, CSVs, snapshots, tables.

// What a file is for, by its name: the first that fits.
const FILE_KINDS = [
  [/_trace\.json\.gz$/, "Traces, for Perfetto and for HTA"], [/\.pickle$/, "Snapshot, for PyTorch's memory viewer"], [/\.svg$/, "Pictures"],
  [/\.csv$/, "Figures as CSV"], [/\.(md|tex|typ)$/, "Tables for papers and notes"], [/\.json(\.gz)?$/, "Result files"],
];

function drawFiles() {
  const kinds = groupBy(data.beside || [], (name) => (FILE_KINDS.find(([pattern]) => pattern.test(name)) || ["", "Other files"])[1]);
  const order = [...FILE_KINDS.map(([, kind]) => kind), "Other files"];
  const list = el("ul");
  for (const { label, rows } of kinds.sort((a, b) => order.indexOf(a.label) - order.indexOf(b.label))) {
    const links = rows.flatMap((name, i) => [i ? ", " : ": ", el("a", { href: name.split("/").map(encodeURIComponent).join("/") }, name)]);
    list.append(el("li", {}, label, ...links));
  }
  if (kinds.length) body("files").append(list);
}
