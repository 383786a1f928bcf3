#!/usr/bin/env bash
# usage: verify-hf.sh PROGRAM FOLDER [cpu|cuda]: small models of every architecture, made with transformers in FOLDER/models
# (kept where they are there), exported by PROGRAM in fp32 and bf16, one primitive at a time and fused, with every
# implementation of attention that the device has, and recomputed with transformers in float64.
# On a CPU the references of tests/export/hf_references.jsonl are recorded again. PYTHON names another python3.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
program=$1 work=$2 device=${3:-cpu}
python=${PYTHON:-python3}
references=$here/../tests/export/hf_references.jsonl
"$python" -c 'import torch, transformers' || exit 2
mkdir -p "$work/exports" || exit 2
[ -e "$work/models/list" ] || "$python" "$here/make_hf.py" "$work/models" || exit 2
failures=0 count=0

# verify NAME BATCH CTX LABEL [--record FILE] -- OPTIONS...
verify() {
    local name=$1 batch=$2 ctx=$3 label=$4 record=()
    shift 4
    while [ "$1" != -- ]; do record+=("$1"); shift; done
    shift
    local file=$work/exports/$name-$label.safetensors log=$work/exports/$name-$label.log
    count=$((count + 1))
    if ! "$program" export --model "$work/models/$name" --batch "$batch" --ctx "$ctx" --steps 3 --device "$device" "$@" \
        --out "$file" 2>"$log"; then
        # What a device or a library cannot run is said, and is no failure: cuDNN in fp32, say.
        if grep -qiE 'unsupported|cannot|needs a GPU|only' "$log" && [ "$device" != cpu ]; then
            printf 'not run: %s %s: %s\n' "$name" "$label" "$(tail -n 1 "$log")"
        else
            printf 'FAILED: %s %s: %s\n' "$name" "$label" "$(tail -n 1 "$log")"
            failures=$((failures + 1))
        fi
        return
    fi
    if "$python" "$here/verify_hf.py" "${record[@]}" "$file" "$work/models/$name" >"$log" 2>&1; then
        printf 'ok: %s %s: %s\n' "$name" "$label" "$(awk '/^worst/ { printf "%s %s  ", $2, $3 }' "$log")"
    else
        printf 'FAILED: %s %s\n' "$name" "$label"
        sed 's/^/        > /' "$log"
        failures=$((failures + 1))
    fi
    rm -f "$file"
}

while read -r name batch ctx; do
    if [ "$device" = cpu ]; then
        verify "$name" "$batch" "$ctx" fp32-fused --record "$references" -- --precision fp32 --exec fused
        verify "$name" "$batch" "$ctx" fp32-eager -- --precision fp32 --exec eager
        verify "$name" "$batch" "$ctx" fp32-naive -- --precision fp32 --exec fused --attention naive
        verify "$name" "$batch" "$ctx" fp32-softmax -- --precision fp32 --exec fused --attention fused
        verify "$name" "$batch" "$ctx" bf16-fused -- --precision bf16 --exec fused
        verify "$name" "$batch" "$ctx" bf16-eager -- --precision bf16 --exec eager
        continue
    fi
    for precision in fp32 bf16; do
        verify "$name" "$batch" "$ctx" $precision-eager -- --precision $precision --exec eager
        for attention in naive fused flash cudnn; do
            verify "$name" "$batch" "$ctx" $precision-graph-$attention -- --precision $precision --exec graph --attention $attention
        done
    done
done <"$work/models/list"
echo "$count exports, $failures failed"
[ $failures = 0 ]
