#!/usr/bin/env bash
# usage: bad_models.sh PROGRAM: configuration files that no model can have are refused in one line each, as
# bad_models.tsv says; so are files that are none.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `tests`
. "$(dirname "$(realpath "$0")")/cli.sh"

cat >good.json <<'END'
{
  "architectures": ["LlamaForCausalLM"],
  "model_type": "llama",
  "hidden_size": 64,
  "intermediate_size": 160,
  "num_hidden_layers": 2,
  "num_attention_heads": 4,
  "num_key_value_heads": 2,
  "max_position_embeddings": 64,
  "vocab_size": 101,
  "hidden_act": "silu",
  "rms_norm_eps": 1e-06,
  "rope_scaling": null,
  "tie_word_embeddings": false
}
END
"$program" plan --model good.json >/dev/null || fail 'the good file is refused'

while IFS=$'\t' read -r change options fragment; do
    case $change in '#'*) continue ;; esac
    sed "$change" good.json >bad.json
    cmp -s good.json bad.json && fail "nothing is changed by: $change"
    [ "$options" != '~' ] || options=
    # shellcheck disable=SC2086 # several words
    refused "$fragment" plan --model bad.json $options
    grep -q 'bad' err || fail "$change: the file is not named: $(cat err)"
done <"$tests/cli/bad_models.tsv"

# ---- what is no file of a model ----
: >empty.json
refused 'empty.json' bench --model empty.json
truncate -s 1G huge.json
refused "'huge.json' has 1.00 GiB" bench --model huge.json
mkdir folder
refused "'folder' has no config.json" bench --model folder
mkfifo pipe
refused "'pipe' is not a file" bench --model pipe
refused "'/dev/zero' is not a file" bench --model /dev/zero
head -c 100000 /dev/urandom >bytes.json
refused 'bytes.json' bench --model bytes.json
yes '[' | head -n 100000 >deep.json
refused 'deep.json' bench --model deep.json
printf '%s' '{"architectures": ["\u001b[31m"]}' >colour.json
refused 'is not supported' bench --model colour.json
! grep -q $'\33' err || fail 'a file colours the terminal'

# ---- what a good one does not go with ----
refused "no model 'nowhere/config.json'" plan --model nowhere/config.json
refused 'nor a name of --model list' plan --model nowhere/config.json
refused 'give a local folder with its config.json, or the bundled llama-3.2-1b' plan --model meta-llama/Llama-3.2-1B
refused "no model 'somebody/strange-thing': there is no such folder, and nothing is downloaded" plan --model somebody/strange-thing
refused 'did you mean gpt2?' plan --model gpt-2
refused 'did you mean --size small?' bench --model small
refused 'give one of them' bench --model good.json --size small
refused '--ctx 65 is beyond its 64 positions' plan --model good.json --ctx 65
refused '6 heads do not divide a width of 64' plan --model good.json --num-heads 6
refused '2 key-value heads do not divide 1 heads' plan --model good.json --num-heads 1
refused '--model takes one value here' export --model good.json,gpt2
cp good.json same.json
refused '--model takes one value here' export --model good.json,same.json # one cell, two folders of weights
refused '--model takes one value here' export --model good.json --model same.json
refused 'a value is missing' plan --model good.json,
refused 'not an option of this command' attention --model good.json

[ $cases -ge 25 ] || fail "only $cases cases"
echo "$cases files and command lines are refused"
verdict
