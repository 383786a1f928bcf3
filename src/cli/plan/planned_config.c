#include "cli/plan/planned_config.h"

#include "base/human.h"
#include "config/cell_field.h"

#include <string.h>

Config planned_config_used(const Config *config, const Placement *placement, Attention attention)
{
    Config used = placement_settle(config, placement);
    used.attention = attention;
    return used;
}

Status planned_config_json(json_t *json, const Config *config, const Placement *placement,
                           Attention attention, const char *unsupported)
{
    const Config shown = unsupported ? *config : planned_config_used(config, placement, attention);
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (id == OPTION_BLAS) continue; /* of results: who did multiply */
        if (cell_field_table[id].part == CELL_PART_RANKS && config->ranks <= 1) continue;
        if (cell_field_is_work(id) && cell_field_applies(id, config))
            TRY(record_put_field(json, id, &shown));
    }
    TRY(record_put_model(json, &config->model));
    TRY(record_put_text(json, "status", unsupported ? "unsupported" : "ok"));
    return unsupported ? record_put_text(json, "message", unsupported) : ST_OK;
}

Status planned_config_put_mib(json_t *json, const char *path, size_t bytes)
{
    return record_put_number(json, path, (double)bytes / (1024.0 * 1024.0));
}

/* Not what differs from cell to cell, what nobody has chosen yet, and what is off. */
static bool is_told(int id, const bool *varies, const Config *config, const char *value)
{
    if (!cell_field_table[id].label) return false;
    if (!cell_field_is_work(id) || !cell_field_applies(id, config) || varies[id]) return false;
    if (id == OPTION_ATTENTION && varies[OPTION_EXEC]) return false; /* auto follows it */
    if (id == OPTION_RECOMPUTE) return config->recompute != CONFIG_RECOMPUTE_NONE;
    if (id == OPTION_ACCUMULATE) return config->accumulate > 1;
    if (id == OPTION_BUCKET && config->bucket == 0) return false;
    if (id == OPTION_COMM_PRECISION && config->comm_precision == COMM_PRECISION_AUTO) return false;
    if (cell_field_table[id].part == CELL_PART_RANKS) return config->ranks > 1;
    return strcmp(value, "auto") != 0;
}

/* What a configuration file says of attention and the head beside the dimensions that have options. */
static void put_model(Text *text, const ModelSpec *m)
{
    const int64_t kv_heads = model_spec_kv_heads(m), d_head = model_spec_head_dim(m);
    if (kv_heads != m->num_heads) text_printf(text, ", kv_heads %lld", (long long)kv_heads);
    if (d_head * m->num_heads != m->d_model) text_printf(text, ", d_head %lld", (long long)d_head);
    if (model_spec_has_window(m)) text_printf(text, ", window %lld", (long long)m->window);
    if (model_spec_has_window(m) && m->window_from > 0)
        text_printf(text, " from layer %lld on", (long long)m->window_from);
    text_puts(text, m->tied ? ", head tied to the embedding" : "");
}

void planned_config_note(Table *table, const Sweep *sweep, const Config *config,
                         const Placement *placement, Attention attention)
{
    const Config used = placement ? planned_config_used(config, placement, attention) : *config;
    const char *separator = sweep->n == 1 ? "" : "every cell: ";
    Text text = {0};
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        const ConfigText value = option_value_text((OptionId)id, &used);
        if (!is_told(id, sweep->varies, config, value.s)) continue;
        if (id == OPTION_THREADS && !placement) continue;
        text_printf(&text, "%s%s %s", separator, cell_field_table[id].label, value.s);
        separator = ", ";
        if (id == OPTION_NUM_HEADS && !sweep->varies[OPTION_SIZE] &&
            model_spec_is_file(&used.model))
            put_model(&text, &used.model);
    }
    table_note_text(table, &text);
}

void planned_config_head_note(Table *table, const HeadChunks *head)
{
    if (head->n <= 1) return;
    table_note_printf(table, "logits in %d chunks of %lld rows: %s instead of %s%s", head->n,
                      (long long)head->rows, human_bytes((double)head->bytes).s,
                      human_bytes((double)head->whole_bytes).s,
                      head->gradients ? "; the head's gradients are part of forward" : "");
}

void planned_config_fp8_note(Table *table, const char *left)
{
    if (*left)
        table_note_printf(
            table, "%s stay in bf16: fp8 takes sizes that are multiples of 16, and no experts",
            left);
}

Status planned_config_head_json(json_t *json, const HeadChunks *head)
{
    if (head->n <= 1) return ST_OK;
    TRY(record_put_int(json, "logits.chunks", head->n));
    TRY(record_put_int(json, "logits.rows", head->rows));
    TRY(planned_config_put_mib(json, "logits.chunk_mib", head->bytes));
    return planned_config_put_mib(json, "logits.whole_mib", head->whole_bytes);
}

void planned_config_unsupported(Table *table, const char *label, const char *why)
{
    table_cell(table, label);
    table_cell(table, "unsupported");
    table_dashes(table, table->n_columns - 2);
    table_note_printf(table, "%s: %s", label, why);
}
