#!/usr/bin/env bash
# usage: verify-hf.sh PROGRAM FOLDER [cpu|cuda]: small models of every architecture, made with transformers in FOLDER/models
# (kept where they are there), exported by PROGRAM in fp32 and bf16, one primitive at a time and fused, with every
# implementation of attention that the device has, and recomputed with transformers in float64.
# On a CPU the references of tests/export/hf_references.jsonl are recorded again. PYTHON names another python3.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
export program=$1 work=$2 device=${3:-cpu} python=${PYTHON:-python3} here
references=$here/../tests/export/hf_references.jsonl
"$python" -c 'import torch, transformers' || exit 2
rm -rf "$work/exports" "$work/references"
mkdir -p "$work/exports" "$work/references" || exit 2
[ -e "$work/models/list" ] || "$python" "$here/make_hf.py" "$work/models" || exit 2

# LABEL OPTIONS of each export
variants() {
    local precision attention
    for precision in fp32 bf16; do
        if [ "$device" = cpu ]; then
            echo "$precision-1-fused --precision $precision --exec fused"
            echo "$precision-2-naive --precision $precision --exec fused --attention naive"
            echo "$precision-3-softmax --precision $precision --exec fused --attention fused"
        else
            for attention in naive fused flash cudnn; do
                echo "$precision-graph-$attention --precision $precision --exec graph --attention $attention"
            done
        fi
        echo "$precision-eager --precision $precision --exec eager"
    done
}

# What a device or a library cannot run is said, and is no failure: cuDNN has no fp32, and heads of some widths only.
export_one() { # NAME BATCH CTX LABEL OPTIONS...
    local name=$1 batch=$2 ctx=$3 label=$4
    shift 4
    local file=$work/exports/$name@$label.safetensors log=$work/exports/$name@$label.log
    "$program" export --model "$work/models/$name" --batch "$batch" --ctx "$ctx" --steps 3 --device "$device" "$@" --out "$file" \
        2>"$log" && return
    if [ "$device" != cpu ] && [[ $label == *cudnn ]] && grep -qi cudnn "$log"; then
        echo "not run: $name $label: $(tail -n 1 "$log")"
    else
        echo "FAILED: $name $label: $(tail -n 1 "$log")"
    fi
}

# One process for all exports of a model: importing transformers takes longer than a verification.
verify_model() { # NAME
    local record=() pairs=() file
    [ "$device" != cpu ] || record=(--record "$work/references/$1.jsonl")
    for file in "$work/exports/$1@"*.safetensors; do pairs+=("$file" "$work/models/$1"); done
    OMP_NUM_THREADS=2 "$python" "$here/verify_hf.py" "${record[@]}" "${pairs[@]}" >"$work/exports/$1.log" 2>&1
    local code=$?
    sed -E "s|^.*/([^/]*)@|\1 |" "$work/exports/$1.log" | grep -vE '^worst|^Writing|it/s'
    [ $code -lt 2 ] || echo "FAILED: $1: verify_hf.py ended with $code"
}
export -f export_one verify_model

jobs=$(($(nproc) / 2 + 1))
while read -r name batch ctx; do
    variants | while read -r options; do echo "$name $batch $ctx $options"; done
done <"$work/models/list" >"$work/exports/list"
{
    xargs -P $jobs -I{} bash -c 'export_one {}' <"$work/exports/list"
    cut -d' ' -f1 "$work/models/list" | xargs -P $jobs -I{} bash -c 'verify_model {}'
} | tee "$work/result"
failures=$(grep -c FAILED "$work/result")
echo "$(find "$work/exports" -name '*.safetensors' | wc -l) exports verified, $failures failures"
[ "$failures" = 0 ] || exit 1
[ "$device" != cpu ] || cat "$work/references/"*.jsonl >"$references"
