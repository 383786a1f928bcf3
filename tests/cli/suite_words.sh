#!/usr/bin/env bash
# usage: suite_words.sh PROGRAM: of a suite.json only words that a suite writes become options; another word is refused in one line
# that names file, place and word, before anything is run or written.
# shellcheck disable=SC1091,SC2154 # cli.sh sets what is used here
. "$(dirname "$(realpath "$0")")/cli.sh"

"$program" suite --d-model 16 --d-ff 16 --num-layers 1 --num-heads 2 --vocab 31 --ctx 4,8 --batch 1 --device cpu --threads 1 \
    --memory-limit 1GiB --timeout 60 --budget 2s --out-dir s >out 2>err </dev/null &
for _ in $(seq 100); do [ ! -s s/suite.json ] || break; sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null
sed -i '0,/"waiting"/s//"done"/' s/suite.json # the limits take half a minute
cp s/suite.json begun.json
"$program" suite --resume s --dry-run >planned 2>err || fail 'its own words are refused'
echo precious >kept

# refused WORD WHERE: one line with both
refused() {
    "$program" suite --resume s >out 2>err </dev/null
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "s/suite.json: $2: " err && grep -qF -- "$1" err || fail "$2: $1: not refused"
    [ "$(cat kept)" = precious ] && [ ! -e s/bench.json ] || fail "$2: $1: something was run"
}

# put PART WORDS: as a planned suite has them
put() { sed "/\"name\": \"$1\"/,/}/s|\"words\": \"[^\"]*\"|\"words\": \"$2\"|" begun.json >s/suite.json; }
for words in '--out-json kept' '--out kept' '--out-dir elsewhere' '--resume kept' '--limits kept' '--peer torch' '--prefix ../x' '--snapshot kept' '--help' \
    'kept' '--ctx=4' '--out=kept' '--svg kept'; do
    put bench "--device cpu $words"
    refused "'${words%% *}'" 'part bench'
done
put bench '--threads 1 2'
refused "'2'" 'part bench'
put bench '--threads --out'
refused '--threads needs a value' 'part bench'
for part in limits warmup precision attention profile memory sizes; do
    put $part '--out kept'
    refused "'--out'" "part $part"
    put $part '--threads many'
    refused many "part $part"
done
for field in model first_model device cells; do
    for words in '--out-json kept' '--precision fp32' 'kept' '--help'; do
        sed "s|\"$field\": \"[^\"]*\"|\"$field\": \"$words\"|" begun.json >s/suite.json
        refused "'${words%% *}'" "$field"
    done
done
sed 's|"model": "[^"]*"|"model": "--ctx none"|' begun.json >s/suite.json
refused none model

# All that it writes itself is taken back (suite.sh resumes suites of its own).
cp begun.json s/suite.json
while read -r part rest; do # the richest of each part
    sed -i "/\"name\": \"$part\"/,/}/s|\"words\": \"\"|\"words\": \"$rest --device cpu --threads 1 --memory-limit 5368709120 --timeout 3\"|" s/suite.json
done < <(sed -n 's/^RUNG(\([A-Z]*\), [A-Z]*, "\([^"]*\)", "\([^"]*\)")$/\L\1\E \2 \3/p' "$tests/../src/cli/suite_rungs.def")
[ "$(grep -c -- '"words": "-*[^"]*--timeout 3"' s/suite.json)" = 7 ] || fail 'not seven parts with words'
"$program" suite --resume s --dry-run >out 2>err </dev/null || fail 'the words of the richest suite are refused'

# ---- of a write-up ----

"$program" suite --like 8gb --size small --device cpu --threads 1 --memory-limit 1MiB --timeout 5 --budget 1s --out-dir like >out 2>err </dev/null || fail "--like: exit code $?"
cp like/suite.json begun.json
like_refused() { # FIELD WORDS WORD
    sed "s|\"$1\": \"[^\"]*\"|\"$1\": \"$2\"|" begun.json >like/suite.json
    "$program" suite --resume like >out 2>err </dev/null
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "like/suite.json: $1: " err && grep -qF -- "$3" err || fail "--like: $1: $2: not refused"
}
for words in '--out-json kept' '--out kept' '--resume kept' '--help' 'kept' '--seed 3'; do like_refused device "$words" "'${words%% *}'"; done
like_refused device '--threads many' many
like_refused sizes 'vast,' "'vast,'"
like_refused sizes 'small' "'small'"
cp begun.json like/suite.json
"$program" suite --resume like >out 2>err </dev/null || fail "its own words of --like: exit code $?"
for change in 's|"device":"--device[^"]*"|"device":"--help"|' 's|"device":"--device[^"]*"|"device":"--out-json kept"|' 's|"sizes":"small,"|"sizes":"vast,"|'; do
    sed "$change" like/results.json >changed.json
    ! cmp -s like/results.json changed.json || fail "$change changes nothing"
    "$program" report changed.json --tables tables >out 2>err || fail "$change: exit code $?"
    grep -q "no table beside a write-up: 'like': " err || fail "$change: taken"
done
[ "$(cat kept)" = precious ] || fail 'a file was overwritten'

verdict
