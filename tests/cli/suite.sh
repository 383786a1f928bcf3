#!/usr/bin/env bash
# usage: suite.sh PROGRAM: a suite killed again and again ends with the rows of one that was not; a part that fails
# is named and the rest is there.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"
# Alone it finds no MPI: the same parts on every machine. tests/ranks/rank_suite.sh runs those of ranks.
cp "$program" roofstep || exit 1
program=$PWD/roofstep
tiny="--d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --batch 1 --device cpu --threads 1 --budget 2s"

# ---- begun, and killed while it measures the limits; those are left out here, for they take half a minute ----

# shellcheck disable=SC2086 # words on purpose
"$program" suite $tiny --out-dir 'a suite' >out 2>err </dev/null &
for _ in $(seq 100); do [ ! -s 'a suite/suite.json' ] || break; sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null

grep -q '"waiting"' 'a suite/suite.json' || fail 'no suite.json at the begin'
sed -i '0,/"waiting"/s//"done"/' 'a suite/suite.json'
# shellcheck disable=SC2086
"$program" suite $tiny --out-dir 'a suite' >out 2>err </dev/null
[ $? = 2 ] && grep -q 'holds a suite' err || fail 'a second suite in the same folder is not refused'
cp -r 'a suite' killed

# ---- what every part says of its model is told once ----

cat >model.json <<'END'
{"architectures": ["GPT2LMHeadModel"], "n_embd": 16, "n_head": 2, "n_layer": 1, "n_positions": 8, "vocab_size": 31,
 "activation_function": "gelu_new"}
END
"$program" suite --model model.json --ctx 4 --batch 1 --device cpu --threads 1 --budget 1s --out-dir dropout >out 2>err </dev/null &
for _ in $(seq 100); do [ ! -s dropout/suite.json ] || break; sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null
sed -i '0,/"waiting"/s//"done"/' dropout/suite.json
"$program" suite --resume dropout >out 2>err </dev/null || fail "a suite of a model: exit code $?"
[ "$(grep -c '^\[[0-9]*/[0-9]*\] roofstep ' err)" = 7 ] || fail 'not seven parts of a model were run'
[ "$(grep -c 'model: its file asks for dropout, which runs as 0' err)" = 1 ] || fail 'dropout is not told once'

# ---- undisturbed ----

"$program" suite --resume 'a suite' >out 2>err </dev/null || fail "exit code $?"
[ "$(grep -c '^\[[0-9]*/[0-9]*\] roofstep ' err)" = 7 ] || fail 'not seven parts were run'
for file in results.json tables.md tables/tables.tex bench.json memory.pickle memory.svg profile/profile_trace.json.gz; do
    [ -s "a suite/$file" ] || fail "no $file"
done
grep -q '^- Fastest: ' out && grep -q '^- Biggest win: ' out || fail 'no summary'
! grep -q '^- Missing' out || fail 'something is missing'
[ "$(grep -cE '^\[(10|11|12)/12\] ranks[a-z_]*: skipped: .' err)" = 3 ] || fail 'it does not say that the parts of ranks are skipped, and why'
grep -q 'times are medians\.$' out || fail 'the summary does not say which times it gives'
if "$program" --version | grep -q '(no html)'; then last='writes no HTML report'; else last="/a suite/index.html (open it in a browser: xdg-open 'a suite/index.html'"; fi
! grep -q 'does not exist yet' err || fail 'what a suite has yet to write is missed'
tail -n 1 err | grep -qF "$last" || fail 'its last line does not say where the page is'
"$program" compare 'a suite/results.json' 'a suite/results.json' >compared 2>err || fail 'compare does not take results.json'
if ! "$program" --version | grep -q '(no html)'; then
    [ -s 'a suite/index.html' ] || fail 'no page'
    links=$(grep -oE '"beside":\[[^]]*\]' 'a suite/index.html' | grep -oE '"[^":]*/?[^":]*\.[a-z]+"' | tr -d '"')
    grep -qx 'profile/profile_trace.json.gz' <<<"$links" && grep -qx memory.pickle <<<"$links" || fail "the page has links to: $links"
    for link in $links; do [ -f "a suite/$link" ] || fail "the page has a link to $link"; done
    grep -q '"command":"roofstep suite --d-model 16' 'a suite/index.html' || fail 'the page does not show the command that began the suite'
    ! grep -oE '"(commands":\[[^]]*\]|code":"[^"]*")' 'a suite/index.html' | grep -q -- '--resume' || fail 'a command on the page would measure nothing'
