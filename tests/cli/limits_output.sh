#!/usr/bin/env bash
# usage: limits_output.sh PROGRAM: limits measures once, keeps what it found, and shows it in every format.
program=$1
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
export XDG_CACHE_HOME=$work/cache
failures=0
fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

"$program" limits --device cpu --threads 1 --out "$work/nowhere/limits.json" >"$work/out" 2>"$work/err" && fail "written nowhere"
! grep -q 'measuring' "$work/err" || fail "it measures what it cannot write"
grep -q 'nowhere' "$work/err" || fail "it does not say what it cannot write"

"$program" limits --device cpu --threads 1 >"$work/first" 2>"$work/err" || { cat "$work/err"; exit 1; }
grep -q 'measuring' "$work/err" || fail "it does not say that it measures"
grep -q 'memory, copy' "$work/first" || fail "no table"
if grep -q 'not kept' "$work/err"; then
    grep -q -- '--keep' "$work/err" || fail "it does not say what to do"
    "$program" limits --device cpu --threads 1 --keep >"$work/first" 2>"$work/err" || fail "--keep"
    ! grep -q 'not kept' "$work/err" || fail "--keep does not keep"
fi
for format in md csv json latex typst; do
    "$program" limits --device cpu --threads 1 --format $format >"$work/out" 2>"$work/err" || fail "--format $format"
    ! grep -q 'measuring' "$work/err" || fail "--format $format measured again"
    [ -s "$work/out" ] || fail "--format $format printed nothing"
done
"$program" limits --device cpu --threads 1 --format csv | awk -F, '
    NF != 7 { bad = 1 }
    NR > 1 && !($4 > 0 && $5 <= $4 && $4 <= $6) { bad = 1 }
    END { exit bad || NR < 20 }' || fail "csv: a row is not a rate"

echo "$failures wrong"
[ $failures = 0 ]
