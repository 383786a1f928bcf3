#!/usr/bin/env bash
# A rank that is killed at a random moment, dies, hangs: a row that says which one, the next cell runs, nothing is left.
# RANK_KILLS (20) says how often; RANK_SEED repeats the moments.
. "$(dirname "$(realpath "$0")")/ranks.sh"
RANDOM=${RANK_SEED:=$$}
echo "RANK_SEED=$RANK_SEED"
long=(collective --bytes 64KiB --warmup 1 --steps 100000000 --sample-time 100s --format json)

children() { ps -o pid= --ppid "$1" 2>/dev/null | tr -d ' '; }

# Starts a cell that takes long; sets `sweep`, `launcher` and `watchers` (the processes that the launcher started).
start() { # RANKS OPTIONS
    local ranks=$1 cell i
    shift
    "$program" "${long[@]}" --ranks "$ranks" "$@" >row.out 2>log.err &
    sweep=$!
    for i in $(seq 1000); do
        sleep 0.05
        cell=$(children $sweep | head -n 1)
        launcher=${cell:+$(children "$cell" | head -n 1)}
        watchers=(${launcher:+$(children "$launcher")})
        [ ${#watchers[@]} = "$ranks" ] && return
    done
    fail "the ranks do not start"
}

# The process of a rank, which its watcher starts; empty when it is gone.
rank_of() { # WATCHER
    local i pid
    for i in $(seq 400); do
        pid=$(children "$1")
        [ -n "$pid" ] && echo "$pid" && return
        sleep 0.05
    done
}

row() { # STATUS PATTERN
    python3 - "$1" "$2" <<'P' || fail "row"
import json, re, sys
row = json.load(open('row.out'))['results'][0]
print(row['status'], '|', row['message'])
assert row['status'] in sys.argv[1].split(','), row
assert re.search(sys.argv[2], row['message']), row
P
}

for n in $(seq "${RANK_KILLS:-20}"); do
    ranks=$((RANDOM % 2 + 2))
    start $ranks
    victim=$((RANDOM % ranks))
    watcher=${watchers[$victim]}
    sleep "0.$((RANDOM % 6))$((RANDOM % 10))" # while MPI starts, in the check, in the samples
    [ $((n % 4)) = 0 ] && target=$watcher || target=$(rank_of "$watcher")
    kill -9 "$target" || fail "kill $n"
    wait $sweep
    code=$?
    expect_code 4 "kill $n"
    row killed "rank $victim "
    expect_nothing_left "kill $n"
done

start 2
kill -9 "$launcher"
wait $sweep
row killed 'starts ranks'
expect_nothing_left "the launcher killed"

start 2
kill -TERM $sweep
wait $sweep
code=$?
expect_code 130 "interrupted"
expect_nothing_left "interrupted"

start 2
kill -9 $sweep
wait $sweep 2>/dev/null
expect_nothing_left "the sweep killed"

for limit in 3s 30s; do # a busy machine may let the first one run out before there is a rank to stop
    start 2 --timeout $limit
    kill -STOP "$(rank_of "${watchers[1]}")" && break
    wait $sweep
done
wait $sweep
row timeout 'rank 1 is stopped'
expect_nothing_left "stopped"

start 2 --timeout 2s
wait $sweep
row timeout 'not done after 2 s'
expect_nothing_left "late"

# Nothing of MPI's is left in memory, once a command that ended well has removed what the killed one could not.
collective --bytes 1KiB >table.out 2>log.err || fail "after all that: $?"
find /dev/shm /tmp -maxdepth 1 -user "$(id -u)" -name "roofstep-ranks-$sweep-*" | grep . && fail "a folder is left"
exit 0
