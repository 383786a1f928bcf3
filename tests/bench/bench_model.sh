#!/usr/bin/env bash
# A model of a configuration file: results name it and hold no path; --resume and compare go by what it computes.
. "$(dirname "$(realpath "$0")")/bench.sh"

mkdir -p secret/first secret/second
cat >secret/first/config.json <<'END'
{"architectures": ["LlamaForCausalLM"], "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
 "num_attention_heads": 4, "max_position_embeddings": 8, "vocab_size": 11, "rms_norm_eps": 1e-5}
END
sed 's/1e-5/1e-6, "attention_dropout": 0.1/' secret/first/config.json >secret/second/config.json
run() {
    "$program" bench --threads 1 --warmup 1 --steps 2 --batch 1 "$@"
}
rows() { # FILE PATTERN: how many rows have it
    grep -Eo -- "$2" "$1" | wc -l
}

# --- records
run --model secret/first,secret/second/config.json --num-layers 1,2 --out first.json 2>first.err || fail "the first run"
[ "$(grep -c 'asks for dropout' first.err)" = 1 ] || fail "dropout is not told once"
[ "$(rows first.json '"size":"(first|second)"')" = 4 ] || fail "sizes"
[ "$(grep -Eo '"model":"[0-9a-f]{12}"' first.json | sort -u | wc -l)" = 4 ] || fail "four cells do not have four hashes"
[ "$(rows first.json '"dropout":0[,}]')" = 2 ] || fail "the record does not say that dropout ran as 0"
[ "$(rows first.json '"kv_heads":4')" = 4 ] || fail "kv_heads"
[ "$(rows first.json '"ctx":8[,}]')" = 4 ] || fail "the context is not as long as the model has positions"
refuse first.json secret
refuse first.json "$dir"
"$program" validate first.json >validate.out || fail "the results are not valid"
for format in csv sql md; do
    run --model secret/first --resume first.json --out-json kept.json --format $format --num-layers 1 >first.out 2>first.err || fail "$format"
    refuse first.out secret
done
expect first.out 'first'
refuse first.out 'dropout ran as 0'
expect first.out 'Common:.* d_model 16, d_ff 24, layers 1, heads 4'

run --model secret/second --resume first.json --out-json kept.json --num-layers 1 >second.out 2>second.err || fail "the second model"
expect second.out 'dropout ran as 0'

sed 's/"vocab_size": 11/"vocab_size": 13/' -i secret/second/config.json
run --model secret/first,secret/second --baseline first >base.out 2>base.err || fail "a model as the baseline"
expect base.out '^\| second'
refuse base.out '^\| second.* - \|'

# --- what a file says of attention beyond its heads
mkdir wide
sed 's/Llama/Mistral/; s/"vocab_size"/"head_dim": 6, "sliding_window": 5, "num_key_value_heads": 4, &/' secret/first/config.json >wide/config.json
run --model wide >wide.out 2>wide.err || fail "a model with a window and wide heads"
expect wide.out 'Common: .*d_head 6, .*kv_heads 4, window 5, ctx 8'
run --model secret/first,wide --memory-limit 1MiB >wide.out 2>wide.err
refuse wide.out 'Common: .*(d_head|window)'
refuse first.out 'Common: .*(d_head|window)'

# --- a context beyond the positions is a row; alone it is refused
run --model secret/first --ctx 4,9 --out beyond.json >beyond.out 2>beyond.err || fail "a context beyond the positions in a sweep"
[ "$(rows beyond.json '"status":"ok"')" -ge 1 ] || fail "the other context did not run"
expect beyond.json '"status":"unsupported"'
expect beyond.json '"message":"--model first: --ctx 9 is beyond its 8 positions"'
run --model secret/first --ctx 9 >beyond.out 2>beyond.err
code=$?
expect_code 2 "a context beyond the positions"
[ ! -s beyond.out ] && [ "$(wc -l <beyond.err)" = 1 ] || fail "a context beyond the positions: one line"

