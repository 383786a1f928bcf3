/* What files of each class mean that are silent, and which of several fields counts: as the configuration
 * classes of transformers 5 have it. */
#include "config/architecture.h"
#include "config/model_file.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

#define DIMENSIONS                                                                             \
    "'hidden_size': 256, 'intermediate_size': 320, 'num_hidden_layers': 2, 'vocab_size': 101," \
    "'num_attention_heads': 32, 'max_position_embeddings': 512"
#define GPT2_DIMENSIONS \
    "'n_embd': 256, 'n_layer': 2, 'n_head': 32, 'n_positions': 512, 'vocab_size': 101"

/* The least that a file of the class may have, with `more` fields; ' is written for ". */
static Status parse(ModelSpec *spec, const char *class_name, const char *more)
{
    char text[1024];
    const bool gpt2 = strcmp(class_name, "GPT2LMHeadModel") == 0;
    snprintf(text, sizeof text, "{'architectures': ['%s'], %s%s%s}", class_name,
             gpt2 ? GPT2_DIMENSIONS : DIMENSIONS, *more ? ", " : "", more);
    for (char *c = text; *c; c++) {
        if (*c == '\'') *c = '"';
    }
    return model_file_parse(spec, text, strlen(text), "config.json");
}

static ModelSpec read(const char *class_name, const char *more)
{
    ModelSpec spec;
    if (parse(&spec, class_name, more) != ST_OK)
        fail_msg("%s %s: %s", class_name, more, status_message());
    return spec;
}

static void refused(const char *class_name, const char *more, const char *message)
{
    ModelSpec spec;
    if (parse(&spec, class_name, more) != ST_USAGE) fail_msg("%s is taken", more);
    if (!strstr(status_message(), message)) fail_msg("%s: %s", more, status_message());
}

/* ---- silence ---- */

typedef struct Silence {
    const char *class_name;
    int64_t kv_heads, head_dim, d_ff, window;
    double eps, theta, share;
    FeedForward feed_forward;
    bool qkv_bias, output_bias, ff_bias, tied, parallel, dropout;
} Silence;

static const Silence silences[] = {
    {"LlamaForCausalLM", 32, 8, 320, 0, 1e-6, 1e4, 1, FEED_FORWARD_SWIGLU, 0, 0, 0, 0, 0, 0},
    {"MistralForCausalLM", 8, 8, 320, 4096, 1e-6, 1e4, 1, FEED_FORWARD_SWIGLU, 0, 0, 0, 0, 0, 0},
    {"Qwen2ForCausalLM", 32, 8, 320, 0, 1e-6, 1e4, 1, FEED_FORWARD_SWIGLU, 1, 0, 0, 0, 0, 0},
    {"Qwen3ForCausalLM", 32, 128, 320, 0, 1e-6, 1e4, 1, FEED_FORWARD_SWIGLU, 0, 0, 0, 0, 0, 0},
    {"GPT2LMHeadModel", 32, 8, 1024, 0, 1e-5, 0, 0, FEED_FORWARD_GELU_TANH, 1, 1, 1, 1, 0, 1},
    {"GPTNeoXForCausalLM", 32, 8, 320, 0, 1e-5, 1e4, 0.25, FEED_FORWARD_GELU_ERF, 1, 1, 1, 0, 1, 0},
};

static void check_silence(const Silence *s)
{
    const ModelSpec m = read(s->class_name, "");
    assert_string_equal(architecture_table[m.architecture].class_name, s->class_name);
    assert_int_equal(model_spec_kv_heads(&m), s->kv_heads);
    assert_int_equal(model_spec_head_dim(&m), s->head_dim);
    assert_int_equal(m.d_ff, s->d_ff);
    assert_int_equal(m.window, s->window);
    assert_true(m.norm_eps == s->eps && m.rope.theta == s->theta && m.rope.share == s->share);
    assert_true(m.rope.scaling == ROPE_SCALING_NONE && m.feed_forward == s->feed_forward);
    assert_true(m.qkv_bias == s->qkv_bias && m.output_bias == s->output_bias);
    assert_true(m.feed_forward_bias == s->ff_bias && m.tied == s->tied);
    assert_true(m.parallel_residual == s->parallel && m.dropout == s->dropout);
}

static void llama(void **state)
{
    (void)state;
    check_silence(&silences[0]);
}

static void mistral(void **state)
{
    (void)state;
    check_silence(&silences[1]);
    const ModelSpec null = read("MistralForCausalLM", "'num_key_value_heads': null");
    assert_int_equal(model_spec_kv_heads(&null), 32);
}

static void qwen2(void **state)
{
    (void)state;
    check_silence(&silences[2]);
    const ModelSpec used = read("Qwen2ForCausalLM", "'use_sliding_window': true");
    assert_true(used.window == 4096 && used.window_from == 28 && !model_spec_has_window(&used));
}

static void qwen3(void **state)
{
    (void)state;
    check_silence(&silences[3]);
    assert_true(read("Qwen3ForCausalLM", "").qk_norm);
}

