#!/usr/bin/env bash
# usage: ulimits.sh PROGRAM: what a limit of the shell stops is put down to that limit, and the message says which one it is.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
small=(--d-model 32 --d-ff 64 --num-layers 1 --num-heads 2 --vocab 50 --ctx 16 --batch 1 --device cpu --threads 1)

# limited ULIMIT VALUE WORDS...: the program's exit code; the files are open before the limit holds
limited() {
    local which=$1 value=$2
    shift 2
    (
        ulimit "$which" "$value" || exit 99
        exec timeout "${patience:-20}" "$program" "$@"
    ) >out 2>err </dev/null
}

# ---- CPU time: SIGKILL at the hard limit, SIGXCPU at the soft one ----

for which in -t -St; do
    limited $which 1 bench "${small[@]}" --steps 100000000 --format md
    [ $? = 4 ] || fail "ulimit $which 1: not exit code 4"
    has ': killed: ' 'CPU time' 'ulimit -t'
    ! grep -q 'memory ran out' out err || fail "ulimit $which 1 is blamed on memory"
done

# ---- open files: from those that no pipe can be made with to those that do ----

# blames_the_limit WORDS...: up to the first number of files that is enough
blames_the_limit() {
    local files refused=0
    for files in 5 6 7 8 9 10 11 12; do
        limited -n $files "$@" && break
        grep -qE 'mounted|open files' out err || break # it measures, and is stopped
        ! grep -q 'mounted' out err || fail "ulimit -n $files: $1 blames /proc"
        grep -q 'too many open files.*ulimit -n' err || fail "ulimit -n $files: $1 does not say what to do"
        refused=$((refused + 1))
    done
    [ $refused -gt 0 ] || fail "$1: no limit was too low"
}
blames_the_limit bench "${small[@]}" --steps 1
patience=2 blames_the_limit limits --device cpu --threads 1

verdict