# --- two folders of the same name, and one that is called as a bundled model
mkdir -p one/twin two/twin gpt2
cp secret/first/config.json one/twin
cp secret/second/config.json two/twin
cp secret/first/config.json gpt2
run --model one/twin,two/twin --out twins.json >twins.out 2>twins.err || fail "two folders of the same name"
[ "$(grep -Eo '"size":"twin-[0-9a-f]{4}"' twins.json | sort -u | wc -l)" = 2 ] || fail "two models of one name"
[ "$(grep -Eo '[]] twin-[0-9a-f]{4}:' twins.err | sort -u | wc -l)" = 2 ] || fail "two labels of one name"
[ "$(rows twins.json '"ctx":8[,}]')" = 2 ] || fail "two rows"
# A row that was there before has the name that it has beside the other.
run --model one/twin --out one.json 2>one.err || fail "one of them"
expect one.json '"size":"twin"'
run --model one/twin,two/twin --resume one.json >both.out 2>both.err || fail "the other"
[ "$(grep -c 'from the file' both.err)" = 1 ] || fail "the first was measured again"
[ "$(grep -Eo '"size":"twin[^"]*"' one.json | sort -u)" = "$(grep -Eo '"size":"twin[^"]*"' twins.json | sort -u)" ] || fail "names of two kinds"
[ "$(grep -cE '^\| twin-[0-9a-f]{4} ' both.out)" = 2 ] || fail "names of two kinds in the table"
# Models that compute the same are one, and that is said.
refuse both.err 'same model'
cp -r one/twin copy
run --model one/twin,copy >copy.out 2>copy.err || fail "a copy"
[ "$(grep -c 'copy computes the same as twin: it is the same model, once in the results' copy.err)" = 1 ] || fail "a copy is left out without a word"
[ "$(grep -cE '^\| (twin|copy) ' copy.out)" = 1 ] || fail "a copy has a row of its own"
sed -i 's/"vocab_size": 11/"vocab_size": 12/' copy/config.json
run --model one/twin,copy --vocab 7 >copy.out 2>copy.err || fail "models that an override makes equal"
expect copy.err 'copy computes the same as twin'
run --model one/twin,one/twin/config.json --out twins.json --resume twins.json >twins.out 2>twins.err || fail "one model twice"
expect twins.err '1/1. twin: '
expect twins.err 'twin is there twice, as the same model'
run --model ./gpt2 --out named.json 2>named.err || fail "a folder that is called gpt2"
expect named.json '"size":"gpt2-[0-9a-f]{4}"'
expect named.json '"command":"roofstep bench .*--model ./gpt2 '
cp "$(dirname "$(realpath "$0")")/../../models/gpt2.json" gpt2/config.json
"$program" plan --model ./gpt2 --format json >named.out 2>named.err || fail "a copy of gpt2"
expect named.out '"size": *"gpt2"'

# --- a folder that was renamed has the same cells, a file that was changed has others
mv secret/first renamed
run --model renamed --num-layers 1,2 --resume first.json >same.out 2>same.err || fail "renamed"
[ "$(grep -c 'from the file' same.err)" = 2 ] || fail "a renamed folder was measured again"
sed -i 's/"vocab_size": 11/"vocab_size": 12/' renamed/config.json
run --model renamed --num-layers 1,2 --resume first.json >other.out 2>other.err || fail "changed"
[ "$(grep -c 'from the file' other.err)" = 0 ] || fail "a changed file was not measured again"
sed -i 's/"vocab_size": 12/"vocab_size": 11, "bos_token_id": 5/' renamed/config.json
run --model renamed --num-layers 1 --out second.json 2>second.err || fail "the second run"
"$program" compare first.json second.json --format json >compare.out 2>compare.err || fail "compare"
expect compare.out '"verdict"'

# --- the file is read once: a cell has the model that the sweep began with
cp -r renamed gone
"$program" bench --threads 1 --warmup 1 --steps 3000,4000 --batch 1 --model gone --out gone.json 2>gone.err &
pid=$!
await gone.err '^\[1/2\]'
rm -r gone
wait $pid || fail "the file went away while the sweep ran"
[ "$(rows gone.json '"measured_mode":"train"')" = 2 ] || fail "not every cell ran"

# --- a suite of it: every part gets the model, wherever it is started
"$program" suite --model renamed --num-layers 1 --dry-run --out-dir page >suite.out 2>suite.err || fail "suite --model"
[ "$(grep -c -- "--model $(realpath renamed) --num-layers 1" suite.out)" -ge 5 ] || fail "not every part of a suite has the model"
mkdir 'with blank'
cp renamed/config.json 'with blank'
"$program" suite --model 'with blank' --dry-run --out-dir page >suite.out 2>suite.err && fail "a path with blanks"
expect suite.err 'a suite takes no path with blanks'
run --model 'with blank' --out blank.json 2>blank.err || fail "bench with a blank in the path"
expect blank.json '"size":"with blank"'

# --- experts: how many tokens each had; the same cells on resuming
cat >experts.json <<'J'
{"architectures": ["Qwen3MoeForCausalLM"], "hidden_size": 16, "intermediate_size": 24, "moe_intermediate_size": 8, "num_hidden_layers": 3,
 "num_attention_heads": 2, "num_key_value_heads": 1, "max_position_embeddings": 64, "vocab_size": 29, "num_experts": 5,
 "num_experts_per_tok": 2, "mlp_only_layers": [1]}
J
routed=(--model experts.json --ctx 20 --routing model,even,skewed:1.5 --precision fp32,bf16 --out routed.json)
run "${routed[@]}" 2>routed.err || fail "bench of a model with experts"
run "${routed[@]}" --resume routed.json 2>routed.err || fail "resuming a model with experts"
[ "$(grep -c 'from the file' routed.err)" = 6 ] || fail "cells with experts were measured again"
python3 - <<'P' || fail "the load of experts"
import json
for row in json.load(open("routed.json"))["results"]:
    rows = row["expert_rows"]
    assert len(rows) == 2 and all(len(r) == 5 and sum(r) == 40 for r in rows), row
    loads = [n / 8 for r in rows for n in r]
    assert abs(row["expert_load_least"] - min(loads)) < 1e-12 and abs(row["expert_load_most"] - max(loads)) < 1e-12, row
    if row["routing"] == "even":
        assert loads == [1] * 10 and row["expert_load_entropy"] == 1, row
    if row["routing"] == "skewed:1.5":
        assert [r[0] for r in rows] == [12, 12] and max(rows[0][1:]) == 7 and row["expert_load_entropy"] < 1, row
P
