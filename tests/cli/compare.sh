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
grep -q 'measured in A but not in B: 6 phases, 1 whole' err || fail 'it does not say what is missing in B'
diff -u "$golden/compare.md" out || fail '--fail-above changes the table'
expect 0 a.json b.jsonl --fail-above 6%
expect 0 a.json b.jsonl # without it, slower is no failure
expect 3 b.jsonl a.json --fail-above 10% # the other way round: the one that became faster
expect 0 a.json a.json --fail-above 0%
grep -q 'the same samples in A and B' out || fail 'nothing is said of a file beside itself'
grep -q 'threads are the same' out || fail 'a file differs from itself'
! grep -qE '\| (faster|slower|unsure) +\|' out || fail 'a file is not the same as itself'

# Packed files are read as they are; one that is cut short or is none is refused.
gzip -c a.json >a.json.gz
gzip -c b.jsonl >b.jsonl.gz
expect 0 a.json.gz b.jsonl.gz --format csv
diff -u "$golden/compare.csv" out || fail 'packed files compare otherwise'
for bytes in 1 9 15 200 $(($(wc -c <a.json.gz) - 1)); do
    head -c "$bytes" a.json.gz >cut.json.gz
    expect 2 cut.json.gz a.json
    [ "$(wc -l <err)" = 1 ] && grep -q 'cut.json.gz' err || fail "$bytes bytes of a packed file"
done
{ head -c 100 a.json.gz; head -c 400 /dev/urandom; } >garbled.json.gz
expect 2 garbled.json.gz a.json
[ "$(wc -l <err)" = 1 ] && grep -q 'garbled.json.gz' err || fail 'a garbled packed file'

# What the files warn of is under the table, each warning once with the rows it is of, and in the json.
warned() { # FILE WARNING OF-ITS-CELLS: every row of that context gets it
    python3 - "$@" <<'PYTHON'
import json, sys
path, warning, ctx = sys.argv[1:]
data = json.load(open(path))
for row in data["results"]:
    if row["ctx"] in map(int, ctx.split(",")) and not row.get("peer"): row["warnings"] = [warning]
json.dump(data, open(path, "w"))
PYTHON
}
cp a.json warned-a.json
cp a.json warned-b.json
warned warned-a.json 'others took 9 % of it' 256,512
warned warned-b.json 'others took 9 % of it' 256
expect 0 warned-a.json warned-b.json
grep -qxF -- '- warning: A: small, ctx 256, precision fp32; small, ctx 512, precision fp32; B: small, ctx 256, precision fp32: others took 9 % of it' out ||
    fail 'no line with the warning and its rows'
[ "$(grep -c 'warning:' out)" = 1 ] || fail 'a warning is told twice'
expect 0 warned-a.json warned-b.json --format json
python3 - out <<'PYTHON' || fail 'the warnings are not in the json'
import json, sys
(item,) = json.load(open(sys.argv[1]))["warnings"]
assert item["warning"] == "others took 9 % of it" and len(item["a"]) == 2 and len(item["b"]) == 1 and "ctx=256" in item["b"][0], item
PYTHON
warned warned-b.json 'only one file has it' 64 # and that row is in both
expect 0 a.json warned-b.json
grep -q 'B: small, ctx 64.*: only one file has it' out || fail 'the warning of a row in both files'
expect 0 warned-b.json b.jsonl # here that row is in one file only
! grep -q 'only one file has it' out || fail 'the warning of a row that is not compared'

# A writer that was killed leaves a torn line: the rest counts.
head -c -20 b.jsonl >torn.jsonl
expect 0 a.json torn.jsonl
grep -q 'torn.jsonl: ignoring its truncated last line' err || fail 'it is silent about a torn line'

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
mkdir folder.other
echo '{"limits": {}}' >folder.other/limits.json
refused 'missing.json' a.json missing.json
refused 'missing.json' missing.json a.json
refused 'folder.json has no result file' a.json folder.json
refused 'folder.other has no result file' folder.other a.json
refused 'empty.json: the file is empty' a.json empty.json
refused 'text.json: line 1' a.json text.json
refused 'newer.json: line 1: schema 2' a.json newer.json
refused "field.json: result 1: 'size' must be a text" a.json field.json
refused 'cut.json' a.json cut.json
refused 'one of them has no cell' a.json none.json
refused 'needs two result files or folders, not 1' a.json
refused 'several files a side have -- between' a.json a.json a.json
refused 'needs two result files or folders, not 3' a.json a.json a.json --
refused '--fail-above stands behind --' a.json -- b.jsonl --fail-above 3%
refused '--phase steps: expected' a.json b.jsonl --phase steps
sed 's/ctx=\([0-9]*\) /ctx=\1 seed=9 /; s/steps=10/steps=20/' a.json >other.json
refused 'the nearest two differ in' a.json other.json
grep -q 'steps (10, 20)' err || fail 'it does not name the option'

# Folders and several files a side: each start of a cell is a sample; a copy of a file is no start.
starts() { # FOLDER FACTOR: six starts of the rows of a.json, some 0.1 % apart
    mkdir "$1"
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
folder, factor = sys.argv[1], float(sys.argv[2])
for start in range(6):
    data = json.load(open("a.json"))
    for row in data["results"]:
        for phase in "forward", "backward", "optimizer", "step":
            for name, value in (row.get(phase) or {}).items():
                if name == "samples_ms": row[phase][name] = [x * factor * (1 + start / 1e3) for x in value]
                elif name.endswith("_ms") and value is not None: row[phase][name] = value * factor * (1 + start / 1e3)
    json.dump(data, open(f"{folder}/start{start}.json", "w"))
PYTHON
    cp "$1/start0.json" "$1/start0-copy.json"
    echo '{"limits": {}}' >"$1/limits.json"
}
starts old 1
starts new 1.05
expect 0 old old --fail-above 1% --fail-unsure
grep -q 'A: 7 files; each of up to 6 starts of a cell counts as one sample' err || fail 'it does not say what a sample is'
expect 3 old new --fail-above 3% --phase step
grep -q 'worst: .*: step +5' err || fail 'it does not name the worst cell'
! grep -q '| forward ' out || fail '--phase step shows other phases'
expect 0 old new --fail-above 8% --fail-unsure --phase step
expect 3 --fail-above 3% old/start[0-5].json -- new/start[0-5].json
expect 3 --fail-above 3% old -- new/start?.json
# Too few starts tell nothing: that is a failure only if it is asked for.
expect 0 --fail-above 3% old/start0.json old/start1.json -- new/start0.json new/start1.json
expect 5 --fail-above 3% --fail-unsure old/start0.json old/start1.json -- new/start0.json new/start1.json
grep -q 'unsure: measure more' err || fail 'it does not say what to do'
expect 5 a.json b.jsonl --fail-above 90% --fail-unsure # missing in B

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
