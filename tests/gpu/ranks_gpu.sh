#!/usr/bin/env bash
# usage: ranks_gpu.sh PROGRAM: ranks on GPUs over NCCL. All share one GPU, so that a machine with one is enough: a step
# of N ranks is that of one rank with all their batches, in every strategy and execution style; sums are exact; two runs
# give the same bits; a rank that dies is a row. Under MPS where it can be started: several processes then compute at once.
here=$(dirname "$(realpath "$0")")
. "$here/../ranks/ranks.sh"
if ! "$program" doctor 2>/dev/null | grep -q '\[x\] ranks on GPUs'; then
    echo "no NCCL here, or none when this was built: skipped"
    exit 77
fi
share=(--device cuda:0 --share-gpu)
tiny=(--d-model 24 --d-ff 40 --num-layers 2 --num-heads 3 --vocab 53 --ctx 11)
most=2 # jobs at a time
late=(--timeout 60s)

section() { echo "$((SECONDS))s: $*"; }

# ---- MPS ----

mps=
start_mps() {
    command -v nvidia-cuda-mps-control >/dev/null || return
    export CUDA_MPS_PIPE_DIRECTORY=$dir/mps CUDA_MPS_LOG_DIRECTORY=$dir/mps
    mkdir mps && nvidia-cuda-mps-control -d >mps.log 2>&1 && mps=1
    [ -n "$mps" ] && "$program" bench "${tiny[@]}" --device cuda:0 --warmup 0 --steps 1 >/dev/null 2>&1 && most=3 && return
    stop_mps
}
stop_mps() {
    [ -n "$mps" ] && echo quit | nvidia-cuda-mps-control >/dev/null 2>&1
    mps=
    unset CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
}
trap 'stop_mps; rm -rf "$dir"' EXIT

# ---- jobs ----

jobs_failed() {
    local f
    for f in *.code; do
        [ -e "$f" ] && fail "${f%.code} ended with $(cat "$f"): $(tail -n 5 "${f%.code}.log")"
    done
}
# NAME WORDS: runs the program beside others; what fails is told by `finish`.
job() {
    local name=$1
    shift
    compgen -G '*.code' >/dev/null && finish
    while [ "$(jobs -rp | wc -l)" -ge $most ]; do wait -n; done
    { "$program" "$@" >"$name.rows" 2>"$name.log" || echo $? >"$name.code"; } &
}
finish() {
    wait
    jobs_failed
}

export_step() { # NAME OPTIONS
    local name=$1
    shift
    job "$name" export "${tiny[@]}" --device cuda:0 --steps 3 "${late[@]}" --out "$name.safetensors" "$@"
}
compare() { # ONE OTHER BOUND [bits]
    python3 "$here/../ranks/same_step.py" "$1.safetensors" "$2.safetensors" "${@:3}" >compare.log 2>&1 ||
        fail "$1 and $2: $(tail -n 1 compare.log)"
}

start_mps
section "one GPU for all ranks${mps:+, under MPS}"

# One rank with all batches, then as many ranks as there are batches.
for ranks in 2 3 4; do
    export_step "one$ranks" --batch $((2 * ranks))
    for parallel in ddp-naive ddp-flat ddp zero1 fsdp; do
        export_step "$parallel$ranks" --batch 2 --ranks $ranks --share-gpu --parallel $parallel --bucket 3KB
    done
    export_step "again$ranks" --batch 2 --ranks $ranks --share-gpu --parallel ddp --bucket 3KB
    export_step "again_fsdp$ranks" --batch 2 --ranks $ranks --share-gpu --parallel fsdp
done
n=0
while read -r bound options; do
    n=$((n + 1))
    bounds[n]=$bound
    # shellcheck disable=SC2086 # options are words
    export_step "case_one$n" --batch 4 $options
    # shellcheck disable=SC2086
    export_step "case_many$n" --batch 2 --ranks 2 --share-gpu $options
done <<'CASES'
1e-5 --exec eager
1e-5 --accumulate 2
1e-5 --clip 0.05
3e-2 --precision bf16
3e-2 --precision fp16
3e-2 --precision bf16 --accumulate 2
1e-5 --parallel zero1 --clip 0.05
1e-5 --parallel fsdp --exec eager --recompute block
3e-2 --parallel zero1 --precision bf16 --accumulate 2
3e-2 --parallel fsdp --precision bf16 --accumulate 2
3e-2 --parallel zero1 --precision fp16
3e-2 --parallel fsdp --precision bf16 --comm-precision fp32
CASES
finish
for ranks in 2 3 4; do
    for parallel in ddp-naive ddp-flat ddp zero1 fsdp; do compare "one$ranks" "$parallel$ranks" 1e-5; done
    compare "ddp$ranks" "again$ranks" 0 bits
    compare "fsdp$ranks" "again_fsdp$ranks" 0 bits
done
# A sum of two is the same either way; of three NCCL chooses the order by the place in the array.
compare ddp-flat2 ddp2 0 bits
compare ddp-flat2 ddp-naive2 0 bits
compare ddp-flat2 zero12 0 bits
compare ddp-flat2 fsdp2 0 bits
for i in $(seq $n); do compare "case_one$i" "case_many$i" "${bounds[i]}"; done
section "exports are the same step"