fi
"$program" validate 'a suite'/*.json 'a suite/memory.pickle' >validated || fail "validate: $(grep ': bad: ' validated)"
grep -q 'suite.json: ok: a suite, 8 of 8 parts done, 4 skipped' validated || fail 'validate does not know suite.json'
"$program" validate 'a suite' 'a suite'/* >validated || fail "validate of the folder: $(grep ': bad: ' validated)"
"$program" report 'a suite' --tables whole 2>err || fail 'report does not take a folder'
"$program" report 'a suite/results.json' --tables elsewhere 2>err || fail 'report does not take results.json'
diff -r whole elsewhere || fail 'the folder of a suite is not its results.json'
diff -r 'a suite/tables' elsewhere || fail 'results.json does not hold all that the page is made of'
touch 'a suite/notes.2024.10.tmp' 'a suite/profile/x.1.2.tmp' "a suite/bench.json.roofstep-$(sh -c 'echo $$')-3.tmp"
"$program" suite --resume 'a suite' >again 2>err </dev/null || fail 'a finished suite cannot be resumed'
[ "$(find 'a suite' -name '*.tmp' | wc -l)" = 2 ] || fail 'a file of others is removed, or one that a killed suite left is not'
rm -f 'a suite/notes.2024.10.tmp' 'a suite/profile/x.1.2.tmp'
! grep -q '^\[' err || fail 'a finished part was run again'
cmp -s out again || fail 'the summary of a finished suite changed'

# Files of someone else in it: each within the room that files have, all of them together beyond it; one that is lines.
cp -r 'a suite' heavy
for name in memory sizes; do
    { sed '$s/}[[:space:]]*$//' heavy/$name.json; printf ',"x":['; yes '[],' | head -n 1100000; printf '[]]}'; } | gzip -1 >filled
    mv filled heavy/$name.json
done
# What the program and its libraries map before they read anything (OpenBLAS hundreds of MB, or it does not even start), and room for a file.
for kib in $(seq 100000 100000 800000); do
    (ulimit -v "$kib" && timeout -s KILL 2 "$program" --version >/dev/null 2>&1) && break
done
if (ulimit -v "$kib" && timeout -s KILL 2 "$program" --version >/dev/null 2>&1); then # not under sanitizers
    (ulimit -v $((kib + 600000)); "$program" suite --resume heavy >out 2>err </dev/null)
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q 'not enough memory to read heavy/' err || fail 'files of a suite take more memory together than files may'
fi
mv heavy/bench.json rows.json
rm -r heavy
cp -r 'a suite' lines
"$program" bench --resume rows.json --d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4 --batch 1 --device cpu --out lines/bench.json --format jsonl >out 2>err </dev/null
"$program" suite --resume lines >out 2>err </dev/null
[ $? = 2 ] && grep -q 'lines/bench.json is not JSON as a suite writes it' err || fail 'a part as lines is called something else'
rm -r lines

# ---- killed at random moments, by whatever signal ----

resume_killed killed 100 KILL TERM KILL INT KILL HUP
rows() { # what every row was asked for
    cat "$1"/{bench,warmup,precision,attention,profile/profile}.json | grep -o '"cell": *"[^"]*"' | tr -d ' ' | sort
}
[ "$(rows killed | wc -l)" -gt 20 ] || fail 'hardly any rows'
diff <(rows 'a suite') <(rows killed) || fail 'the rows of a resumed suite are not those of an undisturbed one'
same_files 'a suite' killed

# ---- a part that fails ----

cp -r killed broken
rm -rf broken/profile broken/index.html broken/tables.md
touch broken/profile # where its folder should be
sed -i '/"name": "profile"/,/"state"/s/"done"/"waiting"/' broken/suite.json
"$program" suite --resume broken >out 2>err </dev/null
[ $? = 4 ] || fail 'a part failed: the exit code is not 4'
grep -q '^  profile failed: .*; continuing with the next part$' err || fail 'the failure is not told when it happens'
cp -r broken quiet
"$program" suite --quiet --resume quiet >quiet.out 2>quiet.err </dev/null
[ $? = 4 ] && grep -q '^  profile failed: ' quiet.err || fail "--quiet hides a part that failed: $(cat quiet.err)"
! grep -v 'failed\|cannot\|warning\|not a directory\|Not a directory' quiet.err || fail "suite --quiet says more than what failed"
grep -q '^- Missing: profile: .*; roofstep suite --resume broken runs it again\.$' out || fail 'the part that failed is not named'
grep -q '^- Fastest: ' out && [ -s broken/tables.md ] || fail 'the rest is not there'
if ! "$program" --version | grep -q '(no html)'; then
    "$program" report broken/results.json --out broken/again.html >out 2>err || fail 'no page of results.json'
    for page in index again; do
        grep -q '"gaps":\[{"part":"profile","command":"profile","why":"' "broken/$page.html" || fail "$page.html does not say that profile is missing"
        grep -q '"summary":\["Missing: profile: ' "broken/$page.html" || fail "the summary of $page.html does not say first that profile is missing"
    done
fi

# ---- cells that do not fit, and cells that take too long ----

for case in 'OOM --memory-limit 1MiB' 'timeout --timeout 1ms'; do
    # shellcheck disable=SC2086
    "$program" suite $tiny ${case#* } --out-dir "${case%% *}" >out 2>err </dev/null &
    for _ in $(seq 100); do [ ! -s "${case%% *}/suite.json" ] || break; sleep 0.05; done
    kill -KILL $!
    wait $! 2>/dev/null
    sed -i '0,/"waiting"/s//"done"/' "${case%% *}/suite.json"
    "$program" suite --resume "${case%% *}" >out 2>err </dev/null
    code=$?
    # Its own memory limit is no failure; --timeout is none of its budget.
    case $case in
    OOM*) [ $code = 0 ] && ! grep -qE '^- (Missing|Incomplete)' out || fail "$case: exit code $code" ;;
    *) [ $code = 4 ] && [ "$(grep -c '^- Incomplete: .* cut short ([0-9]* timeout); the first: ' out)" = 6 ] || fail "$case: exit code $code" ;;
    esac
    grep -q "${case%% *}" "${case%% *}/tables.md" || fail "$case: its tables do not say so"
    grep -qE "^- [0-9]+ cells: .*${case%% *}" out || fail "$case: the summary does not say so"
    grep -qE "^- profile measured nothing: .*${case%% *}" out || fail "$case: the summary does not say that there is no profile"
    ! grep -q ' against ' out || fail "$case: a profile is compared with bench"
    if ! "$program" --version | grep -q '(no html)'; then [ -s "${case%% *}/index.html" ] || fail "$case: no page"; fi
done

# ---- all kinds of cells that end badly, on one page ----

cp -r killed mixed
rm mixed/bench.json mixed/attention.json mixed/index.html
sed -i -e '/"name": "bench"/,/"state"/{s/"done"/"waiting"/;s/\("words": "[^"]*\)"/\1 --timeout 1ms"/}' \
    -e '/"name": "attention"/,/"state"/{s/"done"/"waiting"/;s/\("words": "[^"]*\)"/\1 --attention cudnn --ctx 2048 --memory-limit 100MiB"/}' mixed/suite.json
"$program" suite --resume mixed >out 2>err </dev/null
[ $? = 4 ] || fail 'mixed: timeouts, and the exit code is not 4'
for word in ok OOM unsupported timeout; do
    grep -qE "^- [0-9]+ cells: .*[0-9]+ $word" out || fail "mixed: the summary does not count $word"
    grep -q "$word" mixed/tables.md || fail "mixed: the tables lack $word"
    "$program" --version | grep -q '(no html)' || grep -q "\"$word\"" mixed/index.html || fail "mixed: the page lacks $word"
done
! grep -q '^- Missing' out || fail 'mixed: a part is missing'
[ "$(grep -c '^- Incomplete: ' out)" = 1 ] && tail -n 1 out | grep -q '^- Incomplete: bench: .* timeout.*; roofstep suite --resume mixed measures again what was cut short\.$' ||
    fail 'mixed: the last line does not say that bench is incomplete'

# ---- a float64 reference without room is final like other cells that do not fit ----

cp -r killed narrow
rm narrow/precision.json
sed -i '/"name": "precision"/,/"state"/{s/"done"/"waiting"/;s/--vocab 31 --ctx 4 \([^"]*\)"/--vocab 1009 --ctx 512 \1 --memory-limit 1MiB"/}' narrow/suite.json
"$program" suite --resume narrow >out 2>err </dev/null || fail "a reference without room: exit code $?"
grep -q 'the float64 reference needs .* and 1\.00* MiB are available' narrow/precision.json || fail 'the reference is not what has no room'
! grep -qE '^- (Missing|Incomplete)' out || fail 'a reference without room is called incomplete'
grep -qE '"state": "(waiting|failed|incomplete)"' narrow/suite.json && fail 'a reference without room is never done'

# ---- too few files may be open: parts fail, and cells of parts; it exits with 4, says so first, and --resume does those again ----

"$program" suite $tiny --out-dir few >out 2>err </dev/null &
for _ in $(seq 100); do [ ! -s few/suite.json ] || break; sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null
sed -i '0,/"waiting"/s//"done"/' few/suite.json
cp -r few begun
for n in 9 8 7; do
    rm -rf few
    cp -r begun few
    (ulimit -n $n; "$program" suite --resume few >out 2>err </dev/null)
    code=$?
    [ $code = 0 ] || break
done
[ $code = 4 ] || fail "few files: exit code $code"
first=$(grep -cE '^- (Missing|Incomplete): .*; roofstep suite --resume few (runs it again|measures again what was cut short)\.$' out)
[ "$first" -gt 0 ] && tail -n "$first" out | grep -qvE '^- (Missing|Incomplete): ' && fail 'few files: the last lines do not say what failed'
if ! "$program" --version | grep -q '(no html)'; then
    "$program" report few/results.json --out few/again.html >out 2>err || fail 'few files: no page of results.json'
    for page in index again; do grep -qE '"summary":\["(Missing|Incomplete): ' few/$page.html || fail "few files: $page.html does not say so first"; done
fi
grep -cE '"state": "(failed|incomplete)"' few/suite.json >before
"$program" suite --resume few >out 2>err </dev/null || fail "few files, resumed: exit code $?"
[ "$(grep -c '^\[[0-9]*/[0-9]*\] roofstep ' err)" = "$(cat before)" ] || fail 'few files, resumed: not the parts that had failed'
! grep -qE '^- (Missing|Incomplete)|failed' out || fail 'few files, resumed: something is still missing'
rm few/again.html 2>/dev/null

