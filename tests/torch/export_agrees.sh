#!/usr/bin/env bash
# usage: export_agrees.sh PROGRAM verify_torch.py: shapes no one tuned for, recomputed in PyTorch.
program=$1 verify=$2
"$verify" --help >/dev/null 2>&1 || { echo "skipped: PyTorch is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work" || exit 1
failures=0

# d_model d_ff layers heads vocab ctx batch: odd batches, primes, head widths 2 to 160
shapes='
6 5 1 3 7 2 1
10 7 4 5 11 3 7
24 37 3 12 101 17 3
64 171 2 4 127 33 5
160 96 1 1 53 67 1
40 64 5 2 97 50 3
'
while read -r C F L H V T B; do
    [ -n "$C" ] || continue
    common=(--d-model "$C" --d-ff "$F" --num-layers "$L" --num-heads "$H" --vocab "$V" --ctx "$T" --batch "$B" --steps 3)
    for run in fp32-fused fp32-eager bf16-fused bf16-eager fp16-fused fp16-eager; do
        "$program" export "${common[@]}" --precision "${run%-*}" --exec "${run#*-}" --out "$C-$run" 2>err || {
            echo "FAILED: export ${common[*]} $run: $(cat err)"
            failures=$((failures + 1))
        }
    done
    "$program" export "${common[@]}" --precision fp32 --exec fused --out again 2>/dev/null
    cmp again "$C-fp32-fused" || failures=$((failures + 1)) # the same command, the same bytes
    rm -f again
done <<<"$shapes"

"$verify" --brief ./*-fp32-* ./*-bf16-* ./*-fp16-* || failures=$((failures + 1))
echo "$failures wrong"
[ $failures = 0 ]