static void gpt2(void **state)
{
    (void)state;
    check_silence(&silences[4]);
    assert_true(read("GPT2LMHeadModel", "'resid_pdrop': 0, 'embd_pdrop': 0").dropout);
    assert_false(
        read("GPT2LMHeadModel", "'resid_pdrop': 0, 'embd_pdrop': 0, 'attn_pdrop': 0").dropout);
    /* Other classes' names of its dimensions count, too. */
    assert_int_equal(read("GPT2LMHeadModel", "'hidden_size': 512").d_model, 512);
    assert_int_equal(read("GPT2LMHeadModel", "'hidden_size': 512").d_ff, 2048);
}

static void neox(void **state)
{
    (void)state;
    check_silence(&silences[5]);
}

static void mixtral(void **state)
{
    (void)state;
    const ModelSpec m = read("MixtralForCausalLM", "");
    assert_true(m.num_experts == 8 && m.experts_per_token == 2 && m.norm_topk);
    assert_true(m.num_kv_heads == 8 && m.norm_eps == 1e-5 && m.rope.theta == 1e6 && m.window == 0);
    assert_int_equal(model_spec_expert_ff(&m), 320);
    assert_int_equal(read("MixtralForCausalLM", "'sliding_window': 64").window, 64);
    assert_true(model_spec_has_experts(&m, 0) && model_spec_has_experts(&m, 1));
    const ModelSpec other = read("MixtralForCausalLM", "'num_experts_per_tok': 3");
    assert_string_not_equal(model_spec_hash(&m).s, model_spec_hash(&other).s);
}

static void qwen3_moe(void **state)
{
    (void)state;
    const ModelSpec m = read("Qwen3MoeForCausalLM", "");
    assert_true(m.num_experts == 128 && m.experts_per_token == 8 && !m.norm_topk && m.qk_norm);
    assert_true(m.num_kv_heads == 4 && model_spec_head_dim(&m) == 8 && m.window == 0);
    assert_int_equal(model_spec_expert_ff(&m), 768);
    const ModelSpec sliding = read("Qwen3MoeForCausalLM", "'use_sliding_window': true");
    assert_true(sliding.window == 4096 && sliding.window_from == 0);
    const ModelSpec sparse =
        read("Qwen3MoeForCausalLM",
             "'decoder_sparse_step': 2, 'mlp_only_layers': [3, 70], 'num_local_experts': 16");
    static const bool has[] = {false, true, false, false, false, true};
    for (int l = 0; l < 6; l++) assert_int_equal(model_spec_has_experts(&sparse, l), has[l]);
    assert_true(model_spec_has_experts(&sparse, 71) && !model_spec_has_experts(&sparse, 70));
    assert_int_equal(sparse.num_experts, 16);
    assert_true(read("Qwen3MoeForCausalLM", "'norm_topk_prob': true").norm_topk);
}

/* ---- biases ---- */

typedef struct Biases {
    bool qkv, output, feed_forward;
} Biases;

static void check_biases(const char *class_name, const char *more, Biases biases)
{
    const ModelSpec m = read(class_name, more);
    if (m.qkv_bias != biases.qkv || m.output_bias != biases.output ||
        m.feed_forward_bias != biases.feed_forward)
        fail_msg("%s {%s}: biases %d %d %d", class_name, more, m.qkv_bias, m.output_bias,
                 m.feed_forward_bias);
}

/* A class follows the fields that it has; others' change nothing. */
static void biases_follow_fields_of_the_class(void **state)
{
    (void)state;
    static const struct {
        const char *class_name;
        Biases with, without; /* attention_bias and mlp_bias both true, both false */
    } classes[] = {
        {"LlamaForCausalLM", {1, 1, 1}, {0, 0, 0}},   {"MistralForCausalLM", {0, 0, 0}, {0, 0, 0}},
        {"Qwen2ForCausalLM", {1, 0, 0}, {1, 0, 0}},   {"Qwen3ForCausalLM", {1, 1, 0}, {0, 0, 0}},
        {"GPTNeoXForCausalLM", {1, 1, 1}, {0, 0, 1}}, {"GPT2LMHeadModel", {1, 1, 1}, {1, 1, 1}},
    };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const char *name = classes[i].class_name;
        check_biases(name, "'attention_bias': true, 'mlp_bias': true", classes[i].with);
        check_biases(name, "'attention_bias': false, 'mlp_bias': false", classes[i].without);
    }
}

/* What a row says of a class stands unless a field of this class says otherwise. */
static void biases_of_the_row_stand(void **state)
{
    (void)state;
    for (int i = ARCHITECTURE_OWN + 1; i < ARCHITECTURE_COUNT; i++) {
        const ModelSpec *row = &architecture_table[i].silent;
        const Biases biases = {row->qkv_bias, row->output_bias, row->feed_forward_bias};
        check_biases(architecture_table[i].class_name, "", biases);
    }
}

/* ---- which of several counts ---- */

