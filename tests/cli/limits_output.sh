#!/usr/bin/env bash
# usage: limits_output.sh PROGRAM: limits measures once, keeps what it found, and shows it in every format.
program=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0
fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

"$program" limits --device cpu --threads 1 --out "$work/nowhere/limits.json" >"$work/out" 2>"$work/err" && fail "written nowhere"
! grep -q 'measuring' "$work/err" || fail "it measures what it cannot write"
grep -q 'nowhere' "$work/err" || fail "it does not say what it cannot write"

"$program" limits --device cpu --threads 1 >"$work/first" 2>"$work/err" || { cat "$work/err"; exit 1; }
grep -q 'measuring' "$work/err" || fail "it does not say that it measures"
grep -q 'memory, copy' "$work/first" || fail "no table"
tail -n 1 "$work/first" | grep -Eq '^With [0-9.]+ GB/s of memory, .* [0-9.]+ FLOP/byte in fp32.*\.$' || fail "no balance: $(tail -n 1 "$work/first")"
if grep -q 'not stored' "$work/err"; then
    grep -q -- '--keep' "$work/err" || fail "it does not say what to do"
    "$program" limits --device cpu --threads 1 --keep >"$work/first" 2>"$work/err" || fail "--keep"
    ! grep -q 'not stored' "$work/err" || fail "--keep does not keep"
fi
for format in md csv json latex typst; do
    "$program" limits --device cpu --threads 1 --format $format >"$work/out" 2>"$work/err" || fail "--format $format"
    ! grep -q 'measuring' "$work/err" || fail "--format $format measured again"
    [ -s "$work/out" ] || fail "--format $format printed nothing"
done
"$program" limits --device cpu --threads 1 --format csv | awk -F, '
    NF != 7 { bad = 1 }
    NR > 1 && !($4 > 0 && $5 <= $4 && $4 <= $6) { bad = 1 }
    END { exit bad || NR < 20 }' || fail "csv: a row is not a rate"

# A suite is planned by what is stored, measures no limits then, and says how long all of it takes.
suite=("$program" suite --device cpu --threads 1 --dry-run)
"${suite[@]}" >"$work/plan" 2>"$work/err" || fail "suite --dry-run"
XDG_CACHE_HOME=$work/none "${suite[@]}" >"$work/guessed" 2>"$work/err" || fail "suite --dry-run without limits"
grep -q 'planned by the stored limits' "$work/plan" || fail "suite --dry-run does not say what it goes by"
grep -q 'these times are guesses' "$work/guessed" || fail "suite --dry-run does not say that it guesses"
! grep -q 'these times are guesses' "$work/plan" || fail "suite --dry-run guesses although limits are stored"
grep -qE '^\| limits +\| +0s ' "$work/plan" || fail "stored limits take time"
cp -r "$work/cache" "$work/fast" # a machine a hundred times as fast
python3 - "$work"/fast/roofstep/limits-*.json <<'PYTHON'
import json, sys
limits = json.load(open(sys.argv[1]))
for limit in limits["limits"].values():
    for rate in (limit["one_core"], limit["all"]):
        for name in ("median", "min", "max"): rate[name] *= 100
json.dump(limits, open(sys.argv[1], "w"))
PYTHON
XDG_CACHE_HOME=$work/fast "${suite[@]}" >"$work/faster" 2>"$work/err" || fail "suite --dry-run of a fast machine"
cmp -s <(grep '^| bench' "$work/plan") <(grep '^| bench' "$work/faster") && fail "the plan does not go by what is stored"
for plan in plan guessed; do
    python3 - "$work/$plan" <<'PYTHON' || fail "$plan: the total is not that of its parts"
import re, sys
rows = [[cell.strip() for cell in line.split("|")[1:3]] for line in open(sys.argv[1]) if line.startswith("|")][2:]
seconds = {name: sum(int(n) * {"h": 3600, "m": 60, "s": 1}[unit] for n, unit in re.findall(r"([0-9]+)([hms])", time)) for name, time in rows}
total = seconds.pop("total to run")
assert len(seconds) == 12 and abs(total - sum(seconds.values())) <= len(seconds), (total, seconds)
PYTHON
done

# Stored limits that are no limits are ignored, and one line says so, however many cells and processes look at them.
cp -r "$work/cache" "$work/bad"
echo '{"limits": 1' >"$(echo "$work"/bad/roofstep/limits-*.json)"
small=(--d-model 32 --d-ff 64 --num-layers 1 --num-heads 2 --vocab 50 --ctx 4,8,16 --batch 1 --device cpu --threads 1)
warns_once() {
    XDG_CACHE_HOME=$work/bad "$program" "$@" >"$work/out" 2>"$work/err" || fail "$1 with bad limits"
    [ "$(grep -c "stored limits in .* are ignored: .*'roofstep limits'" "$work/err")" = 1 ] ||
        { fail "$1: bad limits are not warned about once"; cat "$work/err"; }
}
warns_once bench "${small[@]}" --steps 2
warns_once plan "${small[@]}"

# The file is what plan takes for another machine: of the same one it says the same as what is stored.
"$program" limits --device cpu --threads 1 --format json >"$work/limits.json" 2>"$work/err" || fail "json"
least() { "$program" plan --size tiny --device cpu --threads 1 --format json "$@" | sed -n 's/.*"least_step_ms": \([0-9.]*\),/\1/p'; }
{ [ -n "$(least)" ] && [ "$(least)" = "$(least --limits "$work/limits.json")" ]; } || fail "plan --limits of this machine says otherwise"
"$program" plan --size tiny --limits "$work/limits.json" >"$work/out" || fail "plan --limits"
grep -q '(that machine)' "$work/out" || fail "the file does not say how much memory the machine has"

# A GPU that is not here, by its data sheet: does it fit, and in no time.
"$program" plan --gpu "RTX 3070" --model qwen3-0.6b --precision bf16 --ctx 128 --batch 4 --memory-limit 8GiB >"$work/out" 2>"$work/err" || fail "plan --gpu"
grep -q 'by NVIDIA.s figures (GA102 whitepaper)' "$work/out" || fail "plan --gpu does not say by which figures"
# Less what a context takes; and no second row of 8 GiB.
"$program" plan --gpu rtx3070 --model gpt2 --precision bf16 >"$work/out" || fail "plan --gpu --model"
grep -q '| 7.48 GiB (that machine) |' "$work/out" && ! grep -q '| *8.00 GiB' "$work/out" || fail "a card of 8 GiB has all of it, or two rows: $(cat "$work/out")"
"$program" memory --plan-only --gpu rtx3070 --size small >"$work/out" || fail "memory --plan-only --gpu"
"$program" plan --gpu h200 --size small --format json | grep -q '"limits_from": "H200 data sheet"' || fail "plan --gpu --format json"
[ "$("$program" plan --gpu list | grep -c '^| ')" -gt 30 ] || fail "plan --gpu list"

echo "$failures wrong"
[ $failures = 0 ]
