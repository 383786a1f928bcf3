#!/usr/bin/env bash
# The parts of a suite that several ranks share: run where the machine has cores for them, which is arranged here by their words in
# suite.json, as a planned suite has them.
. "$(dirname "$(realpath "$0")")/ranks.sh"
model="--d-model 16 --d-ff 16 --num-layers 2 --num-heads 2 --vocab 31 --ctx 4 --batch 1"

# shellcheck disable=SC2086 # words on purpose
"$program" suite $model --device cpu --threads 1 --budget 1s --out-dir s >out 2>err </dev/null &
for _ in $(seq 100); do [ ! -s s/suite.json ] || break; sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null
python3 - "$model --device cpu --threads 1" <<'P' || fail "suite.json"
import json, sys
suite = json.load(open('s/suite.json'))
words = {'ranks': '--ranks 1,2 --parallel ddp-flat,ddp,zero1,fsdp --warmup 1 --steps 3',
         'ranks_profile': '--ranks 2 --parallel ddp,fsdp --warmup 1 --steps 2', 'ranks_memory': '--ranks 2 --parallel ddp,zero1,fsdp'}
suite['planned'] = True
for part in suite['parts']:
    part['words'] = f"{sys.argv[1]} {words[part['name']]}" if part['name'] in words else ''
    part['expected_s'] = 1
    part['state'] = 'waiting' if part['name'] in words else 'skipped'
json.dump(suite, open('s/suite.json', 'w'))
P
# Limits of a busy machine, as `limits` writes them: stored nowhere, with links of another MPI, so that bench measures links between
# two of its cells.
python3 - "$("$program" doctor --format json)" "$("$program" --version | sed -n 's/^gemm *//p')" \
    "$(sed -n 's/^#define ROOFSTEP_KERNELS "\(.*\)"$/\1/p' "$(dirname "$program")/generated/version.h")" <<'P' || fail "limits.json"
import json, sys
of, gemm = json.loads(sys.argv[1])['environment'], sys.argv[2]
rate = {'median': 1e11, 'min': 1e11, 'max': 1e11, 'n': 5}
names = ['fp32_largest', 'fp32_forward', 'memory_read', 'memory_copy']
key = {'cpu': of['cpu'], 'cores': of['usable_cores'], 'threads': 1, 'blas': f"{of['libraries']['blas']}, own {gemm}", 'version': of['version'], 'mpi': 'some MPI'}
json.dump({'schema': 1, 'key': key, 'kernels': sys.argv[3], 'time_utc': of['time_utc'], 'seconds': 1, 'steal': 0.5, 'others': 0.25,
           'limits': {n: {'unit': 'byte/s' if 'memory' in n else 'FLOP/s', 'one_core': rate, 'all': rate} for n in names}}, open('s/limits.json', 'w'))
P
"$program" suite --resume s >out 2>err </dev/null || fail "a suite of ranks ended with $?: $(cat err)"
expect_nothing_left 'a suite of ranks'
[ "$(grep -c '^\[[0-9]*/12\] roofstep ' err)" = 3 ] || fail "not three parts were run: $(cat err)"
python3 - <<'P' || fail "the results"
import json
rows = json.load(open('s/ranks.json'))['results']
assert sorted((r.get('ranks', 1), r.get('parallel', '')) for r in rows) == [(1, ''), (2, 'ddp'), (2, 'ddp-flat'), (2, 'fsdp'), (2, 'zero1')], rows
assert all(r['status'] == 'ok' for r in rows), rows
alone = next(r for r in rows if 'ranks' not in r)
assert alone['mfu'] > 0 and alone['limit_busy_percent'] == 75, alone
assert 'others used 75 % of the device' in open('s/tables.md').read()
assert len(json.load(open('s/results.json'))['results']) == 5
assert {r['parallel'] for r in json.load(open('s/ranks_profile/profile.json'))['results']} == {'ddp', 'fsdp'}
assert all(c.get('status', 'ok') == 'ok' for c in json.load(open('s/ranks_memory.json'))['cells'])
P
"$program" validate s/*.json >validated || fail "validate: $(grep ': bad: ' validated)"
expect validated 'suite.json: ok: a suite, 3 of 3 parts done, 9 skipped'
"$program" --version | grep -q '(no html)' && exit 0
python3 - <<'P' || fail "the page"
import json, re
page = json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', open('s/index.html').read(), re.S)[1])
steps = {f['name']: f['step'] for f in page['files'] if f['step']}
assert len(steps) == 2 and all(any(p in name for name in steps) for p in ('-ddp_', '-fsdp_')), list(steps)
for step in steps.values():
    tracks = {t['name']: t['events'] for t in step['tracks']}
    assert list(tracks) == ['phases', 'work', 'waits', 'communication'], list(tracks)
    assert [name for name, *_ in tracks['phases']] == ['forward', 'backward', 'optimizer'], tracks['phases']
    assert tracks['work'] and tracks['communication'], step
    assert all(0 <= begin < step['end_us'] and time >= 0 for events in tracks.values() for _, _, begin, time in events), step
assert [f['name'] for f in page['files'] if any(r.get('ranks') == 2 for r in f['rows']['model'])] == ['ranks.json']
P
exit 0
