#!/usr/bin/env bash
# usage: good_usage.sh PROGRAM: help, version, doctor, limits: what works whatever the machine.
program=$1
# Looking for leaks takes seconds at every exit on some machines; the unit tests do it.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0

# expect CODE WHAT-STDOUT-CONTAINS ARGUMENTS...; '' for nothing on stdout
expect() {
    local code=$1 fragment=$2
    shift 2
    "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
    local got=$?
    if [ $got != "$code" ] || ! grep -qF -- "$fragment" "$work/out" && [ -n "$fragment$(cat "$work/out")" ]; then
        printf 'FAILED: roofstep %s: exit code %s, expected %s with "%s" on stdout\n' "$*" $got "$code" "$fragment"
        sed 's/^/        > /' "$work/out" "$work/err" | head -n 20
        failures=$((failures + 1))
    fi
}

expect 0 'usage: roofstep COMMAND' --help
expect 0 'usage: roofstep COMMAND' -h
expect 0 'usage: roofstep COMMAND' help
expect 0 'usage: roofstep bench' help bench
expect 0 'fwd|fwd_grad|fwd_bwd' help attention # nothing to train
expect 0 'default roofstep.safetensors' help export
expect 0 'roofstep ' --version
for command in bench attention precision warmup plan export compare collective limits doctor; do
    expect 0 "$command" --help
    expect 0 "usage: roofstep $command" "$command" --help
done
expect 0 '## Advice' doctor
# A library that takes a new processor for an old one is named, and the way out.
if grep -qw avx2 /proc/cpuinfo && OPENBLAS_CORETYPE=Prescott "$program" doctor | grep -q 'OpenBLAS.*(Prescott)'; then
    export OPENBLAS_CORETYPE=Prescott
    expect 0 'OPENBLAS_CORETYPE=' doctor
    export OPENBLAS_CORETYPE=Haswell
    expect 0 '(Haswell)' doctor
    ! grep -q 'OPENBLAS_CORETYPE=' "$work/out" || { echo 'FAILED: advice without need'; failures=$((failures + 1)); }
    unset OPENBLAS_CORETYPE
fi
expect 0 '"advice"' doctor --format json
expect 0 '"advice"' doctor --format json --out -
[ ! -e - ] || { echo 'FAILED: --out - made a file'; failures=$((failures + 1)); }
expect 0 'MFU' plan --size tiny --device cpu --threads 9999
grep -q 'threads 9999: this machine has' "$work/err" || { echo 'FAILED: no warning of --threads'; failures=$((failures + 1)); }
expect 0 '' doctor --out "$work/doctor.json" # the name says it too
grep -q '"environment"' "$work/doctor.json" || { echo 'FAILED: doctor --out'; failures=$((failures + 1)); }
expect 1 '' doctor --out "$work/no/such/folder/file"
# Names that say nothing of a format get the first one; --format goes before any name.
for name in plain plain.txt .hidden ends.; do
    expect 0 '' doctor --out "$work/$name"
    grep -q '## Advice' "$work/$name" || { echo "FAILED: doctor --out $name"; failures=$((failures + 1)); }
done
expect 0 '' doctor --format json --out "$work/doctor.xyz"
expect 0 '## Advice' doctor --out /dev/stdout

# top and killall know it as roofstep, whatever file it was started through: suite starts /proc/self/exe.
ln -s "$(realpath "$program")" "$work/exe"
"$work/exe" bench --d-model 16 --d-ff 16 --num-layers 1 --num-heads 1 --vocab 16 --steps 1000000000 --out "$work/name.json" >/dev/null 2>&1 &
sleep 0.5
grep -qx roofstep "/proc/$!/comm" || { echo "FAILED: top and killall know it as $(cat "/proc/$!/comm")"; failures=$((failures + 1)); }
kill $!
wait $! 2>/dev/null

# Where the user says where threads run, there are as many as without.
threads() {
    rm -f "$work/bound.json"
    env -u OMP_WAIT_POLICY -u OMP_PROC_BIND -u OMP_PLACES -u GOMP_CPU_AFFINITY "$@" "$program" bench --d-model 16 --d-ff 16 --num-layers 1 --num-heads 1 --vocab 16 \
        --steps 1 --warmup 0 --out "$work/bound.json" >/dev/null 2>&1
    grep -o '"threads": *[0-9]*' "$work/bound.json"
}
free=$(threads)
for place in OMP_PROC_BIND=true OMP_PLACES=threads 'OMP_PROC_BIND=true OMP_WAIT_POLICY=passive'; do
    # shellcheck disable=SC2086 # two words where there is a blank
    bound=$(threads $place)
    [ -n "$bound" ] && [ "$bound" = "$free" ] || { echo "FAILED: $place: '$bound' instead of '$free'"; failures=$((failures + 1)); }
done
first=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
one=$(threads OMP_PLACES="{$first}")
[ "${one##*[ :]}" = 1 ] || { echo "FAILED: one place: '$one'"; failures=$((failures + 1)); }

# A table says who multiplied, limits are those of as many threads, hidden instruction sets are named.
tiny="bench --device cpu --d-model 16 --d-ff 16 --num-layers 1 --num-heads 1 --vocab 16 --steps 1 --warmup 0"
# shellcheck disable=SC2086 # the words of $tiny
XDG_CACHE_HOME="$work/none" ROOFSTEP_CPU_HIDE=all "$program" $tiny --threads 1 --blas own --out-json "$work/hidden.json" >"$work/out" 2>"$work/err"
grep -q '^- Common: .*, blas own plain,' "$work/out" || { echo 'FAILED: the table does not say who multiplied'; failures=$((failures + 1)); }
grep -q "roofstep limits --threads 1' once" "$work/err" || { echo 'FAILED: limits of as many threads'; failures=$((failures + 1)); }
features=$("$program" doctor | sed -n 's/^- features: //p')
grep -q "\"hidden_features\": *\"$features\"" "$work/hidden.json" || { echo 'FAILED: hidden features in the file'; failures=$((failures + 1)); }
ROOFSTEP_CPU_HIDE=all "$program" doctor | grep -qx -- "- features: $features; hidden by ROOFSTEP_CPU_HIDE: $features" || { echo 'FAILED: hidden features by doctor'; failures=$((failures + 1)); }
! ROOFSTEP_CPU_HIDE=none_such, "$program" doctor | grep -q ROOFSTEP_CPU_HIDE || { echo 'FAILED: nothing is hidden'; failures=$((failures + 1)); }

# No arguments: the help is on stderr, and it is bad usage.
"$program" >"$work/out" 2>"$work/err"
if [ $? != 2 ] || [ -s "$work/out" ] || ! grep -q 'usage:' "$work/err"; then
    echo 'FAILED: roofstep without arguments'
    failures=$((failures + 1))
fi
# A full disk behind stdout is noticed.
if "$program" --help >/dev/full 2>"$work/err" || ! grep -q 'stdout' "$work/err"; then
    echo 'FAILED: roofstep --help >/dev/full'
    failures=$((failures + 1))
fi

echo "$failures wrong"
[ $failures = 0 ]
