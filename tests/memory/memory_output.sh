#!/usr/bin/env bash
# usage: memory_output.sh PROGRAM: what `roofstep memory` prints.
program=$1
here=$(dirname -- "$0")
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0

wrong() {
    printf 'FAILED: %s\n' "$1"
    sed 's/^/        > /' "$work/out" "$work/err" 2>/dev/null | head -n 40
    failures=$((failures + 1))
}

# memory ARGUMENTS...: stdout and stderr are kept
memory() {
    "$program" memory --device cpu "$@" >"$work/out" 2>"$work/err" </dev/null
}

# has FRAGMENT...: each is on stdout
has() {
    local fragment
    for fragment; do
        grep -qF -- "$fragment" "$work/out" || wrong "no '$fragment'"
    done
}

LC_ALL=C.UTF-8 memory --size small --plan-only || wrong 'exit code'
has '| Adam m and v ' '| gradients ' 'between steps (MiB)' 'first step: backward (MiB)' 'the residual stream has 1.50 MiB' \
    'saves for backward' 'src/ops/adamw.c:' '128,625,408 parameters' '█' '└forward'
LC_ALL=C memory --size small --plan-only --precision bf16 --top 3 || wrong 'exit code'
has '| master copies ' '| 16-bit copies ' '+forward' 'bottom to top: # parameters'
LC_ALL=C grep -q '[^ -~]' "$work/out" && wrong 'plain text is not ASCII'
[ "$(grep -c 'adamw.c\|init.c' "$work/out")" = 3 ] || wrong '--top 3 does not show three'

# The peak is the one that plan and bench tell.
"$program" plan --device cpu --size small --format json >"$work/plan"
peak=$(sed -n 's/.*"peak_alloc_mib": \([0-9]*\.[0-9]\).*/\1/p' "$work/plan")
memory --size small,medium --plan-only || wrong 'two cells'
has "$peak" 'forward alone (MiB)' 'medium'

# Larger than this machine: plans need no memory.
memory --size 10B --ctx 2048 --batch 64 --plan-only || wrong '10B'
memory --size tiny --precision tf32,fp32 --plan-only || wrong 'an unsupported cell is no failure'
has unsupported 'tf32 is a format'
for format in latex typst; do memory --size tiny --plan-only --format $format || wrong $format; done

# Run for real: what the device holds stands beside the plan, and a step that does not fit is no crash.
tiny=(--d-model 64 --d-ff 128 --num-layers 3 --num-heads 2 --vocab 300 --ctx 16 --batch 2)
memory "${tiny[@]}" || wrong 'a run'
has 'reserved by the plan' 'held for it' 'libraries, context, stacks'
memory "${tiny[@]}" --precision fp32,bf16 || wrong 'a run of two cells'
has 'device: forward alone (MiB)' 'device: reserved (MiB)'
memory --size large --memory-limit 2GiB
[ $? = 4 ] || wrong 'what does not fit must exit with 4'
has 'measured: nothing; train needs'
memory --size large --ctx 512 --recompute auto --memory-limit 16GiB --plan-only || wrong 'auto'
has 'recompute auto' '12 of 36 blocks are computed again'

# Snapshots: events replayed give the segments, from the plan and from a run.
if command -v python3 >"$work/python"; then
    for options in '' '--precision bf16 --recompute block' '--exec eager' '--mode fwd' '--mode fwd_bwd'; do
        # shellcheck disable=SC2086 # options are several words
        memory "${tiny[@]}" --plan-only $options --snapshot "$work/snapshot.pickle" || wrong "snapshot $options"
        python3 "$here/check_snapshot.py" "$work/snapshot.pickle" || wrong "snapshot $options"
    done
    memory "${tiny[@]}" --plan-only --snapshot "$work/snapshot.json" || wrong 'snapshot as JSON'
    python3 "$here/check_snapshot.py" "$work/snapshot.json" || wrong 'snapshot as JSON'
    memory "${tiny[@]}" --snapshot "$work/snapshot.pickle" || wrong 'snapshot of a run'
    python3 "$here/check_snapshot.py" "$work/snapshot.pickle" || wrong 'snapshot of a run'
fi
memory "${tiny[@]}" --snapshot "$work/no/such/folder.pickle" && wrong 'a file that cannot be written'
[ ! -s "$work/out" ] || wrong 'it ran although the snapshot cannot be written'

# The picture and the JSON can be read.
memory "${tiny[@]}" --plan-only --svg "$work/chart.svg" || wrong svg
grep -q '^</svg>$' "$work/chart.svg" || wrong 'the picture does not end'
memory "${tiny[@]}" --format json || wrong json
has '"adam_m_and_v_mib"' '"memory_trace"' '"device_peak_mib"' '"born"' '"residual_stream_mib"' '"source": "src/ops/matmul.c"' '"line": '
if command -v python3 >"$work/python"; then
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/out" || wrong 'not JSON'
    python3 -c 'import xml.dom.minidom as x, sys; x.parse(sys.argv[1])' "$work/chart.svg" || wrong 'not XML'
fi
memory "${tiny[@]}" --ctx 16,32 --snapshot "$work/two.pickle" && wrong 'a snapshot of two cells'
[ ! -e "$work/two.pickle" ] || wrong 'a snapshot of two cells was written'

echo "$failures wrong"
[ $failures = 0 ]
