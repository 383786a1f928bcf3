#!/usr/bin/env bash
# usage: forecast.sh PROGRAM: forecasts go by what files say was measured; the committed results of a GPU are the truth.
program=$1
here=$(cd "$(dirname "$0")/../.." && pwd)
results=$here/docs/results
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0
fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}
forecast() { "$program" forecast "$@" 2>"$work/err" || { fail "forecast $*"; cat "$work/err"; }; }
limits=$results/h200-limits.json

# Fitted to one step, the others are told: steps of other sizes, contexts and architectures.
forecast --fit "$results/h200-medium-profile.json.gz" --limits "$limits" --out "$work/medium.json"
steps=("$results"/h200-{small,large,xl,2.7b,gpt2,llama-3.2-1b,qwen2.5-0.5b,qwen3-0.6b}-torch.json "$results/h200-recompute.json")
forecast --check "${steps[@]}" --limits "$limits" --efficiency "$work/medium.json" >"$work/check"
python3 - "$work/check" <<'PYTHON' || { fail "the steps that nothing was fitted to"; cat "$work/check"; }
import re, sys
text = open(sys.argv[1]).read()
n, mean, worst, roofline = re.search(r"(\d+) steps .* off by ([\d.]+) % in the mean, ([\d.]+) % at worst; the plain roofline by ([\d.]+) %", text).groups()
assert int(n) >= 10 and float(mean) <= 6 and float(worst) <= 15 and float(roofline) > 3 * float(mean), (n, mean, worst, roofline)
PYTHON

# What it is fitted to is found again: times made up from known numbers.
python3 - "$results" "$work" <<'PYTHON'
import gzip, json, sys
results, work = sys.argv[1:]
limits = json.load(open(results + "/h200-limits.json"))["limits"]
peak = max(limits[f"bf16_{name}"]["all"]["max"] for name in ("largest", "forward", "input_grad", "weight_grad"))
bandwidth = max(limits[f"memory_{name}"]["all"]["max"] for name in ("read", "write", "copy"))
for name in "medium", "gpt2", "llama-3.2-1b":
    with gzip.open(f"{results}/h200-{name}-profile.json.gz", "rt") as file: data = json.load(file)
    for row in data["results"][0]["profile"]["ops"]:
        flops, moved = row["flops"] / row["nodes"], row["bytes"] / row["nodes"]
        start, seconds = (4e-6, max(1.25 * flops / peak, moved / bandwidth)) if row["op"] == "matmul" else (2e-6, 1.5 * moved / bandwidth)
        row["device"]["total"] = 1e9 * (start + seconds) * row["nodes"] * data["results"][0]["profile"]["steps"]
    json.dump(data, open(f"{work}/{name}.json", "w"))
PYTHON
forecast --fit "$work"/{medium,gpt2,llama-3.2-1b}.json --limits "$limits" --out "$work/known.json"
python3 - "$work/known.json" <<'PYTHON' || fail "the fit does not find what the times were made of"
import json, sys
lines = {(line["op"], line["precision"]): line for line in json.load(open(sys.argv[1]))["lines"]}
def close(x, y): assert abs(x / y - 1) < 1e-3, (x, y)
close(lines["matmul", "bf16"]["start_us"], 4); close(lines["matmul", "bf16"]["flops"], 1.25)
for op in "rmsnorm", "swiglu", "adamw", "rmsnorm_grad":
    close(lines[op, "any"]["bytes"], 1.5)
    assert lines[op, "any"]["error"] < 1e-3 and lines[op, "any"]["flops"] == 0
close(lines["rmsnorm", "any"]["start_us"], 2)
PYTHON

# With all ops at the limit the forecast is the limit: every node counts, as often as it runs.
python3 - "$here/efficiency/h200.json" "$work/roof.json" <<'PYTHON'
import json, sys
data = json.load(open(sys.argv[1]))
data["gap_us"] = 0
for line in data["lines"]:
    line.update(start_us=0, flops=int(line["precision"] != "any"), score=0, bytes=1)
json.dump(data, open(sys.argv[2], "w"))
PYTHON
for options in "--size medium" "--size small --accumulate 3 --ctx 256" "--model llama-3.2-1b --recompute block" "--size small --mode fwd_bwd"; do
    # shellcheck disable=SC2086
    forecast --limits "$limits" --efficiency "$work/roof.json" --format json $options >"$work/json"
    python3 - "$work/json" <<'PYTHON' || fail "at the limit: $options"
import json, sys
f = json.load(open(sys.argv[1]))["forecasts"][0]["forecast"]
assert abs(f["step_ms"] / f["limit_step_ms"] - 1) < 1e-6, f
assert abs(sum(f[phase + "_ms"] or 0 for phase in ("forward", "backward", "optimizer") if phase + "_ms" in f) / f["step_ms"] - 1) < 1e-6, f
PYTHON
done

