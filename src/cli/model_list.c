#include "base/human.h"
#include "cli/name_list.h"
#include "config/model_file.h"
#include "model/model.h"

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

typedef struct Sizes {
    const char *least, *most;
    int64_t of_least, of_most;
} Sizes;

static Status add_row(Table *table, const char *name, Sizes *sizes)
{
    ModelSpec spec;
    int64_t parameters = 0;
    TRY(model_file_load(&spec, name));
    TRY(count_parameters(&spec, &parameters));
    if (!sizes->least || parameters < sizes->of_least)
        sizes->least = name, sizes->of_least = parameters;
    if (parameters > sizes->of_most) sizes->most = name, sizes->of_most = parameters;
    TABLE_CELLS(table, name, human_count(parameters).s, human_count(spec.num_layers).s,
                human_count(spec.d_model).s);
    table_cell_printf(table, "%lld / %lld", (long long)spec.num_heads,
                      (long long)model_spec_kv_heads(&spec));
    TABLE_CELLS(table, human_count(spec.vocab).s, human_count(spec.positions).s);
    return ST_OK;
}

Status model_list_fill(Table *table, Text *conclusion)
{
    Sizes sizes = {0};
    table->title = "Bundled models";
    TABLE_COLUMNS(table, 1, "model", "parameters", "layers", "width", "heads / of k and v",
                  "vocabulary", "positions");
    for (int i = 0; model_file_names[i]; i++) TRY(add_row(table, model_file_names[i], &sizes));
    table_note(table, "--model takes one of these, a config.json of Hugging Face, or its folder");
    text_printf(conclusion, "Largest: %s, %s parameters; smallest: %s, %s.", sizes.most,
                human_si((double)sizes.of_most).s, sizes.least, human_si((double)sizes.of_least).s);
    return ST_OK;
}
