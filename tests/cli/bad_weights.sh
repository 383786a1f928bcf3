#!/usr/bin/env bash
# usage: bad_weights.sh PROGRAM: files of weights beside a config.json: those that do not go with it, or that are not whole, are
# refused in one line each; what is no parameter is left out.
# shellcheck disable=SC1091,SC2154 # cli.sh sets `program` and `tests`
. "$(dirname "$(realpath "$0")")/cli.sh"

tiny=(export --ctx 4 --batch 1 --device cpu --threads 1)
llama='"architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 160, "num_attention_heads": 4, "vocab_size": 101,
 "max_position_embeddings": 64'
layers='"num_hidden_layers": 2'

# config FOLDER FIELDS: its config.json
config() {
    mkdir -p "$1"
    printf '{%s}\n' "$2" >"$1/config.json"
}

# weights FOLDER EXPORT CHANGE...: its model.safetensors, the parameters of an export with the changes
weights() {
    python3 "$tests/cli/weights_file.py" "$2" "$1/model.safetensors" "${@:3}" || fail 'no file of weights could be made'
}

# export_to FILE FOLDER OPTIONS...
export_to() {
    "$program" "${tiny[@]}" --model "$2" --out "$1" "${@:3}" 2>err || fail "$*: no export: $(cat err)"
}

# same FOLDER OPTIONS...: its weights are read, and are those of first.safetensors
same() {
    export_to again.safetensors "$@"
    grep -q "from the model's files" err || fail "$*: weights are not read: $(cat err)"
    cmp -s first.safetensors again.safetensors || fail "$*: another export"
}

# wrong FRAGMENT FOLDER OPTIONS...
wrong() {
    refused "$1" "${tiny[@]}" --model "${@:2}" --out x.safetensors
    [ ! -e x.safetensors ] || fail "$*: it wrote a file"
}

config m "$llama, $layers"
export_to step.safetensors m
weights m step.safetensors
export_to first.safetensors m
same m

# ---- a file that is an output, or no file ----
before=$(cksum <m/model.safetensors)
refused 'choose another file' "${tiny[@]}" --model m --out m/model.safetensors
ln -s model.safetensors m/link
refused 'choose another file' "${tiny[@]}" --model m --out m/link
[ "$(cksum <m/model.safetensors)" = "$before" ] || fail 'weights are overwritten'
config special "$llama, $layers"
mkfifo special/model.safetensors
wrong 'regular file' special
rm special/model.safetensors
mkfifo special/model.safetensors.index.json
wrong 'regular file' special
rm special/model.safetensors.index.json
echo '{"weight_map": {"x": "gone.safetensors"}}' >special/model.safetensors.index.json
wrong 'gone.safetensors' special

# ---- tensors that config.json does not explain ----
stray=model.layers.1.self_attn.q_proj.bias
weights m step.safetensors add:$stray:64
wrong "'m/model.safetensors': config.json gives the model no tensor '$stray'" m
weights m step.safetensors add:model.layers.0.mlp.router.weight:8x64
wrong "'m/model.safetensors': LlamaForCausalLM has no tensor 'model.layers.0.mlp.router.weight'" m
weights m step.safetensors add:model.layers.0.self_attn.rotary_emb.inv_freq:8 add:model.rotary_emb.inv_freq:8
same m
weights m step.safetensors bare:model.
same m
weights m step.safetensors del:model.norm.weight
wrong "'m/model.safetensors': the tensor 'model.norm.weight' is missing: config.json asks for it" m
config m "$llama, $layers, \"attention_bias\": true"
weights m step.safetensors
wrong "self_attn.q_proj.bias' is missing" m

# ---- dimensions ----
config m "$llama, $layers"
wrong "'m/model.safetensors': the tensor 'model.embed_tokens.weight' is [101, 64], and the model has [100, 64]: leave out --vocab" \
    m --vocab 100
