#!/usr/bin/env bash
# Warm-up steps of ranks: every run in processes of its own, each with the first step that it was asked for.
. "$(dirname "$(realpath "$0")")/ranks.sh"
model=(--d-model 24 --d-ff 40 --num-layers 2 --num-heads 3 --vocab 53 --ctx 11 --batch 2 --device cpu --timeout 60s)
"$program" warmup "${model[@]}" --ranks 2 --bucket 3KB --warmup 0,2 --steps 4 --rounds 2 --format json --out rows.json 2>rows.err ||
    fail "warmup"
python3 - <<'PYTHON' >check.out 2>check.err || fail "the rows of warmup"
import json
file = json.load(open('rows.json'))
rows = file['results']
assert sorted(row['warmup'] for row in rows) == [0, 0, 2, 2], rows
for row in rows:
    assert row['status'] == 'ok' and row['ranks'] == 2 and row['bucket_bytes'] == 3000, row
    assert len(row['step']['samples_ms']) == 4 and row['cold_step_ms'] > 0, row
    assert row['slowest_rank'] in (0, 1) and row['exposed_ms'] >= 0, row
    if row['warmup'] == 0:  # of the slowest rank
        assert row['step']['samples_ms'][0] >= row['cold_step_ms'] * (1 - 1e-6), row
assert [s['runs'] for s in file['warmup_study']['settings']] == [2, 2], file['warmup_study']
PYTHON
"$program" warmup --size tiny --ranks 2 --device cuda 2>err
[ $? = 2 ] && grep -Eq 'this build has none|no such GPU can be used' err || fail "ranks on a GPU: $(cat err)"
expect_nothing_left "warmup"
exit 0
