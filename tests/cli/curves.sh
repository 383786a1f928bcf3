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

verdict
