#!/usr/bin/env bash
# The profile of a step that ranks share: collectives beside the ops, a trace of each rank, one of all.
here=$(dirname "$(realpath "$0")")
. "$here/ranks.sh"
model=(--d-model 48 --d-ff 96 --num-layers 3 --num-heads 3 --vocab 211 --ctx 16 --batch 2 --device cpu --threads 1)
steps=8 traced=4
profile() {
    "$program" profile "${model[@]}" --ranks 2 --warmup 1 --steps $steps --trace-steps $traced --timeout 60s "$@"
}

# --- ddp: what travels during the backward pass, which is long enough for that here
small=("${model[@]}")
model=(--d-model 128 --d-ff 320 --num-layers 4 --num-heads 4 --vocab 2000 --ctx 32 --batch 2 --device cpu --threads 1)
profile --bucket 300KB --out-dir ddp >ddp.out 2>ddp.err || fail "profile"
"$program" validate ddp/* >whole.out 2>whole.err || fail "files"
expect whole.out 'profile_trace.json.gz: ok: .* 8 steps'
[ "$(find ddp/profile_ranks -type f | wc -l)" = 2 ] || fail "a trace of each rank, and nothing else"
for rank in 0 1; do
    python3 "$here/../profile/check_trace.py" ddp/profile_ranks/rank-$rank.json.gz $traced >check.out 2>check.err || fail "trace of rank $rank"
done
expect ddp.out 'all_reduce bucket [0-9]+ of gradients'
expect ddp.out 'longest wait by'
expect ddp.out 'slowest: rank [01]'
"$program" profile --from ddp >from.out 2>from.err || fail "--from"
cmp ddp.out from.out >cmp.out || fail "--from shows something else"

cat >check.py <<'PYTHON'
import gzip, json, sys
folder, parallel, steps, traced = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
record = json.load(open(f'{folder}/profile.json'))['results'][0]
profile = record['profile']
assert record['status'] == 'ok' and record['slowest_rank'] in (0, 1), record
assert [r['rank'] for r in profile['ranks']] == [0, 1], profile['ranks']
for c in profile['collectives']:
    assert c['op'] == 'all_reduce' and c['time']['n'] == steps and c['bytes'] > 0, c
    assert abs(c['wire'] - c['bytes']) < 1e-6 * c['bytes'], c  # of two ranks: 2 (n - 1) / n of it
    assert -1 <= c['hidden'] <= c['time']['total'] + 1 and 0 <= c['waited'] <= c['time']['total'] + 1, c
    assert c['queue'] == ('communication' if parallel == 'ddp' else 'compute'), c
    assert parallel == 'ddp' or (c['hidden'] == 0 and c['waited'] == c['time']['total']), c
of_rank = profile['ranks'][0]
assert abs(sum(c['time']['total'] for c in profile['collectives']) / steps - of_rank['communication']) < 1e-6 * of_rank['communication']
# ops of the communication queue are none of the steps' own
own = sum(op['host']['total'] for op in profile['ops'] if op['host'])
assert sum(bool(op['host']) for op in profile['ops'] if op['op'] == 'all_reduce') == (parallel != 'ddp')
assert own <= profile['step']['total'], own

def events(path):
    return json.load(gzip.open(path, 'rt'))

traces = [events(f'{folder}/profile_ranks/rank-{r}.json.gz') for r in (0, 1)]
for rank, trace in enumerate(traces):
    assert trace['distributedInfo'] == {'backend': 'mpi', 'rank': rank, 'world_size': 2}, trace['distributedInfo']
merged = events(f'{folder}/profile_trace.json.gz')
assert merged['distributedInfo']['ranks'] == [0, 1]
names = {e['pid']: e['args']['name'] for e in merged['traceEvents'] if e['name'] == 'process_name'}
assert sorted(names.values()) == ['rank 0', 'rank 1'], names
# every event of every rank is there, at its own time
first = min(t['baseTimeNanoseconds'] for t in traces)
assert merged['baseTimeNanoseconds'] == first
for rank, trace in enumerate(traces):
    moved = (trace['baseTimeNanoseconds'] - first) / 1000
    def key(e, by):
        return e['name'], e['ph'], round(e['ts'] + (by if e['ph'] != 'M' else 0), 2), round(e.get('dur', 0), 3)
    expected = sorted(key(e, moved) for e in trace['traceEvents'])
    found = sorted(key(e, 0) for e in merged['traceEvents'] if names[e['pid']] == f'rank {rank}')
    assert len(expected) == len(found) and all(abs(a[2] - b[2]) < 0.02 for a, b in zip(expected, found)), rank
arrows = [e['id'] for e in merged['traceEvents'] if e['ph'] == 's']
assert len(arrows) == len(set(arrows))

lane = [e for e in traces[0]['traceEvents'] if e['ph'] == 'X' and 'Collective name' in e['args']]
if parallel != 'ddp':
    assert not lane
    sys.exit()
assert len(lane) == traced * len(profile['collectives']), len(lane)
threads = {e['tid']: e['args']['name'] for e in traces[0]['traceEvents'] if e['name'] == 'thread_name'}
assert {threads[e['tid']] for e in lane} == {'communication'}, threads
assert all(e['args']['Group size'] == 2 and e['args']['tensor'] for e in lane)
# they begin while ops of the backward pass are still to come
backward = [e for e in traces[0]['traceEvents'] if e['ph'] == 'X' and e['name'] == 'backward']
early = sum(any(b['ts'] < e['ts'] < b['ts'] + b['dur'] for b in backward) for e in lane)
assert sys.argv[5] == '' or early > 0 and sum(c['hidden'] for c in profile['collectives']) > 0, 'nothing runs beside the backward pass'
PYTHON
check() { # FOLDER PARALLEL [beside]
    python3 check.py "$1" "$2" $steps $traced "${3:-}" >check.out 2>check.err || fail "$1"
}
check ddp ddp beside
model=("${small[@]}")

# --- one after the other; several cells; micro-batches, of which the last one's gradients travel
profile --parallel ddp-flat,ddp-naive --out-dir both >both.out 2>both.err || fail "ddp-flat and ddp-naive"
expect both.out 'slowest rank'
for parallel in ddp-flat ddp-naive; do
    [ -f both/profile-*"${parallel}"_trace.json.gz ] && [ -d both/profile-*"${parallel}"_ranks ] || fail "files of $parallel"
done
profile --parallel ddp-flat --out-dir flat >flat.out 2>flat.err || fail "ddp-flat"
check flat ddp-flat
profile --bucket 40KB --accumulate 2 --out-dir micro >micro.out 2>micro.err || fail "--accumulate"
check micro ddp
profile --bucket 40KB --mode fwd_bwd --out-dir backward >backward.out 2>backward.err || fail "--mode fwd_bwd"
check backward ddp # the end of the pass waits
profile --parallel fsdp --accumulate 3 --out-dir shards >shards.out 2>shards.err || fail "fsdp --accumulate"
python3 - $steps <<'PYTHON' || fail "what shards send"
import json, sys
collectives = json.load(open('shards/profile.json'))['results'][0]['profile']['collectives']
assert {c['op'] for c in collectives} == {'all_gather', 'reduce_scatter'}, collectives
for c in collectives:
    assert c['time']['n'] == int(sys.argv[1]) * (3 if c['op'] == 'all_gather' else 1), c
    assert abs(c['wire'] - c['bytes'] / 2) < 1e-6 * c['bytes'], c  # each time: (n - 1) / n of it
PYTHON

# --- a rank that cannot write its trace, or dies: a row that names it, and no trace is left
mkdir -p broken/profile_ranks/rank-1.json.gz
profile --out-dir broken >broken.out 2>broken.err
code=$?
expect_code 4 "a trace that cannot be written"
expect broken.out 'rank 1'
find broken -name '*.gz' -type f | grep . && fail "traces of a failed cell are left"
expect_nothing_left "a trace that cannot be written"
"$program" profile "${model[@]}" --ranks 2 --warmup 0 --steps 10000000 --out-dir killed >killed.out 2>killed.err &
sweep=$!
for _ in $(seq 600); do
    rank=$(ps -eo pid,ppid,args | awk -v p="$program" 'index($0, p " internal-rank") { parent[$1] = $2 }
        END { for (i in parent) if (parent[i] in parent) print i }' | head -n 1)
    [ -n "$rank" ] && break
    sleep 0.05
done
sleep 0.5
kill -9 "$rank" || fail "no rank to kill"
wait $sweep
code=$?
expect_code 4 "a rank killed"
expect killed.out 'rank [01]'
find killed -name '*.gz' | grep . && fail "traces of a killed cell are left"
"$program" validate killed/profile.json >whole.out 2>whole.err || fail "the record of a killed cell"
expect_nothing_left "a rank killed"

# --- what has one rank
"$program" profile "${model[@]}" --ranks 2 --nvtx 2>nvtx.err
[ $? = 2 ] || fail "--nvtx: $(cat nvtx.err)"
exit 0
