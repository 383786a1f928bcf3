#!/usr/bin/env bash
# usage: threads_row.sh PROGRAM FAKE_LIMITS: a row states the threads that computed, whatever the environment says of threads;
# those that cannot be had are refused; a BLAS library gets no more threads than there are processors.
fake=$(realpath "$2")
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `work`
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
export ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0
unset OMP_THREAD_LIMIT OMP_DYNAMIC OMP_NUM_THREADS OMP_NESTED OMP_MAX_ACTIVE_LEVELS OMP_PROC_BIND OMP_PLACES GOMP_CPU_AFFINITY
# OpenBLAS with threads of its own starts them before the program begins, and they wait awake for 20 ms then.
export OPENBLAS_THREAD_TIMEOUT=4
tiny=(--device cpu --d-model 32 --d-ff 64 --num-layers 1 --num-heads 2 --vocab 50 --ctx 16 --batch 1 --warmup 1 --steps 2)
model=(--device cpu --d-model 128 --d-ff 256 --num-layers 1 --num-heads 4 --vocab 500 --ctx 64 --batch 2 --warmup 1 --steps 3)

# computes THREADS "NAME=VALUE..." OPTION...: so many threads computed, and the row says so
computes() {
    local threads=$1 set=$2
    shift 2
    rm -f row.json
    # shellcheck disable=SC2086 # several words on purpose
    env $set "$program" profile "${model[@]}" --out row.json "$@" >out 2>err </dev/null || fail "$set $*: exit code $?"
    python3 - "$threads" 2>>err <<'PYTHON' || fail "$set $*: not $threads threads"
import json, sys
row = json.load(open("row.json"))["results"][0]
profile = row["profile"]
computed = [t for t in profile["threads"] if t["ran"] > 0]
sys.exit(f"row: {row['threads']}, computed: {len(computed)}"
         if (row["threads"], len(computed)) != (int(sys.argv[1]),) * 2 else 0)
PYTHON
}
computes 2 '' --threads 2
computes 1 OMP_THREAD_LIMIT=1
computes 1 OMP_THREAD_LIMIT=1 --threads 1
computes 2 OMP_THREAD_LIMIT=2 --threads 2
computes 2 'OMP_DYNAMIC=true OMP_MAX_ACTIVE_LEVELS=0 OMP_STACKSIZE=1000000G' --threads 2
computes 2 'OMP_NESTED=true OMP_MAX_ACTIVE_LEVELS=4' --threads 2 --blas system --attention naive
computes 2 OMP_NUM_THREADS=1 --threads 2
computes 2 'BLIS_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1' --threads 2 --blas system
computes 1 'BLIS_JC_NT=2 BLIS_IC_NT=2 OPENBLAS_NUM_THREADS=4' --threads 1 --blas system

# What is planned is for as many.
OMP_THREAD_LIMIT=1 "$program" plan "${tiny[@]:0:16}" --format json >out 2>err || fail 'plan'
grep -Eq '"threads": *1,' out || fail 'plan is for other threads than a run has'
OMP_THREAD_LIMIT=1 "$program" doctor >out 2>err
has '- threads by default: 1'

# More than there may be are refused: the command, or the cell of a sweep.
attention=(--device cpu --d-head 16 --ctx 64 --batch 1 --warmup 1 --steps 2)
refuses() {
    OMP_THREAD_LIMIT=1 timeout 20 "$program" "$@" --threads 2 >out 2>err </dev/null
    [ $? = 2 ] || fail "$*: two threads where one may be"
    grep -q -- '--threads 2: OMP_THREAD_LIMIT in the environment allows 1; unset it, or use --threads 1' err || fail "$*: why"
}
refuses bench "${tiny[@]}"
refuses precision "${tiny[@]}"
refuses attention "${attention[@]}"
refuses limits --device cpu
OMP_THREAD_LIMIT=1 "$program" bench "${tiny[@]}" --threads 1,2 >out 2>err </dev/null || fail "a sweep of threads: exit code $?"
matches '^\| custom \| +1 \|.* ok +\|$' '^\| custom \| +2 \|.* unsupported \|$'

# Where the system does not start them, a row says what to do, and that helps.
few() { FAKE_THREADS=2 OPENBLAS_NUM_THREADS=1 LD_PRELOAD=$fake "$program" "$@" >out 2>err </dev/null; }
few bench "${tiny[@]}" --threads 4
[ $? = 4 ] || fail 'four threads where two may be'
matches 'failed: cpu: the system starts 2 of 4 threads \(.*\): use --threads 2, or allow more'
few bench "${tiny[@]}" --threads 2 || fail "two threads where two may be: exit code $?"
few limits --device cpu --threads 4
[ $? = 1 ] || fail 'limits of four threads where two may be'
grep -q 'the system starts 2 of 4 threads' err || fail 'limits: why'
FAKE_THREADS=1 OPENBLAS_NUM_THREADS=1 LD_PRELOAD=$fake "$program" bench "${tiny[@]}" --threads 1 >out 2>err </dev/null || fail "one thread where one may be: exit code $?"

# BLAS libraries wait awake: more threads than processors would wait for those that have none.
many=$(($(nproc) + 5))
gets_few() {
    rm -f notes
    FAKE_NOTES=$work/notes LD_PRELOAD=$fake "$program" "$@" --threads $many >out 2>err </dev/null || fail "$*: exit code $?"
    local given
    given=$(sort -n notes | tail -n 1)
    [ "${given:-0}" -ge 1 ] && [ "$given" -le "$(nproc)" ] || fail "$*: $many threads, and the library has '$given'"
}
gets_few precision "${tiny[@]}" --precision fp32
gets_few bench "${tiny[@]}" --blas system
gets_few bench "${tiny[@]}" --blas system --attention naive --exec eager

verdict
