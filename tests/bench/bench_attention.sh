#!/usr/bin/env bash
# The attention sweep: rows, formats, what does not fit or takes too long, comparisons, resuming.
. "$(dirname "$(realpath "$0")")/bench.sh"

attention() {
    "$program" attention --batch 2 --threads 1 --warmup 1 "$@"
}

rows() { # FILE: of the first table
    sed '/^$/q' "$1" | grep -c '^| *[0-9]'
}

column() { # FILE NAME: of each row of a csv
    python3 -c 'import csv, sys
for row in csv.DictReader(open(sys.argv[1])): print(row[sys.argv[2]])' "$@"
}

# --- every implementation there is on a CPU, odd widths, one token; the others say why not
attention --d-head 1,33 --ctx 1,17 --heads 3 --attention naive,fused,flash,cudnn --mask causal,full \
    --precision fp32,tf32,bf16 --steps 2 --out grid.csv 2>grid.err || fail "the grid"
[ "$(column grid.csv status | sort | uniq -c | tr -s ' \n' ' ')" = ' 48 ok 48 unsupported ' ] || fail "statuses of the grid"
[ "$(column grid.csv size | sort -u)" = '' ] || fail "attention has no size"
[ "$(column grid.csv samples | sort -u | tail -n 1)" = 2 ] || fail "samples"
python3 - grid.csv <<'CHECK' || fail "memory before backward, or FLOPs, are not the formula"
import csv, sys
for r in csv.DictReader(open(sys.argv[1])):
    if r['status'] != 'ok': continue
    T, D, rows = int(r['ctx']), int(r['d_head']), 2 * 3 * int(r['ctx'])
    w = 4 if r['precision'] == 'fp32' else 2
    saved = {'naive': 8 * rows * T + 4 * rows + (2 * rows * T if w == 2 else 0), 'fused': w * rows * T, 'flash': 4 * rows}
    want = 4 * rows * D * w + saved[r['attention']]
    flops = 4 * rows * T * D / (2 if r['mask'] == 'causal' else 1)
    assert abs(float(r['mem_before_bwd_mib']) * 2**20 - want) < 1e-3, r['cell'] if 'cell' in r else r
    assert float(r['forward_flops']) == flops and float(r['flops_per_step']) == 3 * flops, r
    assert float(r['forward_tflops']) > 0 and float(r['backward_mean_ms']) > 0 and float(r['peak_alloc_mib']) > 0
CHECK

# --- scaling: memory by its exact terms, times with an exponent or why there is none; resumed files have it of all rows
attention --ctx 8,16,32 --d-head 16 --heads 3 --attention naive,flash --steps 6 --out grows.json 2>grows.err || fail "a sweep of three"
attention --ctx 8,16,32,64,128 --d-head 16 --heads 3 --attention naive,flash --steps 6 --resume grows.json >grows.md 2>grows.err || fail "a sweep of five"
grep -qE '^\| attention naive \| ctx 8 to 128 \| memory before backward \| 1.52 KiB x ctx \+ 48 B x ctx\^2 +\| +5 \|$' grows.md || fail "terms of naive"
grep -qE '^\| attention flash \| ctx 8 to 128 \| memory before backward \| 1.52 KiB x ctx +\| +5 \|$' grows.md || fail "terms of flash"
[ "$(grep -cE '^\| attention (naive|flash) \| ctx 8 to 128 \| (forward|backward) +\| (ctx\^|no exponent: )' grows.md)" = 4 ] || fail "exponents of the times"
python3 - grows.json <<'CHECK' || fail "growth in json"
import json, sys
file = json.load(open(sys.argv[1]))
assert len(file['results']) == 10
laws = {(g['where']['attention'], g['figure']): g for g in file['growth'] if g['axis'] == 'ctx'}
for name, square in (('naive', 48), ('flash', 0)):
    memory = laws[name, 'mem_before_bwd_mib']
    terms = [t * 2**20 for t in memory['terms_mib']] + [0]
    assert max(abs(t - w) for t, w in zip(terms, (0, 6 * (4 * 16 * 4 + 4), square))) < 1e-6, terms
    assert (memory['exponent'], memory['points'], memory['from'], memory['to']) == (2 if square else 1, 5, 8, 128)
    for phase in ('forward', 'backward', 'step'):
        law = laws[name, phase]
        assert law['points'] == 5 and (law['exponent'] is None) == ('why' in law), law
        assert law['exponent'] is None or law['exponent_low'] <= law['exponent'] <= law['exponent_high'], law
