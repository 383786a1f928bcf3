#!/usr/bin/env bash
# usage: report.sh PROGRAM: the page and the tables of result files; what is no result file is refused.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `golden`
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
limits=$tests/../docs/results/h200-limits.json

# expect CODE ARGUMENTS...: stdout is in out, stderr in err
expect() {
    local code=$1
    shift
    "$program" report "$@" >out 2>err </dev/null
    local got=$?
    [ $got = "$code" ] || fail "report $*: exit code $got, expected $code"
}

# refused WHAT-THE-LINE-CONTAINS ARGUMENTS...
refused() {
    local fragment=$1
    shift
    expect 2 "$@"
    [ ! -s out ] || fail "report $*: wrote to stdout"
    if [ "$(wc -l <err)" != 1 ] || ! grep -qF -- "$fragment" err; then
        fail "report $*: expected one line with: $fragment"
        cat err
    fi
}

# latex FILE.tex: it compiles, and everything is on the paper
latex() {
    command -v pdflatex >/dev/null && kpsewhich booktabs.sty graphicx.sty geometry.sty >/dev/null || return 0
    (cd "$(dirname "$1")" && pdflatex -interaction=nonstopmode -halt-on-error "$(basename "$1")") >log 2>&1 || { fail "$1 does not compile"; tail log; }
    ! grep -E '^Overfull|Float too large|incomplete' log || fail "$1 is larger than its paper, or does not end well"
}

