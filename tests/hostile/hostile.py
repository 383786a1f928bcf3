"""usage: hostile.py make GOLDEN RESULTS RUN.json: writes files like those of the program into this folder, in which every text
that is free holds what the readers of some format act on; the cells of RUN stay, so that it can be resumed.

hostile.py check-csv FILE..., check-sql FILE.sql, check-json FILE..., check-html FILE.html: as their readers see them."""
import csv
import gzip
import html.parser
import json
import pathlib
import re
import sqlite3
import sys

# A terminal's title, a colour by ESC and by C1, a line erased, marks of direction, ends of lines.
TERMINAL = "\x1b]0;title\x07\x1b[31m\x9b1m\x7f\r\x08\u202e\u2066\u200f"
# In this order, for columns are cut; a formula acts at the start of a cell.
EVIL = [
    "=cmd|' /C calc'!A0",
    TERMINAL,
    '\u2028#panic("ran")',
    '\u2029#panic("ran")\x85#panic("ran")\x0b#panic("ran")\x0c#panic("ran")',
    '"#panic("ran")\\',
    "\n.shell touch stolen\n.system touch stolen\n",
    "'); DROP TABLE roofstep_results; --",
    "\\immediate\\write18{touch stolen}\\input{stolen}^^5cinput{stolen}%{}$#&~_",
    "[a](javascript:alert(1)) ![b](http://e/x.png) <script>x</script> | `c` http://e.com www.e.com\n\n# d",
    "</script><!-- é 中",
]
# What the program itself tells apart stays; so does the key of a cell but for its end.
WORDS = set(
    "id environment_id status precision mode measured_mode attention exec recompute loss_scale mask time_utc unit phase kind program version "
    "kernels device category ended_by stat use dtype state words".split()
)


def spoil(value, name, n, cells=True):
    """Every text that is free, with one of EVIL before it and one after it in turn, and all of them in messages."""
    if isinstance(value, dict):
        return {key: spoil(one, key, n, cells) for key, one in value.items()}
    if isinstance(value, list):
        return [spoil(one, name, n, cells) for one in value]
    if not isinstance(value, str) or name in WORDS:
        return value
    n[0] += 1
    if name == "cell":
        return f"{value} {''.join(EVIL)}" if cells else value
    if name in ("message", "warnings", "command", "why"):
        return "".join(EVIL[n[0] % len(EVIL) :]) + value + "".join(EVIL)
    return EVIL[n[0] % len(EVIL)] + value + EVIL[(n[0] // len(EVIL)) % len(EVIL)]


def load(path):
    read = gzip.open if path.suffix == ".gz" else open
    with read(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write(path, value):
    """Characters as they are, where Python would write numbers for it."""
    pathlib.Path(path).write_text(json.dumps(value, ensure_ascii=False), "utf-8")


def make(golden, results, run):
    for name in ("results", "attention", "six-sizes", "compare-a"):
        write(f"{name}.json", spoil(load(golden / f"{name}.json"), "", [0]))
    resumed = spoil(load(run), "", [0], False)
    for result in resumed["results"]:
        result |= {"message": "".join(EVIL), "warnings": EVIL}
    write("resumed.json", resumed)
    limits = load(results / "h200-limits.json")
    limits["key"] |= {name: EVIL[1] + EVIL[2] + text for name, text in limits["key"].items() if isinstance(text, str) and name != "version"}
    write("limits.json", limits)
    profile = spoil(load(results / "h200-medium-profile.json.gz"), "", [0])
    write("profile.json", profile)
    bundle = load(results / "v1-like-rtx5090-nsys.json.gz")
    bundle["missing"] = [{"part": TERMINAL, "command": TERMINAL, "why": EVIL[2]}]
    bundle["files"] = {TERMINAL + "a.json": spoil(bundle["files"]["results.json"], "", [0])}
    del bundle["like"]
    write("bundle.json", bundle)
    pathlib.Path("broken.json").write_text('{"schema": 1, "\x9b\x7f\u202e" "\x9b\x7f\u202e', "utf-8")
    # Cut to what a column holds, within a character of three bytes.
    long = load(golden / "results.json")
    for result in long["results"]:
        result |= {"size": "ab" + 100 * "中", "blas": 100 * "é", "status": "oom", "message": 900 * "中"}
    write("long.json", long)
    write("wrong.json", {"schema": 1, "environment": {"id": 7}, "results": [{"cell": TERMINAL, "status": TERMINAL}]})
    folder = pathlib.Path("nsys")
    folder.mkdir()
    head = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
    name = "".join(EVIL).replace('"', '""')
    (folder / "a_cuda_gpu_kern_sum.csv").write_text(f'{head}100.0,10,1,10.0,10.0,10,10,0.0,"{name}"\n', "utf-8")


def check_csv(path):
    """A spreadsheet's cells: none begins a formula, and the numbers are numbers."""
    text = pathlib.Path(path).read_text("utf-8")
    rows = list(csv.reader(text.splitlines(keepends=True)))
    assert all(len(row) == len(rows[0]) for row in rows), f"{path}: rows of different lengths"
    number = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?$")
    cells = [cell for row in rows for cell in row]
    for cell in cells:
        assert not re.match(r"\s*[=+\-@\t\r]", cell) or number.match(cell) or cell == "-", f"{path}: a formula: {cell!r}"
    assert any(cell.startswith("'=cmd|") for cell in cells), f"{path}: the text is not there"
    assert any(number.match(cell) for cell in cells), f"{path}: no number"


def check_sql(path):
    base = sqlite3.connect(":memory:")
    base.executescript(pathlib.Path(path).read_text("utf-8"))
    rows = base.execute("select size, message, cpu from roofstep_results").fetchall()
    wanted = len(load(pathlib.Path("resumed.json"))["results"])
    assert len(rows) == wanted, f"{len(rows)} rows, not {wanted}"
    assert any("DROP TABLE" in (message or "") and "\n.shell" in message for _, message, _ in rows), "the text is not whole"


def check_json(path):
    """Nothing is lost: the texts are those of the file it was made from."""
    text = pathlib.Path(path).read_text("utf-8")
    files = [json.loads(text)] if path.endswith(".json") else [json.loads(line) for line in text.splitlines()]
    assert TERMINAL in repr_texts(files), f"{path}: the text is not whole"


def repr_texts(value):
    if isinstance(value, dict):
        return "".join(repr_texts(one) for one in value.values())
    if isinstance(value, list):
        return "".join(repr_texts(one) for one in value)
    return value if isinstance(value, str) else ""


class Tags(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs):
        assert tag not in ("a", "img", "script", "iframe"), f"a {tag} was made of a text: {attrs}"


def check_html(path):
    text = pathlib.Path(path).read_text("utf-8")
    Tags().feed(text)
    assert "javascript:alert" in text and "<table>" in text, "the text is not there"


if sys.argv[1].startswith("check-"):
    check = {"check-csv": check_csv, "check-sql": check_sql, "check-json": check_json, "check-html": check_html}[sys.argv[1]]
    for one in sys.argv[2:]:
        check(one)
else:
    make(*map(pathlib.Path, sys.argv[2:]))
