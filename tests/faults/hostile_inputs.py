"""Small files of every kind that the program reads, and hostile ones made from them."""
import gzip
import json
import shutil
import struct
import zlib


def small_inputs(campaign, inputs):
    """One small file of each kind, by name: quick to read a thousand times."""
    folder = campaign.work / "small"
    folder.mkdir(exist_ok=True)
    bench = json.loads((inputs / "bench.json").read_text(encoding="utf-8"))
    bench["results"] = bench["results"][:1]
    (folder / "bench.json").write_text(json.dumps(bench), encoding="utf-8")
    lines = (inputs / "bench.jsonl").read_text(encoding="utf-8").splitlines()[:2]
    (folder / "bench.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for name in ("memory.json", "precision.json", "warmup.json"):
        shutil.copy(inputs / name, folder / name)
    shutil.copy(inputs / "profile" / "profile.json", folder / "profile.json")
    shutil.copy(inputs / "profile" / "profile_cuda_gpu_kern_sum.csv", folder / "profile_cuda_gpu_kern_sum.csv")
    shutil.copy(inputs / "suite" / "folder" / "suite.json", folder / "suite.json")
    trace = json.loads(gzip.decompress((inputs / "profile" / "profile_trace.json.gz").read_bytes()))
    trace["traceEvents"] = trace["traceEvents"][:4]
    (folder / "events.json").write_text(json.dumps(trace), encoding="utf-8")
    shutil.copy(inputs / "memory.pickle", folder / "memory.pickle")
    return {path.name: path for path in sorted(folder.iterdir())}


# ---- bytes ----

def nested_pickle(levels):
    """A list in a list in a list."""
    return b"\x80\x02" + b"]" * levels + b"a" * (levels - 1) + b"."


def shared_pickle(levels):
    """Each list holds the one before twice: 2 to the power of `levels` when written out."""
    body = b"\x80\x02]q\x00"
    for level in range(levels):
        body += b"](h" + bytes([level]) + b"h" + bytes([level]) + b"eq" + bytes([level + 1])
    return body + b"."


def pickles():
    yield "pickle: 200,000 levels", nested_pickle(200000)
    yield "pickle: 200,000 tuples", b"\x80\x02" + b"(" * 200000 + b"t" * 200000 + b"."
    yield "pickle: shared lists, 2^60", shared_pickle(60)
    yield "pickle: runs a command", b"cos\nsystem\n(S'touch owned'\ntR."
    yield "pickle: marks without end", b"\x80\x02" + b"(" * 1000000
    yield "pickle: a string of 4 GB", b"\x80\x02X\xff\xff\xff\xff."
    yield "pickle: a count of 2^63", b"\x80\x05\x8d" + struct.pack("<Q", 1 << 63) + b"."
    yield "pickle: memo that is not there", b"\x80\x02h\xff."
    yield "pickle: pops of nothing", b"\x80\x02" + b"0" * 100 + b"."


def jsons():
    for name, value in (("1e999", "1e999"), ("-1e308", "-1e308"), ("a number of 5,000 digits", "9" * 5000), ("NaN", "NaN"), ("2^63", str(1 << 63))):
        yield f"number {name}", ('{"schema": 1, "environment": {"id": "x"}, "results": [{"cell": "c", "ctx": %s, "batch": %s, "status": "ok"}]}' % (value, value)).encode()
    for count in ("1e12", "1e300", "-1", "0", "9223372036854775807"):
        yield f"accumulation of {count}", ('{"schema": 1, "environment": {"id": "x"}, "results": [], "accumulation": {"count": %s, "value": 0.1}}' % count).encode()
    yield "nested 100,000 arrays", b"[" * 100000 + b"]" * 100000
    yield "nested 100,000 objects", b'{"a":' * 100000 + b"1" + b"}" * 100000
    yield "results nested 1,500 deep", b'{"schema": 1, "environment": {"id": "x"}, "results": [{"cell": "c", "status": "ok", "step": ' + b"[" * 1500 + b"]" * 1500 + b"}]}"
    for value in (b"1", b'"x"', b"null", b"{}", b"[1]", b"[null]", b"[[]]", b"true"):
        yield f"results: {value.decode()}", b'{"schema": 1, "environment": {}, "results": ' + value + b"}"
    for files in (b'{"a": 1}', b"[]", b'{"bench.json": "x"}', b'{"../../x": {}}'):
        yield f"files: {files.decode()}", b'{"schema": 1, "environment": {}, "results": [], "files": ' + files + b"}"
    yield "a string of 8 MB", b'{"schema": 1, "environment": {"id": "' + b"x" * (8 << 20) + b'"}, "results": []}'
    yield "escapes", '{"schema": 1, "environment": {"id": "\\u001b[31m\\u2028\\ud800"}, "results": [{"cell": "\\u001b]0;x\\u0007", "status": "\\u009b31m"}]}'.encode()
    yield "a surrogate alone", b'{"schema": 1, "environment": {"id": "\\ud800"}, "results": []}'
    yield "a member twice", b'{"schema": 1, "schema": 2, "environment": {}, "environment": 1, "results": [], "results": 3}'
    yield "an event without end", b'{"traceEvents": [{"ph": "X", "ts": 1e300, "dur": -1, "name": 1, "pid": "x", "tid": []}]}'
    yield "a trace of nulls", b'{"traceEvents": ' + b"[" + b"null," * 10000 + b"null]}"


def packed():
    # Made when it is their turn: they take a second.
    yield "gzip: 512 MB of blanks", lambda path: path.write_bytes(gzip.compress(b" " * (512 << 20), 1))
    yield "gzip: 40 million empty arrays", lambda path: path.write_bytes(gzip.compress(b'{"schema": 1, "results": [' + b"[]," * 40000000 + b"1]}", 1))
    yield "gzip: truncated", gzip.compress(b'{"schema": 1, "environment": {}, "results": []}' * 50)[:60]
    yield "gzip: its head alone", gzip.compress(b"x")[:10]
    yield "gzip: wrong sum", gzip.compress(b'{"schema": 1, "environment": {}, "results": []}')[:-8] + b"\0" * 8
    yield "gzip: junk behind it", gzip.compress(b'{"schema": 1, "environment": {}, "results": []}') + b"junk"
    yield "gzip: packed twice", gzip.compress(gzip.compress(b"{}"))
    yield "zlib, not gzip", zlib.compress(b"{}")


def odd():
    yield "empty", b""
    yield "a line end", b"\n"
    yield "zeros", bytes(100000)
    yield "all bytes", bytes(range(256)) * 40
    yield "an ending quote", b'"' * 99999
    yield "a line of 8 MB", b"x" * (8 << 20)
    yield "csv: 100,000 columns", b"a," * 100000 + b"\n" + b"1," * 100000 + b"\n"
    yield "csv: an open quote", b'Time (%),Name\n1,"' + b"x,\n" * 1000
    yield "csv: a formula", b"Time (%),Total Time (ns),Name\n=cmd|' /C calc'!A0,1,x\n"


def forms_of(data):
    """A good file in another clothing, or not all of it."""
    yield "after a byte order mark", b"\xef\xbb\xbf" + data
    yield "with CRLF", data.replace(b"\n", b"\r\n")
    try:
        yield "in UTF-16", data.decode("utf-8").encode("utf-16")
    except UnicodeDecodeError:
        pass
    for part in (1, 2, 3):
        yield f"cut at {part}/4", data[: len(data) * part // 4]
    yield "without its last byte", data[:-1]
    yield "twice", data + data
    yield "with zeros behind it", data + bytes(4096)


def contents(small):
    """Every hostile content, with a name."""
    listed = [*odd(), *jsons(), *pickles(), *packed()]
    for name, path in small.items():
        listed += [(f"{name} {form}", data) for form, data in forms_of(path.read_bytes())]
    return listed