# Nor by the bytes of a data sheet, whatever its caches hold: an op at the limit is not far from it.
forecast --gpu rtx4090 --efficiency "$work/roof.json" --size small >"$work/out"
awk -F' *[|] *' '/what would change first/ { top = 1 } top && NF > 6 && $5 + 0 > 0 { rows++; bad += $5 != $6 } END { exit !(rows >= 5 && bad == 0) }' "$work/out" || fail "an op at the limit is away from it"
forecast --gpu rtx3070,rtx4090 --size small >"$work/out"
grep -q '^- size small, .*ctx 512, batch 4, .*precision bf16, .*exec graph' "$work/out" || fail "the forecast names no cell"
grep -q 'less 536 MiB that a CUDA context' "$work/out" || fail "nothing is said of the context"

# Hosts: what they are fitted to is found again, of this program and of PyTorch; rows of others are left alone.
python3 - "$here/efficiency/h200.json" "$work/host.json" <<'PYTHON'
import json, sys
data = json.load(open(sys.argv[1]))
for host in data["hosts"]: host.update(forward_us=60, backward_us=45, optimizer_us=500)
json.dump(data, open(sys.argv[2], "w"))
PYTHON
cells=(--limits "$limits" --efficiency "$work/host.json" --size small,medium --ctx 128,256 --format json)
forecast "${cells[@]}" --exec eager,fused >"$work/ours.json"
forecast "${cells[@]}" --as torch-eager >"$work/torch.json"
python3 - "$work" "$results/h200-memory-torch-eager.json" <<'PYTHON'
import json, sys
work, like = sys.argv[1], json.load(open(sys.argv[2]))
rows = []
for name, peer in ("ours", None), ("torch", "torch"):
    template = next(row for row in like["results"] if row.get("peer") == peer)
    for f in json.load(open(f"{work}/{name}.json"))["forecasts"]:
        key = " ".join(f"{k}={f[k]}" for k in "size d_model d_ff num_layers num_heads vocab ctx batch precision mode exec".split())
        row = {**template, **{k: f[k] for k in ("size", "ctx", "batch", "attention", "exec")}, "cell": key + " peer=torch variant=eager" * (peer is not None)}
        for phase in "forward", "backward", "optimizer":
            row[phase] = dict(template[phase], mean_ms=f["forecast"][phase + "_ms"])
        rows.append(row)
json.dump(dict(like, results=rows), open(work + "/rows.json", "w"))
PYTHON
profiles=("$results"/h200-{medium,gpt2,llama-3.2-1b,qwen2.5-0.5b,qwen3-0.6b}-profile.json.gz)
forecast --fit "${profiles[@]}" "$work/rows.json" "$results/h200-xl-torch.json" --limits "$limits" --out "$work/again.json"
python3 - "$work/again.json" <<'PYTHON' || { fail "hosts are not found again"; cat "$work/again.json"; }
import json, sys
hosts = {(h["program"], h["exec"]): h for h in json.load(open(sys.argv[1]))["hosts"]}
assert len(hosts) == 3 and all(len(h["steps"]) == 4 for h in hosts.values()), hosts
for h in hosts.values():
    assert all(abs(h[p + "_us"] / us - 1) < 1e-3 for p, us in (("forward", 60), ("backward", 45), ("optimizer", 500))) and h["step_error"] < 1e-3, h
PYTHON
# The file that the program brings along is what the committed results give, by the command in docs/forecast.md.
forecast --fit "${profiles[@]}" "$results"/h200-{small-eager-torch,memory-torch-eager,small-128,memory-torch,memory-torch-512}.json --limits "$limits" --out "$work/bundled.json"
python3 - "$work/bundled.json" "$here/efficiency/h200.json" <<'PYTHON' || fail "efficiency/h200.json is not what the results give"
import json, sys
def same(x, y):
    if isinstance(x, dict): return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, list): return len(x) == len(y) and all(map(same, x, y))
    return abs(x - y) <= 1e-3 * abs(x) + 1e-9 if isinstance(x, float) else x == y
assert same(*(json.load(open(name)) for name in sys.argv[1:]))
PYTHON
# Steps of ops that a host submits one by one, that nothing was fitted to: from tiny to 2.7B in fp32.
gunzip -c "$results/h200-like-rtx5090.json.gz" >"$work/like.json"
forecast --check "$work/like.json" --limits "$limits" --format json >"$work/check"
python3 - "$work/check" <<'PYTHON' || { fail "eager steps that nothing was fitted to"; cat "$work/check"; }
import json, sys
told = json.load(open(sys.argv[1]))["not_fitted"]
assert told["rows"] >= 6 and told["mean_error"] < 0.15 and told["limit_mean_error"] > 2 * told["mean_error"], told
PYTHON
forecast --check "$results/h200-small-torch.json" "$results/h200-memory-torch-eager.json" --limits "$limits" --as torch-eager --format json >"$work/check"
[ "$(grep -c '"cell"' "$work/check")" = 3 ] || fail "rows of PyTorch's eager mode, and no others"