CHECK

# --- json can be read again and resumed; what is there is not run again
attention --ctx 8,16 --steps 2 --out two.json 2>two.err || fail "the first run"
attention --ctx 8,16,24 --steps 2 --resume two.json --out three.json 2>three.err || fail "resumed"
[ "$(grep -c 'from the file' three.err)" = 2 ] || fail "two rows were to be kept"
[ "$(grep -c '"cell":"d_head=64 heads=1 mask=causal' three.json)" = 3 ] || fail "rows of the resumed file"
attention --ctx 8,16 --steps 2 --mask full --resume two.json >other.out 2>other.err || fail "another mask"
refuse other.err 'from the file'

# --- forward alone; primitives
attention --ctx 8 --steps 2 --mode fwd --exec eager --format json >forward.out 2>forward.err || fail "mode fwd"
expect forward.out '"attention": ?"naive"'
refuse forward.out '"backward": ?\{'
refuse forward.out 'mem_before_bwd_mib'

# --- what does not fit: the forward pass is measured, and what backward would have started with is known
attention --ctx 1024 --batch 8 --steps 1 --attention fused,flash --memory-limit 105MiB >oom.out 2>oom.err
code=$?
expect_code 4 "no memory"
expect oom.out '\| fused .*\| +OOM \|.*\| +40\.00 \|.*\| OOM '
expect oom.out 'short by'
expect oom.out '\| flash .*\| ok '

# --- time for samples, time for a cell
attention --ctx 8 --steps 1000000000 --sample-time 0.2s >time.out 2>time.err || fail "--sample-time"
expect time.out '\| samples \|'
attention --ctx 8 --steps 1000000000 --sample-time 0 --timeout 0.5s >timeout.out 2>timeout.err
code=$?
expect_code 4 "a time-out"
expect timeout.out '\| timeout '

# --- a second table with the change
attention --ctx 8,16 --attention naive,flash --steps 6 --sample-time 0 --baseline naive >change.out 2>change.err || fail "--baseline"
[ "$(rows change.out)" = 4 ] || fail "rows of the first table"
expect change.out '^\| ctx \| +forward, naive \(ms\) \| +forward, flash \(ms\) \| +change \(%\) \| backward, naive'
expect change.out '^\| +16 .*\| .*[+-][0-9.]+ ± [0-9.]+ \|' # a median has an interval from 6 samples on
# `auto` becomes flash here, and is still a column of its own beside it
attention --ctx 8 --attention auto,flash --steps 3 --baseline flash >auto.out 2>auto.err || fail "--baseline flash"
expect auto.out '^\| +forward, flash \(ms\) \| +forward, auto \(ms\)'
attention --ctx 1,2,3,4,5,6,7 --attention flash --steps 3 --baseline ctx=1 >cut.out 2>cut.err || fail "--baseline ctx=1"
expect cut.out 'the first table has more values'
for format in latex typst; do
    attention --ctx 8 --attention naive,flash --steps 3 --baseline naive --format $format >$format.out 2>$format.err || fail "$format"
    [ "$(grep -c 'change' $format.out)" -ge 2 ] || fail "$format has no second table"
done
attention --ctx 8 --d-head 8,16 --dry-run >dry.out 2>dry.err || fail "dry run"
[ "$(grep -c '^| attention d_head' dry.out)" = 2 ] || fail "dry run has not two cells"
exit 0