# Of a part only what was cut short is measured again.
cp -r killed some
sed -i '/"name": "attention"/,/"state"/s/"done"/"incomplete"/' some/suite.json
sed -i '0,/"status": *"ok"/s//"status":"killed"/' some/attention.json
! cmp -s killed/attention.json some/attention.json || fail 'no cell to cut short'
"$program" suite --resume some >out 2>err </dev/null || fail "one cell killed: exit code $?"
[ "$(grep -c '^\[' err)" = 1 ] && [ "$(grep -c 'from the file' err)" = 11 ] && [ "$(grep ': ok; ' err | grep -vc 'from the file')" = 1 ] || fail 'not just the one cell was measured again'

# An older program called such a part done, and counted nothing.
sed -i -e '/"name": "attention"/,/"message"/{/"cut_short"/d;s/"message": "[^"]*"/"message": "some of its cells could not be measured"/}' some/suite.json
sed -i '0,/"status": *"ok"/s//"status":"failed"/' some/attention.json
"$program" suite --resume some >out 2>err </dev/null || fail "a suite of an older program: exit code $?"
[ "$(grep -c '^\[' err)" = 1 ] && [ "$(grep ': ok; ' err | grep -vc 'from the file')" = 1 ] || fail 'a suite of an older program: the cell that failed was not measured again'

