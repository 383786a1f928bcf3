#!/usr/bin/env bash
# Mutated inputs into every reader, by the driver of our own (mutate_main.c), which runs wherever there is gcc.
# usage: run.sh BUILD_FOLDER COUNT [SEED]
# COUNT inputs in all, shared out by what one of them takes; the same seed makes the same ones. Prints the tries and crashes of
# each harness and of all. Inputs that crash are kept in BUILD_FOLDER/fuzz-crashes. Exits with 1 when there was any.
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
if [ $# -lt 2 ] || [ ! -d "$1/tests/fuzz" ]; then sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; fi
build=$(readlink -f -- "$1") count=$2 seed=${3:-31}
keep=$build/fuzz-crashes
export TMPDIR
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)") || exit 1
trap 'rm -rf "$TMPDIR"' EXIT
mkdir -p "$keep" || exit 1

# How many of a thousand inputs each has; those that take longest begin.
shares='page:100 results:110 validate:130 messages:110 csv:100 suite:100 machine:90 model:60 weights:80 words:120'

# run_one NAME:SHARE
run_one() {
    local name=${1%:*} share=${1#*:}
    OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 "$build/tests/fuzz/fuzz_$name" --tries $((count * share / 1000 + 1)) \
        --seed "$seed" --keep "$keep" "$here/corpus/$name" 2>"$TMPDIR/$name.log"
    sed "s/^/$name: /" "$TMPDIR/$name.log" >&2
}

# Whoever adds a harness gives it a share.
for source in "$here"/fuzz_*.c; do
    name=$(basename "$source" .c)
    case " $shares" in *" ${name#fuzz_}:"*) ;; *) echo "run.sh: $name has no share" >&2; exit 1 ;; esac
done
export -f run_one
export build count seed keep here
# shellcheck disable=SC2086 # one word each
printf '%s\n' $shares | xargs -P "$(nproc)" -I{} bash -c 'run_one {}' | tee "$TMPDIR/table"
awk -v all="$(wc -w <<<"$shares")" -v seed="$seed" '
     { for (i = 1; i < NF; i++) { if ($i == "tries") tries += $(i + 1); if ($i == "crashes") crashes += $(i + 1) } }
     END { printf "%-10s seed %s  tries %d  crashes %d\n", "all", seed, tries, crashes; exit crashes > 0 || NR != all }' "$TMPDIR/table"
