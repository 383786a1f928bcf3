#include "base/json_reader.h"
#include "base/text.h"
#include "config/model_file.h"
#include "with_cmocka.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static ModelSpec load(const char *name)
{
    ModelSpec spec;
    assert_int_equal(model_file_load(&spec, name), ST_OK);
    assert_string_equal(spec.name, name);
    return spec;
}

static void bundled_models_are_read(void **state)
{
    (void)state;
    int n = 0;
    for (const ModelFile *file = model_file_bundled; file->name; file++, n++) load(file->name);
    assert_int_equal(n, 15);
    for (int i = 1; i < n; i++) {
        assert_string_equal(model_file_bundled[i].name, model_file_names[i]);
        assert_true(strverscmp(model_file_names[i - 1], model_file_names[i]) < 0);
    }
}

static void llama_is_what_its_file_says(void **state)
{
    (void)state;
    const ModelSpec m = load("llama-3.2-1b");
    assert_int_equal(m.architecture, ARCHITECTURE_LLAMA);
    assert_true(m.d_model == 2048 && m.d_ff == 8192 && m.num_layers == 16 && m.num_heads == 32);
    assert_true(m.vocab == 128256 && m.positions == 131072 && m.tied && !m.qkv_bias);
    assert_true(model_spec_kv_heads(&m) == 8 && model_spec_head_dim(&m) == 64);
    assert_true(model_spec_rotary_dim(&m) == 64 && m.position == POSITION_HALVES);
    assert_true(m.norm == NORM_RMS && m.norm_eps == 1e-5 && m.rope.theta == 5e5);
    assert_true(m.rope.scaling == ROPE_SCALING_LLAMA3 && m.rope.factor == 32);
    assert_true(m.rope.low_factor == 1 && m.rope.high_factor == 4 &&
                m.rope.original_positions == 8192);
    assert_true(m.feed_forward == FEED_FORWARD_SWIGLU && m.window == 0 && !m.dropout);
}

static void the_others_differ_as_their_classes_do(void **state)
{
    (void)state;
    const ModelSpec gpt2 = load("gpt2"), neox = load("pythia-160m"), mistral = load("mistral-7b");
    const ModelSpec qwen2 = load("qwen2.5-0.5b"), qwen3 = load("qwen3-0.6b");
    assert_true(gpt2.norm == NORM_LAYER && gpt2.position == POSITION_LEARNED && gpt2.tied);
    assert_true(gpt2.feed_forward == FEED_FORWARD_GELU_TANH && gpt2.d_ff == 3072 && gpt2.dropout);
    assert_true(gpt2.qkv_bias && gpt2.output_bias && gpt2.feed_forward_bias);
    assert_true(neox.parallel_residual && neox.feed_forward == FEED_FORWARD_GELU_ERF && !neox.tied);
    assert_true(model_spec_rotary_dim(&neox) == 16 && model_spec_head_dim(&neox) == 64);
    assert_true(mistral.window == 4096 && mistral.window_from == 0 && !mistral.qkv_bias);
    assert_true(qwen2.qkv_bias && !qwen2.output_bias && qwen2.window == 0 && qwen2.tied);
    assert_true(qwen3.qk_norm && !qwen3.qkv_bias && model_spec_head_dim(&qwen3) == 128);
}

/* ---- a file with one field changed ---- */

/* The bundled model with the members of `change` (a JSON object) put in; null as a string "-" removes one. */
static Status parse_changed(ModelSpec *spec, const char *model, const char *change)
{
    const ModelFile *file = model_file_bundled;
    while (strcmp(file->name, model) != 0) file++;
    json_t *root = json_loads(file->text, 0, NULL), *with = json_loads(change, 0, NULL);
    assert_non_null(with);
    json_object_update(root, with);
    const char *name;
    json_t *value;
    json_object_foreach(with, name, value)
    {
        if (json_is_string(value) && strcmp(json_string_value(value), "-") == 0)
            json_object_del(root, name);
    }
    char *text = json_dumps(root, 0);
    const Status status = model_file_parse(spec, text, strlen(text), "config.json");
    free(text);
    json_decref(root);
    json_decref(with);
    return status;
}