# A part whose result is gone is not done.
rm some/memory.json
"$program" suite --resume some >out 2>err </dev/null || fail "a result is gone: exit code $?"
[ "$(grep -c '^\[' err)" = 1 ] && [ -s some/memory.json ] || fail 'a part whose result is gone was not run again'

# ---- a part that takes more than the budget has for it: the suite's own doing, so the exit code is 0 ----

cp -r killed late
rm late/bench.json
# It has a minute and three times what is expected: here three ten-thousandths of a second in all.
sed -i -e 's/"seconds": [0-9.e+-]*/"seconds": 0/' -e '/"name": "bench"/,/"state"/{s/"done"/"waiting"/;s/"expected_s": [0-9.e+-]*/"expected_s": -19.9999/}' late/suite.json
"$program" suite --resume late >out 2>err </dev/null || fail "a part was given up: exit code $?"
grep -q '^  bench timed out: not done after .*; continuing with the next part$' err || fail 'it is not told that bench is given up'
tail -n 1 out | grep -q '^- Missing: bench: not done after .* its share of --budget plus a minute; roofstep suite --resume late runs it again\.$' || fail 'the last line does not say that bench is given up'
grep -q '"state": "given up"' late/suite.json || fail 'no part is given up in suite.json'
"$program" --version | grep -q '(no html)' || grep -q '"summary":\["Missing: bench: ' late/index.html || fail 'the page does not say first that bench is given up'

# ---- the plan alone ----

for budget in 1s 1m 1h; do
    "$program" suite --device cpu --budget $budget --dry-run >"plan-$budget" 2>err || fail "--budget $budget --dry-run"
done
grep -q 'these times are guesses' plan-1m || fail '--dry-run does not say what its times go by'
[ ! -e roofstep-report ] || fail '--dry-run made a folder'
cells() { sed -n 's/^| bench .*--size \([^ ]*\) .*/\1/p' "$1" | tr , '\n' | wc -l; }
# Rows of bench, a part that must fit, get smaller with the memory.
"$program" suite --device cpu --budget 1h --memory-limit 1GiB --dry-run >plan-1GiB 2>err || fail '--memory-limit --dry-run'
[ "$(cells plan-1GiB)" -lt "$(cells plan-1h)" ] || fail 'less memory brings as many sizes'
[ "$(cells plan-1s)" -lt "$(cells plan-1h)" ] || fail 'an hour brings no more sizes than a second'

verdict
