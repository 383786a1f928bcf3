#!/usr/bin/env bash
# usage: interrupted.sh PROGRAM [COUNT]: whatever command is interrupted at whatever moment, by one signal or two, no file is left
# that is not whole. COUNT interrupts, 30 by default.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"
count=${2:-30}
model=(--d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --batch 1 --device cpu --threads 1)
no_temporary() { [ -z "$(find . -name '*.tmp*')" ] || fail "$1 left $(find . -name '*.tmp*' -print -quit)"; }

# ---- a cell that is stopped while it writes its trace ----

env --default-signal=INT "$program" profile --d-model 16 --d-ff 16 --num-layers 4 --num-heads 2 --vocab 31 --ctx 4 --batch 1 --device cpu --threads 1 \
    --steps 3000 --trace-steps 3000 --out-dir traced >out 2>err </dev/null &
sweep=$!
writes() { # as a temporary file, or as one that has no name yet
    local pid
    [ -n "$(find traced -name '*_trace.json.gz.*.tmp' 2>/dev/null)" ] && return 0
    for pid in $(pgrep -P $sweep); do readlink "/proc/$pid"/fd/* 2>/dev/null | grep -q "/traced/.* (deleted)$" && return 0; done
    return 1
}
seen=
for _ in $(seq 3000); do
    if writes; then seen=1 && break; fi
    sleep 0.01
done
[ -n "$seen" ] || fail 'no trace was being written'
kill -INT $sweep
wait $sweep
[ $? = 130 ] || fail 'not interrupted'
no_temporary 'a profile that was stopped while it wrote its trace'
find . -name '*.tmp*' -delete

# ---- any command at any moment ----

"$program" suite "${model[@]}" --budget 2s --out-dir whole >out 2>err </dev/null &
for _ in $(seq 100); do [ ! -s whole/suite.json ] || break; sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null
sed -i '0,/"waiting"/s//"done"/' whole/suite.json # the limits take half a minute

commands=('bench --steps 2,3,4,5 --out-json b.json --out b.md' 'profile --steps 20,30 --out-dir p' 'memory --out m.json --snapshot m.pickle --svg m.svg'
    'attention --d-head 8 --ctx 16,32,64 --out a.json' 'warmup --steps 2 --rounds 2 --out w.json' 'export --out e.safetensors' 'suite')
signals=(INT TERM HUP)
for i in $(seq "$count"); do
    command=${commands[i % ${#commands[@]}]} signal=${signals[RANDOM % 3]}
    case $command in
    suite) [ -d s ] || cp -r whole s; words=(--resume s) ;;
    attention*) words=(--device cpu --threads 1) ;;
    *) words=("${model[@]}") ;;
    esac
    # shellcheck disable=SC2086 # words on purpose
    env --default-signal=INT "$program" $command "${words[@]}" >out 2>err </dev/null &
    job=$!
    sleep "0.$(printf %03d $((RANDOM % 400)))"
    kill -$signal $job 2>/dev/null
    if [ $((RANDOM % 3)) = 0 ]; then kill -TERM $job 2>/dev/null; fi
    wait $job 2>/dev/null
    no_temporary "$command after SIG$signal"
    find . -name '*.tmp*' -delete
    if [ $((RANDOM % 4)) = 0 ]; then rm -rf s p ./*.json; fi
done

verdict
