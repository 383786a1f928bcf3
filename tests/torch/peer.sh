#!/bin/bash
# The PyTorch twin beside ours on a small model, and what PyTorch cannot do here. usage: peer.sh ROOFSTEP
set -u
roofstep=$1
# shellcheck source=tests/torch/torch_python.sh
. "$(dirname "$0")/torch_python.sh"
export PYTHON=$python
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
# Which BLAS is a matter of the last part alone: elsewhere the one that Debian's link leads to, without a trial.
multiarch=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("MULTIARCH"))')
trying=${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH=$(dirname "$(realpath "/usr/lib/$multiarch/libblas.so.3" 2>/dev/null)")${trying:+:$trying}
fail() { echo "FAILED: $*"; cat "$work"/*; exit 1; }
model=(--d-model 64 --d-ff 96 --num-layers 2 --num-heads 4 --vocab 101 --ctx 17 --batch 3 --device cpu --threads 1
    --warmup 1 --steps 2)

for mode in fwd fwd_bwd train; do
    "$roofstep" bench "${model[@]}" --mode $mode --clip 1 --peer torch --peer-rounds 1 --format json \
        >"$work/$mode.json" 2>"$work/err" || fail "$mode: exit code $?"
done
"$roofstep" bench "${model[@]}" --accumulate 4 --clip 1 --peer torch --peer-rounds 1 --format json >"$work/micro.json" 2>"$work/err" ||
    fail "micro-batches: exit code $?"
ranks=0
if [ -e "$(dirname "$roofstep")/roofstep_mpi.so" ] && command -v mpirun >/dev/null; then
    ranks=1
    "$roofstep" bench "${model[@]}" --ranks 2 --parallel ddp,zero1,ddp-flat --accumulate 2 --peer torch --peer-rounds 1 --format json \
        >"$work/ranks.json" 2>"$work/err" || fail "ranks: exit code $?"
fi
OPENBLAS_CORETYPE=Prescott "$roofstep" bench "${model[@]}" --peer torch --peer-rounds 1 --format json \
    >"$work/old.json" 2>"$work/err" || fail "old kernels: exit code $?"
"$roofstep" bench "${model[@]}" --peer torch --peer-variant eager,graphs --peer-rounds 1 --format json \
    >"$work/graphs.json" 2>"$work/err" || fail "graphs: exit code $?"

"$roofstep" attention --d-head 8 --heads 2 --ctx 19 --batch 2 --mask full --attention flash --device cpu --threads 1 \
    --warmup 1 --steps 2 --peer torch --peer-variant eager,flash --peer-rounds 1 --format json >"$work/attention.json" 2>"$work/err" ||
    fail "attention: exit code $?"
"$roofstep" attention --d-head 8 --ctx 19 --peer torch --peer-variant graph 2>"$work/err"
[ $? = 2 ] && grep -q 'not one of eager, compile, efficient, flash, cudnn' "$work/err" || fail "a variant attention has not"

# The same configuration through transformers, where that is installed.
mkdir "$work/model"
cat >"$work/model/config.json" <<'JSON'
{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "hidden_size": 48, "intermediate_size": 80, "num_hidden_layers": 3,
 "num_attention_heads": 6, "num_key_value_heads": 3, "head_dim": 10, "vocab_size": 109, "max_position_embeddings": 64,
 "hidden_act": "silu", "rope_theta": 1000000.0, "tie_word_embeddings": true}
JSON
"$roofstep" bench --model "$work/model" --num-layers 2 --ctx 17 --batch 3 --device cpu --threads 1 --warmup 1 --steps 2 \
    --peer torch --peer-rounds 1 --format json >"$work/qwen3.json" 2>"$work/err" || fail "--model: exit code $?"

"$python" - "$work" $ranks <<'PYTHON' || fail "the rows are not as they should be"
import importlib.util, json, sys
for mode, phases in (("fwd", 1), ("fwd_bwd", 2), ("train", 3)):
    ours, theirs = json.load(open(f"{sys.argv[1]}/{mode}.json"))["results"]
    assert theirs["status"] == "ok" and theirs["peer"] == "torch" and theirs["variant"] == "eager", theirs
    assert theirs["parameters"] == ours["parameters"], (theirs["parameters"], ours["parameters"])
    assert ours["peer_ratio"] > 0 and ours["peer_best"] == "eager"
    names = [name for name in ("forward", "backward", "optimizer") if isinstance(theirs.get(name), dict)]
    assert len(names) == phases, names
    assert theirs["rounds"] == ours["rounds"] == 1 and "blas" in theirs, theirs
    assert len(theirs["step"]["samples_ms"]) == 2 and theirs["cold_step_ms"] > 0
    assert 1 < theirs["loss"] < 10, theirs["loss"]
if sys.argv[2] == "1":
    rows = json.load(open(f"{sys.argv[1]}/ranks.json"))["results"]
    assert len(rows) == 6 and all(row["ranks"] == 2 for row in rows), rows
    for ours, theirs in zip(rows[::2], rows[1::2]):
        if ours["parallel"] == "ddp-flat":
            assert theirs["status"] == "unsupported" and "ddp or zero1" in theirs["message"], theirs
            continue
        assert theirs["status"] == "ok" and ours["peer_ratio"] > 0 and theirs["threads"] == 1, theirs
        assert theirs["parameters"] == ours["parameters"] and 1 < theirs["loss"] < 10, theirs
for row in json.load(open(f"{sys.argv[1]}/micro.json"))["results"]:
    assert row["status"] == "ok" and row["accumulate"] == 4 and 1 < row["loss"] < 10, row
    assert abs(row["tokens_per_s"] * row["step"]["median_ms"] * 1e-3 - 4 * 3 * 17) < 1e-3, row
theirs = json.load(open(f"{sys.argv[1]}/old.json"))["results"][1]  # a comparison that flatters is said to be one
slow = "Prescott" in (theirs["blas"] or "") and "avx2" in open("/proc/cpuinfo").read()
assert slow == any("OPENBLAS_CORETYPE=" in warning for warning in theirs.get("warnings", [])), theirs
rows = json.load(open(f"{sys.argv[1]}/graphs.json"))["results"]
assert [row["status"] for row in rows] == ["ok", "ok", "unsupported"], rows
ours, theirs, flash = json.load(open(f"{sys.argv[1]}/attention.json"))["results"]
assert theirs["status"] == "ok" and theirs["attention"] == "naive" and theirs["mask"] == "full", theirs
assert ours["peer_ratio"] > 0 and "forward" in theirs and "backward" in theirs and "loss" not in theirs, theirs
assert flash["status"] == "unsupported" or flash["attention"] == "flash", flash
ours, theirs = json.load(open(f"{sys.argv[1]}/qwen3.json"))["results"]
if importlib.util.find_spec("transformers"):
    assert theirs["status"] == "ok" and theirs["parameters"] == ours["parameters"], theirs
    assert abs(theirs["loss"] - ours["loss"]) < 0.5 and ours["peer_ratio"] > 0, (theirs["loss"], ours["loss"])
else:
    assert theirs["status"] == "unsupported" and "transformers" in theirs["message"], theirs
PYTHON
"$python" "$(dirname "$0")/../../peers/torch_bench.py" "${model[@]}" --precision tf32 >"$work/alone.json" || fail "alone: $?"
grep -q '"status": "unsupported"' "$work/alone.json" || fail "tf32 on a CPU"

# Who multiplies: what the record names is in the process, and where Debian offers several libraries each was tried. A round
# that takes half a second tells what others had of the processors.
export LD_LIBRARY_PATH=$trying
"$roofstep" bench --size tiny --num-layers 1 --ctx 64 --device cpu --threads 1 --warmup 1 --steps 30 --mode fwd --peer torch --peer-rounds 2 --format json \
    >"$work/long.json" 2>"$work/err" || fail "long: exit code $?"
offered=$(update-alternatives --list "libblas.so.3-$multiarch" 2>/dev/null)
OFFERED=$offered "$python" - "$work" <<'PYTHON' || fail "who multiplied"
import json, os, sys
theirs = json.load(open(f"{sys.argv[1]}/long.json"))["results"][1]
assert theirs["rounds"] == 2 and 0 <= theirs["others_percent"] <= 100 and 0 <= theirs["stolen_percent"] <= 100, theirs
offered = [path for path in os.environ["OFFERED"].split() if os.path.basename(os.path.dirname(path)) != "blas"]
path = theirs.get("blas_path")
print(theirs["blas"], path, theirs.get("blas_tried"))
assert theirs["blas"] or path is None, theirs
if path and "/site-packages/" not in path and len(offered) > 1:
    assert path in map(os.path.realpath, offered), theirs
    assert all(os.path.basename(os.path.dirname(one)) in theirs["blas_tried"] for one in offered), theirs
PYTHON
exit 0
