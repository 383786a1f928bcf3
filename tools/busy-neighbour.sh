#!/bin/sh
# What a step loses beside a program that keeps one processor busy: at most what that program took.
# usage: tools/busy-neighbour.sh ROOFSTEP [bench options]; by default a tiny fp32 step on all cores.
set -eu
roofstep=${1:?usage: tools/busy-neighbour.sh ROOFSTEP [bench options]}
shift
[ $# -gt 0 ] || set -- --size tiny --ctx 128 --precision fp32
work=$(mktemp -d)
neighbour=
trap '[ -z "$neighbour" ] || kill "$neighbour" 2>/dev/null; rm -rf "$work"' EXIT

# seconds a step took (the median), and how many threads took part
steps() {
    "$roofstep" bench "$@" --warmup 2 --steps 15 --out "$work/out.json" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    python3 -c '
import json, sys
row = json.load(open(sys.argv[1]))["results"][0]
print(row["step"]["median_ms"] / 1e3, row["threads"])' "$work/out.json"
}

# processor seconds of the neighbour so far
taken() { awk '{ print ($14 + $15) / '"$(getconf CLK_TCK)"' }' "/proc/$neighbour/stat"; }
now() { awk '{ print $1 }' /proc/uptime; }

quiet=$(steps "$@")
(exec sh -c 'while :; do :; done') &
neighbour=$!
before="$(now) $(taken)"
busy=$(steps "$@")
after="$(now) $(taken)"
echo "$quiet $busy $before $after" | awk '{
    share = ($8 - $6) / ($7 - $5)              # of a processor, taken by the neighbour
    fair = $1 * $2 / ($2 - share)              # the same work with what was left
    printf "alone %.3f s a step on %d threads; beside a neighbour that took %.0f %% of a processor %.3f s\n", $1, $2, 100 * share, $3
    printf "with what was left it should take %.3f s: %+.1f %%\n", fair, 100 * ($3 / fair - 1) }'
