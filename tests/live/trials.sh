#!/usr/bin/env bash
# How often compare --live is right, on this machine as it is: a program against itself, and against itself with steps that
# take longer (slow_steps.c). Prints a line for each trial and the counts.
# usage: trials.sh PROGRAM live [TRIALS]: 20 s each, 3 % longer; 50 trials of each kind by default, about half an hour
#        trials.sh PROGRAM gate [TRIALS]: as docs/ci.md has it, 2 min each at most, 5 % longer; 20 of each kind by default
# CELL="bench ..." in the environment measures another cell.
set -u
here=$(dirname "$(realpath "$0")")
program=$(realpath "${1:?usage: trials.sh PROGRAM live|gate [TRIALS]}")
kind=${2:-live}
cell=${CELL:-bench --size tiny --vocab 1000 --ctx 16 --batch 1 --threads 1 --warmup 1 --steps 4}
case $kind in
live) trials=${3:-50} budget=20s percent=3 ;;
gate) trials=${3:-20} budget=2m percent=5 ;;
*) echo "trials.sh: live or gate, not $kind" >&2 && exit 2 ;;
esac
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cc -O2 -shared -fPIC -o "$work/slow.so" "$here/slow_steps.c" -ldl || exit 2
slower="env LD_PRELOAD=$work/slow.so SLOW_STEPS_PERCENT=$percent $program"

# trial NEW: its verdict, and the line that says why
trial() {
    # shellcheck disable=SC2086 # words
    "$program" compare --live "$program" "$1" --budget "$budget" --out "$work/result.json" -- $cell >/dev/null 2>"$work/err"
    local code=$?
    printf '%s\t%d\t%s\n' "$2" $code "$(tail -n 1 "$work/err")" | tee -a "$work/lines"
}

echo "load before: $(cut -d' ' -f1-3 /proc/loadavg)"
for ((i = 0; i < trials; i++)); do # in turn: both kinds see the same machine
    trial "$program" itself
    trial "$slower" "$percent % slower"
done
echo "load after: $(cut -d' ' -f1-3 /proc/loadavg)"
awk -F'\t' '{ split($3, word, /: */); verdict = word[2]; n[$1 ": " verdict]++ } END { for (k in n) print n[k], k }' "$work/lines" | sort -k2
