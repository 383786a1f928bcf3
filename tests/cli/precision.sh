#!/usr/bin/env bash
# usage: precision.sh PROGRAM: the precision study in every format; its sums are computed; csv and json agree.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `golden`
. "$(dirname "$(realpath "$0")")/cli.sh"
model=(--d-model 32 --d-ff 48 --num-layers 2 --num-heads 2 --vocab 61 --ctx 8 --batch 2 --device cpu --warmup 1 --steps 3)
study() {
    "$program" precision "${model[@]}" "$@" >out 2>err </dev/null || fail "precision $*: exit code $?"
}

study
matches '^\| fp32 \+= fp32 +\| 10\.0001 \|'
matches '^\| fp16 \+= fp16 +\| +9\.9531 \|'
matches '^\| fp32 \+= fp16 +\| 10\.0021 \|'
matches '^\| fp32 \+= fp32\(fp16\) +\| 10\.0021 \|'
matches '^\| bf16 \+= bf16 +\| +4\.0000 \|'
matches '^\| e4m3 \+= e4m3 +\| +0\.2500 \|'
matches '^\| fp32 \+= e5m2 +\| +9\.7656 \|'
matches '^\| operands of linear layers +\| f32 +\| bf16 +\| f16 +\| e4m3 +\|'
matches '^\| operands of their gradients .* e4m3 and e5m2 '
for recipe in current delayed rowwise block; do
    matches "^\\| fp8 $recipe +\\| gradients +\\| " # of the operands
    matches "^\\| fp8 $recipe .* emulated +\\|$"
done
matches '^\| loss +\| f32 +\| f32 +\| f32 +\|'
matches '^\| gradients of layers\.1 +\|'
matches '^\| q and k after RoPE +\|'
! grep -q '^| attention plus feed-forward' out || fail 'what no plan has is no row'
matches '^\| fp16, scaling none +\| +1 \|'
matches '^\| tf32 .*unsupported'
! grep -q 'chunks of rows' out || fail 'whole logits'
small=("${model[@]}")
model=(--d-model 8 --d-ff 8 --num-layers 1 --num-heads 1 --vocab 113 --ctx 513 --batch 4 --device cpu --warmup 1 --steps 3)
study --precision bf16
model=("${small[@]}")
matches 'head and loss ran in 2 chunks of rows'
study --precision fp32 --count 100 --value 0.1
matches '^\| fp32 \+= fp32 +\| 10\.0000 \|' # 10.00000191
matches '^\| fp16 \+= fp16 +\| 10\.0781 \|'
matches '100 terms of 0\.1; exact sum: 10'
study --precision bf16,fp16 --format csv
awk -F, 'NR == 1 { bad = $0 != "precision,loss_scaling,tensor,error,elements,lost,nonfinite,fp8_recipe"; next }
    NF != 8 || !($4 > 0 && $4 < 0.05) { bad = 1; print }
    END { exit bad || NR != 1 + 3 * (3 + 21) }' out || fail 'csv: a row per tensor, precision and loss scaling'
for format in json latex typst; do
    study --precision fp32 --out "study.$format" --format $format
    [ -s "study.$format" ] || fail "--format $format"
done
grep -q '"accumulation"' study.json || fail 'json has no sums'
"$program" compare study.json study.json >out 2>err || fail 'compare does not read it'

study --precision bf16,fp8 --fp8-recipe rowwise,block --format csv
[ "$(grep -c '^fp8,.*,rowwise$' out)" = 24 ] && [ "$(grep -c '^fp8,.*,block$' out)" = 24 ] && [ "$(grep -c '^bf16,.*,$' out)" = 24 ] ||
    fail 'csv: each recipe that was asked for'

# The reference stays within --memory-limit, too.
wide=(--d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 1009 --ctx 512 --batch 1 --device cpu --warmup 1 --steps 3)
"$program" precision "${wide[@]}" --precision fp32 --memory-limit 1MiB --out narrow.json >out 2>err </dev/null
tr -d ' \n' <narrow.json | grep -q '"reference":{"status":"oom","message":"thefloat64referenceneeds' || fail 'a reference beyond --memory-limit'

verdict
