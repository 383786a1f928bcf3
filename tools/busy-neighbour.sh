#!/bin/sh
# What a step loses beside a program that keeps one processor busy: at most what that program took.
# usage: tools/busy-neighbour.sh ROOFSTEP [bench options]; by default a tiny fp32 step on all cores.
# The machine itself is faster and slower from one minute to the next: alone and beside the neighbour take turns, and the
# median of the rounds counts.
set -eu
roofstep=${1:?usage: tools/busy-neighbour.sh ROOFSTEP [bench options]}
shift
[ $# -gt 0 ] || set -- --size tiny --ctx 128 --precision fp32
rounds=${ROUNDS:-7}
work=$(mktemp -d)
(exec sh -c 'while :; do :; done') &
neighbour=$!
trap 'kill -KILL "$neighbour"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# seconds a step took (the median), and how many threads took part
steps() {
    "$roofstep" bench "$@" --warmup 2 --steps 8 --out "$work/out.json" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"][0]
print(row["step"]["median_ms"] / 1e3, row["threads"])' "$work/out.json"
}

# processor seconds of the neighbour so far, and the time
taken() { awk '{ print ($14 + $15) / '"$(getconf CLK_TCK)"' }' "/proc/$neighbour/stat"; }
now() { awk '{ print $1 }' /proc/uptime; }

for _ in $(seq "$rounds"); do
    kill -STOP "$neighbour"
    alone=$(steps "$@")
    kill -CONT "$neighbour"
    before="$(now) $(taken)"
    beside=$(steps "$@")
    echo "$alone $beside $before $(now) $(taken)"
done | awk '{
    share = ($8 - $6) / ($7 - $5) # of a processor, taken by the neighbour
    fair = $1 * $2 / ($2 - share) # the same work with what was left
    excess = 100 * ($3 / fair - 1)
    printf "alone %.3f s a step on %d threads; beside a neighbour that took %.0f %% of a processor %.3f s; with what was left %.3f s: %+.1f %%\n",
        $1, $2, 100 * share, $3, fair, excess
    print excess | "sort -g >'"$work"'/excess" }'
awk '{ x[NR] = $1 } END { printf "median of %d rounds: %+.1f %%\n", NR, NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2 }' "$work/excess"