# An export looks at every node, so that none runs beside others. Here they do, and graphs are replayed.
ways=ddp,ddp-flat,ddp-naive,zero1,fsdp
step=(bench "${tiny[@]}" --warmup 1 --steps 3 --lr 0.01 --bucket 3KB "${late[@]}" --format json)
job rows_fused "${step[@]}" "${share[@]}" --batch 2 --ranks 2 --exec fused --accumulate 1,2 --parallel $ways
job rows_graph "${step[@]}" "${share[@]}" --batch 2 --ranks 2 --exec graph --accumulate 1,2 --parallel $ways
job rows_three "${step[@]}" "${share[@]}" --batch 2 --ranks 3 --exec graph,eager --parallel ddp
job rows_again "${step[@]}" "${share[@]}" --batch 2 --ranks 3 --exec graph --parallel ddp
job rows_one "${step[@]}" --device cuda:0 --batch 4 --exec graph --accumulate 1,2
job rows_six "${step[@]}" --device cuda:0 --batch 6 --exec graph
# Alone: odd sizes, with shards of unequal length, and even ones.
ops=all_reduce,all_gather,reduce_scatter,broadcast
short=(collective "${share[@]}" --op $ops --steps 3 --sample-time 50ms --warmup 1 "${late[@]}" --format json)
job alone_three "${short[@]}" --ranks 3 --bytes 1004,1000004
job alone_bf16 "${short[@]}" --ranks 2 --bytes 1000002 --precision bf16
job alone_even "${short[@]}" --ranks 4 --bytes 4,1MiB
finish
# What it holds is what becomes free of the GPU's memory: nothing else may run there.
job rows_small bench --size small --ctx 128 --batch 2 --precision bf16 --exec graph "${share[@]}" --ranks 2 \
    --warmup 1 --steps 3 "${late[@]}" --format json
finish
python3 - <<'P' || fail "rows"
import json
def rows(name):
    found = json.load(open(name + ".rows"))['results']
    for r in found:
        assert r['status'] == 'ok', (name, r['status'], r.get('message'))
    return found
def near(a, b, bound):
    return abs(a - b) <= bound * abs(b)
two = rows('rows_fused') + rows('rows_graph')
three, again, small = rows('rows_three'), rows('rows_again'), rows('rows_small')
assert len(two) == 20 and len(three) == 2 and len(again) == len(small) == 1
for r in two + three + again + small:
    assert r['path'] == 'NCCL over sockets, one GPU shared' and r['nccl'], r
    assert r['communication_ms'] > 0 and r['exposed_ms'] >= 0 and r['wire_mib'] > 0, r
    assert r['rank_min_ms'] <= r['rank_median_ms'] <= r['rank_max_ms'] and r['device'] == 'cuda:0', r
one = {r['accumulate']: r['loss'] for r in rows('rows_one')}
for n in (1, 2):
    losses = {r['loss'] for r in two if r['accumulate'] == n}
    assert len(losses) == 1, (n, [(r['exec'], r['parallel'], r['loss']) for r in two if r['accumulate'] == n])
    assert near(losses.pop(), one[n], 1e-4), (n, one[n], two)
six = rows('rows_six')[0]['loss']
assert all(near(r['loss'], six, 1e-4) for r in three), (six, three)
assert again[0]['loss'] == [r['loss'] for r in three if r['exec'] == 'graph'][0], (again, three)
held, planned = small[0]['device_peak_mib'], small[0]['planned_peak_mib']
assert near(held, planned, 0.01), (held, planned)
alone = [rows('alone_three'), rows('alone_bf16'), rows('alone_even')]
assert [len(a) for a in alone] == [8, 4, 8]
for r in sum(alone, []):
    n = r['ranks']
    bus = {'all_reduce': 2 * (n - 1) / n, 'broadcast': 1}.get(r['op'], (n - 1) / n)
    assert near(r['busbw_gbs'], bus * r['algbw_gbs'], 1e-6) and near(r['algbw_gbs'], r['bytes'] / r['median_ms'] * 1e-6, 1e-6), r
    assert r['device'] == 'cuda:0' and r['nccl'] and 'mpi_ratio' not in r and r['path'].startswith('NCCL'), r
for r in small:
    print('small, 2 ranks: step %.3g ms, communication %.3g ms, exposed %.3g ms' % (
        r['step']['median_ms'], r['communication_ms'], r['exposed_ms']))
P
section "steps whose collectives run beside, graphs, collectives alone"
expect_nothing_left "steps"
stop_mps # a client that is killed may leave its server in a bad state

# Two ranks on one GPU by mistake.
for command in collective bench; do
    "$program" $command --device cuda:0 --ranks 2 >refused.out 2>refused.err
    code=$?
    expect_code 2 "$command without --share-gpu"
    cat refused.out refused.err >refused.all
    expect refused.all 'share-gpu'
done

# NCCL missing.
ROOFSTEP_NCCL=$dir/nothere.so "$program" collective "${share[@]}" --ranks 2 >refused.all 2>&1
code=$?
expect_code 2 "without NCCL"
expect refused.all 'NCCL, which cannot be loaded .*install'

# A rank that dies while the others wait for it on the GPU.
"$program" collective "${share[@]}" --ranks 2 --bytes 64KiB --warmup 1 --steps 100000000 --sample-time 100s \
    --format json >row.out 2>row.err &
sweep=$!
# Each rank is the child of a process that watches it.
for _ in $(seq 100); do
    sleep 0.1
    victim=$(ps -eo pid,ppid,args | awk -v word="$program internal-rank" '
        index($0, word) && !index($0, "mpirun") { parent[$1] = $2 }
        END { for (pid in parent) if (parent[pid] in parent) print pid }' | sort -n | tail -n 1)
    [ -n "$victim" ] && break
done
[ -n "$victim" ] || fail "no rank to kill"
sleep 5 # it samples by now
kill -9 "$victim" || fail "the rank has ended: $(cat row.err)"
wait $sweep
code=$?
expect_code 4 "a rank was killed"
expect row.out '"status": ?"killed"'
expect row.out 'rank [01] of 2'
expect_nothing_left "killed"
section "refusals and a killed rank"
exit 0