static ModelSpec changed(const char *model, const char *change)
{
    ModelSpec spec;
    const Status status = parse_changed(&spec, model, change);
    if (status != ST_OK) fail_msg("%s %s: %s", model, change, status_message());
    return spec;
}

static void both_spellings_of_rope_mean_the_same(void **state)
{
    (void)state;
    const ModelSpec four = load("llama-3.2-1b");
    const ModelSpec five = changed(
        "llama-3.2-1b", "{\"rope_theta\": \"-\", \"rope_scaling\": \"-\", \"rope_parameters\": {"
                        "\"rope_theta\": 500000.0, \"rope_type\": \"llama3\", \"factor\": 32.0,"
                        "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0,"
                        "\"original_max_position_embeddings\": 8192}}");
    assert_string_equal(model_spec_hash(&four).s, model_spec_hash(&five).s);
    const ModelSpec neox = load("pythia-160m");
    const ModelSpec neox5 =
        changed("pythia-160m", "{\"rotary_pct\": \"-\", \"rotary_emb_base\": \"-\","
                               "\"rope_parameters\": {\"rope_theta\": 10000,"
                               "\"partial_rotary_factor\": 0.25, \"rope_type\": \"default\"}}");
    assert_string_equal(model_spec_hash(&neox).s, model_spec_hash(&neox5).s);
}

static void windows_follow_each_class(void **state)
{
    (void)state;
    assert_true(changed("mistral-7b", "{\"sliding_window\": null}").window == 0);
    assert_true(changed("mistral-7b", "{\"sliding_window\": \"-\"}").window == 4096);
    assert_true(changed("llama-3.2-1b", "{\"sliding_window\": 16}").window == 0);
    const ModelSpec qwen =
        changed("qwen2.5-0.5b", "{\"use_sliding_window\": true,"
                                "\"sliding_window\": 64, \"max_window_layers\": 20}");
    assert_true(qwen.window == 64 && qwen.window_from == 20);
    const ModelSpec all =
        changed("qwen2.5-0.5b", "{\"use_sliding_window\": true,"
                                "\"sliding_window\": 64, \"max_window_layers\": 0}");
    assert_true(all.window == 64 && all.window_from == 0);
    const ModelSpec typed =
        changed("qwen3-0.6b", "{\"num_hidden_layers\": 3, \"use_sliding_window\": true,"
                              "\"sliding_window\": 8, \"layer_types\": [\"full_attention\","
                              "\"sliding_attention\", \"sliding_attention\"]}");
    assert_true(typed.window == 8 && typed.window_from == 1);
    const ModelSpec every =
        changed("mistral-7b", "{\"num_hidden_layers\": 2, \"sliding_window\": 8, \"layer_types\":"
                              "[\"full_attention\", \"sliding_attention\"]}");
    assert_true(every.window == 8 && every.window_from == 0);
}

