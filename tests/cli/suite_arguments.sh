#!/usr/bin/env bash
# usage: suite_arguments.sh PROGRAM: of a suite.json only words that a suite writes become options; another word is refused in one line
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
for part in limits warmup precision attention profile fp8 memory sizes ranks ranks_profile ranks_memory; do
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

# ---- links and pipes in a folder that someone else made ----

cp begun.json s/suite.json
mkdir -p elsewhere s/cache
echo precious >elsewhere/limits.json

# led_out NAME FOLDER: one line that names it, and nothing is written
led_out() {
    timeout 20 "$program" suite --resume "$2" >out 2>err </dev/null
    [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -qF -- "$2/$1 is " err || fail "$2/$1: not refused"
    [ "$(cat kept)" = precious ] && [ "$(ls elsewhere)" = limits.json ] || fail "$2/$1: something elsewhere was written"
    rm "$2/$1"
}
for name in index.html results.json bench.json tables.md; do
    ln -s ../kept "s/$name"
    led_out "$name" s
done
for name in tables profile cache/roofstep; do
    ln -s "$PWD/elsewhere" "s/$name"
    led_out "$name" s
done
ln -s "$PWD/nowhere" s/index.html
led_out index.html s
mkfifo s/warmup.json
led_out warmup.json s
mkdir -p s/tables
ln -s ../../kept s/tables/tables.md
led_out tables/tables.md s
ln -s suite.json s/begun.json # stays in the folder
ln -s s linked
"$program" suite --resume linked --dry-run >out 2>err || fail 'a link within the folder, or to it, is refused'
rm s/begun.json
mkdir new
ln -s ../kept new/index.html
"$program" suite --budget 1s --out-dir new >out 2>err </dev/null
[ $? = 2 ] && grep -q 'new/index.html is ' err && [ ! -e new/suite.json ] || fail 'a new suite writes through a link'

# All that it writes itself is taken back (suite.sh resumes suites of its own).
cp begun.json s/suite.json
while read -r part rest; do # the richest of each part
    sed -i "/\"name\": \"$part\"/,/}/s|\"words\": \"\"|\"words\": \"$rest --device cpu --threads 1 --memory-limit 5368709120 --timeout 3\"|" s/suite.json
done < <(sed -n 's/^WORKLOAD(\([A-Z0-9_]*\), [A-Z]*, "\([^"]*\)", "\([^"]*\)")$/\L\1\E \2 \3/p' "$tests/../src/cli/suite/suite_workloads.def")
[ "$(grep -c -- '"words": "-*[^"]*--timeout 3"' s/suite.json)" = 11 ] || fail 'not eleven parts with words'
"$program" suite --resume s --dry-run >out 2>err </dev/null || fail 'the words of the richest suite are refused'

# ---- a model whose configuration changes between the begin and --resume ----

mkdir m
cat >m/config.json <<'END'
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
 "num_key_value_heads": 2, "max_position_embeddings": 64, "vocab_size": 31, "hidden_act": "silu", "rms_norm_eps": 1e-06, "tie_word_embeddings": false}
END
cp m/config.json config.json
"$program" suite --model m --num-layers 1 --ctx 4,8 --batch 1 --device cpu --threads 1 --budget 2s --out-dir theirs >out 2>err </dev/null &
for _ in $(seq 100); do [ ! -s theirs/suite.json ] || break; sleep 0.05; done
kill -KILL $!
wait $! 2>/dev/null
sed -i '0,/"waiting"/s//"done"/' theirs/suite.json
"$program" suite --resume theirs --dry-run >out 2>err </dev/null || fail "a model as it was: exit code $?"
sed 's/"model_type": "llama",/"model_type": "llama", "bos_token_id": 7,/; s/"num_hidden_layers": 2/"num_hidden_layers": 3/' config.json >m/config.json
"$program" suite --resume theirs --dry-run >out 2>err </dev/null || fail "a model that computes the same, --num-layers being 1: exit code $?"
for change in 's/"rms_norm_eps": 1e-06/"rms_norm_eps": 1e-05/' 's/"intermediate_size": 32/"intermediate_size": 48/'; do
    sed "$change" config.json >m/config.json
    for how in '' --dry-run; do
        # shellcheck disable=SC2086 # no word where it is empty
        "$program" suite --resume theirs $how >out 2>err </dev/null
        [ $? = 2 ] && [ "$(wc -l <err)" = 1 ] && grep -q -- '--resume theirs: the configuration of m has changed .* --out-dir' err || fail "$change $how: not refused"
        [ ! -e theirs/bench.json ] || fail "$change $how: something was run"
    done
done
grep -q '"model_hash": "[0-9a-f]\{12\}"' theirs/suite.json || fail 'suite.json does not hold the hash of the model'
sed -i '/"model_hash"/d' theirs/suite.json # as older programs wrote it
"$program" suite --resume theirs --dry-run >out 2>err </dev/null || fail "a suite without the hash of its model: exit code $?"

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
rm -f like/index.html
ln -s ../kept like/index.html
led_out index.html like
mkfifo pipe && mv pipe like/suite.json
led_out suite.json like
cp begun.json like/suite.json
"$program" suite --resume like >out 2>err </dev/null || fail "its own words of --like: exit code $?"
for change in 's|"device":"--device[^"]*"|"device":"--help"|' 's|"device":"--device[^"]*"|"device":"--out-json kept"|' 's|"sizes":"small,"|"sizes":"vast,"|'; do
    sed "$change" like/results.json >changed.json
    ! cmp -s like/results.json changed.json || fail "$change changes nothing"
    "$program" report changed.json --tables tables >out 2>err || fail "$change: exit code $?"
    grep -q "skipping the published tables: 'like': " err || fail "$change: taken"
done
[ "$(cat kept)" = precious ] || fail 'a file was overwritten'

verdict
