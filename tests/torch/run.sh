#!/bin/bash
# Exports of many shapes, execution styles and precisions, recomputed in PyTorch in one go; and the
# same command twice gives the same bytes. usage: run.sh ROOFSTEP [cpu|cuda]
set -u
here=$(cd "$(dirname "$0")" && pwd)
roofstep=$1
device=${2:-cpu}
verify=$here/../../tools/verify_torch.py
# shellcheck source=tests/torch/torch_python.sh
. "$(dirname "$0")/torch_python.sh"
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failed=0

# cuDNN, which auto takes where it can, adds up the gradient of q in any order.
fused=auto
[ $device = cpu ] || fused=fused
same_again() {
    local first=$1
    shift
    case $device/$* in cuda/*' auto'*) return 0 ;; esac
    "$roofstep" export "$@" --out "$work/again" 2>>"$work/log" && cmp "$first" "$work/again" >>"$work/log" 2>&1
}

export_case() { # d_model d_ff num_layers num_heads vocab ctx batch, options...
    local d=$1 ff=$2 layers=$3 heads=$4 vocab=$5 ctx=$6 batch=$7; shift 7
    local name="$d-$ff-$layers-$heads-$vocab-$ctx-$batch$(printf '%s' "$*" | tr -d ' ')"
    local model=(--d-model "$d" --d-ff "$ff" --num-layers "$layers" --num-heads "$heads" --vocab "$vocab" --ctx "$ctx" --batch "$batch" --steps 3
        --device $device)
    if ! "$roofstep" export "${model[@]}" --threads "${threads:-1}" "$@" --out "$work/$name.safetensors" 2>"$work/log" ||
        ! same_again "$work/$name.safetensors" "${model[@]}" --threads "${threads:-1}" "$@"; then
        if grep -q 'needs a GPU of compute capability' "$work/log"; then cat "$work/log"; return; fi
        failed=$((failed + 1)); echo "FAILED: $name"; cat "$work/log"
    fi
}

while read -r -a shape; do
    case ${shape[*]} in '#'* | '') continue ;; esac
    export_case "${shape[@]}" --exec fused
    export_case "${shape[@]}" --exec eager
    [ $device = cpu ] || continue # where each export starts a GPU
    export_case "${shape[@]}" --attention naive
    export_case "${shape[@]}" --attention fused
done <"$here/shapes.txt"
# 16-bit gradients need enough terms for their rounding to average out
for shape in "96 200 2 3 101 13 3" "128 344 4 8 1009 97 3"; do
    for precision in bf16 fp16; do
        export_case $shape --precision $precision --attention $fused
        export_case $shape --precision $precision --exec eager
        [ $device = cpu ] || export_case $shape --precision $precision --attention auto
    done
done
# Every linear layer in 8 bits: what rounding alone costs is the measure.
for recipe in current delayed rowwise block; do
    export_case 144 272 2 4 101 16 9 --precision fp8 --fp8-recipe $recipe --attention $fused
    export_case 144 272 1 4 101 16 9 --precision fp8 --fp8-recipe $recipe --exec eager --fp8-layers qkv+w13
done
export_case 96 200 2 3 101 13 3 --clip 0.1
# Micro-batches, as the one batch that they are together.
export_case 96 200 2 3 101 13 3 --accumulate 3
export_case 80 111 3 5 997 31 1 --accumulate 2 --exec eager
export_case 128 344 4 8 1009 97 1 --accumulate 3 --precision bf16 --attention $fused --clip 0.1
# Elements of a gradient whose sign float32 does not know; a model that loses digits in any float32.
export_case 448 191 1 7 385 3 4 --seed 886
export_case 448 191 1 7 385 3 4 --seed 6
export_case 2 1 3 1 97 31 1 --seed 512
threads=2 export_case 128 344 4 8 1009 97 3 --seed 1
rm -f "$work/again" "$work/log"
"$python" "$verify" --brief "$work"/*.safetensors || failed=$((failed + 1))
echo "$(ls "$work"/*.safetensors | wc -l) exports, $failed failed"
[ "$failed" = 0 ]
