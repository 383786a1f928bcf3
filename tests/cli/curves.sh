#!/usr/bin/env bash
# usage: curves.sh PROGRAM: loss curves on text: what trains alike, what is refused, what is resumed.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program`
. "$(dirname "$(realpath "$0")")/cli.sh"
model=(--d-model 32 --d-ff 48 --num-layers 2 --num-heads 2 --ctx 16 --batch 4 --device cpu --threads 2)
for i in $(seq 400); do echo "line $i: the quick brown fox jumps over the lazy dog, and number $((i * i)) follows."; done >text
gzip -c text >text.gz
data=text
curves() { "$program" precision --curve 60 "${model[@]}" --data "$data" "$@" >out 2>err </dev/null; }
# A field of the row of a precision: its "mean", as in json.
of() {
    python3 - "$1" "$2" "$3" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))["results"]
row = [r for r in rows if " ".join(filter(None, [r["precision"], r.get("fp8_recipe")])) == sys.argv[2]][0]
print(eval(sys.argv[3], {"row": row, "curve": row.get("curve")}))
PY
}

curves --out all.json || fail "exit code $?"
curves --format md --resume all.json || fail "exit code $?"
matches '^\| 1 to 6 +\|'
matches '^\| fp8 rowwise .*emulated +\|$'
matches '^\| fp16, unscaled '
matches '^\| tf32 .*unsupported'
matches 'text: text, .* windows, of which 240 were read, none twice'
for name in fp32 bf16 fp16 'fp8 current' 'fp8 delayed' 'fp8 rowwise' 'fp8 block'; do
    [ "$(of all.json "$name" 'len(curve["losses"]) == 60 and curve["diverged_at"] == 0 and curve["mean"] < curve["losses"][0] - 1')" = True ] ||
        fail "$name does not learn"
done
[ "$(of all.json fp32 'row.get("emulated"), row["curve_steps"]')" = "(None, 60)" ] || fail 'fp32 is not emulated'

# The same bytes, however they are packed; the same losses with another number of threads.
data=text.gz
model[-1]=1
curves --precision fp32 --out packed.json || fail 'a packed text'
data=text
model[-1]=2
[ "$(of packed.json fp32 'curve["losses"]')" = "$(of all.json fp32 'curve["losses"]')" ] || fail 'the same text gives the same losses'

# A learning rate that is far too high.
curves --precision fp32 --lr 1000 --out wild.json || fail 'a curve that diverges is a result'
[ "$(of wild.json fp32 'curve["diverged_at"] > 0')" = True ] || fail 'it does not diverge'
curves --precision fp8 --fp8-recipe current --lr 100000 --out skips.json || fail 'a curve whose steps are all skipped'
[ "$(of skips.json 'fp8 current' 'curve["diverged_at"] > 0')" = True ] || fail 'nothing is trained, and nothing diverges'
curves --precision fp32 --memory-limit 3MiB --out small.json
[ "$(of small.json fp32 'row["status"], curve')" = "('oom', None)" ] || fail 'a smaller mode trains nothing'
{ printf '\346\213beginning of a text that is not packed\n'; cat text; } >odd && data=odd && curves --precision fp32 || fail 'a text that begins like a packed one'
data=text

