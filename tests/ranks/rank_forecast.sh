#!/usr/bin/env bash
# Links are measured once and kept; a row of several ranks has its forecast where one of one rank is there.
. "$(dirname "$(realpath "$0")")/ranks.sh"
export XDG_CACHE_HOME=$PWD/cache
tiny=(--d-model 32 --d-ff 64 --num-layers 2 --num-heads 2 --vocab 101 --batch 2 --threads 1)

# Without limits there is no forecast, and it says what to run. Links are measured all the same.
"$program" plan "${tiny[@]}" --ctx 16 --ranks 2 >plan.out 2>plan.err || fail "plan ended with $?"
expect plan.out "no forecast: .*run 'roofstep limits --threads 1' once"
expect plan.err 'measuring the links between ranks'

"$program" limits --device cpu --threads 1 --keep --format json --out limits.json >/dev/null 2>limits.err || fail "limits ended with $?"
"$program" limits --device cpu --threads 1 --keep >table.out 2>again.err || fail "limits ended with $?"
! grep -q 'measuring the limits' again.err || fail "limits measured again: $(cat again.err)"
expect table.out 'all_reduce, 2 ranks: bandwidth of a link'
python3 - <<'P' || fail "limits.json"
import json
limits = json.load(open('limits.json'))
assert limits['key']['mpi'], limits['key']
for op in ('all_reduce', 'all_gather', 'reduce_scatter', 'broadcast'):
    for name, least, most in (('latency', 1e-9, 1e-1), ('bandwidth', 1e6, 1e13)):
        rate = limits['limits'][f'{op}_2_{name}']['all']
        assert least < rate['min'] <= rate['median'] <= rate['max'] < most and rate['n'] >= 3, (op, name, rate)
P

"$program" bench "${tiny[@]}" --ctx 16 --steps 3 --ranks 1,2 --parallel ddp,ddp-naive --out rows.json >/dev/null 2>bench.err ||
    fail "bench ended with $?"
"$program" plan "${tiny[@]}" --ctx 16 --ranks 1,2 --parallel ddp,ddp-naive --step rows.json --format json --out plans.json 2>plan.err ||
    fail "plan --step FILE ended with $?"
"$program" plan "${tiny[@]}" --ctx 32 --ranks 2 --step rows.json >other.out 2>plan.err || fail "plan of other work ended with $?"
expect other.out 'no forecast: the file of --step has no row of one rank'
python3 - <<'P' || fail "the forecasts"
import json
rows = json.load(open('rows.json'))['results']
plans = json.load(open('plans.json'))['plans']
one = [r for r in rows if r.get('ranks', 1) == 1]
assert len(one) == 1 and 'predicted_step_ms' not in one[0], one
for r in rows:
    if r.get('ranks', 1) == 1: continue
    plan = next(p for p in plans if p.get('ranks') == 2 and p['parallel'] == r['parallel'])['forecast']
    step = one[0]['step']['median_ms']
    assert plan['from'] == 'measured' and abs(plan['one_rank_step_ms'] - step) < 1e-9 * step, plan
    # a measured row's forecast begins with its own step without collectives, which may be shorter than that of
    # one rank alone; the links are measured again for each where the machine is busy
    alone = r['alone_ms']
    assert alone < r['predicted_step_ms'] < alone + 100 * step and step < plan['step_ms'] < 100 * step, (r, plan)
    assert plan['exposed_ms'] <= plan['communication_ms'] * (1 + 1e-9), plan
    assert abs(plan['step_ms'] - plan['one_rank_step_ms'] - plan['exposed_ms']) < 1e-6, plan
P
expect_nothing_left forecast

# Without MPI the limits do not have them, and say why.
cp "$program" alone || fail "cp"
./alone limits --device cpu --threads 1 >none.out 2>none.err || fail "limits without MPI ended with $?"
expect none.out 'links between ranks are not measured: .*apt-get install'
./alone plan "${tiny[@]}" --ctx 16 --ranks 2 >none.out 2>none.err || fail "plan without MPI ended with $?"
expect none.out 'no forecast: the links between ranks are not known: give --link'
exit 0
