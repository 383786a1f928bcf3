#!/usr/bin/env bash
# usage: compare.sh PROGRAM: two result files against each other, in every format; what is no result file is refused.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `golden`
. "$(dirname "$(realpath "$0")")/cli.sh"
cp "$golden/compare-a.json" a.json
cp "$golden/compare-b.jsonl" b.jsonl

# expect CODE ARGUMENTS...: stdout is in out, stderr in err
expect() {
    local code=$1
    shift
    "$program" compare "$@" >out 2>err </dev/null
    local got=$?
    [ $got = "$code" ] || fail "compare $*: exit code $got, expected $code"
}

for format in md csv json latex typst; do
    expect 0 a.json b.jsonl --format $format
    diff -u "$golden/compare.$format" out || fail "--format $format is not compare.$format"
    [ ! -s err ] || fail "--format $format wrote to stderr"
done
expect 0 a.json b.jsonl --out changes.csv
cmp -s changes.csv "$golden/compare.csv" || fail '--out changes.csv'

# The cell with ctx 256 is some 5 % slower.
expect 3 a.json b.jsonl --fail-above 3%
grep -q '3 phases are slower by more than 3 %' err || fail 'it does not say what is slower'
grep -q 'not in B, which --fail-above does not count: 6 phases, 1 whole' err || fail 'it does not say what is missing in B'
diff -u "$golden/compare.md" out || fail '--fail-above changes the table'
expect 0 a.json b.jsonl --fail-above 6%
expect 0 a.json b.jsonl # without it, slower is no failure
expect 3 b.jsonl a.json --fail-above 10% # the other way round: the one that became faster
expect 0 a.json a.json --fail-above 0%
grep -q 'do not differ' out || fail 'a file differs from itself'
! grep -qE '\| (faster|slower|unsure) +\|' out || fail 'a file is not the same as itself'

# A writer that was killed leaves a torn line: the rest counts.
head -c -20 b.jsonl >torn.jsonl
expect 0 a.json torn.jsonl
grep -q 'torn.jsonl: its last line is cut short' err || fail 'it is silent about a torn line'

# refused WHAT-THE-LINE-CONTAINS ARGUMENTS...
refused() {
    local fragment=$1
    shift
    expect 2 "$@"
    [ ! -s out ] || fail "compare $*: wrote to stdout"
    if [ "$(wc -l <err)" != 1 ] || ! grep -qF -- "$fragment" err; then
        fail "compare $*: expected one line with: $fragment"
        cat err
    fi
}
: >empty.json
printf 'not json' >text.json
printf '{"schema": 2, "environment": {"id": "x"}, "results": []}' >newer.json
printf '{"schema": 1, "environment": {"id": "x"}, "results": []}' >none.json
printf '{"schema": 1, "environment": {"id": "x"}, "results": [{"size": 3}]}' >field.json
head -c 2000 a.json >cut.json
mkdir folder.json
refused 'missing.json' a.json missing.json
refused 'missing.json' missing.json a.json
refused 'folder.json' a.json folder.json
refused 'empty.json: the file is empty' a.json empty.json
refused 'text.json: line 1' a.json text.json
refused 'newer.json: line 1: schema 2' a.json newer.json
refused "field.json: result 1: 'size' must be a text" a.json field.json
refused 'cut.json' a.json cut.json
refused 'no cell in common' a.json none.json
refused 'needs two result files, not 1' a.json
refused 'needs two result files, not 3' a.json a.json a.json

# What profile measures is compared too.
"$program" profile --d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --batch 1 --device cpu --steps 3 \
    --out-dir profiled >/dev/null 2>&1 </dev/null || fail 'profile'
expect 0 profiled/profile.json profiled/profile.json --fail-above 0%
grep -qE '\| step +\|.*\| same +\|' out || fail 'profile.json is not the same as itself'

# Colours on a terminal only, and not with NO_COLOR.
green=$(printf '\033[32mfaster') red=$(printf '\033[31mslower')
! grep -qF "$green" "$golden/compare.md" || fail 'colours in the golden file'
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
    line="'$program' compare a.json b.jsonl"
    env -u NO_COLOR TERM=xterm script -qec "$line" /dev/null >out 2>&1 </dev/null
    grep -qF "$green" out && grep -qF "$red" out || fail 'no colours on a terminal'
    tr -d '\r' <out | sed 's/\x1b\[[0-9]*m//g' | diff - "$golden/compare.md" || fail 'colours change the text'
    NO_COLOR=1 TERM=xterm script -qec "$line" /dev/null >out 2>&1 </dev/null
    ! grep -q "$(printf '\033')" out || fail 'colours in spite of NO_COLOR'
    env -u NO_COLOR TERM=xterm script -qec "$line --format csv" /dev/null >out 2>&1 </dev/null
    ! grep -q "$(printf '\033')" out || fail 'colours in csv'
fi

verdict
