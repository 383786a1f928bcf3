#include "cli/plan/sweep_note.h"

#include "cli/plan/config_json.h"
#include "config/cell_field.h"

#include <string.h>

/* Not what differs from cell to cell, what nobody has chosen yet, and what is off. */
static bool is_told(int id, const bool *varies, const Config *config, const char *value)
{
    if (!cell_field_is_work(id) || !cell_field_of(id, config->subject) || varies[id]) return false;
    if (id == OPTION_ATTENTION && varies[OPTION_EXEC]) return false; /* auto follows it */
    if (id == OPTION_RECOMPUTE) return config->recompute != CONFIG_RECOMPUTE_NONE;
    return strcmp(value, "auto") != 0;
}

void sweep_note(Table *table, const Sweep *sweep, const Config *config, const Placement *placement,
                Attention attention)
{
    const Config used = placement ? config_json_used(config, placement, attention) : *config;
    const char *separator = sweep->n == 1 ? "" : "every cell: ";
    CLEANUP(text_free) Text text = {0};
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        const ConfigText value = option_value_text((OptionId)id, &used);
        if (!is_told(id, sweep->varies, config, value.s)) continue;
        if (id == OPTION_THREADS && !placement) continue;
        text_printf(&text, "%s%s %s", separator, cell_field_table[id].label, value.s);
        separator = ", ";
    }
    table_note(table, text_str(&text));
    table->failed = table->failed || text.failed;
}