# Published figures: every one that is a time of a phase, as published, on the GPU of its table.
for writeup in rtx5090 rtx5090-nsys p100-t4; do
    forecast --check published:$writeup --as torch-eager --format json >"$work/$writeup.json"
done
python3 - "$work" <<'PYTHON' || fail "published figures"
import json, sys
told = {name: json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("rtx5090", "rtx5090-nsys", "p100-t4")}
def row(writeup, cell, phase): return next(r for r in told[writeup]["checks"] if r["cell"] == cell and r["phase"] == phase)
assert row("rtx5090", "End to end: size large", "backward")["measured_ms"] == 122.454
assert row("p100-t4", "P100, first write-up: size medium", "forward")["measured_ms"] == 70
assert abs(row("rtx5090-nsys", "Attention: d-head 32, ctx 16384", "forward")["measured_ms"] / (7868.635 / 200) - 1) < 1e-6
assert not [r for r in told["rtx5090"]["checks"] if "size xl" in r["cell"] and r["phase"] != "forward"]  # did not fit
assert len(told["rtx5090"]["checks"]) == 17 and told["rtx5090"]["left_out"] == 0
t4, p100 = (row("p100-t4", cell, phase) for cell, phase in (("T4, full and mixed precision: small, full precision", "step"), ("P100, second write-up: size small", "forward")))
assert t4["limit_ms"] > 2 * p100["limit_ms"]  # a T4 is slower in fp32, and its step is three times the forward pass
PYTHON

# A CPU by one profiled step of it; rows of another device, or of other threads, are left out.
gunzip -c "$results/v1-suite.json.gz" >"$work/suite.json"
python3 - "$work" <<'PYTHON'
import json, sys
files = json.load(open(sys.argv[1] + "/suite.json"))["files"]
for name in "limits.json", "profile/profile.json": json.dump(files[name], open(sys.argv[1] + "/v1-" + name.split("/")[-1], "w"))
PYTHON
cpu=(--limits "$work/v1-limits.json" --efficiency "$work/v1-ops.json")
forecast --fit "$work/v1-profile.json" --limits "$work/v1-limits.json" --out "$work/v1-ops.json"
forecast --check "$results/v1-six-sizes.json" "$results/h200-small-128.json" "$results/xeon16-scaling.json" "${cpu[@]}" --format json >"$work/check"
python3 - "$work/check" <<'PYTHON' || { fail "a CPU by one of its steps"; cat "$work/check"; }
import json, sys
told = json.load(open(sys.argv[1]))
assert [row["fitted"] for row in told["checks"]] == [1, 0, 0, 0] and told["left_out"] == 13, told
assert told["not_fitted"]["worst_error"] < 0.05 < told["not_fitted"]["limit_mean_error"], told
PYTHON
sed 's/"threads": *2/"threads": 1/; s/"cpu": *"Neoverse-V1"/"cpu": "Neoverse-V2"/' "$work/v1-limits.json" >"$work/v2-limits.json"
! "$program" forecast --check "$results/v1-six-sizes.json" --limits "$work/v2-limits.json" --efficiency "$work/v1-ops.json" >"$work/out" 2>"$work/err" || fail "rows of another CPU"
grep -q 'it ran on Neoverse-V1, and the limits are of Neoverse-V2' "$work/err" || { fail "which CPU"; cat "$work/err"; }
sed 's/"threads": *2/"threads": 1/' "$work/v1-limits.json" >"$work/one-limits.json"
! "$program" forecast --check "$results/v1-six-sizes.json" --limits "$work/one-limits.json" --efficiency "$work/v1-ops.json" >"$work/out" 2>"$work/err" || fail "rows of other threads"
grep -q 'it ran on 2 threads, and the limits are of 1' "$work/err" || { fail "which threads"; cat "$work/err"; }

# An interval where it was measured, and nowhere else.
forecast --limits "$limits" --size xl >"$work/out"
grep -qE '\| NVIDIA H200 \| xl +\| .* to ' "$work/out" || fail "no interval on the device that was measured"
grep -q 'what would change first' "$work/out" || fail "a single cell without its ops"
forecast --gpu rtx4090,h100-sxm,rtx4090 --size small,xl --price 0.5/h >"$work/out"
[ "$(grep -c '^| NVIDIA' "$work/out")" = 4 ] || fail "not each device once"
! grep -qE '^\| NVIDIA .* to ' "$work/out" || fail "an interval that nobody measured"
grep -q 'no interval where nobody' "$work/out" || fail "it does not say why there is no interval"
for format in latex typst; do
    forecast --gpu t4 --precision fp16 --format $format >"$work/out"
    [ -s "$work/out" ] || fail "--format $format printed nothing"