/* Only Llama's feed-forward has biases, whatever the file says. */
static void biases_follow_each_class(void **state)
{
    (void)state;
    assert_true(changed("llama-3.2-1b", "{\"mlp_bias\": true}").feed_forward_bias);
    static const char *const others[] = {"mistral-7b", "qwen2.5-0.5b", "qwen3-0.6b"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(changed(others[i], "{\"mlp_bias\": true}").feed_forward_bias);
}

static void what_changes_no_computation_is_ignored(void **state)
{
    (void)state;
    const ModelSpec before = load("qwen3-0.6b");
    const ModelSpec after = changed(
        "qwen3-0.6b", "{\"bos_token_id\": 3, \"torch_dtype\": \"bfloat16\", \"use_cache\": true,"
                      "\"initializer_range\": 0.5, \"transformers_version\": \"5.17\","
                      "\"attention_dropout\": 0.1, \"rope_scaling\": null}");
    assert_string_equal(model_spec_hash(&before).s, model_spec_hash(&after).s);
    assert_true(after.dropout && !before.dropout);
    const ModelSpec deeper = changed("qwen3-0.6b", "{\"num_hidden_layers\": 29}");
    assert_string_not_equal(model_spec_hash(&before).s, model_spec_hash(&deeper).s);
}

/* ---- refused ---- */

typedef struct Refused {
    const char *model, *change, *message;
} Refused;

static const Refused refused[] = {
    {"llama-3.2-1b", "{\"hidden_size\": \"-\"}", "hidden_size is missing"},
    {"llama-3.2-1b", "{\"hidden_size\": null}", "hidden_size is missing"},
    {"llama-3.2-1b", "{\"hidden_size\": \"2048\"}", "hidden_size is not a whole number"},
    {"llama-3.2-1b", "{\"hidden_size\": 2048.5}", "hidden_size is not a whole number"},
    {"llama-3.2-1b", "{\"hidden_size\": -1}", "hidden_size is -1"},
    {"llama-3.2-1b", "{\"hidden_size\": 0}", "hidden_size is 0"},
    {"llama-3.2-1b", "{\"vocab_size\": 9000000000000000000}", "vocab_size is 9000000000000000000"},
    {"llama-3.2-1b", "{\"num_hidden_layers\": 1025}",
     "config.json': num_hidden_layers is 1025, and must be 1 to 1024"},
    {"gpt2", "{\"n_layer\": 4096}", "n_layer is 4096, and must be 1 to 1024"},
    {"llama-3.2-1b", "{\"max_position_embeddings\": 3000000000}",
     "max_position_embeddings is 3000000000, and must be 1 to 2147483647"},
    {"llama-3.2-1b", "{\"rms_norm_eps\": 1e300}", "rms_norm_eps is 1e+300, and must be 1e-30 to 1"},
    {"gpt2", "{\"layer_norm_epsilon\": 0}", "layer_norm_epsilon is 0, and must be 1e-30 to 1"},
    {"llama-3.2-1b", "{\"rope_scaling\": {\"type\": \"linear\", \"factor\": 1e9}}",
     "factor of RoPE scaling is 1e+09, and must be 1e-06 to 1e+06"},
    {"qwen3-0.6b", "{\"max_window_layers\": -1}",
     "max_window_layers is -1, and must be 0 to 2147483647"},
    {"mistral-7b", "{\"sliding_window\": 0}", "sliding_window is 0, and must be 1 to 2147483647"},
    {"llama-3.1-8b", "{\"num_attention_heads\": 33}", "33 heads do not divide a width of 4096"},
    {"llama-3.2-1b", "{\"num_key_value_heads\": 5}", "5 key-value heads do not divide 32 heads"},
    {"llama-3.2-1b", "{\"head_dim\": 63}", "RoPE rotates 63 elements"},
    {"llama-3.2-1b", "{\"hidden_act\": \"relu\"}", "hidden_act 'relu' is not supported"},
    {"llama-3.2-1b", "{\"hidden_act\": \"gelu\"}", "hidden_act 'gelu' is not supported"},
    {"llama-3.2-1b", "{\"hidden_act\": 3}", "hidden_act of this form is not supported"},
    {"gpt2", "{\"activation_function\": \"silu\"}", "activation_function 'silu' is not supported"},
    {"gpt2", "{\"scale_attn_by_inverse_layer_idx\": true}", "scale_attn_by_inverse_layer_idx"},
    {"gpt2", "{\"scale_attn_weights\": false}", "scale_attn_weights is not supported"},
    {"gpt2", "{\"attn_pdrop\": 1.5}", "attn_pdrop is 1.5, and must be 0 to 1"},
    {"llama-3.2-1b", "{\"quantization_config\": {\"bits\": 4}}", "quantization_config"},
    {"llama-3.2-1b", "{\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2}}", "scaling 'yarn'"},
    {"llama-3.2-1b", "{\"rope_scaling\": {\"rope_type\": \"linear\"}}",
     "factor of RoPE scaling is missing"},
    {"llama-3.2-1b", "{\"rope_scaling\": 2}", "rope_scaling is not an object"},
    {"llama-3.2-1b",
     "{\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 4,"
     "\"high_freq_factor\": 4, \"original_max_position_embeddings\": 9}}",
     "low_freq_factor 4 is not below high_freq_factor 4"},
    {"llama-3.2-1b", "{\"rope_theta\": -1}", "rope_theta is -1, and must be 1e-06 to 1e+15"},
    {"pythia-160m", "{\"rotary_pct\": 1.5}", "rotary_pct is 1.5, and must be 1e-06 to 1"},
    {"pythia-160m", "{\"rotary_pct\": 0.001}", "RoPE rotates 0 elements"},
    {"pythia-160m", "{\"use_parallel_residual\": 1}", "use_parallel_residual is neither"},
    {"qwen3-0.6b", "{\"layer_types\": [\"full_attention\"]}", "layer_types does not list 28"},
    {"qwen3-0.6b",
     "{\"num_hidden_layers\": 2, \"layer_types\": [\"sliding_attention\", \"full_attention\"]}",
     "full attention after sliding_attention"},
    {"qwen3-0.6b", "{\"num_hidden_layers\": 1, \"layer_types\": [\"linear_attention\"]}",
     "layer_types[0] is neither"},
    {"qwen3-0.6b", "{\"architectures\": [\"Qwen3VLForCausalLM\"]}",
     "'Qwen3VLForCausalLM' is not supported; these are: LlamaForCausalLM, MistralForCausalLM, "
     "Qwen2ForCausalLM, Qwen3ForCausalLM, GPT2LMHeadModel, GPTNeoXForCausalLM, "
     "MixtralForCausalLM, Qwen3MoeForCausalLM"},
    {"qwen3-0.6b", "{\"architectures\": [\"WhisperModel\"]}", "'WhisperModel' is not supported"},
    {"qwen3-0.6b", "{\"architectures\": \"-\", \"model_type\": \"-\"}", "no \"architectures\""},
    {"qwen3-0.6b", "{\"num_experts\": 128}", "num_experts is not supported"},
};

static void assert_refused(const Refused *r)
{
    ModelSpec spec;
    if (parse_changed(&spec, r->model, r->change) != ST_USAGE) fail_msg("%s is taken", r->change);
    if (!strstr(status_message(), r->message)) fail_msg("%s: %s", r->change, status_message());
    assert_null(strpbrk(status_message(), "\n\r"));
}

static void bad_fields_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) assert_refused(&refused[i]);
}