# Killed: what is finished stays.
curves --precision fp32 --out cut.json && curves --precision fp32,bf16 --resume cut.json --out cut.json || fail 'resumed'
grep -q 'fp32: ok (from the file)' err || fail 'fp32 was there'
[ "$(of cut.json bf16 'len(curve["losses"])')" = 60 ] || fail 'bf16 was not'
curves --precision fp32 --format csv && [ "$(grep -c '^fp32,[0-9]*,[0-9.]*$' out)" = 60 ] || fail 'csv: a row for each step'
"$program" report all.json --tables tables >out 2>err || fail 'report'
ls tables/*curve* >/dev/null 2>&1 || fail 'no tables of curves'

refused() { # words, options
    local words=$1
    shift
    curves "$@" && fail "took $*"
    [ "$(wc -l <err)" = 1 ] && grep -qF -- "$words" err || { fail "$*: not '$words'"; cat err; }
}
echo other >>text
refused 'its curves are of another text' --resume all.json
refused 'other steps' --resume wild.json
data=nowhere refused 'no such file or folder'
refused 'no room for 256' --vocab 255
echo short >short
data=short refused 'short has 6 bytes'

# ---- PyTorch beside it: a stand-in, which tells of losses of 2.5 ----
mkdir scratch
export PYTHON=$tests/bench/fake_python TMPDIR=$PWD/scratch PEER_LOG=$PWD/log
nothing_left() { [ -z "$(ls -A scratch)" ] || fail "$1 leaves $(ls scratch)"; }
PEER_START=$PWD/start curves --precision fp32,bf16 --peer torch --out peers.json || fail "a peer: exit code $?"
nothing_left 'a peer'
[ "$(sort -u log)" = 'theirs eager' ] && [ "$(wc -l <log)" = 2 ] || fail "each precision once, eager: $(cat log)"
rm log
curves --precision fp32,bf16 --peer torch --format md --resume peers.json || fail "resumed with a peer: exit code $?"
[ ! -e log ] || fail 'what was known ran again'
matches '^\| mean loss of steps \| +fp32 \| fp32, PyTorch \| +bf16 \| bf16, PyTorch \|$' 'against fp32 \| against ours'
matches '^\| fp32, PyTorch +\| +2\.5000 \| +2\.5000 \| +([-+][0-9.]+ %) \| +\1 \| +no '
curves --precision fp32,bf16 --peer torch --format csv --resume peers.json && [ "$(grep -c '^"bf16, PyTorch",[0-9]*,2.5$' out)" = 60 ] || fail 'csv of a peer'
"$program" validate peers.json >out 2>err || fail 'validate'
# A peer's curve of another text is refused where there is none of ours, too.
python3 -c 'import json; file = json.load(open("peers.json")); file["results"] = [r for r in file["results"] if r.get("peer")]; json.dump(file, open("only.json", "w"))'
echo 'one line more' | cat text - >longer
data=longer refused 'its curves are of another text' --precision fp32,bf16 --peer torch --resume only.json
# A finished curve of ours is kept when the peer comes to it, and while the peer still runs.
curves --precision fp32 --out joined.json && curves --precision fp32 --peer torch --resume joined.json --out joined.json || fail 'the peer joins'
grep -q 'fp32: ok (from the file)' err && [ "$(wc -l <log)" = 1 ] || fail "ours ran again, or the peer did not: $(cat err log)"
rm log
curves --precision fp32 --peer torch --peer-variant best --out best.json || fail 'another variant'
[ "$(grep -c 'theirs best' log)" = 1 ] || fail "not best: $(cat log)"
PEER_ABSENT=1 curves --precision fp32 --peer torch --format md || fail 'no PyTorch'
matches '^\| fp32, PyTorch +\|.* unsupported \|$' 'fp32, PyTorch: no PyTorch here'
curves --precision fp32 --seed 2 --peer torch --format md || fail 'a peer that fails is a row'
matches '^\| fp32, PyTorch +\|.* failed +\|$'
nothing_left 'a peer that fails'
curves --precision fp32 --memory-limit 3MiB --peer torch && fail 'ours has no memory'
nothing_left 'no memory'
mkdir config
cat >config/config.json <<'JSON'
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 1,
 "num_attention_heads": 2, "num_key_value_heads": 2, "vocab_size": 256, "max_position_embeddings": 64, "hidden_act": "silu"}
JSON
(model=(--model config --ctx 16 --batch 4 --device cpu --threads 2) && curves --precision bf16 --peer torch --format md) ||
    fail 'a model from a configuration file'
matches '^\| bf16, PyTorch +\|.* unsupported \|$' 'use --size, or its dimensions'
nothing_left 'a model from a configuration file'
TMPDIR=$PWD/nowhere refused 'TMPDIR names the folder' --precision fp32 --peer torch

# The start has the parameters of `export`, and the batches: rows of the text, each token once but the last of a row.
"$program" export "${model[@]}" --vocab 256 --steps 1 --out export.safetensors >out 2>err || fail 'export'
python3 - <<'PY' || fail 'the file that a curve starts from'
import json, struct
def read(path):
    data = open(path, "rb").read()
    n = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + n])
    return header.pop("__metadata__"), {name: (e["dtype"], e["shape"], data[8 + n + e["data_offsets"][0]:8 + n + e["data_offsets"][1]]) for name, e in header.items()}
about, start = read("start")
_, export = read("export.safetensors")
params = {name for name in export if name.startswith("param.")}
assert set(start) == params | {"tokens"} and all(start[name] == export[name] for name in params), set(start) ^ params
dtype, shape, data = start["tokens"]
assert (dtype, shape) == ("I32", [240, 17]), (dtype, shape)
ids = struct.unpack(f"<{240 * 17}i", data)
text = open("text", "rb").read()
rows = {bytes(ids[i:i + 17]) for i in range(0, len(ids), 17)}
assert len(rows) > 50 and all(row in text for row in rows)
assert about["steps"] == "60" and about["lr_warmup"] == "6" and about["last"] == "50" and json.loads(about["text"])["source"] == "text", about
PY

# Ctrl-C while the peer runs.
rm -f log
env --default-signal=INT "$program" precision --curve 60 "${model[@]}" --data "$data" --precision fp32 --seed 3 --peer torch --out part.json >out 2>err </dev/null &
for _ in $(seq 200); do [ -e log ] && break; sleep 0.05; done
kill -INT $!
wait $!
[ $? = 130 ] || fail 'no exit code of Ctrl-C'
nothing_left 'Ctrl-C'
[ "$(of part.json fp32 'len(curve["losses"])')" = 60 ] || fail 'the curve before Ctrl-C is lost'

verdict
