#!/usr/bin/env bash
# usage: locks.sh PROGRAM: of two commands that write one file or one folder the second is refused, by name, and nothing
# of the first is lost; no lock outlives its process, and none is left behind.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"
model=(--d-model 8 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 11 --ctx 4 --batch 1 --threads 1)
long=(bench "${model[@]}" --steps 1000000000 --timeout 60)
short=("${model[@]}" --steps 2 --warmup 1)
start=(env --default-signal=INT "$program") # in the background a shell ignores it
holder=
trap '[ "$BASHPID" != $$ ] || { [ -z "$holder" ] || kill -KILL "$holder" 2>/dev/null; rm -r "$work"; }' EXIT

await() { # FILE
    for _ in $(seq 500); do [ ! -e "$1" ] || return 0; sleep 0.02; done
    fail "$1 never came"
}
refused() { # NAME PROCESS; the rest is a command that would write what that process writes
    local name=$1 process=$2
    shift 2
    timeout 10 "$program" "$@" >out 2>err </dev/null
    local code=$?
    if [ $code != 2 ]; then
        fail "$*: exit code $code beside a process that writes the same"
        return
    fi
    [ "$(wc -l <err)" = 1 ] || fail "$*: not one line"
    grep -qF "$name" err && grep -qF "(process $process)" err || fail "$*: no name or no process"
    [ ! -s out ] || fail "$*: something on stdout"
}
no_locks() { # WHAT
    local left
    left=$(find . -name '*.lock' -not -path './cache/*')
    [ -z "$left" ] || fail "$1 leaves $left"
}
rows() { # FILE
    grep -c '"ctx"' "$1"
}

# ---- two at once on a new file: one is refused, and the other's rows are there ----

for round in 1 2; do
    for i in 1 2; do
        timeout 20 "$program" bench "${model[@]}" --warmup 1 --steps 10000 --out new.json >"out$i" 2>"err$i" </dev/null &
    done
    wait -n
    first=$?
    wait -n
    second=$?
    [ "$first $second" = '2 0' ] || [ "$first $second" = '0 2' ] || fail "round $round: two at once end with $first and $second"
    [ "$(cat err1 err2 | grep -c 'another roofstep (process [0-9]*) is writing new.json')" = 1 ] || fail 'it is not said which file is written'
    [ "$(rows new.json)" = 1 ] || fail 'rows are lost'
    no_locks 'an end'
    rm new.json
done

# ---- every command, every spelling, while a sweep runs ----

"$program" bench "${short[@]}" --out other.json >out 2>err || fail 'bench'
mkdir folder
ln -s ../x.json folder/link.json
"${start[@]}" "${long[@]}" --out x.json --out-json y.json >long.out 2>long.err </dev/null &
holder=$!
await x.json
await y.json
refused x.json $holder bench "${short[@]}" --out x.json
refused ./x.json $holder bench "${short[@]}" --out ./x.json
refused folder/link.json $holder bench "${short[@]}" --out folder/link.json
refused x.json $holder bench "${short[@]}" --out z.csv --out-json x.json
refused y.json $holder bench "${short[@]}" --out y.json
refused x.json $holder bench "${short[@]}" --resume x.json --out x.json
refused x.json $holder bench "${short[@]}" --resume x.json
refused x.json $holder bench "${short[@]}" --resume x.json --out z.json
refused x.json $holder attention --ctx 16 --d-head 8 --heads 1 --steps 2 --out x.json
refused x.json $holder precision "${model[@]}" --out x.json
refused x.json $holder warmup "${model[@]}" --out x.json
refused x.json $holder profile "${model[@]}" --out x.json
refused x.json $holder memory "${model[@]}" --out x.json
refused x.json $holder memory "${model[@]}" --snapshot x.json
refused x.json $holder memory "${model[@]}" --svg x.json
refused x.json $holder limits --out x.json
refused x.json $holder plan "${model[@]}" --out x.json
refused x.json $holder compare other.json other.json --out x.json
"$program" bench "${short[@]}" --out /dev/null >out 2>err || fail 'a device'
[ -z "$(find /dev -maxdepth 1 -name '.null*')" ] || fail 'a device is locked'
[ ! -e z.json ] && [ ! -e z.csv ] || fail 'a refused command leaves a file'
timeout 10 "$program" suite "${model[@]}" --budget 2s --out-dir . >out 2>err </dev/null
[ $? = 2 ] && grep -q "(process $holder) is writing" err || fail 'a suite begins in a folder where a file is being written'

# ---- a kill leaves nothing that is in the way; an interrupt leaves nothing ----

kill -KILL $holder
wait $holder 2>/dev/null
"$program" bench "${short[@]}" --out x.json --out-json y.json >out 2>err || fail 'a killed sweep is in the way'
no_locks 'what came after a kill'
[ "$(rows x.json)" = 1 ] || fail 'rows after a kill'
for signal in INT TERM; do
    rm x.json
    "${start[@]}" "${long[@]}" --out x.json >out 2>err </dev/null &
    holder=$!
    await x.json
    kill -$signal $holder
    wait $holder
    no_locks "SIG$signal"
done

# ---- folders ----

"${start[@]}" profile "${model[@]}" --steps 1000000000 --timeout 60 --out-dir prof >out 2>err </dev/null &
holder=$!
await prof/profile.json
refused prof $holder profile "${short[@]}" --out-dir prof
refused prof $holder profile "${short[@]}" --out-dir prof/deeper
refused prof $holder bench "${short[@]}" --out prof/profile.json
refused prof $holder report other.json --tables prof
kill -INT $holder
wait $holder
no_locks 'a profile'

begun() { # FOLDER; the rest are words of a suite
    local folder=$1
    shift
    "${start[@]}" suite "$@" --out-dir "$folder" >suite.out 2>suite.err </dev/null &
    holder=$!
    await "$folder/suite.json"
    refused "$folder" $holder suite "$@" --out-dir "$folder"
    refused "$folder" $holder suite --resume "$folder"
    refused "$folder" $holder bench "${short[@]}" --out "$folder/results.json"
    refused "$folder" $holder profile "${short[@]}" --out-dir "$folder/profile"
    kill -INT $holder
    wait $holder
    [ $? = 130 ] || fail 'the suite was disturbed'
    no_locks 'a suite'
}
begun all "${model[@]}" --budget 2s
begun like --like rtx5090 --budget 60s
verdict
