/* Names, shapes and places of the parameters in a model's own files. */
#include "config/model_file.h"
#include "model/file_tensor.h"
#include "with_cmocka.h"

#include <stdlib.h>
#include <string.h>

/* Two layers of a model that is known by name: enough to see every line of the table. */
static Config shallow(const char *name)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(model_file_load(&c.model, name), ST_OK);
    c.model.num_layers = 2;
    c.ctx = 8;
    c.batch = 1;
    return c;
}

static const FileTensor *find(const FileTensors *list, const char *name)
{
    for (int i = 0; i < list->n; i++) {
        if (strcmp(list->tensors[i].name, name) == 0) return &list->tensors[i];
    }
    fail_msg("no tensor %s", name);
    return NULL;
}

static void has(const FileTensors *list, const char *name, int64_t rows, int64_t cols)
{
    const FileTensor *t = find(list, name);
    assert_int_equal(t->n_dims, cols ? 2 : 1);
    assert_int_equal(t->dim[0], rows);
    if (cols) assert_int_equal(t->dim[1], cols);
}

static void open_list(Model *model, FileTensors *list, const Config *c)
{
    int64_t elements = 0;
    assert_int_equal(model_build(model, c, MODE_FWD, DT_F32), ST_OK);
    assert_int_equal(file_tensor_list(list, model), ST_OK);
    for (int i = 0; i < list->n; i++) elements += file_tensor_elements(&list->tensors[i]);
    assert_int_equal(elements, model->n_elements);
}

static void llama_family(void **state)
{
    (void)state;
    Config c = shallow("qwen3-0.6b");
    Model model;
    FileTensors list;
    open_list(&model, &list, &c);
    assert_string_equal(list.tensors[0].name, "model.embed_tokens.weight");
    assert_string_equal(list.tensors[0].bare, "embed_tokens.weight");
    assert_string_equal(list.tensors[list.n - 1].name, "model.norm.weight"); /* the head is tied */
    assert_int_equal(list.n, 2 + 2 * 11);
    has(&list, "model.embed_tokens.weight", 151936, 1024);
    has(&list, "model.layers.1.self_attn.q_proj.weight", 2048, 1024);
    has(&list, "model.layers.1.self_attn.v_proj.weight", 1024, 1024);
    has(&list, "model.layers.0.self_attn.q_norm.weight", 128, 0);
    has(&list, "model.layers.0.self_attn.o_proj.weight", 1024, 2048);
    has(&list, "model.layers.0.mlp.down_proj.weight", 1024, 3072);
    const FileTensor *up = find(&list, "model.layers.1.mlp.up_proj.weight");
    assert_string_equal(model.params[up->part[0]].name, "layers.1.ffn.w3");
    file_tensor_free(&list);
    model_free(&model);

    c = shallow("qwen2.5-0.5b");
    open_list(&model, &list, &c);
    has(&list, "model.layers.1.self_attn.k_proj.bias", 128, 0);
    file_tensor_free(&list);
    model_free(&model);

    c = shallow("llama-3.1-8b");
    c.model.qkv_bias = c.model.output_bias = c.model.feed_forward_bias = true;
    open_list(&model, &list, &c);
    has(&list, "lm_head.weight", 128256, 4096);
    assert_ptr_equal(find(&list, "lm_head.weight")->bare, find(&list, "lm_head.weight")->name);
    has(&list, "model.layers.1.self_attn.o_proj.bias", 4096, 0);
    has(&list, "model.layers.1.mlp.gate_proj.bias", 14336, 0);
    file_tensor_free(&list);
    model_free(&model);
}

static void is_at(const FileTensor *t, int part, int64_t row, int64_t first, int64_t step)
{
    const FileRow at = file_tensor_row(t, part, row);
    assert_int_equal(at.first, first);
    assert_int_equal(at.step, step);
}

static void gpt2_is_stored_in_x_out(void **state)
{
    (void)state;
    const Config c = shallow("gpt2");
    Model model;
    FileTensors list;
    open_list(&model, &list, &c);
    has(&list, "transformer.wpe.weight", 1024, 768);
    has(&list, "transformer.h.1.attn.c_attn.weight", 768, 3 * 768);
    has(&list, "transformer.h.1.attn.c_attn.bias", 3 * 768, 0);
    has(&list, "transformer.h.1.mlp.c_fc.weight", 768, 3072);
    has(&list, "transformer.h.1.mlp.c_proj.weight", 3072, 768);
    has(&list, "transformer.ln_f.bias", 768, 0);
    const FileTensor *t = find(&list, "transformer.h.1.attn.c_attn.weight");
    assert_string_equal(t->bare, "h.1.attn.c_attn.weight");
    assert_string_equal(model.params[t->part[1]].name, "layers.1.attn.k_proj");
    is_at(t, 0, 5, 5, 3 * 768); /* output 5 of q is column 5 */
    is_at(t, 2, 0, 2 * 768, 3 * 768);
    t = find(&list, "transformer.h.0.attn.c_attn.bias");
    is_at(t, 1, 3, 768 + 3, 1);
    file_tensor_free(&list);
    model_free(&model);
}

