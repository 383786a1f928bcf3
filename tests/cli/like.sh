#!/usr/bin/env bash
# usage: like.sh PROGRAM: every row of a write-up is in its tables, run or planned; the same command again keeps what is finished.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"
likes=$tests/../src/cli/likes.def
"$program" limits --device cpu --threads 1 --keep >/dev/null 2>err || fail 'no limits'
for name in rtx5090 p100-t4 8gb rtx5090-nsys; do
    id=$(sed -n "s/^WRITEUP(\([A-Z0-9_]*\), \"$name\".*/\1/p" "$likes")
    rows=0
    for table in $(sed -n "s/^TABLE(\([A-Z0-9_]*\), $id,.*/\1/p" "$likes"); do
        rows=$((rows + $(grep -c "^ROW($table," "$likes")))
    done
    "$program" suite --like $name --budget 1s --device cpu --threads 1 --timeout 20s --out-dir $name >out 2>err </dev/null || fail "$name: exit code $?"
    [ "$rows" -gt 0 ] && [ "$(grep -cE '^\| (size|ctx|d-head|seed|precision) ' out)" = $rows ] || fail "$name: not $rows rows"
    cmp -s out $name/tables.md || fail "$name: tables.md is not what is printed"
    [ "$(grep -c 'begin{tabular}' $name/tables/tables.tex)" -ge "$(grep -c '^## ' out)" ] || fail "$name: not every table in LaTeX"
    "$program" --version | grep -q '(no html)' || grep -q '"section":"like"' $name/index.html || fail "$name: not on the page"
done
grep -q '≈' out || fail 'nothing is marked as planned'
[ "$(grep -c '"cell"' rtx5090-nsys/results.json)" -gt 0 ] || fail 'not even the cheapest rows were run'
"$program" suite --like rtx5090-nsys --budget 1s --device cpu --threads 1 --timeout 20s --resume rtx5090-nsys >again 2>err </dev/null || fail 'again'
cmp -s out again || fail 'finished rows were run again'

"$program" suite --like 8gb --budget 1m --device cpu --threads 1 --dry-run >dry 2>err </dev/null || fail '--dry-run'
grep -q '^- [1-9][0-9]* cells\?, nothing run' dry || fail 'no rows that would be run'
[ ! -e roofstep-like-8gb ] || fail '--dry-run made a folder'
"$program" suite --like rtx5090-nsys --budget 1s --device cpu --threads 1 --dry-run --out-dir rtx5090-nsys >dry 2>err </dev/null || fail '--dry-run again'
grep -q 'finished in rtx5090-nsys, not run again' dry || fail 'finished rows are not told'
XDG_CACHE_HOME=$PWD/none "$program" suite --like 8gb --device cpu --threads 1 --dry-run >dry 2>err </dev/null || fail '--dry-run without limits'
{ [ ! -e none ] && ! grep -q measuring err; } || fail '--dry-run measures'

verdict
