#!/usr/bin/env bash
# usage: result_files.sh PROGRAM: what is wrong with a result file is said, packed or not, by every command that reads
# one; what was added to a suite's results later is shown.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"
model=(--d-model 8 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 11 --ctx 4 --batch 1 --threads 1 --warmup 1)
"$program" bench "${model[@]}" --steps 2 --out good.json >out 2>err || fail 'bench'

says() { # PATTERN COMMAND...: refused, in one line
    local pattern=$1
    shift
    timeout 20 "$program" "$@" >out 2>err </dev/null
    local code=$?
    [ $code = 2 ] || fail "$*: exit code $code"
    [ "$(wc -l <err)" = 1 ] && grep -Eq -- "$pattern" err || fail "$*: no '$pattern'"
}

# ---- packed: whole by every reader, and damage named as what it is ----

gzip -c good.json >good.json.gz
for words in 'compare good.json.gz good.json' 'compare good.json good.json.gz' 'validate good.json.gz' 'report good.json.gz --tables packed'; do
    # shellcheck disable=SC2086 # words on purpose
    "$program" $words >out 2>err || fail "$words"
done
"$program" bench "${model[@]}" --steps 2,3 --resume good.json.gz --out on.json >out 2>err && grep -q 'from the file' err || fail 'a packed file is not resumed'
says '^roofstep bench: --resume good.json.gz: rows cannot be appended to a .gz file; give --out-json FILE' bench "${model[@]}" --resume good.json.gz

python3 - <<'END'
good = open('good.json.gz', 'rb').read()
def put(name, data): open(name, 'wb').write(data)
put('second.json.gz', good[:1] + b'J' + good[2:])
put('first.json.gz', b'J' + good[1:])
put('one.json.gz', good[:1])
put('cut.json.gz', good[:-9])
put('x.json.xz', b'\xfd7zXZ\0' + good)
put('x.json.zst', b'\x28\xb5\x2f\xfd' + good)
END
readers() { # PATTERN FILE
    says "^roofstep compare: cannot read $2: $1" compare "$2" good.json
    says "^roofstep compare: cannot read $2: $1" compare good.json "$2"
    says "^roofstep bench: cannot read $2: $1" bench "${model[@]}" --steps 2 --resume "$2" --out new.json
    says "^roofstep report: cannot read $2: $1" report "$2" --tables new
    says "^roofstep plan: --limits: cannot read $2: $1" plan --size tiny --limits "$2"
    "$program" validate "$2" >out 2>err && fail "validate $2"
    grep -Eq "^$2: bad: cannot read $2: $1" out || fail "validate $2: not said why"
    [ ! -e new ] && [ ! -e new.json ] || fail 'a refused command leaves a file'
}
for file in first second one; do readers "the gzip'd file is damaged at its beginning; use a whole copy$" $file.json.gz; done
readers 'unexpected end of file; use a whole copy$' cut.json.gz
readers 'it is packed by xz, and only gzip is read: unpack it$' x.json.xz
readers 'it is packed by zstd, and only gzip is read: unpack it$' x.json.zst

# ---- what a suite holds ----

with() { # FILE PYTHON: changed so
    python3 -c 'import json, sys
root = json.load(open("good.json"))
exec(sys.argv[2])
json.dump(root, open(sys.argv[1], "w"))' "$@"
}
for held in 1 '"x"' '[]' 'None' 'True'; do
    with held.json "root['files'] = {'a': $held}"
    says "^roofstep report: held.json: 'a' in 'files' must be an object, as a suite writes it; remove it or 'files'$" report held.json --tables new
done

# ---- rows that came later are in its tables, beside those it holds ----

with suite.json "root['files'] = {'bench.json': dict(root)}; root['missing'] = []"
"$program" bench "${model[@]}" --steps 2,7 --resume suite.json --out suite.json >out 2>err || fail 'a suite is not resumed'
"$program" report suite.json --tables tables >out 2>err || fail 'a resumed suite has no tables'
cat tables/*.md >shown
grep -q 'steps 2' shown && grep -q 'steps 7' shown || { cp shown out; fail 'a row is not shown'; }

# ---- for papers: every table has a caption and a label of its own, in the document and in the files of its parts ----

"$program" attention --d-head 4 --heads 2 --ctx 8 --threads 1 --warmup 1 --steps 2 --attention naive,flash --baseline naive --format latex >two.tex 2>err ||
    fail 'attention --baseline --format latex'
cp good.json again.json
"$program" report good.json again.json --tables papers >out 2>err || fail 'tables of two files'
cat papers/{end,env,comp}*.tex >parts.tex
for file in two.tex papers/tables.tex parts.tex; do
    n=$(grep -c 'begin{table}' $file)
    [ "$n" -ge 2 ] && [ "$(grep -c 'caption{' $file)" = "$n" ] && [ "$(grep -o 'label{tab:[^}]*}' $file | sort -u | wc -l)" = "$n" ] ||
        { grep 'begin{table}\|caption\|label' $file >out; fail "$file: $n tables, and not as many captions and labels"; }
done
verdict