done

# Every format for programs says the same, and parts add up.
for options in "--gpu h100-sxm,t4 --size small,medium --price 2.49/h" "--check $results/h200-small-torch.json $results/h200-recompute.json --limits $limits"; do
    for format in json jsonl csv sql; do
        # shellcheck disable=SC2086
        forecast $options --format $format >"$work/rows.$format"
    done
    python3 - "$work/rows" <<'PYTHON' || fail "formats of $options"
import csv, json, sqlite3, sys
name = sys.argv[1]
data = json.load(open(name + ".json"))
rows = [json.loads(line) for line in open(name + ".jsonl")]  # with more digits than json
def same(x, y):
    if isinstance(x, dict): return x.keys() == y.keys() and all(same(x[k], y[k]) for k in x)
    if isinstance(x, list): return len(x) == len(y) and all(map(same, x, y))
    return abs(x - y) <= 1e-6 * abs(x) if isinstance(x, float) else x == y
assert len(rows) >= 2 and same(rows, data.get("forecasts") or data["checks"])
table = list(csv.DictReader(open(name + ".csv")))
base = sqlite3.connect(":memory:")
for _ in range(2): base.executescript(open(name + ".sql").read())
base.row_factory = sqlite3.Row
kept = [dict(row) for row in base.execute("select * from " + ("roofstep_forecasts" if "forecasts" in data else "roofstep_forecast_checks"))]
assert len(table) == len(rows) and kept == kept[:len(rows)] * 2
for row, text, stored in zip(rows, table, kept):
    flat = {**row, **row.get("forecast", {}), "device": row.get("limits_of"), "program": row.get("as")}
    for column, value in stored.items():
        assert value == flat.get(column), (column, value, flat.get(column))
        assert text[column] == ("" if value is None else text[column]) and (value is None or isinstance(value, str) or float(text[column]) == value)
    if "forecast" not in row: continue
    f = row["forecast"]
    assert abs((f["compute_ms"] + f["memory_ms"] + f["starts_ms"] + f["host_ms"]) / f["step_ms"] - 1) < 1e-9
    assert abs(f["joules_per_token_at_most"] * f["tokens_per_s"] / 700 - 1) < 1e-9  # an H100's
    lost = [op["ms"] - op["limit_ms"] for op in row["change_first"]]
    assert lost == sorted(lost, reverse=True) and len(lost) == 5
PYTHON
done

# Files that are none, each with one line.
refused() { # PATTERN ARGUMENTS...
    local pattern=$1
    shift
    "$program" forecast "$@" >"$work/out" 2>"$work/err"
    [ $? = 2 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q -- "$pattern" "$work/err" || { fail "forecast $*"; cat "$work/err"; }
}
mutated() { # PYTHON PATTERN
    python3 -c "import json, sys; d = json.load(open(sys.argv[1])); $1; json.dump(d, open(sys.argv[2], 'w'))" "$here/efficiency/h200.json" "$work/bad.json"
    refused "$2" --gpu h200 --efficiency "$work/bad.json"
}
echo '{"kind": "efficiency"' >"$work/torn.json"
refused 'torn.json.*no file of roofstep forecast --fit' --gpu h200 --efficiency "$work/torn.json"
refused 'cannot read' --gpu h200 --efficiency "$work/nowhere.json"
refused 'no file of roofstep forecast --fit' --gpu h200 --efficiency "$limits"
mutated 'd["schema"] = 9' 'schema 9, expected 1'
mutated 'd["lines"] = []' "'lines' must be a list of 1 to"
mutated 'd["lines"][0]["op"] = "nosuch"' 'line 1: there is no op'
mutated 'd["lines"][1]["bytes"] = -1' 'line 2: its numbers give no time'
mutated 'd["lines"][0]["precision"] = "fp99"' 'line 1: there is no precision'
mutated 'd["hosts"][0]["forward_us"] = -1' 'host 1: its numbers give no time'
mutated 'd["hosts"][0]["program"] = "jax"' "host 1: there is no 'jax'"
mutated 'd["device"] = "cpu"' 'the efficiencies are of a CPU'
refused 'no file has a profile' --fit "$results/h200-small-torch.json" --limits "$limits"
refused 'no step that can be forecast' --check "$results/h200-attention-cudnn.json" --limits "$limits"

echo "$failures wrong"
[ $failures = 0 ]
