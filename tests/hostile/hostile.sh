#!/usr/bin/env bash
# usage: hostile.sh PROGRAM: files, names and an environment that hold what a terminal, Typst, LaTeX, a spreadsheet, SQLite, a
# Markdown viewer or a browser would act on: none of it reaches the terminal, and the real readers take it for text.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/../cli/cli.sh"
command -v python3 >/dev/null || { echo 'skipped: no python3'; exit 77; }
here=$tests/hostile
small=(--d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --batch 1 --device cpu --threads 1)
quick=(--warmup 0 --steps 2)
# A file's name: a title, a colour, a line break, C1, a byte that is no text, marks of direction; é stays.
name=$(printf 'é\033]0;t\a\033[31m\nx\302\233\233\177\342\200\256\342\200\250.json')
acts='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]'

# harmless FILE...: nothing in them that a terminal obeys, and they are UTF-8
harmless() {
    local file
    for file; do
        ! LC_ALL=C grep -qaP "$acts" "$file" || { fail "$what: $file holds what a terminal obeys"; LC_ALL=C grep -aPm2 "$acts" "$file" | cut -c 1-300 | cat -v; }
        iconv -f UTF-8 -t UTF-8 "$file" >/dev/null 2>&1 || fail "$what: $file is not UTF-8"
    done
}

# run CODES ARGUMENTS...: it ends with one of the codes, and prints nothing that a terminal obeys
run() {
    local codes=$1
    shift
    what="${*@Q}"
    "$program" "$@" >out 2>err </dev/null
    local got=$?
    [[ " $codes " == *" $got "* ]] || fail "$what: exit code $got, expected $codes"
    harmless out err
}

"$program" bench "${small[@]}" "${quick[@]}" --mode fwd,train --out run.json >out 2>err || fail 'bench'
python3 "$here/hostile.py" make "$golden" "$tests/../docs/results" run.json || exit 1

# ---- the terminal ----

for format in md csv json latex typst; do run 0 compare compare-a.json compare-a.json --format $format; done
run 0 compare results.json results.json
run 0 bench "${small[@]}" "${quick[@]}" --mode fwd,train --resume resumed.json
grep -qF '\\x1b\]0;title' out || fail 'the text is not shown by number'
run 2 bench "${small[@]}" "${quick[@]}" --mode fwd --baseline "$name" --resume resumed.json
for file in *.json; do
    run '0 1' validate "$file"
    [ "$(wc -l <out)" = 1 ] || fail "validate $file: not one line"
done
for file in broken.json wrong.json results.json; do
    run '0 2' bench "${small[@]}" --dry-run --resume "$file"
    run '0 2' compare "$file" "$file"
    run '0 2' report "$file" --tables "tables-$file"
    run '0 2' profile --from "$file"
done
for file in broken.json wrong.json limits.json; do
    run '0 2' plan --size small --limits "$file"
    run '0 2' memory --size small --plan-only --limits "$file"