# compiles FOLDER: its documents do, where there is LaTeX and where ./test has fetched the Typst compiler
compiles() {
    local packages=$tests/../build/typst-test/node_modules
    latex "$1/tables.tex"
    if command -v node >/dev/null && [ -d "$packages/@myriaddreamin/typst-ts-node-compiler" ]; then
        PACKAGES=$packages node "$tests/page/typst/compile.mjs" "$PWD/$1"/*.typ >log 2>&1 || { fail "Typst in $1 does not compile"; cat log; }
    fi
}

# ---- tables: the same ones that bench, attention and compare print ----

expect 0 "$golden/results.json" "$golden/attention.json" "$limits" --tables tables
[ ! -s out ] || fail '--tables wrote to stdout'
[ ! -e roofstep.html ] || fail '--tables alone wrote a page'
for pair in end-to-end.md=results.md end-to-end.typ=results.typst; do
    diff -u "$golden/${pair#*=}" "tables/${pair%=*}" || fail "tables/${pair%=*} is not ${pair#*=}"
done
sed -n '/^% needs/,/^\\end{table}/p' tables/end-to-end.tex | diff -u "$golden/results.latex" - || fail 'tables/end-to-end.tex has not the table of results.latex'
for name in attention limits environment tables; do
    for ending in md tex typ; do [ -s "tables/$name.$ending" ] || fail "no tables/$name.$ending"; done
done
grep -q '^\\end{document}$' tables/tables.tex || fail 'tables.tex is no whole document'
compiles tables
# Forecasts have a table, whatever is in their file.
"$program" forecast --gpu t4,rtx4090 --size small --precision fp16,bf16 --price 2 --format json --out forecast.json || fail 'forecast'
expect 0 forecast.json --tables forecasts
[ "$(grep -cE '^\| (Tesla T4|NVIDIA GeForce RTX 4090) ' forecasts/forecast.md)" = 4 ] && grep -q 'T4.* bf16 .* - ' forecasts/forecast.md && grep -q 'use fp16 or fp32' forecasts/forecast.md || { fail 'the table of forecasts'; cat forecasts/forecast.md; }
echo '{"forecasts": [1, null, [], {"limits_of": 3, "forecast": {"step_ms": "x", "low_ms": 1e999}}, {"forecast": "<script>"}]}' >odd.json
"$program" report odd.json --tables odd >out 2>err || [ $? = 2 ] || { fail 'a file of odd forecasts'; cat err; }
# Each is a document, and a part of another.
for name in end-to-end attention limits environment; do latex "tables/$name.tex"; done
printf '%s\n' '\documentclass[twocolumn]{article}' '\usepackage{booktabs,graphicx}' '\begin{document}' '\input{end-to-end}' '\input{limits}' '\typeout{went on}' '\end{document}' >tables/paper.tex
latex tables/paper.tex
[ ! -e tables/paper.log ] || grep -q '^went on' tables/paper.log || fail 'a table ends the document it is put into'
# Larger than any paper: long names, many rows.
long=$(printf 'wide%.0s' {1..120})
sed "s/\"size\": *\"small\"/\"size\":\"$long\"/" "$golden/results.json" >wide.json
grep -q widewide wide.json || fail 'no long name in wide.json'
expect 0 wide.json --tables wide
latex wide/tables.tex
row=$(grep -m1 '"cell"' "$golden/results.jsonl")
for i in {1..150}; do sed "s/ctx=[0-9]*/ctx=$i/" <<<"$row"; done >rows
{ grep -m1 -v '"cell"' "$golden/results.jsonl"; cat rows; } >tall.jsonl
expect 0 tall.jsonl --tables tall
latex tall/tables.tex
expect 0 "$limits" "$golden/compare-a.json" "$golden/compare-b.jsonl" --tables compared
grep -q '| verdict' compared/comparison.md || fail 'two files are not compared'
[ -s compared/end-to-end-2.md ] || fail 'the second file has no table'
compiles compared
touch taken
expect 1 "$golden/results.json" --tables taken
expect 1 "$golden/results.json" --tables no/such/parent

# ---- what the other commands write ----

small=(--d-model 16 --d-ff 32 --num-layers 2 --num-heads 2 --vocab 50 --ctx 8 --batch 1)
{
    "$program" profile "${small[@]}" --warmup 0 --steps 2 --out-dir profile &&
        "$program" memory "${small[@]}" --plan-only --out memory.json &&
        "$program" warmup "${small[@]}" --warmup 0,1 --rounds 2 --steps 2 --out warmup.json &&
        "$program" precision "${small[@]}" --warmup 0 --steps 2 --out precision.json
} >/dev/null 2>err || fail 'profile, memory, warmup or precision'
made=(profile/profile.json profile/profile_trace.json.gz memory.json warmup.json precision.json)
expect 0 "${made[@]}" --tables studies
compiles studies
for name in profile memory warmup precision environment; do [ -s "studies/$name.md" ] || fail "no studies/$name.md"; done
[ ! -e studies/end-to-end.md ] || fail 'rows of a study are taken for those of bench'
grep -q '^| largest at the peak' studies/memory.md || fail 'the largest tensors are not there'

# ---- refused ----

echo '{"schema": 1, "results": []}' >empty.json
echo '{"schema": 1, "key": {}, "limits": {}}' >empty-limits.json
refused 'needs result files' --tables t
refused 'nowhere.json' nowhere.json --tables t
refused "'environment' is missing" empty.json --tables t
refused 'empty-limits.json' empty-limits.json --tables t
echo '{"traceEvents": [{"ph": "X", "name": "x", "ts": "soon"}, 7]}' >empty-trace.json
echo '{"cells": [1, {"blocks": [{"born": -1, "died": 1e9}, 2]}]}' >empty-memory.json
refused "the trace has no ops of a layer" empty-trace.json --tables t
refused "has no 'id'" empty-memory.json --tables t
refused 'not JSON' "$golden/results.md" --tables t
[ ! -e t ] || fail 'a refused file left a folder behind'

# ---- the page ----

if "$program" --version | grep -q '(no html)'; then
    expect 2 "$golden/results.json" --out page.html
    grep -q 'this build has no HTML report' err || fail 'it does not say that there is no HTML report'
    [ ! -e page.html ] || fail 'a build without the page wrote one'
else
    sed 's/^{/{"environment": {"id": "x"}, /' empty-memory.json >odd-memory.json
    expect 0 "${made[@]}" odd-memory.json --out studies.html
    expect 0 "$golden/results.json" "$limits" -o page.html
    [ ! -s out ] || fail '--out wrote to stdout'
    tail -n 1 err | grep -q '^roofstep: .*Biggest win: --precision bf16 .* 47 % shorter\.$' || fail "it does not end with what to change: $(tail -n 1 err)"
    expect 0 "$golden/results.json" "$limits" --out -
    sed 's/report .*page.html/X/; s/report .*--out -/X/' page.html >one
    sed 's/report .*page.html/X/; s/report .*--out -/X/' out >two
    cmp -s one two || fail '--out - is not the same page'
    # Names from files are data, whatever they look like.
    sed 's|"size":"small"|"size":"</script><script>stolen()</script><!--"|' "$golden/results.json" >hostile.json
    expect 0 hostile.json --out hostile.html
    [ "$(grep -o '</script' hostile.html | wc -l)" = "$(grep -o '</script' page.html | wc -l)" ] || fail 'a name ends the script'
    grep -q '\\u003c/script>\\u003cscript>stolen' hostile.html || fail 'the name is not there'
    ! grep -qE '(src|href)="?https?:' page.html || fail 'the page asks for something from the network'
    expect 0 "$golden/results.json"
    [ -s roofstep.html ] || fail 'without --out there is no roofstep.html'
    expect 1 "$golden/results.json" --out no/such/parent.html
    # Charts as files, where there is a browser that draws them.
    if command -v chromium chromium-browser google-chrome google-chrome-stable >/dev/null; then
        TMPDIR=$PWD expect 0 "$golden/results.json" "$golden/attention.json" --charts charts --tables charts
        [ ! -e roofstep-charts* ] || fail '--charts leaves a folder behind'
        [ "$(find charts -name '*.svg' | wc -l)" -gt 5 ] || fail "charts: $(ls charts)"
        for svg in charts/*.svg; do
            head -c 4 "$svg" | grep -q '<svg' && [ -s "${svg%svg}csv" ] || fail "$svg is no picture, or has no figures"
        done
        grep -q '^row,part,value' charts/end-to-end-time-of-a-step-by-phase.csv || fail 'no figures of the phases'
    fi
    PATH=$PWD/none expect 2 "$golden/results.json" --charts none
    grep -q 'needs Chromium' err || fail 'it does not say what draws charts'
    # Commands on the page measure again: --resume would find the rows in the file.
    "$program" bench "${small[@]}" --device cpu --steps 2 --out again.json --resume again.json >/dev/null 2>err || fail 'bench --resume'
    grep -q -- '--resume again.json' again.json || fail 'the file does not say how it was made'
    expect 0 again.json --out again.html
    grep -q -- '--steps 2 --out again.json"' again.html || fail 'the command is not on the page'
    ! grep -q -- '--resume again.json' again.html || fail 'a command on the page measures nothing'
fi
verdict
