#!/usr/bin/env bash
# usage: like.sh PROGRAM: every row of a write-up is in its tables, run or planned; the same command again keeps what is finished.
program=$1
likes=$(realpath "$(dirname "$0")/../../src/cli/likes.def")
# Looking for leaks takes seconds at every exit on some machines; the unit tests do it.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
cd "$work" || exit 1
export XDG_CACHE_HOME=$work
failures=0
fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}
"$program" limits --device cpu --threads 1 --keep >/dev/null 2>err || { fail 'no limits'; cat err; }
for name in rtx5090 p100-t4 8gb rtx5090-nsys; do
    id=$(sed -n "s/^WRITEUP(\([A-Z0-9_]*\), \"$name\".*/\1/p" "$likes")
    rows=0
    for table in $(sed -n "s/^TABLE(\([A-Z0-9_]*\), $id,.*/\1/p" "$likes"); do
        rows=$((rows + $(grep -c "^ROW($table," "$likes")))
    done
    "$program" suite --like $name --budget 1s --device cpu --threads 1 --timeout 20s --out-dir $name >out 2>err </dev/null || { fail "$name: exit code $?"; cat err; }
    [ "$rows" -gt 0 ] && [ "$(grep -cE '^\| (size|ctx|d-head|seed|precision) ' out)" = $rows ] || { fail "$name: not $rows rows"; cat out; }
    cmp -s out $name/tables.md || fail "$name: tables.md is not what is printed"
    [ "$(grep -c 'begin{tabular}' $name/tables/tables.tex)" -ge "$(grep -c '^## ' out)" ] || fail "$name: not every table in LaTeX"
    "$program" --version | grep -q '(no html)' || grep -q '"section":"like"' $name/index.html || fail "$name: not on the page"
done
grep -q '≈' out || fail 'nothing is marked as planned'
[ "$(grep -c '"cell"' rtx5090-nsys/results.json)" -gt 0 ] || fail 'not even the cheapest rows were run'
"$program" suite --like rtx5090-nsys --budget 1s --device cpu --threads 1 --timeout 20s --resume rtx5090-nsys >again 2>err </dev/null || fail 'again'
cmp -s out again || fail 'finished rows were run again'

echo "$failures wrong"
[ $failures = 0 ]
