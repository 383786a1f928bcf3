#include "bench/record/record_config.h"

#include "config/cell_field.h"
#include "config/model_file.h"
#include "config/option_value.h"

#include <stdio.h>
#include <string.h>

/* The option of a part of a key, which has '_' where options have '-'; OPTION_COUNT: none of a cell. */
static OptionId option_of(const RecordKeyPart *part)
{
    char name[48];
    if (part->name >= sizeof name) return OPTION_COUNT;
    for (size_t i = 0; i < part->name; i++) name[i] = part->text[i] == '_' ? '-' : part->text[i];
    name[part->name] = '\0';
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        if (strcmp(option_table[id].name, name) == 0) return (OptionId)id;
    }
    return OPTION_COUNT;
}

/* What the file of a bundled model says beside the dimensions in the key. */
static Status put_model(Config *config, const Record *record, const char *hash)
{
    ModelSpec spec;
    const char *size = record_text(record, "size");
    if (!size || !model_file_is_bundled(size))
        return FAIL(ST_UNSUPPORTED, "the configuration file of its model is not bundled");
    TRY(model_file_load(&spec, size));
    config->model = spec;
    if (strcmp(model_spec_hash(&spec).s, hash) == 0) return ST_OK;
    return FAIL(ST_UNSUPPORTED, "its %s was another configuration", size);
}

static Status put_part(Config *config, const Record *record, const RecordKeyPart *part)
{
    char text[128];
    OptionValue value;
    const OptionId id = option_of(part);
    const size_t begin = part->name + 1;
    if (id == OPTION_COUNT || !cell_field_is_work(id) || part->length <= begin ||
        part->length - begin >= sizeof text)
        return ST_OK;
    memcpy(text, part->text + begin, part->length - begin);
    text[part->length - begin] = '\0';
    if (id == OPTION_MODEL) return put_model(config, record, text);
    if (id == OPTION_SIZE) { /* "custom" is no preset: its dimensions are in the key */
        snprintf(config->model.size, sizeof config->model.size, "%.39s", text);
        return ST_OK;
    }
    if (option_value_read(id, text, &value) != ST_OK)
        return FAIL(ST_UNSUPPORTED, "'%.*s' in its key is not of this version", (int)part->length,
                    part->text);
    option_value_store(id, &value, config);
    return ST_OK;
}

/* A model file brings its dimensions along; the key has those that were overridden: the file goes first. */
static Status put_parts(Config *config, const Record *record, const char *key, bool models)
{
    for (RecordKeyPart part = {key, 0, 0}; record_key_next(&part);) {
        if (record_key_names(&part, "model") == models) TRY(put_part(config, record, &part));
    }
    return ST_OK;
}

/* What `auto` became is in the record. */
static Status put_used(Config *config, const Record *record)
{
    OptionValue value;
    const char *attention = record_text(record, "attention");
    if (!attention || option_value_read(OPTION_ATTENTION, attention, &value) != ST_OK)
        return FAIL(ST_UNSUPPORTED, "it names no attention of this version");
    option_value_store(OPTION_ATTENTION, &value, config);
    return ST_OK;
}

static Status config_of(const Record *record, const char *key, Config *config)
{
    config_defaults(config);
    if (!key || !record_value(record, "num_layers"))
        return FAIL(ST_UNSUPPORTED, "it is no step of a model by this program");
    TRY(put_parts(config, record, key, true));
    TRY(put_parts(config, record, key, false));
    return put_used(config, record);
}

Status record_config(const Record *record, Config *config)
{
    return config_of(record, record_text(record, "peer") ? NULL : record_key(record), config);
}

Status record_config_torch(const Record *record, Config *config)
{
    const char *peer = record_text(record, "peer"), *variant = record_text(record, "variant");
    if (!peer || !variant || strcmp(peer, "torch") != 0 || strcmp(variant, "eager") != 0)
        return FAIL(ST_UNSUPPORTED, "it is no step of PyTorch's eager mode");
    TRY(config_of(record, record_key(record), config));
    config->exec = EXEC_EAGER;
    return ST_OK;
}
