#!/usr/bin/env bash
# Exit codes, time-outs, memory limits, dry runs, and malformed files to resume.
. "$(dirname "$(realpath "$0")")/bench.sh"

bench --steps 100000000 --timeout 0.5s --format json >timeout.out 2>timeout.err
code=$?
expect_code 4 "a time-out"
expect timeout.out '"status": ?"timeout"'
expect timeout.out '"samples_ms"' # those it had

bench --steps 2 --memory-limit 1MiB >oom.out 2>oom.err
code=$?
expect_code 4 "no memory"
expect oom.out 'OOM'
expect oom.out 'short by'

bench --steps 2 --precision fp32,tf32 >unsupported.out 2>unsupported.err
code=$?
expect_code 0 "unsupported is no failure"
expect unsupported.out 'unsupported'

# Some that cannot be are rows; where none can, nothing is run, printed or written.
bench --steps 2 --device cpu,cuda:999 --out some.json 2>some.err
code=$?
expect_code 0 "a device that is not there beside one that is"
expect some.json '"status": ?"unsupported"'
bench --steps 2 --device cuda:999 --out none.json >none.out 2>none.err
code=$?
expect_code 2 "a device that is not there"
[ "$(wc -l <none.err)" = 1 ] && [ ! -s none.out ] && [ ! -e none.json ] || fail "a device that is not there: one line and nothing else"
# What is in the file need not run; a row of it that says unsupported is no better.
bench --steps 2 --device cpu --out kept.json 2>kept.err
sed -i 's/ device=cpu / device=cuda:999 /' kept.json
bench --steps 2 --device cuda:999 --resume kept.json >kept.out 2>kept.err
code=$?
expect_code 0 "all cells are in the file"
bench --steps 2 --device cuda:999 --resume some.json >kept.out 2>kept.err
code=$?
expect_code 2 "the file's own row is unsupported"
[ -s kept.out ] && fail "something on stdout"

bench --steps 2 --ctx 4,8 --precision fp32,tf32 --dry-run >dry.out 2>dry.err
code=$?
expect_code 0 "dry run"
[ "$(grep -c '^| custom ctx' dry.out)" = 4 ] || fail "dry run has not four cells"
expect dry.out 'unknown'
expect dry.out 'unsupported'
[ -s dry.err ] && fail "a dry run has nothing to say on stderr"

bench --steps 3 --until 100% --format json >until.out 2>until.err
code=$?
expect_code 0 "--until"
expect until.out '"ended_by": ?"interval"'
expect until.out '"samples": ?([3-9]|[1-9][0-9]+)' # as many as it takes where a machine is busy
bench --steps 3 --ctx 4,8 --until 0.0000001% --sample-time 0.1s --interleave --rounds 2 --format json >until.out 2>until.err
code=$?
expect_code 0 "--until that cannot be reached, --interleave"
expect until.out '"ended_by": ?"time"'
expect until.out 'use a longer --sample-time'
expect until.out '"rounds": ?2'
bench --steps 3 --until 0.0000001% --sample-time 0.000001s --format json >until.out 2>until.err
code=$?
expect_code 0 "--until with too few samples for an interval"
expect until.out 'gave 3 samples, and the 95 % interval of a median needs 6'
grep -qi 'nan' until.out && fail "nan instead of an interval"
bench --steps 8 --stat min --format json >min.out 2>min.err
code=$?
expect_code 0 "--stat min"
grep -q 'in doubt\|more warm-up' min.out && fail "slower samples are held against a minimum"

i=0
while IFS= read -r line; do
    i=$((i + 1))
    printf '%b' "$line" >bad$i.json
    bench --steps 2 --resume bad$i.json >bad.out 2>bad.err
    code=$?
    expect_code 2 "malformed file $i"
    [ "$(wc -l <bad.err)" = 1 ] || fail "malformed file $i: not one line"
    expect bad.err "bad$i.json"
    [ -s bad.out ] && fail "malformed file $i: something on stdout"
done <<'FILES'
{
[]
{"schema": 99, "environment": {}, "results": []}
{"schema": 1, "results": [{"status": "fine"}]}
\0\0\0\0
{"schema": 1, "environment": {"id": "a"}, "results": [{}]}
not json at all\nreally
FILES
bench --steps 2 --ctx 4 --resume missing.json >fresh.out 2>fresh.err
code=$?
expect_code 0 "a file to resume that is not there yet"
expect fresh.err 'missing.json does not exist yet: running every cell'
expect missing.json '"samples_ms"'
bench --steps 2 --ctx 4,8 --resume missing.json --dry-run >dry.out 2>dry.err
code=$?
expect_code 0 "dry run of a resumed sweep"
[ "$(grep -c '^| custom ctx' dry.out)" = 1 ] || fail "dry run has not the one cell that is missing"
expect dry.out 'Dry run: 1 cell would run, 1 finished in missing.json is skipped'
bench --steps 2 --memory-limit 1MiB --dry-run >dry.out 2>dry.err
expect dry.out '[|] nothing  *[|]  *[0-9,]* [|]  *- [|]'
exit 0
