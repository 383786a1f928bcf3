#!/bin/bash
# Exports of many shapes, execution styles and precisions, recomputed in PyTorch in one go; and the
# same command twice gives the same bytes. usage: run.sh ROOFSTEP
set -u
here=$(cd "$(dirname "$0")" && pwd)
roofstep=$1
verify=$here/../../tools/verify_torch.py
for python in "${PYTHON:-python3}" /usr/bin/python3 ''; do
    [ -z "$python" ] && { echo "skipped: no PyTorch (Debian: python3-torch)"; exit 77; }
    "$python" -c 'import torch' 2>/dev/null && break
done
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
failed=0

export_case() { # d_model d_ff num_layers num_heads vocab ctx batch, options...
    local d=$1 ff=$2 layers=$3 heads=$4 vocab=$5 ctx=$6 batch=$7; shift 7
    local name="$d-$ff-$layers-$heads-$vocab-$ctx-$batch$(printf '%s' "$*" | tr -d ' ')"
    local model=(--d-model "$d" --d-ff "$ff" --num-layers "$layers" --num-heads "$heads" --vocab "$vocab" --ctx "$ctx" --batch "$batch" --steps 3)
    if ! "$roofstep" export "${model[@]}" --threads "${threads:-1}" "$@" --out "$work/$name.safetensors" 2>"$work/log" ||
        ! "$roofstep" export "${model[@]}" --threads "${threads:-1}" "$@" --out "$work/again" 2>>"$work/log" ||
        ! cmp "$work/$name.safetensors" "$work/again" >>"$work/log" 2>&1; then
        failed=$((failed + 1)); echo "FAILED: $name"; cat "$work/log"
    fi
}

while read -r -a shape; do
    case ${shape[*]} in '#'* | '') continue ;; esac
    export_case "${shape[@]}" --exec fused
    export_case "${shape[@]}" --exec eager
    export_case "${shape[@]}" --attention naive
    export_case "${shape[@]}" --attention fused
done <"$here/shapes.txt"
# 16-bit gradients need enough terms for their rounding to average out
for shape in "96 200 2 3 101 13 3" "128 344 4 8 1009 97 3"; do
    for options in "--precision bf16" "--precision fp16" "--precision bf16 --exec eager" "--precision fp16 --exec eager"; do
        export_case $shape $options
    done
done
export_case 96 200 2 3 101 13 3 --clip 0.1
threads=2 export_case 128 344 4 8 1009 97 3 --seed 1
rm -f "$work/again" "$work/log"
"$python" "$verify" --brief "$work"/*.safetensors || failed=$((failed + 1))
echo "$(ls "$work" | wc -l) exports, $failed failed"
[ "$failed" = 0 ]
