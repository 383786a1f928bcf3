#!/usr/bin/env bash
# The harnesses with libFuzzer, which looks for inputs that reach code none has reached before.
# usage: run_libfuzzer.sh SECONDS [NAME...]
# Builds the preset fuzz, where clang has libFuzzer (Debian: clang and libclang-rt-14-dev; 77 otherwise), and runs each harness so
# long, as many at once as there are processors. What it finds grows in build/fuzz-corpus/NAME, beside the corpus that is kept
# here; what crashes, takes too long or too much memory is kept in build/fuzz-crashes. Prints executions, coverage and crashes;
# exits with 1 when there was any.
here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
root=$(readlink -f -- "$here/../..")
seconds=$1
[ "${seconds:-0}" -gt 0 ] 2>/dev/null || { sed -n '2,8s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
shift
if ! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return !d && n; }' |
    clang -x c -fsanitize=fuzzer - -o /dev/null 2>/dev/null; then
    echo "run_libfuzzer.sh: there is no clang with libFuzzer here (Debian: clang, libclang-rt-14-dev): skipped" >&2
    exit 77
fi
(cd "$root" && cmake --preset fuzz && cmake --build --preset fuzz -j "$(nproc)") >"$root/build/fuzz.log" 2>&1 ||
    { tail -n 20 "$root/build/fuzz.log" >&2; echo "run_libfuzzer.sh: it does not build: see build/fuzz.log" >&2; exit 1; }
export TMPDIR
TMPDIR=$(mktemp -d -p "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)") || exit 1
trap 'rm -rf "$TMPDIR"' EXIT

# Longer inputs only take longer: what is wrong with them is wrong with a short one. A sanitizer's report is
# heard although the program's own output is not.
run_one() {
    local name=$1 log=$TMPDIR/$1.log crashes=$root/build/fuzz-crashes/$1
    local grown=$root/build/fuzz-corpus/$1
    mkdir -p "$grown" "$crashes"
    OMP_WAIT_POLICY=passive OMP_NUM_THREADS=1 "$root/build/fuzz/tests/fuzz/fuzz_$name" \
        -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -max_len=65536 -close_fd_mask=3 -print_final_stats=1 \
        -fork=1 -ignore_crashes=1 -ignore_timeouts=1 -ignore_ooms=1 -artifact_prefix="$crashes/" \
        "$grown" "$here/corpus/$name" >"$log" 2>&1
    local found
    found=$(find "$crashes" -type f -newer "$TMPDIR/begun" | wc -l)
    awk -v name="$name" -v found="$found" '
        /^#[0-9]+: cov:/ { runs = substr($1, 2) + 0; coverage = $3; features = $5; corpus = $7 }
        END { printf "%-10s executions %d  coverage %d  features %d  corpus %d  crashes %d\n", name, runs, coverage, features, corpus, found }' "$log"
    [ "$found" = 0 ] || grep -hE '^(SUMMARY|.*runtime error|harness:)' "$log" | sort -u | head -n 5 >&2
    [ "$found" = 0 ]
}
export -f run_one
export seconds here root
names=("$@")
[ $# -gt 0 ] || mapfile -t names < <(basename -s .c "$here"/fuzz_*.c | sed 's/^fuzz_//')
printf '%s\n' "${names[@]}" | xargs -P "$(nproc)" -I{} bash -c 'run_one {}' || exit 1
