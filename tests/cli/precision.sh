#!/usr/bin/env bash
# usage: precision.sh PROGRAM: the precision study in every format; its sums are computed; csv and json agree.
program=$1
# Looking for leaks takes seconds at every exit on some machines; the unit tests do it.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work" || exit 1
failures=0
fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}
model=(--d-model 32 --d-ff 48 --num-layers 2 --num-heads 2 --vocab 61 --ctx 8 --batch 2 --device cpu --warmup 1 --steps 3)
study() {
    "$program" precision "${model[@]}" "$@" >out 2>err </dev/null || { fail "precision $*: exit code $?"; cat err; }
}
has() {
    grep -Eq -- "$1" out || { fail "no '$1'"; cat out; }
}

study
has '^\| fp32 \+= fp32 +\| 10\.0001 \|'
has '^\| fp16 \+= fp16 +\| +9\.9531 \|'
has '^\| fp32 \+= fp16 +\| 10\.0021 \|'
has '^\| fp32 \+= fp32\(fp16\) +\| 10\.0021 \|'
has '^\| bf16 \+= bf16 +\| +4\.0000 \|'
has '^\| loss +\| f32 +\| f32 +\| f32 +\|'
has '^\| gradients of layers\.1 +\|'
has '^\| fp16, scaling none +\| +1 \|'
has '^\| tf32 .*unsupported'
study --precision fp32 --count 100 --value 0.1
has '^\| fp32 \+= fp32 +\| 10\.0000 \|' # 10.00000191
has '^\| fp16 \+= fp16 +\| 10\.0781 \|'
has '100 terms of 0\.1; exactly 10'
study --precision bf16,fp16 --format csv
awk -F, 'NR == 1 { bad = $0 != "precision,loss_scaling,tensor,error,elements,lost,nonfinite"; next }
    NF != 7 || !($4 > 0 && $4 < 0.05) { bad = 1; print }
    END { exit bad || NR != 1 + 3 * (3 + 21) }' out || fail 'csv: a row per tensor, precision and loss scaling'
for format in json latex typst; do
    study --precision fp32 --out "study.$format" --format $format
    [ -s "study.$format" ] || fail "--format $format"
done
grep -q '"accumulation"' study.json || fail 'json has no sums'
"$program" compare study.json study.json >out 2>err || fail 'compare does not read it'

echo "$failures wrong"
[ $failures = 0 ]