static void kv_heads_that_are_missing_are_said(void **state)
{
    (void)state;
    ModelSpec spec;
    const char *text = "{\"architectures\": [\"MistralForCausalLM\"], \"hidden_size\": 48,"
                       "\"intermediate_size\": 64, \"num_hidden_layers\": 1, \"vocab_size\": 11,"
                       "\"num_attention_heads\": 6, \"max_position_embeddings\": 16}";
    assert_int_equal(model_file_parse(&spec, text, strlen(text), "f"), ST_USAGE);
    assert_non_null(strstr(status_message(), "num_key_value_heads is missing; MistralForCausalLM "
                                             "then has 8, which do not divide 6 heads"));
}

static double theta(const char *class_name, const char *more)
{
    return read(class_name, more).rope.theta;
}

static void theta_of_rope(void **state)
{
    (void)state;
    static const char all[] = "'rope_theta': 20, 'rotary_emb_base': 30, 'rope_parameters': "
                              "{'rope_theta': 40}";
    assert_true(theta("LlamaForCausalLM", "'rope_theta': 20, 'rotary_emb_base': 30") == 20);
    assert_true(theta("GPTNeoXForCausalLM", "'rope_theta': 20, 'rotary_emb_base': 30") == 30);
    assert_true(theta("GPTNeoXForCausalLM", "'rope_theta': 20") == 1e4);
    assert_true(theta("LlamaForCausalLM", all) == 40 && theta("GPTNeoXForCausalLM", all) == 40);
    /* rope_scaling counts where there are both, unless it is empty. */
    const ModelSpec both =
        read("LlamaForCausalLM", "'rope_scaling': {'type': 'linear', 'factor': 2},"
                                 "'rope_parameters': {'rope_theta': 40, 'rope_type': 'default'}");
    assert_true(both.rope.theta == 1e4 && both.rope.scaling == ROPE_SCALING_LINEAR);
    assert_true(theta("LlamaForCausalLM",
                      "'rope_scaling': {}, 'rope_parameters': {'rope_theta': 40}") == 40);
}

static void share_of_a_head(void **state)
{
    (void)state;
    assert_true(read("GPTNeoXForCausalLM", "'rotary_pct': 0.5").rope.share == 0.5);
    assert_true(read("GPTNeoXForCausalLM", "'partial_rotary_factor': 0.5").rope.share == 0.25);
    assert_true(read("GPTNeoXForCausalLM",
                     "'rotary_pct': 0.5, 'rope_parameters': {'partial_rotary_factor': 1.0}")
                    .rope.share == 1);
    /* Llama's classes have no part of a head. */
    assert_true(read("LlamaForCausalLM", "'partial_rotary_factor': 0.5").rope.share == 1);
    refused("Qwen2ForCausalLM",
            "'partial_rotary_factor': 0.5, 'rope_scaling': {'type': 'linear', 'factor': 2}",
            "partial_rotary_factor 0.5 with RoPE scaling is not supported in Qwen2ForCausalLM");
}

static void original_positions_of_llama3(void **state)
{
    (void)state;
#define LLAMA3 "'rope_type': 'llama3', 'factor': 8, 'low_freq_factor': 1, 'high_freq_factor': 4"
    const ModelSpec silent = read("LlamaForCausalLM", "'rope_scaling': {" LLAMA3 "}");
    assert_int_equal(silent.rope.original_positions, 512);
    const ModelSpec inside = read("LlamaForCausalLM", "'rope_scaling': {" LLAMA3
                                                      ", 'original_max_position_embeddings': 64}");
    assert_int_equal(inside.rope.original_positions, 64);
    const ModelSpec beside =
        read("LlamaForCausalLM", "'original_max_position_embeddings': 128, 'rope_scaling': {" LLAMA3
                                 ", 'original_max_position_embeddings': 64}");
    assert_int_equal(beside.rope.original_positions, 128);
}

static void layer_types_without_a_window(void **state)
{
    (void)state;
    refused("Qwen3ForCausalLM", "'layer_types': ['full_attention', 'sliding_attention']",
            "layer_types has sliding_attention, and there is no window");
}

/* Whether there is a window at all follows the number of layers: one that is deeper has it. */
static void a_window_of_later_layers_stays(void **state)
{
    (void)state;
    static const char fields[] = "'use_sliding_window': true, 'max_window_layers': 3";
    ModelSpec deep = read("Qwen2ForCausalLM", fields);
    const ModelSpec none = read("Qwen2ForCausalLM", "");
    assert_string_equal(model_spec_hash(&deep).s, model_spec_hash(&none).s);
    deep.num_layers = 4;
    assert_true(model_spec_has_window(&deep));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama),
        cmocka_unit_test(mistral),
        cmocka_unit_test(qwen2),
        cmocka_unit_test(qwen3),
        cmocka_unit_test(gpt2),
        cmocka_unit_test(neox),
        cmocka_unit_test(mixtral),
        cmocka_unit_test(qwen3_moe),
        cmocka_unit_test(biases_follow_fields_of_the_class),
        cmocka_unit_test(biases_of_the_row_stand),
        cmocka_unit_test(kv_heads_that_are_missing_are_said),
        cmocka_unit_test(theta_of_rope),
        cmocka_unit_test(share_of_a_head),
        cmocka_unit_test(original_positions_of_llama3),
        cmocka_unit_test(layer_types_without_a_window),
        cmocka_unit_test(a_window_of_later_layers_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
