#!/usr/bin/env bash
# usage: memory_output.sh PROGRAM: what `roofstep memory` prints.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `tests`
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"

# memory ARGUMENTS...: stdout and stderr are kept
memory() {
    "$program" memory --device cpu "$@" >out 2>err </dev/null
}

LC_ALL=C.UTF-8 memory --size small --plan-only || fail 'exit code'
has '| Adam m and v ' '| gradients ' 'between steps (MiB)' 'first step: backward (MiB)' 'the residual stream has 1.50 MiB' \
    'saves for backward' 'src/ops/adamw.c:' '128,625,408 parameters' '█' '└forward'
LC_ALL=C memory --size small --plan-only --precision bf16 --top 3 || fail 'exit code'
has '| master copies ' '| 16-bit copies ' '+forward' 'bottom to top: # parameters'
glyphs=$(sed -n '/bottom to top/,/^```/p' out | tr '\n' ' ' | grep -oE '[:,] +[^ ] ' | tr -d ':, ' | sort)
[ "$(wc -w <<<"$glyphs")" -ge 6 ] && [ -z "$(uniq -d <<<"$glyphs")" ] || fail "two kinds of memory look alike: $glyphs"
LC_ALL=C grep -q '[^ -~]' out && fail 'plain text is not ASCII'
[ "$(grep -c 'adamw.c\|init.c' out)" = 3 ] || fail '--top 3 does not show three'

# The peak is the one that plan and bench tell.
"$program" plan --device cpu --size small --format json >plan
peak=$(LC_ALL=C awk -F: '/"peak_alloc_mib"/ { printf "%.1f", $2 }' plan)
memory --size small,medium --plan-only || fail 'two cells'
has "$peak" 'forward alone (MiB)' 'medium'

# Logits in chunks: the same as plan tells, and the peak has those of one chunk.
memory --size small --vocab 50257 --ctx 1024 --batch 16 --precision bf16 --plan-only || fail 'a large vocabulary'
has 'logits in 5 chunks of 3328 rows: 319 MiB instead of 1.53 GiB' '| logits '
matches '\| logits .* 319\.1 '

# Larger than this machine: plans need no memory.
memory --size 10B --ctx 2048 --batch 64 --plan-only || fail '10B'
"$program" memory --size tiny --device cuda:999 --attention flash --plan-only >out 2>err || fail 'memory of a GPU needs none'
has 'workspaces of libraries are from a table'
"$program" memory --size tiny,small --limits "$tests/../docs/results/h200-limits.json" --plan-only >out 2>err || fail 'memory --limits'
has 'planned for another machine: NVIDIA H200' 'cuda:0'
memory --size tiny --precision tf32,fp32 --plan-only || fail 'an unsupported cell is no failure'
has unsupported 'tf32 is a format'
for format in latex typst; do memory --size tiny --plan-only --format $format || fail $format; done

# Run for real: what the device holds stands beside the plan, and a step that does not fit is no crash.
tiny=(--d-model 64 --d-ff 128 --num-layers 3 --num-heads 2 --vocab 300 --ctx 16 --batch 2)
memory "${tiny[@]}" || fail 'a run'
has 'reserved by the plan' 'held for it' 'libraries, context, stacks'
memory "${tiny[@]}" --precision fp32,bf16 || fail 'a run of two cells'
has 'device: forward alone (MiB)' 'device: reserved (MiB)'
memory --size large --memory-limit 2GiB
[ $? = 4 ] || fail 'what does not fit must exit with 4'
has 'measured: nothing; train needs'
# how many depends on what products need here, and on what the sanitizers hold
memory --size large --ctx 512 --recompute auto --memory-limit 16GiB --plan-only || fail 'auto'
has 'recompute auto'
matches '[5-8] of 36 blocks are recomputed'

# Snapshots: events replayed give the segments, from the plan and from a run.
if command -v python3 >python; then
    for options in '' '--precision bf16 --recompute block' '--exec eager' '--mode fwd' '--mode fwd_bwd'; do
        # shellcheck disable=SC2086 # options are several words
        memory "${tiny[@]}" --plan-only $options --snapshot snapshot.pickle || fail "snapshot $options"
        python3 "$tests/memory/check_snapshot.py" snapshot.pickle || fail "snapshot $options"
    done
    memory "${tiny[@]}" --plan-only --snapshot snapshot.json || fail 'snapshot as JSON'
    python3 "$tests/memory/check_snapshot.py" snapshot.json || fail 'snapshot as JSON'
    memory "${tiny[@]}" --snapshot snapshot.pickle || fail 'snapshot of a run'
    python3 "$tests/memory/check_snapshot.py" snapshot.pickle || fail 'snapshot of a run'
fi
memory "${tiny[@]}" --snapshot no/such/folder.pickle && fail 'a file that cannot be written'
[ ! -s out ] || fail 'it ran although the snapshot cannot be written'
memory "${tiny[@]}" --out no/such/tables.md && fail 'tables that cannot be written'
! grep -q '\[1/1\]' err || fail 'it ran although the tables cannot be written'

# The picture and the JSON can be read.
# On a terminal the chart keeps to its columns.
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    LC_ALL=C script -qec "stty cols 80; '$program' memory ${tiny[*]} --plan-only" /dev/null </dev/null | tr -d '\r' | sed -n '/^```$/,/^```$/p' >narrow.out
    grep -q 'bottom to top' narrow.out || fail 'no chart on a terminal'
    [ "$(wc -L <narrow.out)" -le 80 ] || fail "a chart of $(wc -L <narrow.out) columns on 80"
fi
memory "${tiny[@]}" --plan-only --svg chart.svg || fail svg
grep -q '^</svg>$' chart.svg || fail 'the picture does not end'
memory "${tiny[@]}" --format json || fail json
has '"adam_m_and_v_mib"' '"memory_trace"' '"device_peak_mib"' '"born"' '"residual_stream_mib"' '"source": "src/ops/matmul.c"' '"line": '
if command -v python3 >python; then
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' out || fail 'not JSON'
    python3 -c 'import xml.dom.minidom as x, sys; x.parse(sys.argv[1])' chart.svg || fail 'not XML'
fi
memory "${tiny[@]}" --ctx 16,32 --snapshot two.pickle && fail 'a snapshot of two cells'
[ ! -e two.pickle ] || fail 'a snapshot of two cells was written'

verdict
