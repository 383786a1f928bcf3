#!/usr/bin/env bash
# usage: profile_gpu.sh ROOFSTEP: profiles on the GPU, small sizes x execution styles x precisions. Children add up to
# their parents, every kernel belongs to a node, no record is dropped, and every file is one that other tools read.
program=$1
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache

fail() {
    echo "FAILED: $*"
    for f in "$work"/*.err "$work"/*.log; do [ -s "$f" ] && { echo "--- ${f##*/}"; tail -n 20 "$f"; }; done
    exit 1
}

run() { # FOLDER more options
    local folder=$1
    shift
    "$program" profile --device cuda --steps 4 --warmup 2 --out-dir "$work/$folder" "$@" >"$work/$folder.log" 2>"$work/$folder.err" ||
        fail "profile $*"
}

tiny=(--d-model 64 --d-ff 96 --num-layers 2 --num-heads 4 --vocab 101 --ctx 16 --batch 2)
for exec in eager fused graph; do
    for precision in fp32 bf16 fp8; do
        name=$exec-$precision
        run $name "${tiny[@]}" --exec $exec --precision $precision --source
        python3 "$here/../profile/check_profile.py" "$work/$name/profile.json" gpu || fail "sums of $name"
        python3 "$here/../profile/check_csv.py" "$work/$name" profile || fail "csv of $name"
        python3 "$here/../profile/check_trace.py" "$work/$name/profile_trace.json.gz" 3 || fail "trace of $name"
        "$program" validate "$work/$name"/* >"$work/validate.log" || fail "validate $name"
    done
done
run small --size small --exec eager,fused,graph --precision fp32,bf16
python3 "$here/../profile/check_profile.py" "$work/small/profile.json" gpu || fail "sums of small"
# Two styles side by side, and ranges for another profiler, in one process.
run against "${tiny[@]}" --against eager --nvtx --annotate-mha
grep -q 'kernels of one attention, forward' "$work/against.log" || fail "--against"
# Where 8 bits pay: each linear layer beside bf16, where the chip has them.
fp8=(--size small --num-layers 2 --ctx 512 --precision fp8 --exec graph --against bf16)
"$program" profile --device cuda --steps 4 --warmup 2 "${fp8[@]}" >"$work/fp8.log" 2>"$work/fp8.err" ||
    grep -q 'needs a GPU of compute capability' "$work/fp8.err" || fail "profile ${fp8[*]}"
[ ! -s "$work/fp8.log" ] || grep -q 'ffn/w2' "$work/fp8.log" || fail "--against bf16 has no linear layers"
# Many steps in fixed memory.
run long "${tiny[@]}" --exec graph --mode fwd --steps 5000
python3 "$here/../profile/check_profile.py" "$work/long/profile.json" gpu || fail "sums of 5,000 steps"
cat "$work/small.log" "$work/against.log"
exit 0