static void neox_has_heads_side_by_side(void **state)
{
    (void)state;
    const Config c = shallow("pythia-160m"); /* 12 heads of 64 */
    Model model;
    FileTensors list;
    open_list(&model, &list, &c);
    has(&list, "gpt_neox.layers.1.attention.query_key_value.weight", 3 * 768, 768);
    has(&list, "gpt_neox.layers.1.attention.query_key_value.bias", 3 * 768, 0);
    has(&list, "embed_out.weight", 50304, 768);
    const FileTensor *t = find(&list, "gpt_neox.layers.0.attention.query_key_value.weight");
    is_at(t, 0, 7, 7 * 768, 1);         /* q of head 0 */
    is_at(t, 1, 7, (64 + 7) * 768, 1);  /* k of head 0 */
    is_at(t, 0, 64, (3 * 64) * 768, 1); /* q of head 1 */
    is_at(t, 2, 64 + 9, (3 * 64 + 2 * 64 + 9) * 768, 1);
    is_at(find(&list, "gpt_neox.layers.0.attention.query_key_value.bias"), 1, 65, 3 * 64 + 64 + 1,
          1);
    file_tensor_free(&list);
    model_free(&model);
}

/* Each element of each tensor is one of one parameter. */
static void every_element_has_one_place(void **state)
{
    (void)state;
    static const char *const names[] = {"mistral-7b",  "qwen3-8b",     "gpt2",
                                        "pythia-1.4b", "mixtral-8x7b", "qwen3-30b-a3b"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
        Config c = shallow(names[n]);
        c.model.d_model = 30;
        c.model.num_heads = 3;
        c.model.num_kv_heads = 0;
        c.model.head_dim = 10;
        c.model.d_ff = 7;
        c.model.vocab = c.model.positions = 11;
        Model model;
        FileTensors list;
        open_list(&model, &list, &c);
        for (int i = 0; i < list.n; i++) {
            const FileTensor *t = &list.tensors[i];
            char *seen = calloc((size_t)file_tensor_elements(t), 1);
            for (int p = 0; p < t->n_parts; p++) {
                for (int64_t r = 0; r < t->rows[p]; r++) {
                    const FileRow at = file_tensor_row(t, p, r);
                    for (int64_t k = 0; k < t->cols; k++) seen[at.first + k * at.step]++;
                }
            }
            for (int64_t k = 0; k < file_tensor_elements(t); k++) assert_int_equal(seen[k], 1);
            free(seen);
        }
        file_tensor_free(&list);
        model_free(&model);
    }
}

static void own_model_keeps_its_names(void **state)
{
    (void)state;
    Config c;
    Model model;
    FileTensors list;
    config_defaults(&c);
    c.ctx = 8;
    open_list(&model, &list, &c);
    assert_int_equal(list.n, model.n_params);
    for (int i = 0; i < list.n; i++) {
        assert_string_equal(list.tensors[i].name, model.params[i].name);
        assert_int_equal(list.tensors[i].part[0], i);
    }
    file_tensor_free(&list);
    model_free(&model);
}

static void names_are(Architecture architecture, const char *name, FileNameKind kind, int64_t layer)
{
    const FileName is = file_tensor_identify(architecture, name);
    if (is.kind != kind || is.layer != layer)
        fail_msg("%s is of kind %d, layer %lld", name, (int)is.kind, (long long)is.layer);
}

