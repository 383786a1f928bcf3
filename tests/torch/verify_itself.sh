#!/usr/bin/env bash
# usage: verify_itself.sh verify_torch.py: the checker accepts PyTorch's own step and
# notices every kind of wrong file.
verify=$1
"$verify" --help >/dev/null 2>&1 || { echo "skipped: PyTorch is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work" || exit 1
failures=0

# expect CODE ARGUMENTS...
expect() {
    local code=$1
    shift
    "$verify" --brief "$@" >out 2>&1
    local got=$?
    [ $got = "$code" ] && return
    printf 'FAILED: verify_torch.py %s: exit status %s, expected %s\n' "$*" $got "$code"
    sed 's/^/        > /' out
    failures=$((failures + 1))
}

"$verify" --make good
"$verify" --make clipped --clip 0.01 --num-layers 1
"$verify" --make one --ctx 1 --batch 1 --num-layers 1 --mode fwd_bwd
# Steps that were skipped are not among those that were applied.
sed 's/"clip": "0"/"clip": "0", "skipped_steps": "2"/' good >skipped
python3 - skipped <<'PYTHON'
import struct, sys
data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
open(sys.argv[1], "wb").write(struct.pack("<Q", length + len(', "skipped_steps": "2"')) + data[8:])
PYTHON
grep -aq skipped_steps skipped || { echo 'FAILED: the test itself'; failures=1; }
expect 0 good clipped one skipped
for tensor in loss grad.layers.1.attn.k_proj updated.ln_final; do
    "$verify" --make "spoiled.$tensor" --spoil "$tensor"
    expect 1 "spoiled.$tensor"
done
"$verify" --make turned --turn updated.layers.0.ffn.w2 # one element, its step in the wrong direction
expect 1 turned
# Two wide: rounding alone costs more than the bounds, and is the measure there. It still is one.
narrow=(--make narrow --d-model 2 --d-ff 227 --num-heads 1 --vocab 425 --ctx 42 --batch 1 --steps 1)
for precision in bf16 fp16; do
    "$verify" "${narrow[@]}" --precision $precision
    expect 0 narrow
    "$verify" "${narrow[@]}" --precision $precision --spoil grad.lm_head --spoil-by 1.2
    expect 1 narrow
    "$verify" --make ordinary --steps 1 --precision $precision
    expect 0 ordinary
    grep -q 'beyond' out && { echo "FAILED: an ordinary model in $precision is beyond its bound"; failures=$((failures + 1)); }
    "$verify" --make ordinary --steps 1 --precision $precision --spoil grad.layers.1.attn.k_proj --spoil-by 1.06
    expect 1 ordinary
done
# In 8 bits, too, against a step with the same kinds of roundings.
eight=(--make eight --steps 1 --precision fp8 --ctx 16)
"$verify" "${eight[@]}"
expect 0 eight
grep -q 'with the export.s scales' out || { echo 'FAILED: nothing is said of the same roundings'; failures=$((failures + 1)); }
"$verify" "${eight[@]}" --spoil grad.layers.0.ffn.w2 --spoil-by 1.4
expect 1 eight
"$verify" "${eight[@]}" --precision bf16
sed 's/"precision": "bf16"/"precision":  "fp8"/' eight >odd # no recipe
expect 2 odd
head -c 20000 good >short
: >empty
sed 's/"d_model": "32"/"d_model": "34"/' good >misled
expect 2 short empty missing misled good
[ "$(grep -c '^verify_torch: ' out)" = 4 ] || { cat out; failures=$((failures + 1)); }

echo "$failures wrong"
[ $failures = 0 ]