done
for format in md json latex typst; do run 0 profile --from nsys --format $format; done
mkdir "$name.d" && cp nsys/*.csv "$name.d" && cp results.json "$name"
run 0 profile --from "$name.d"
for command in validate 'report --tables tables.d' 'plan --limits' 'suite --resume' 'profile --from' 'memory --plan-only --limits'; do
    # shellcheck disable=SC2086 # words on purpose
    run '1 2' $command "no/$name"
    grep -qF 'é\x1b]0;t\x07\x1b[31m x\u009b\x9b\x7f\u202e\u2028.json' out err || fail "$command: the name is not shown by number"
    [ "$(cat out err | wc -l)" = 1 ] || fail "$command: not one line"
done
run 2 "$name"
run 2 bench "--$name"
run 2 bench --size "$name"
run 2 help "$name" "$name"
run 0 report "$name" "$name" --tables named
run 0 report long.json --tables long
! grep -q '?' long/end-to-end.md || fail 'a text is cut within a character'
if ! "$program" --version | grep -q '(no html)'; then
    for file in results.json profile.json bundle.json long.json; do
        run 0 report "$file" --out page.html
        harmless page.html
    done
fi
run 0 compare "$name" results.json
run 0 bench "${small[@]}" "${quick[@]}" --out "out $name"
run 0 bench "${small[@]}" "${quick[@]}" --out "out $name" --resume "out $name"
run 0 validate "out $name"
# The command in the file is what was typed.
command=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["environment"]["command"])' "out $name")
eval "words=($command)"
[ "${words[*]: -1}" = "out $name" ] || fail 'the command in the file is another one'
run 0 suite --dry-run "${small[@]}" --out-dir "$name.suite"
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "out $name" || fail 'the file with its name in it is no JSON'
run 0 memory "${small[@]}" --plan-only --out memory.json --svg "$name.svg"
run 0 export "${small[@]}" --out "$name.safetensors"
mkdir suite
printf '{"schema": 1, "command": "%s", "words": ["\302\233"], "parts": [{"name": "\302\233", "state": "\342\200\256"}]}' "$(printf '\302\233')" >suite/suite.json
run '1 2' suite --resume suite
export TERM=$name COLUMNS=$name LANG=$name ROOFSTEP_CPU_HIDE=$name CUDA_VISIBLE_DEVICES=$name ROOFSTEP_NVML=$name ROOFSTEP_PEERS=$name PYTHON=$name
mkdir bin && printf '#!/bin/sh\nprintf "\\033]0;t\\a\\302\\233\\233"\n' >bin/sqlite3 && cp bin/sqlite3 bin/node && cp bin/sqlite3 bin/npm && chmod +x bin/*
for format in md json; do
    PATH=$PWD/bin:$PATH XDG_CACHE_HOME=$PWD/$name.cache run 0 doctor --format $format --out "doctor.$format"
    harmless "doctor.$format"
    grep -qF 'x1b]0;t' "doctor.$format" || fail 'doctor does not show what sqlite3 says'
done
run '0 1 2 4' bench "${small[@]}" "${quick[@]}" --peer torch
unset LANG

# ---- the readers of each format ----

for format in md csv json jsonl sql latex typst; do
    run 0 bench "${small[@]}" "${quick[@]}" --mode fwd,train --resume resumed.json --format $format
    cp out "rows.$format"
done
python3 "$here/hostile.py" check-csv rows.csv || fail 'rows.csv'
python3 "$here/hostile.py" check-json rows.json rows.jsonl || fail 'rows.json'
python3 "$here/hostile.py" check-sql rows.sql || fail 'rows.sql in the sqlite3 of Python'
if command -v sqlite3 >/dev/null; then
    sqlite3 rows.db <rows.sql >log 2>&1 && [ "$(sqlite3 rows.db 'select count(*) from roofstep_results')" = 2 ] || { fail 'rows.sql in the shell of SQLite'; cat log; }
fi
run 0 report results.json attention.json six-sizes.json profile.json bundle.json limits.json --tables all
harmless all/*
if command -v cmark-gfm >/dev/null; then
    for file in all/tables.md rows.md; do
        cmark-gfm --unsafe -e table -e autolink -e strikethrough "$file" >html && python3 "$here/hostile.py" check-html html || fail "$file: more than text and tables"
    done
fi
packages=$tests/../build/typst-test/node_modules
if command -v node >/dev/null && [ -d "$packages/@myriaddreamin/typst-ts-node-compiler" ]; then
    cp rows.typst all/rows.typ
    PACKAGES=$packages node "$tests/page/typst/compile.mjs" "$PWD"/all/*.typ >log 2>&1 || { fail 'Typst does not compile, or a text was compiled'; head log; }
fi
if command -v pdflatex >/dev/null && kpsewhich booktabs.sty graphicx.sty geometry.sty >/dev/null; then
    # 中 has no glyph in the fonts of pdflatex.
    sed -i 's/中//g' all/tables.tex
    (cd all && pdflatex -shell-escape -interaction=nonstopmode -halt-on-error tables.tex) >log 2>&1 || { fail 'LaTeX does not compile'; tail log; }
    ! grep -q 'stolen' all/tables.fls 2>/dev/null || fail 'LaTeX was made to read a file'
fi
[ -z "$(find . -name 'stolen*')" ] || fail 'a command from a file was run'
verdict