/* Each expert's matrices are rows of the parameters of all. */
static void experts_have_tensors_of_their_own(void **state)
{
    (void)state;
    Config c = shallow("qwen3-30b-a3b");
    Model model;
    FileTensors list;
    open_list(&model, &list, &c);
    has(&list, "model.layers.1.mlp.gate.weight", 128, 2048);
    has(&list, "model.layers.1.mlp.experts.127.down_proj.weight", 2048, 768);
    const FileTensor *up = find(&list, "model.layers.0.mlp.experts.3.up_proj.weight");
    assert_string_equal(model.params[up->part[0]].name, "layers.0.ffn.experts.w3");
    assert_int_equal(up->first_row, 3 * 768);
    file_tensor_free(&list);
    model_free(&model);

    c = shallow("mixtral-8x7b");
    open_list(&model, &list, &c);
    has(&list, "model.layers.0.block_sparse_moe.experts.7.w2.weight", 4096, 14336);
    file_tensor_free(&list);
    model_free(&model);

    const char *of_one = "model.layers.1.block_sparse_moe.experts.12.w1.weight";
    const FileName is = file_tensor_identify(ARCHITECTURE_MIXTRAL, of_one);
    assert_true(is.kind == FILE_NAME_PARAMETER && is.layer == 1 && is.expert == 12);
    names_are(ARCHITECTURE_QWEN3_MOE, of_one, FILE_NAME_UNKNOWN, -1);
    names_are(ARCHITECTURE_QWEN3, "model.layers.1.mlp.gate.weight", FILE_NAME_UNKNOWN, -1);
    names_are(ARCHITECTURE_QWEN3_MOE, "layers.1.mlp.experts..up_proj.weight", FILE_NAME_UNKNOWN,
              -1);
}

static void names_of_files_are_known(void **state)
{
    (void)state;
    const Architecture llama = ARCHITECTURE_QWEN3, gpt2 = ARCHITECTURE_GPT2;
    names_are(llama, "model.layers.31.self_attn.q_proj.bias", FILE_NAME_PARAMETER, 31);
    names_are(llama, "layers.7.mlp.up_proj.weight", FILE_NAME_PARAMETER, 7);
    names_are(llama, "model.norm.weight", FILE_NAME_PARAMETER, -1);
    names_are(llama, "lm_head.weight", FILE_NAME_HEAD, -1);
    names_are(llama, "model.layers.0.self_attn.rotary_emb.inv_freq", FILE_NAME_BUFFER, -1);
    names_are(llama, "rotary_emb.inv_freq", FILE_NAME_BUFFER, -1);
    names_are(llama, "model.layers.x.mlp.up_proj.weight", FILE_NAME_UNKNOWN, -1);
    names_are(llama, "model.layers..mlp.up_proj.weight", FILE_NAME_UNKNOWN, -1);
    names_are(llama, "model.layers.99999999999.mlp.up_proj.weight", FILE_NAME_UNKNOWN, -1);
    names_are(llama, "model.layers.1.mlp.up_proj.weight.x", FILE_NAME_UNKNOWN, -1);
    names_are(llama, "my_rotary_emb.inv_freq", FILE_NAME_UNKNOWN, -1);
    names_are(llama, "", FILE_NAME_UNKNOWN, -1);
    names_are(gpt2, "h.2.attn.bias", FILE_NAME_BUFFER, -1);
    names_are(gpt2, "h.2.attn.c_attn.bias", FILE_NAME_PARAMETER, 2);
    names_are(gpt2, "h.2.crossattention.bias", FILE_NAME_UNKNOWN, -1);
    names_are(ARCHITECTURE_NEOX, "embed_out.weight", FILE_NAME_HEAD, -1);
    names_are(ARCHITECTURE_NEOX, "h.2.attn.bias", FILE_NAME_UNKNOWN, -1);
}

/* A plan that has what no line names, or half of what one does. */
static void a_parameter_without_a_name_is_refused(void **state)
{
    (void)state;
    const Config c = shallow("gpt2");
    Model model;
    FileTensors list;
    assert_int_equal(model_build(&model, &c, MODE_FWD, DT_F32), ST_OK);
    Param *last = &model.params[model.n_params - 1], kept = *last;
    strcpy(last->name, "layers.1.ffn.router");
    assert_int_equal(file_tensor_list(&list, &model), ST_UNSUPPORTED);
    assert_non_null(strstr(status_message(), "layers.1.ffn.router"));
    strcpy(last->name, "layers.7.ln1");
    assert_int_equal(file_tensor_list(&list, &model), ST_UNSUPPORTED);
    *last = kept;
    for (int i = 0; i < model.n_params; i++) {
        if (strcmp(model.params[i].name, "layers.1.attn.v_proj") != 0) continue;
        model.params[i] = model.params[--model.n_params];
        break;
    }
    assert_int_equal(file_tensor_list(&list, &model), ST_UNSUPPORTED);
    model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_family),
        cmocka_unit_test(gpt2_is_stored_in_x_out),
        cmocka_unit_test(neox_has_heads_side_by_side),
        cmocka_unit_test(every_element_has_one_place),
        cmocka_unit_test(own_model_keeps_its_names),
        cmocka_unit_test(names_of_files_are_known),
        cmocka_unit_test(experts_have_tensors_of_their_own),
        cmocka_unit_test(a_parameter_without_a_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