wrong 'leave out --d-model, --vocab' m --vocab 100 --d-model 32
wrong '--num-layers asks for more layers than the files have' m --num-layers 3
export_to part.safetensors m --num-layers 1
grep -q "from the model's files" err || fail "weights of a part are not read: $(cat err)"
config m "$llama, \"num_hidden_layers\": 1"
wrong "of a layer beyond the 1 of config.json" m
export_to same.safetensors m --num-layers 1
cmp -s part.safetensors same.safetensors || fail 'a part is another one'
config m "${llama/101/103}, $layers"
wrong 'is [101, 64], and the model has [103, 64]: config.json is not that of these weights' m

# ---- a tied head ----
config m "$llama, $layers, \"tie_word_embeddings\": true"
wrong "'lm_head.weight' differs from 'model.embed_tokens.weight', and config.json ties them" m
weights m step.safetensors del:lm_head.weight
export_to first.safetensors m
weights m step.safetensors del:lm_head.weight copy:lm_head.weight:model.embed_tokens.weight
same m

# ---- files that are not whole ----
config m "$llama, $layers"
weights m step.safetensors cut:1000
wrong "'m/model.safetensors': it is cut off: its tensors take " m
weights m step.safetensors tail:3
wrong "'m/model.safetensors': 3 bytes after its last tensor are of none" m
weights m step.safetensors gap:16
wrong "before 'lm_head.weight' are of no tensor" m
weights m step.safetensors overlap
wrong 'tensors overlap' m

# ---- a long path ----
deep=hub/models--somebody--a-model-with-a-rather-long-name/snapshots/0123456789abcdef0123456789abcdef01234567
mkdir -p $deep
cp m/config.json m/model.safetensors $deep
wrong "abcdef01234567/model.safetensors': " $deep
echo '[]' >$deep/config.json
wrong "abcdef01234567/config.json': it is JSON" $deep

# ---- weights in other forms ----
rm m/model.safetensors
export_to random.safetensors m
grep -qF '(random)' err || fail "random weights are not said: $(cat err)"
for name in pytorch_model.bin pytorch_model-00001-of-00002.bin model-00001-of-00002.safetensors model.fp16.safetensors \
    adapter_model.safetensors consolidated.00.pth x.gguf x.ckpt x.pt x.pth; do
    touch "m/$name"
    wrong "not from '$name': convert them" m
    rm "m/$name"
done
touch m/optimizer.bin m/tokenizer.json m/step.safetensors # none of a model
export_to again.safetensors m
cmp -s random.safetensors again.safetensors || fail 'other random weights'
mkdir -p pythia-160m
touch pythia-160m/config.json
(cd "$work" && "$program" "${tiny[@]}" --model pythia-160m --num-layers 1 --vocab 11 --out x.safetensors 2>err) || fail 'no bundled model'
grep -qF -- 'the folder is --model ./pythia-160m' err || fail "a folder of a bundled name is not noticed: $(cat err)"
rm x.safetensors

# ---- buffers of other architectures ----
config g '"architectures": ["GPT2LMHeadModel"], "n_embd": 48, "n_layer": 1, "n_head": 3, "n_positions": 16, "vocab_size": 53,
 "resid_pdrop": 0, "embd_pdrop": 0, "attn_pdrop": 0'
export_to gpt2.safetensors g
weights g gpt2.safetensors bare:transformer. add:h.0.attn.bias:1x1x16x16 add:h.0.attn.masked_bias:1
export_to first.safetensors g
weights g gpt2.safetensors copy:lm_head.weight:transformer.wte.weight
same g
weights g gpt2.safetensors add:h.0.attn.c_attn.masked_bias:1
wrong "GPT2LMHeadModel has no tensor 'h.0.attn.c_attn.masked_bias'" g
config n '"architectures": ["GPTNeoXForCausalLM"], "hidden_size": 48, "intermediate_size": 70, "num_hidden_layers": 1,
 "num_attention_heads": 3, "max_position_embeddings": 32, "vocab_size": 53'
export_to neox.safetensors n
weights n neox.safetensors
export_to first.safetensors n
at=gpt_neox.layers.0.attention
weights n neox.safetensors add:$at.bias:1x1x32x32 add:$at.masked_bias:1 add:$at.rotary_emb.inv_freq:2
same n

echo "$cases files of weights are refused"
verdict
