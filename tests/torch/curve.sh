#!/bin/bash
# A loss curve in PyTorch beside ours, from the same start on the same batches. usage: curve.sh ROOFSTEP
set -u
roofstep=$1
# shellcheck source=tests/torch/torch_python.sh
. "$(dirname "$0")/torch_python.sh"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache TMPDIR=$work/scratch REAL_PYTHON=$python KEEP=$work/start PYTHON=$work/python
mkdir "$TMPDIR"
# The BLAS that Debian's link leads to, without a trial.
multiarch=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("MULTIARCH"))')
export LD_LIBRARY_PATH=$(dirname "$(realpath "/usr/lib/$multiarch/libblas.so.3" 2>/dev/null)")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fail() { echo "FAILED: $*"; cat "$work"/err; exit 1; }
# PyTorch's Python, which leaves a copy of the file that it starts from.
cat >"$PYTHON" <<'SH'
#!/bin/bash
for ((i = 1; i < $#; i++)); do
    next=$((i + 1))
    [ "${!i}" = --curve ] && cp "${!next}" "$KEEP"
done
exec "$REAL_PYTHON" "$@"
SH
chmod +x "$PYTHON"
for i in $(seq 400); do echo "line $i: the quick brown fox jumps over the lazy dog, and number $((i * i)) follows."; done >"$work/text"
model=(--d-model 64 --d-ff 96 --num-layers 2 --num-heads 4 --ctx 17 --batch 3 --device cpu --threads 1 --data "$work/text")

"$roofstep" precision --curve 60 "${model[@]}" --clip 1 --seed 5 --precision fp32,bf16,tf32,fp16,fp8 --fp8-recipe current --peer torch \
    --out "$work/all.json" 2>"$work/err" || fail "exit code $?"
cp "$KEEP" "$work/calm"
"$roofstep" precision --curve 60 "${model[@]}" --lr 1000 --precision fp32 --peer torch --out "$work/wild.json" 2>"$work/err" || fail "wild: exit code $?"
[ -z "$(ls -A "$TMPDIR")" ] || fail "left $(ls "$TMPDIR")"
peers=$(dirname "$0")/../../peers
"$python" "$peers/torch_bench.py" --curve "$work/calm" --device cpu --threads 1 >"$work/alone.json" 2>"$work/err" || fail "alone: exit code $?"
head -c 5000 "$work/calm" >"$work/short"
"$python" "$peers/torch_bench.py" --curve "$work/short" --device cpu >"$work/short.json" 2>"$work/err" && fail 'took half a file'
"$python" "$peers/torch_bench.py" --curve "$work/text" --device cpu 2>"$work/err" && fail 'took a text'
tail -n 1 "$work/err" | grep -q 'error: --curve: .*not a safetensors file$' || fail 'what is not a file of ours'

"$python" - "$work" <<'PYTHON' || fail "the curves are not as they should be"
import json, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
rows = {(row["precision"], row.get("peer"), row["loss_scale"]): row for row in read("all")["results"]}
ours, theirs = (rows["fp32", peer, "dynamic"]["curve"] for peer in (None, "torch"))
first, mean = theirs["losses"][0] / ours["losses"][0] - 1, theirs["mean"] / ours["mean"] - 1
print(f"fp32: first loss {first:.1e}, mean of the last {mean:.1e}")
assert abs(first) < 1e-6 and abs(mean) < 5e-3, (ours, theirs)
assert ours["mean"] < ours["losses"][0] - 1 and len(theirs["losses"]) == 60
for name in ("warmup", "last", "diverged_at", "text"):
    assert ours[name] == theirs[name], (name, ours[name], theirs[name])
narrow = rows["bf16", "torch", "dynamic"]
if narrow["status"] != "unsupported":
    difference = narrow["curve"]["mean"] / rows["bf16", None, "dynamic"]["curve"]["mean"] - 1
    print(f"bf16: mean of the last {difference:.1e}")
    assert abs(difference) < 2e-2, difference
others = [row for row in rows.values() if row.get("peer") and row["precision"] in ("tf32", "fp16", "fp8")]
assert len(others) == 4 and all(row["status"] == "unsupported" and row["message"] for row in others), others
alone = read("alone")
assert alone["status"] == "ok" and alone["peer"] == "torch" and alone["curve_steps"] == 60 and alone["d_model"] == 64 and alone["seed"] == 5, alone
assert max(abs(a / b - 1) for a, b in zip(alone["curve"]["losses"], theirs["losses"])) < 1e-4, (alone, theirs)
assert read("short")["status"] == "failed", read("short")
for row in read("wild")["results"]:
    curve = row["curve"]
    assert row["status"] == "ok" and curve["diverged_at"] > 0 and len(curve["losses"]) == 60, row
PYTHON
exit 0
