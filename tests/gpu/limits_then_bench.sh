#!/usr/bin/env bash
# usage: limits_then_bench.sh PROGRAM: limits of a GPU are measured once and kept; bench then tells its
# share of them, and what the libraries took of the GPU's memory.
program=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0
fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}
# number NAME MORE_THAN AT_MOST: of the one result in $work/out
number() {
    awk -v name="\"$1\":" -v low="$2" -v high="$3" '
        index($0, name) { value = $0; sub(".*" name " *", "", value); sub(/[,} ].*/, "", value); found = 1 }
        END { print "  " name " " value; exit !(found && value + 0 > low && value + 0 <= high) }' \
        "$work/out" || fail "$1 is not between $2 and $3"
}

"$program" limits --device cuda >"$work/first" 2>"$work/err" || { cat "$work/err"; exit 1; }
cat "$work/first" "$work/err"
grep -q 'measuring' "$work/err" || fail "it does not say that it measures"
grep -q 'memory, copy' "$work/first" || fail "no table"
if grep -q 'not kept' "$work/err"; then
    echo "skipped: the GPU is too busy for its limits to be kept"
    exit 77
fi
for format in md csv json latex typst; do
    "$program" limits --format $format >"$work/out" 2>"$work/err" || fail "--format $format"
    ! grep -q 'measuring' "$work/err" || fail "--format $format measured again: auto is not the GPU"
    [ -s "$work/out" ] || fail "--format $format printed nothing"
done
"$program" limits --device cuda:0 --format csv | awk -F, '
    NF != 7 { bad = 1 }
    NR > 1 && $7 > 0 && !($4 > 0 && $5 <= $4 && $4 <= $6) { bad = 1 }
    END { exit bad || NR < 20 }' || fail "csv: a row is not a rate"

"$program" bench --device cuda --size small --ctx 512 --precision bf16 --exec graph --warmup 3 --steps 10 \
    --format json >"$work/out" 2>"$work/err" || { cat "$work/err"; fail "bench"; }
number mfu 0 1.2
number percent_of_limit 0 150
number limit_tflops 0 100000
number library_mib 1 65536
number peak_alloc_mib 1 1000000
number peak_reserved_mib 1 1000000

echo "$failures wrong"
[ $failures = 0 ]
