/* An export of a model from its own files: its parameters are theirs, under their names. */
#include "base/float16.h"
#include "base/safetensors_reader.h"
#include "base/text.h"
#include "config/model_file.h"
#include "config/option_id.h"
#include "exec/weights.h"
#include "report/export/export_step.h"
#include "report/export/safetensors.h"
#include "with_cmocka.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/roofstep-export-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char llama[] =
    "{\"architectures\": [\"LlamaForCausalLM\"], \"hidden_size\": 12, \"intermediate_size\": 10,"
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 2, \"num_key_value_heads\": 2,"
    " \"vocab_size\": 11, \"max_position_embeddings\": 64}";
static const char gpt2[] =
    "{\"architectures\": [\"GPT2LMHeadModel\"], \"n_embd\": 12, \"n_inner\": 10, \"n_layer\": 2,"
    " \"n_head\": 2, \"vocab_size\": 11, \"n_positions\": 16}";
static const char neox[] =
    "{\"architectures\": [\"GPTNeoXForCausalLM\"], \"hidden_size\": 12, \"intermediate_size\": 10,"
    " \"num_hidden_layers\": 2, \"num_attention_heads\": 3, \"rotary_pct\": 0.5,"
    " \"vocab_size\": 11, \"max_position_embeddings\": 64}";

static Config config_of(const char *json)
{
    Config c;
    config_defaults(&c);
    assert_int_equal(text_write_file(in_folder("config.json"), json, strlen(json)), ST_OK);
    assert_int_equal(model_file_load(&c.model, folder), ST_OK);
    snprintf(c.device, sizeof c.device, "cpu");
    c.threads = 1;
    c.ctx = 5;
    c.batch = 2;
    c.steps = 1;
    return c;
}

/* ---- files of weights ---- */

/* Which tensors a file gets, and how. */
typedef struct FileKind {
    DType dtype;
    bool bare;           /* without the prefix */
    int first, step;     /* every step-th tensor from the first on; step 0: all */
    const char *without; /* one that is left out; NULL: none */
    const char *longer;  /* one that has a row too many; NULL: none */
} FileKind;

/* A value that every dtype holds, another one for each element nearby. */
static float value_of(int tensor, int64_t i)
{
    return (float)((tensor * 37 + i * 11) % 251 - 125) / 256;
}

static void put_values(Safetensors *file, DType dtype, int tensor, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float x = value_of(tensor, i);
        const uint16_t half = dtype == DT_BF16 ? float16_to_bf16(x) : float16_to_f16(x);
        const size_t size = plan_dtype_size(dtype);
        const void *from = size == sizeof x ? (const void *)&x : (const void *)&half;
        assert_int_equal(safetensors_data(file, from, size), ST_OK);
    }
}

static bool is_in(const FileKind *kind, const FileTensor *t, int i)
{
    if (kind->without && strcmp(kind->without, t->name) == 0) return false;
    return kind->step == 0 || i % kind->step == kind->first;
}

/* What old files of the architecture have beside the parameters. */
static const char *buffer_name(const FileTensors *list)
{
    if (strstr(list->tensors[0].name, "wte")) return "h.0.attn.masked_bias";
    return strstr(list->tensors[0].name, "embed_in") ? "gpt_neox.layers.0.attention.masked_bias"
                                                     : "model.rotary_emb.inv_freq";
}

/* Pass 0 declares, pass 1 writes. */
static void put_tensors(Safetensors *file, const FileTensors *list, const FileKind *kind, int pass)
{
    static const int64_t buffer[] = {3};
    for (int i = 0; i < list->n; i++) {
        const FileTensor *t = &list->tensors[i];
        int64_t dim[2] = {t->dim[0], t->dim[1]};
        if (!is_in(kind, t, i)) continue;
        if (kind->longer && strcmp(kind->longer, t->name) == 0) dim[0]++;
        if (pass == 0)
            assert_int_equal(safetensors_declare(file, kind->bare ? t->bare : t->name, kind->dtype,
                                                 t->n_dims, dim),
                             ST_OK);
        else
            put_values(file, kind->dtype, i, dim[0] * (t->n_dims == 1 ? 1 : dim[1]));
    }
    if (kind->first > 0) return;
    if (pass == 0)
        assert_int_equal(safetensors_declare(file, buffer_name(list), kind->dtype, 1, buffer),
                         ST_OK);
    else
        put_values(file, kind->dtype, 99, buffer[0]);
}

static void put_weights(const char *name, const Config *c, const FileKind *kind)
{
    Model model;
    FileTensors list;
    Safetensors file;
    assert_int_equal(model_build(&model, c, MODE_FWD, DT_F32), ST_OK);
    assert_int_equal(file_tensor_list(&list, &model), ST_OK);
    assert_int_equal(safetensors_open(&file, in_folder(name)), ST_OK);
    put_tensors(&file, &list, kind, 0);
    assert_int_equal(safetensors_begin_data(&file), ST_OK);
    put_tensors(&file, &list, kind, 1);
    assert_int_equal(safetensors_finish(&file), ST_OK);
    file_tensor_free(&list);
    model_free(&model);
}

/* ---- what an export holds ---- */

static Status export_to(const Config *c, const char *model, ExportSummary *summary)
{
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("out/model.safetensors"));
    return export_step(c, model, path, NULL, summary);
}

