#!/usr/bin/env bash
# roofstep collective: every op, odd sizes, several ranks, both precisions, every format; rows are right and whole.
. "$(dirname "$(realpath "$0")")/ranks.sh"
ops=all_reduce,all_gather,reduce_scatter,broadcast
collective --op $ops --bytes 4,1004,1000004 --ranks 2,3 --format json --out all.json >/dev/null 2>log.err ||
    fail "collective ended with $?"
python3 - <<'P' || fail "all.json"
import json
rows = json.load(open('all.json'))['results']
assert len(rows) == 24, len(rows)
for r in rows:
    assert r['status'] == 'ok' and r['device'] == 'cpu' and r['path'] == 'shared arrays', r
    n = r['ranks']
    bus = {'all_reduce': 2 * (n - 1) / n, 'broadcast': 1}.get(r['op'], (n - 1) / n)
    assert abs(r['algbw_gbs'] - r['bytes'] / r['median_ms'] * 1e-6) < 1e-6 * r['algbw_gbs'], r
    assert abs(r['busbw_gbs'] - bus * r['algbw_gbs']) < 1e-6 * r['busbw_gbs'], r
    assert abs(r['mpi_ratio'] - r['mpi_median_ms'] / r['median_ms']) < 1e-6 * r['mpi_ratio'], r
    assert r['min_ms'] <= r['median_ms'] <= r['max_ms'] and r['samples'] == 3, r
P
collective --bytes 1KiB-16KiB*4 --precision bf16 --ranks 4 >table.out 2>log.err || fail "bf16 ended with $?"
[ "$(grep -c '^| all_reduce' table.out)" = 3 ] || fail "the table has not three rows"
expect table.out 'Every element was checked'
ROOFSTEP_COMM=messages collective --op $ops --bytes 50000002 --precision bf16 --format csv >messages.out 2>log.err ||
    fail "messages ended with $?"
[ "$(grep -c ',ok,.*,messages,' messages.out)" = 4 ] || fail "messages"
head -n 1 messages.out | grep -q '^op,bytes,ranks,device,precision,' || fail "the csv's first line"
"$program" validate all.json >/dev/null 2>validate.err || fail "validate refuses all.json"
collective --bytes 1KiB --launcher 'mpirun --quiet' --format csv >own.out 2>log.err || fail "--launcher ended with $?"
expect own.out '^all_reduce,1024,2,cpu,fp32,'
collective --bytes 1KiB --device cpu --share-gpu --format csv >own.out 2>log.err || fail "--share-gpu ended with $?"
expect own.out '^all_reduce,1024,2,cpu,fp32,'
expect_nothing_left collective
if command -v taskset >/dev/null; then
    taskset -c 0 "$program" collective --bytes 1KiB --ranks 2 --steps 3 --sample-time 50ms --warmup 1 >own.out 2>log.err || fail "on one processor it ended with $?"
    expect log.err '2 ranks share 1 processor'
fi

# What is in the file is not measured again, and stays in it; the page has a section for it.
collective --bytes 1KiB --op $ops --out kept.json >/dev/null 2>log.err || fail "--out ended with $?"
collective --bytes 1KiB,4KiB --op $ops --resume kept.json >again.out 2>log.err || fail "--resume ended with $?"
[ "$(grep -c 'from the file' log.err)" = 4 ] || fail "--resume measures again"
[ "$(grep -c '^| ' again.out)" = 10 ] || fail "--resume prints other rows"
collective --bytes 4KiB --op $ops --resume kept.json --out-json whole.json >/dev/null 2>log.err || fail "--out-json ended with $?"
python3 - <<'P' || fail "the resumed files"
import json
ops = ('all_reduce', 'all_gather', 'reduce_scatter', 'broadcast')
for name in ('kept.json', 'whole.json'):
    rows = json.load(open(name))['results']
    assert sorted((r['op'], r['bytes']) for r in rows) == sorted((op, n) for op in ops for n in (1024, 4096)), name
P
"$program" report kept.json --tables tables >/dev/null 2>log.err || fail "report ended with $?"
[ "$(grep -c '^| ' tables/collective.md)" = 10 ] || fail "report has other rows"
expect tables/collective.md 'as nccl-tests define them'
[ ! -e tables/end-to-end.md ] || fail "report takes collectives for models"

# What cannot be is said in one line, and nothing is run.
refused() { # CODE PATTERN OPTIONS
    local want=$1 pattern=$2
    shift 2
    collective "$@" >refused.out 2>refused.err
    code=$?
    expect_code "$want" "collective $*"
    expect refused.err "$pattern"
    [ "$(wc -l <refused.err)" = 1 ] || fail "collective $*: more than one line"
}
refused 2 'fp32 or bf16' --precision fp16
refused 2 'no whole number of elements' --bytes 6
refused 2 'too large; at most 4000000000' --bytes 5GB
mkdir folder
refused 2 'this is a folder; name a result file' --resume folder
refused 2 'this build has none|no such GPU can be used' --device cuda
refused 2 'no program .nothere' --launcher nothere
refused 2 'hosts /no/such' --hosts /no/such
exit 0