static void texts_that_are_no_configuration_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",
                                        "{",
                                        "[]",
                                        "3",
                                        "{\"architectures\": 3}",
                                        "\xff\xfe",
                                        "{\"vocab_size\": 1, \"vocab_size\": 2}"};
    ModelSpec spec;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(model_file_parse(&spec, texts[i], strlen(texts[i]), "f"), ST_USAGE);
}

static void a_folder_gives_the_model_its_name(void **state)
{
    (void)state;
    char folder[] = "/tmp/roofstep-model-XXXXXX";
    assert_non_null(mkdtemp(folder));
    Text path = {0};
    text_printf(&path, "%s/config.json", folder);
    const char *text = model_file_bundled[0].text;
    assert_int_equal(text_write_file(text_str(&path), text, strlen(text)), ST_OK);
    ModelSpec spec;
    assert_int_equal(model_file_load(&spec, folder), ST_OK);
    assert_string_equal(spec.name, strrchr(folder, '/') + 1);
    assert_int_equal(model_file_load(&spec, text_str(&path)), ST_OK);
    assert_string_equal(spec.name, strrchr(folder, '/') + 1);
    char *large = calloc(1, 2 << 20);
    assert_int_equal(text_write_file(text_str(&path), large, 2 << 20), ST_OK);
    assert_int_not_equal(model_file_load(&spec, folder), ST_OK);
    free(large);
    unlink(text_str(&path));
    assert_int_not_equal(model_file_load(&spec, folder), ST_OK);
    rmdir(folder);
    text_free(&path);
    assert_int_equal(model_file_load(&spec, "lama-3.2-1b"), ST_USAGE);
    assert_non_null(strstr(status_message(), "did you mean llama-3.2-1b"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bundled_models_are_read),
        cmocka_unit_test(llama_is_what_its_file_says),
        cmocka_unit_test(the_others_differ_as_their_classes_do),
        cmocka_unit_test(both_spellings_of_rope_mean_the_same),
        cmocka_unit_test(windows_follow_each_class),
        cmocka_unit_test(biases_follow_each_class),
        cmocka_unit_test(what_changes_no_computation_is_ignored),
        cmocka_unit_test(bad_fields_are_refused_by_name),
        cmocka_unit_test(texts_that_are_no_configuration_are_refused),
        cmocka_unit_test(a_folder_gives_the_model_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
