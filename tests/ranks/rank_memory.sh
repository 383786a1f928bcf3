#!/usr/bin/env bash
# Memory of ranks: the plan of each way to share a step against what its ranks hold.
. "$(dirname "$(realpath "$0")")/ranks.sh"
model=(--d-model 256 --d-ff 640 --num-layers 3 --num-heads 4 --vocab 3000 --ctx 64 --batch 2 --device cpu)
memory() {
    "$program" memory "${model[@]}" --timeout 60s "$@"
}
cat >check.py <<'PYTHON'
import json, sys
path, ranks, ways, measured = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(','), sys.argv[4] == 'measured'
cells = json.load(open(path))['cells']
assert [c['parallel'] for c in cells] == ways, [c['parallel'] for c in cells]
uses = ('parameters', 'gradients', 'moments', 'buckets', 'activations', 'workspace')
for cell in cells:
    if cell['status'] == 'unsupported':
        assert cell['message'], cell
        continue
    rows = cell['memory_ranks']
    assert len(rows) == (ranks if measured else 1), len(rows)
    for row in rows:
        trains = cell['mode'] == 'train'
        for name in ('peak', 'initial') + (('before_optimizer', 'after_optimizer') if trains else ()):
            at = row[name]
            assert abs(sum(at[use + '_mib'] for use in uses) - at['alive_mib']) < 1e-6, (name, at)
            assert at['alive_mib'] <= at['planned_mib'] * (1 + 1e-9), (name, at)
            if not measured:
                assert at['measured_mib'] is None
                continue
            # a huge page may reach into what nothing has been written to yet
            more = 4 if name == 'initial' else 0
            assert -0.01 * at['planned_mib'] < at['measured_mib'] - at['planned_mib'] < 0.01 * at['planned_mib'] + more, (cell['parallel'], name, at)
            parts = sum(at[f'measured_{part}_mib'] for part in ('parameters', 'moments', 'rest'))
            assert abs(parts - at['measured_mib']) < 1e-5, at  # figures have 8 digits
        assert trains or row['after_optimizer']['alive_mib'] is None
        assert row['initial']['planned_mib'] <= row['peak']['planned_mib']
        if not cell['parallel'].startswith('ddp'):
            continue
        assert abs(row['peak']['alive_mib'] - cell['peak']['total_mib']) < 1e-6, (row['peak'], cell['peak'])
        travels = row['before_optimizer'] if trains else row['peak']
        assert (travels['buckets_mib'] > 0) == (cell['parallel'] != 'ddp-naive'), (cell['parallel'], travels)
        assert (travels['gradients_mib'] > 0) or cell['parallel'] != 'ddp-naive', travels
PYTHON
check() { python3 check.py "$@" >check.out 2>check.err || fail "$*"; }

"$program" plan --help >help.out
ways=$(grep -Eo -- '--parallel +[a-z0-9|-]+' help.out | sed 's/.* //; s/|/,/g')
[ -n "$ways" ] || fail "no ways to share a step in --help"
# without --parallel each of them
memory --ranks 2 --format json --out each.json 2>each.err || fail "memory --ranks"
check each.json 2 "$ways" measured
"$program" validate each.json >validate.out || fail "validate"
memory --ranks 3 --plan-only --format json --out plan.json 2>plan.err || fail "--plan-only"
check plan.json 3 "$ways" planned
memory --ranks 2 --parallel ddp,ddp-flat --precision bf16 --accumulate 2 --format json --out bf16.json 2>bf16.err || fail "bf16"
check bf16.json 2 ddp,ddp-flat measured
memory --ranks 2 --parallel ddp --mode fwd_bwd --format json --out backward.json 2>backward.err || fail "fwd_bwd"
check backward.json 2 ddp measured

memory --ranks 2 --parallel ddp >one.out 2>one.err || fail "one way"
expect one.out 'each of 2'
expect one.out 'before the optimizer'
expect one.out 'largest at the peak'
expect_nothing_left "memory"
exit 0
