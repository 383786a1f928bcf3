/* Small models of every architecture, two shapes of each that nothing was tuned for: odd numbers of
 * heads, head widths other than d_model / heads, prime vocabularies, contexts longer than the
 * window. */
#pragma once

#include "config/model_file.h"
#include "step_harness.h"

#include <stdio.h>
#include <string.h>

typedef struct SmallArchitecture {
    const char *name;
    int64_t ctx, batch;
    const char *json; /* what config.json says, without the architecture */
} SmallArchitecture;

static const SmallArchitecture small_architectures[] = {
    {"LlamaForCausalLM", 13, 2,
     "'hidden_size': 24, 'intermediate_size': 37, 'num_hidden_layers': 2, 'num_attention_heads': 3,"
     "'num_key_value_heads': 1, 'head_dim': 10, 'max_position_embeddings': 64, 'vocab_size': 53,"
     "'rms_norm_eps': 1e-5, 'attention_bias': true, 'mlp_bias': true, 'rope_theta': 500.0"},
    {"LlamaForCausalLM", 9, 3,
     "'hidden_size': 40, 'intermediate_size': 48, 'num_hidden_layers': 2, 'num_attention_heads': 5,"
     "'max_position_embeddings': 32, 'vocab_size': 61, 'tie_word_embeddings': true,"
     "'rope_scaling': {'rope_type': 'llama3', 'factor': 8.0, 'low_freq_factor': 1.0,"
     "'high_freq_factor': 4.0, 'original_max_position_embeddings': 16}"},
    {"MistralForCausalLM", 17, 2,
     "'hidden_size': 30, 'intermediate_size': 41, 'num_hidden_layers': 2, 'num_attention_heads': 6,"
     "'num_key_value_heads': 2, 'head_dim': 8, 'max_position_embeddings': 64, 'vocab_size': 59,"
     "'sliding_window': 5"},
    {"MistralForCausalLM", 12, 2,
     "'hidden_size': 28, 'intermediate_size': 64, 'num_hidden_layers': 1, 'num_attention_heads': 7,"
     "'num_key_value_heads': 7, 'max_position_embeddings': 12, 'vocab_size': 47,"
     "'sliding_window': 11, 'tie_word_embeddings': true"},
    {"Qwen2ForCausalLM", 11, 3,
     "'hidden_size': 28, 'intermediate_size': 43, 'num_hidden_layers': 2, 'num_attention_heads': 7,"
     "'num_key_value_heads': 1, 'max_position_embeddings': 64, 'vocab_size': 53,"
     "'tie_word_embeddings': true"},
    {"Qwen2ForCausalLM", 15, 2,
     "'hidden_size': 36, 'intermediate_size': 50, 'num_hidden_layers': 3, 'num_attention_heads': 6,"
     "'num_key_value_heads': 3, 'max_position_embeddings': 64, 'vocab_size': 67,"
     "'use_sliding_window': true, 'sliding_window': 4, 'max_window_layers': 1"},
    {"Qwen3ForCausalLM", 10, 3,
     "'hidden_size': 26, 'intermediate_size': 39, 'num_hidden_layers': 2, 'num_attention_heads': 5,"
     "'num_key_value_heads': 1, 'head_dim': 16, 'max_position_embeddings': 64, 'vocab_size': 53,"
     "'tie_word_embeddings': true"},
    {"Qwen3ForCausalLM", 14, 2,
     "'hidden_size': 32, 'intermediate_size': 40, 'num_hidden_layers': 1, 'num_attention_heads': 4,"
     "'num_key_value_heads': 2, 'head_dim': 6, 'max_position_embeddings': 64, 'vocab_size': 71,"
     "'attention_bias': true"},
    {"MixtralForCausalLM", 12, 2,
     "'hidden_size': 24, 'intermediate_size': 37, 'num_hidden_layers': 2, 'num_attention_heads': 3,"
     "'num_key_value_heads': 1, 'max_position_embeddings': 64, 'vocab_size': 53,"
     "'num_local_experts': 6, 'num_experts_per_tok': 2, 'sliding_window': 7"},
    {"MixtralForCausalLM", 5, 4,
     "'hidden_size': 20, 'intermediate_size': 16, 'num_hidden_layers': 1, 'num_attention_heads': 5,"
     "'num_key_value_heads': 5, 'max_position_embeddings': 8, 'vocab_size': 61,"
     "'num_local_experts': 5, 'num_experts_per_tok': 1, 'tie_word_embeddings': true"},
    {"Qwen3MoeForCausalLM", 11, 3,
     "'hidden_size': 26, 'intermediate_size': 39, 'num_hidden_layers': 3, 'num_attention_heads': 4,"
     "'num_key_value_heads': 2, 'head_dim': 10, 'max_position_embeddings': 64, 'vocab_size': 59,"
     "'num_experts': 8, 'num_experts_per_tok': 3, 'moe_intermediate_size': 13,"
     "'decoder_sparse_step': 2"},
    {"Qwen3MoeForCausalLM", 9, 2,
     "'hidden_size': 32, 'intermediate_size': 24, 'num_hidden_layers': 2, 'num_attention_heads': 4,"
     "'num_key_value_heads': 1, 'head_dim': 14, 'max_position_embeddings': 64, 'vocab_size': 67,"
     "'num_experts': 5, 'num_experts_per_tok': 2, 'moe_intermediate_size': 17, 'norm_topk_prob': "
     "true,"
     "'mlp_only_layers': [0], 'attention_bias': true"},
    {"GPT2LMHeadModel", 11, 3,
     "'n_embd': 30, 'n_layer': 2, 'n_head': 5, 'n_positions': 16, 'vocab_size': 53"},
    {"GPT2LMHeadModel", 8, 3,
     "'n_embd': 24, 'n_layer': 1, 'n_head': 3, 'n_positions': 8, 'n_inner': 41, 'vocab_size': 59,"
     "'layer_norm_epsilon': 1e-3"},
    {"GPTNeoXForCausalLM", 13, 2,
     "'hidden_size': 48, 'intermediate_size': 70, 'num_hidden_layers': 2, 'num_attention_heads': 3,"
     "'max_position_embeddings': 32, 'vocab_size': 53, 'rotary_pct': 0.25"},
    {"GPTNeoXForCausalLM", 9, 3,
     "'hidden_size': 40, 'intermediate_size': 56, 'num_hidden_layers': 2, 'num_attention_heads': 5,"
     "'max_position_embeddings': 32, 'vocab_size': 61, 'rotary_pct': 1.0, 'use_parallel_residual': "
     "false"},
};
enum { SMALL_ARCHITECTURES = sizeof small_architectures / sizeof *small_architectures };

/* Roundings of a precision that gradients may be off by. Where they nearly cancel (q, k and the norm
 * before them, of seven heads on one of k and v) it is 10 in bf16 and in fp16 alike: rounding, and no
 * mistake, which would not shrink with the format. A router, which learns from differences between
 * experts, reaches 12.4. */
static inline double small_architectures_roundings(const Config *c)
{
    return c->model.num_experts > 0 ? 14 : 12;
}

static inline Config small_architecture(int i)
{
    const SmallArchitecture *a = &small_architectures[i];
    char text[1024];
    snprintf(text, sizeof text, "{'architectures': ['%s'], %s}", a->name, a->json);
    for (char *c = text; *c; c++) {
        if (*c == '\'') *c = '"';
    }
    Config c;
    config_defaults(&c);
    if (model_file_parse(&c.model, text, strlen(text), a->name) != ST_OK) {
        fail_msg("%s %d: %s", a->name, i, status_message());
    }
    snprintf(c.model.name, sizeof c.model.name, "%s %d", a->name, i);
    c.ctx = a->ctx;
    c.batch = a->batch;
    c.seed = 7;
    return c;
}
