#!/usr/bin/env python3
"""Makes small folders of `transformers` models at shapes that nobody tunes for: two of each architecture.

    tools/make_hf.py FOLDER      writes FOLDER/NAME/config.json and model.safetensors, and FOLDER/list: NAME BATCH CTX

Weights are those of hf_reference.make_weights(): norms and biases too are random. Needs PyTorch and transformers.
"""
import os
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from hf_reference import make_weights, name_in_file

LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}

# name: batch, ctx, configuration
MODELS = {
    "llama-a": (3, 23, dict(
        model_type="llama", hidden_size=42, intermediate_size=61, num_hidden_layers=2, num_attention_heads=7, num_key_value_heads=1,
        head_dim=10, vocab_size=101, max_position_embeddings=64, attention_bias=True, mlp_bias=True, tie_word_embeddings=False)),
    "llama-b": (2, 37, dict(
        model_type="llama", hidden_size=60, intermediate_size=83, num_hidden_layers=3, num_attention_heads=5, num_key_value_heads=5,
        vocab_size=127, max_position_embeddings=128, rope_theta=5e5, rope_scaling=LLAMA3, rms_norm_eps=1e-5, tie_word_embeddings=True)),
    "mistral-a": (3, 29, dict(
        model_type="mistral", hidden_size=36, intermediate_size=59, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=2,
        head_dim=8, vocab_size=89, max_position_embeddings=64, sliding_window=7, tie_word_embeddings=False)),
    "mistral-b": (1, 41, dict(
        model_type="mistral", hidden_size=45, intermediate_size=67, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1,
        head_dim=16, vocab_size=113, max_position_embeddings=41, sliding_window=13, tie_word_embeddings=True)),
    "qwen2-a": (3, 19, dict(
        model_type="qwen2", hidden_size=56, intermediate_size=71, num_hidden_layers=2, num_attention_heads=7, num_key_value_heads=1,
        vocab_size=103, max_position_embeddings=32, use_sliding_window=False, rope_theta=1e6, tie_word_embeddings=True)),
    "qwen2-b": (2, 27, dict(
        model_type="qwen2", hidden_size=54, intermediate_size=73, num_hidden_layers=3, num_attention_heads=9, num_key_value_heads=3,
        vocab_size=97, max_position_embeddings=64, use_sliding_window=True, sliding_window=6, max_window_layers=1,
        tie_word_embeddings=False)),
    "qwen3-a": (3, 17, dict(
        model_type="qwen3", hidden_size=40, intermediate_size=79, num_hidden_layers=2, num_attention_heads=5, num_key_value_heads=1,
        head_dim=14, vocab_size=107, max_position_embeddings=32, rope_theta=1e6, tie_word_embeddings=True)),
    "qwen3-b": (2, 31, dict(
        model_type="qwen3", hidden_size=48, intermediate_size=53, num_hidden_layers=2, num_attention_heads=6, num_key_value_heads=3,
        head_dim=10, vocab_size=109, max_position_embeddings=64, attention_bias=True, rope_scaling={"rope_type": "linear", "factor": 2.0},
        tie_word_embeddings=False)),
    "gpt2-a": (2, 31, dict(
        model_type="gpt2", n_embd=35, n_layer=2, n_head=5, n_positions=31, vocab_size=83, bos_token_id=0, eos_token_id=0)),
    "gpt2-b": (3, 25, dict(
        model_type="gpt2", n_embd=66, n_layer=3, n_head=11, n_inner=51, n_positions=64, vocab_size=131, activation_function="gelu",
        tie_word_embeddings=False, bos_token_id=0, eos_token_id=0)),
    "neox-a": (3, 21, dict(
        model_type="gpt_neox", hidden_size=60, intermediate_size=97, num_hidden_layers=2, num_attention_heads=5, rotary_pct=0.5,
        vocab_size=137, max_position_embeddings=64, use_parallel_residual=True, tie_word_embeddings=False)),
    "neox-b": (2, 33, dict(
        model_type="gpt_neox", hidden_size=48, intermediate_size=77, num_hidden_layers=3, num_attention_heads=3, rotary_pct=0.25,
        vocab_size=139, max_position_embeddings=33, use_parallel_residual=False, tie_word_embeddings=True)),
}
NO_DROPOUT = dict.fromkeys(("attention_dropout", "hidden_dropout", "resid_pdrop", "embd_pdrop", "attn_pdrop"), 0.0)


def make(folder, fields):
    fields = {**fields, **{name: value for name, value in NO_DROPOUT.items() if name.endswith("pdrop") == (fields["model_type"] == "gpt2")}}
    config = AutoConfig.for_model(fields.pop("model_type"), **fields)
    model = AutoModelForCausalLM.from_config(config).float()
    model.tie_weights()
    with torch.no_grad():
        for name, value in model.named_parameters():
            made = make_weights(name_in_file(config.model_type, name), tuple(value.shape))
            value.copy_(torch.tensor(made.tolist()).reshape(value.shape))
    model.save_pretrained(folder)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.makedirs(sys.argv[1], exist_ok=True)
    with open(os.path.join(sys.argv[1], "list"), "w", encoding="utf-8") as listing:
        for name, (batch, ctx, fields) in MODELS.items():
            make(os.path.join(sys.argv[1], name), fields)
            listing.write(f"{name} {batch} {ctx}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
