#!/usr/bin/env bash
# usage: no_gpu.sh ROOFSTEP: a program with the CUDA engine where no GPU can be seen.
program=$1
export CUDA_VISIBLE_DEVICES='' # one that is there is hidden
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work
model=(--d-model 32 --d-ff 48 --num-layers 1 --num-heads 2 --vocab 64 --ctx 8 --batch 1)
failures=0
# expect CODE PATTERN ARGUMENTS...
expect() {
    local code=$1 pattern=$2
    shift 2
    "$program" "$@" >"$work/out" 2>&1
    local got=$?
    [ $got = "$code" ] && grep -q -- "$pattern" "$work/out" && return
    echo "FAILED: $*: exit code $got, expected $code and '$pattern'"
    cat "$work/out"
    failures=$((failures + 1))
}
expect 0 '"device":"cpu"' bench "${model[@]}" --warmup 0 --steps 1 --format json
expect 2 'no such GPU can be used' bench "${model[@]}" --device cuda --warmup 0 --steps 1
expect 2 'no such GPU can be used' export "${model[@]}" --device cuda --out "$work/step.safetensors"
expect 0 'workspace' plan "${model[@]}" --device cuda --precision bf16 --memory-limit 8GiB
expect 0 'CUDA engine' doctor
expect 2 'no such GPU can be used' collective --device cuda --ranks 2
if "$program" doctor 2>/dev/null | grep -q '\[x\] ranks on GPUs'; then
    export ROOFSTEP_NCCL=$work/nothere.so
    expect 0 '\[ \] ranks on GPUs: NCCL: .*cannot be loaded.*install' doctor
fi
echo "$failures wrong"
[ $failures = 0 ]
