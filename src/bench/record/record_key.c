/* The identity of a cell: everything it was asked for, in one line. */
#include "bench/record/record.h"
#include "config/cell_field.h"
#include "config/option_value.h"

#include <stdio.h>
#include <string.h>

static void add(char *key, const char *name, const char *value)
{
    const size_t n = strlen(key);
    snprintf(key + n, RECORD_KEY_SIZE - n, "%s%s=%s", n ? " " : "", name, value);
    for (char *c = key + n; *c && *c != '='; c++) {
        if (*c == '-') *c = '_'; /* the option's name, as results write it */
    }
}

/* What came later is left out at its least value, as in files from before there was such a field. */
static bool is_in_key(int id, const Config *config)
{
    const OptionValue least = {.number = (int64_t)option_table[id].min};
    const OptionValue value = option_value_load((OptionId)id, config);
    if (!cell_field_applies(id, config)) return false;
    /* A model is what its hash says, whatever its folder is called. */
    if (id == OPTION_SIZE && model_spec_is_file(&config->model)) return false;
    if (id == OPTION_STAT && !(config->until > 0)) return false; /* only --until goes by it */
    return cell_field_table[id].key < CELL_KEY_LATER || option_value_compare(&value, &least) != 0;
}

void record_key_of_config(const Config *config, char key[RECORD_KEY_SIZE])
{
    key[0] = '\0';
    for (int group = 1; group <= CELL_KEY_GROUPS; group++) {
        for (int id = 0; id < CELL_FIELD_COUNT; id++) {
            if (cell_field_table[id].key == group && is_in_key(id, config))
                add(key, option_table[id].name, option_value_text((OptionId)id, config).s);
        }
        if (group != CELL_KEY_LATER || !config->from_first) continue;
        add(key, "from", "first");
        if (config->by_phase) add(key, "by", "phase");
    }
}

bool record_key_next(RecordKeyPart *part)
{
    part->text += part->length;
    part->text += *part->text == ' ';
    part->length = strcspn(part->text, " ");
    part->name = strcspn(part->text, "= ");
    return part->length > 0;
}

bool record_key_names(const RecordKeyPart *part, const char *field)
{
    return strlen(field) == part->name && strncmp(part->text, field, part->name) == 0;
}