/* The parameters of the export are the values of put_weights(). */
static void has_values(const Config *c)
{
    Model model;
    FileTensors list;
    SafetensorsReader *reader;
    assert_int_equal(model_build(&model, c, MODE_FWD, DT_F32), ST_OK);
    assert_int_equal(file_tensor_list(&list, &model), ST_OK);
    assert_int_equal(safetensors_reader_open(&reader, in_folder("out")), ST_OK);
    for (int i = 0; i < list.n; i++) {
        const FileTensor *t = &list.tensors[i];
        float values[1024];
        char name[FILE_TENSOR_NAME + 16];
        assert_in_range(file_tensor_elements(t), 1, 1024);
        snprintf(name, sizeof name, "param.%s", t->name);
        if (safetensors_reader_read(reader, name, t->n_dims, t->dim, values) != ST_OK)
            fail_msg("%s", status_message());
        for (int64_t k = 0; k < file_tensor_elements(t); k++) {
            if (values[k] != value_of(i, k))
                fail_msg("%s: element %lld is %g", name, (long long)k, (double)values[k]);
        }
    }
    safetensors_reader_close(reader);
    file_tensor_free(&list);
    model_free(&model);
}

static void check_export(const Config *c, double *loss)
{
    ExportSummary summary;
    if (export_to(c, folder, &summary) != ST_OK) fail_msg("%s", status_message());
    assert_true(summary.weights);
    *loss = summary.loss;
    has_values(c);
}

/* ---- tests ---- */

static void parameters_are_those_of_the_files(void **state)
{
    (void)state;
    static const char *const models[] = {llama, gpt2, neox};
    static const DType dtypes[] = {DT_F32, DT_BF16, DT_F16};
    for (int m = 0; m < 3; m++) {
        Config c = config_of(models[m]);
        double first = 0, loss = 0;
        for (int d = 0; d < 3; d++) {
            put_weights("model.safetensors", &c, &(FileKind){.dtype = dtypes[d], .bare = d == 1});
            check_export(&c, &loss);
            if (d == 0) first = loss;
            assert_true(loss == first);
        }
        c.precision = PRECISION_BF16; /* parameters in two halves */
        check_export(&c, &loss);
        assert_true(loss != first);
        c.exec = EXEC_EAGER;
        check_export(&c, &loss);
        unlink(in_folder("model.safetensors"));
    }
}

static void shards_are_read(void **state)
{
    (void)state;
    static const char index[] =
        "{\"weight_map\": {\"x\": \"a.safetensors\", \"y\": \"b.safetensors\"}}";
    const Config c = config_of(gpt2);
    double loss;
    put_weights("a.safetensors", &c, &(FileKind){.first = 0, .step = 2});
    put_weights("b.safetensors", &c, &(FileKind){.dtype = DT_BF16, .first = 1, .step = 2});
    assert_int_equal(
        text_write_file(in_folder("model.safetensors.index.json"), index, strlen(index)), ST_OK);
    check_export(&c, &loss);
    unlink(in_folder("a.safetensors"));
    unlink(in_folder("b.safetensors"));
    unlink(in_folder("model.safetensors.index.json"));
}

static void refused(const Config *c, const FileKind *kind, const char *name, const char *what)
{
    ExportSummary summary;
    put_weights("model.safetensors", c, kind);
    assert_int_equal(export_to(c, folder, &summary), ST_USAGE);
    if (!strstr(status_message(), name) || !strstr(status_message(), what))
        fail_msg("%s", status_message());
}

static void what_is_missing_or_of_another_shape_is_named(void **state)
{
    (void)state;
    const Config c = config_of(llama);
    static const char up[] = "model.layers.1.mlp.up_proj.weight", norm[] = "model.norm.weight";
    refused(&c, &(FileKind){.without = up}, up, "missing");
    refused(&c, &(FileKind){.longer = up}, up, "is [11, 12], and the model has [10, 12]");
    refused(&c, &(FileKind){.longer = norm}, norm, "is [13], and the model has [12]");
    refused(&c, &(FileKind){.dtype = DT_I32}, "model.embed_tokens.weight", "F32");
    Config deeper = c;
    put_weights("model.safetensors", &c, &(FileKind){.dtype = DT_F32});
    deeper.model.num_layers = 3;
    ExportSummary summary;
    assert_int_equal(export_to(&deeper, folder, &summary), ST_USAGE);
    deeper.model.num_layers = 1; /* the first of two layers: only where an option asks for it */
    assert_int_equal(export_to(&deeper, folder, &summary), ST_USAGE);
    assert_non_null(strstr(status_message(), "of a layer beyond the 1 of config.json"));
    deeper.model.changed = 1u << OPTION_NUM_LAYERS;
    assert_int_equal(export_to(&deeper, folder, &summary), ST_OK);
    unlink(in_folder("model.safetensors"));
}

static void without_weights_they_are_random(void **state)
{
    (void)state;
    const Config c = config_of(llama);
    ExportSummary summary;
    SafetensorsReader *weights;
    assert_int_equal(weights_open(&weights, NULL), ST_OK);
    assert_null(weights);
    assert_int_equal(weights_open(&weights, "gpt2"), ST_OK);
    assert_null(weights);
    assert_int_equal(export_to(&c, folder, &summary), ST_OK);
    assert_false(summary.weights);
    /* The configuration may be named itself. */
    double loss;
    put_weights("model.safetensors", &c, &(FileKind){.dtype = DT_F32});
    check_export(&c, &loss);
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("config.json"));
    assert_int_equal(export_to(&c, path, &summary), ST_OK);
    assert_true(summary.weights && summary.loss == loss);
    unlink(in_folder("model.safetensors"));
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && mkdir(in_folder("out"), 0700) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("out/model.safetensors"));
    rmdir(in_folder("out"));
    unlink(in_folder("config.json"));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_those_of_the_files),
        cmocka_unit_test(shards_are_read),
        cmocka_unit_test(what_is_missing_or_of_another_shape_is_named),
        cmocka_unit_test(without_weights_they_are_random),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
