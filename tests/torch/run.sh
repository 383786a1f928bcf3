#!/bin/bash
# Exports of every shape, execution style and precision, recomputed in PyTorch; and the same command
# twice gives the same bytes. usage: run.sh ROOFSTEP
set -u
here=$(cd "$(dirname "$0")" && pwd)
roofstep=$1
for python in "${PYTHON:-python3}" /usr/bin/python3; do
    "$python" -c 'import torch' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "skipped: no PyTorch (Debian: python3-torch)"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
passed=0 failed=0

check() { # name, options...
    local name=$1; shift
    if "$roofstep" export "$@" --out "$work/a.safetensors" 2>"$work/log" &&
        "$python" "$here/../../tools/verify_torch.py" "$work/a.safetensors" >>"$work/log" 2>&1 &&
        "$roofstep" export "$@" --out "$work/b.safetensors" 2>>"$work/log" &&
        cmp "$work/a.safetensors" "$work/b.safetensors" >>"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)); echo "FAILED: $name"; tail -12 "$work/log"
    fi
}

while read -r d ff layers heads vocab ctx batch; do
    case $d in '#'* | '') continue ;; esac
    model=(--d-model "$d" --d-ff "$ff" --num-layers "$layers" --num-heads "$heads" --vocab "$vocab" --ctx "$ctx" --batch "$batch" --steps 3)
    for exec in fused eager; do
        check "$d/$ff/$layers/$heads/$vocab/$ctx/$batch $exec fp32" "${model[@]}" --exec $exec
    done
    for attention in naive fused; do
        check "$d/$ff/$layers/$heads/$vocab/$ctx/$batch $attention fp32" "${model[@]}" --attention $attention
    done
done <"$here/shapes.txt"
# 16-bit gradients need enough terms for their rounding to average out
for shape in "96 200 2 3 101 13 3" "128 344 4 8 1009 97 3"; do
    read -r d ff layers heads vocab ctx batch <<<"$shape"
    for precision in bf16 fp16; do
        for exec in fused eager; do
            check "$shape $exec $precision" --d-model "$d" --d-ff "$ff" --num-layers "$layers" --num-heads "$heads" \
                --vocab "$vocab" --ctx "$ctx" --batch "$batch" --steps 3 --exec $exec --precision $precision
        done
    done
done
check "clipped" --d-model 96 --d-ff 200 --num-layers 2 --num-heads 3 --vocab 101 --ctx 13 --batch 3 --steps 3 --clip 0.1
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
