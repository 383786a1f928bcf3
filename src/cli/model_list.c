#include "cli/model_list.h"

#include "base/human.h"
#include "cli/output.h"
#include "config/model_file.h"
#include "model/model.h"
#include "report/format/table_write.h"

#include <stdio.h>
#include <string.h>

/* By the plan, as everywhere. */
static Status count_parameters(const ModelSpec *spec, int64_t *n)
{
    Config config;
    CLEANUP(model_free) Model model = {0};
    config_defaults(&config);
    config.model = *spec;
    TRY(model_build(&model, &config, MODE_FWD, DT_F32));
    *n = model.n_elements;
    return ST_OK;
}

static Status add_row(Table *table, const char *name)
{
    ModelSpec spec;
    int64_t parameters = 0;
    TRY(model_file_load(&spec, name));
    TRY(count_parameters(&spec, &parameters));
    TABLE_CELLS(table, name, human_count(parameters).s, human_count(spec.num_layers).s,
                human_count(spec.d_model).s);
    table_cell_printf(table, "%lld / %lld", (long long)spec.num_heads,
                      (long long)model_spec_kv_heads(&spec));
    TABLE_CELLS(table, human_count(spec.vocab).s, human_count(spec.positions).s);
    return ST_OK;
}

static Status fill(Table *table)
{
    TABLE_COLUMNS(table, 1, "model", "parameters", "layers", "width", "heads / of k and v",
                  "vocabulary", "positions");
    for (int i = 0; model_file_names[i]; i++) TRY(add_row(table, model_file_names[i]));
    table_note(table, "--model takes one of these, a config.json of Hugging Face, or its folder");
    return ST_OK;
}

static bool is_for_people(const char *format)
{
    for (int i = 0; table_write_formats[i]; i++) {
        if (strcmp(table_write_formats[i]->name, format) == 0) return true;
    }
    return false;
}

static Status check(const Settings *settings, const OptionSet *options)
{
    const char *format = settings->format;
    if (settings->out_json || (*format && !is_for_people(format)))
        return FAIL(ST_USAGE, "--model list is a table for people: --format md, latex or typst");
    if (settings->out && !option_takes(options, OPTION_FORMAT))
        return FAIL(ST_USAGE, "--model list: this command writes no tables to a file; roofstep plan"
                              " --model list --out FILE does");
    return ST_OK;
}

Status model_list_write(const Settings *settings, const OptionSet *options)
{
    Table table = {0};
    CLEANUP(text_free) Text text = {0};
    TRY(check(settings, options));
    if (settings->out) TRY(output_take(settings->out));
    Status status = fill(&table);
    if (status == ST_OK)
        status = table_write_next(&text, *settings->format ? settings->format : "md", &table);
    table_free(&table);
    return status == ST_OK ? output_text(settings, &text) : status;
}
