#include "report/records/cell_command.h"

#include "base/escape.h"

#include <stdio.h>
#include <string.h>

/* Parts of a key that a size or a model's file brings along, or that are no options. */
static bool is_implied(const RecordKeyPart *part, bool of_file)
{
    static const char *const never[] = {"size", "model", "from", "by"};
    static const char *const by_file[] = {"d_model", "d_ff", "num_layers", "num_heads", "vocab"};
    bool implied = false;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        implied = implied || record_key_names(part, never[i]);
    for (size_t i = 0; i < sizeof by_file / sizeof *by_file && of_file; i++)
        implied = implied || record_key_names(part, by_file[i]);
    return implied;
}

/* The key of a cell of this size that asks for nothing else. */
static void usual_key(const char *size, char key[RECORD_KEY_SIZE])
{
    Config usual;
    config_defaults(&usual);
    if (model_spec_preset(&usual.model, size) != ST_OK) config_defaults(&usual);
    record_key_of_config(&usual, key);
}

static bool has_part(const char *key, const RecordKeyPart *wanted)
{
    RecordKeyPart part = {key, 0, 0};
    while (record_key_next(&part)) {
        if (part.length == wanted->length && strncmp(part.text, wanted->text, part.length) == 0)
            return true;
    }
    return false;
}

static void put_option(Text *out, const char *name, size_t length, const char *value)
{
    text_puts(out, " --");
    for (size_t i = 0; i < length; i++) text_printf(out, "%c", name[i] == '_' ? '-' : name[i]);
    text_puts(out, " ");
    escape_shell(out, value);
}

static void put_part(Text *out, const RecordKeyPart *part)
{
    char value[128];
    if (part->name == part->length) return;
    snprintf(value, sizeof value, "%.*s", (int)(part->length - part->name - 1),
             part->text + part->name + 1);
    put_option(out, part->text, part->name, value);
}

void cell_command(Text *out, const Record *record, const char *field, const char *value)
{
    char usual[RECORD_KEY_SIZE], asked[64];
    const char *const key = record_key(record), *const size = record_text(record, "size");
    if (!key || !size) return;
    const bool sized = record_asked(record, "size", asked, sizeof asked);
    const bool of_file = !sized && strcmp(size, "custom") != 0;
    RecordKeyPart part = {key, 0, 0};
    usual_key(sized ? asked : "small", usual);
    text_puts(out, "roofstep bench");
    if (sized && strcmp(asked, "custom") != 0) put_option(out, "size", strlen("size"), asked);
    if (of_file) put_option(out, "model", strlen("model"), size);
    while (record_key_next(&part)) {
        if (field && record_key_names(&part, field))
            put_option(out, field, strlen(field), value);
        else if (!is_implied(&part, of_file) && !has_part(usual, &part))
            put_part(out, &part);
    }
}
