#include "config/model_file.h"

#include "base/human.h"
#include "base/json_reader.h"
#include "base/json_text.h"
#include "base/suggest.h"
#include "base/text.h"
#include "config/model_fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

Status model_file_parse(ModelSpec *spec, const char *text, size_t n, const char *where)
{
    json_error_t error;
    CLEANUP(json_text_free) json_t *root = NULL;
    TRY(json_reader_parse(&root, where, text, n, JSON_REJECT_DUPLICATES, &error));
    if (!root)
        return FAIL(ST_USAGE, "%s: line %d is not JSON: %s", human_path(where).s, error.line,
                    human_plain(error.text).s);
    return model_fields_read(spec, root, where);
}

/* ---- where a model is found ---- */

static const char config_name[] = "config.json";
enum { MOST_BYTES = 1 << 20 }; /* of a file */

static const ModelFile *find_bundled(const char *name)
{
    for (const ModelFile *file = model_file_bundled; file->name; file++) {
        if (strcmp(file->name, name) == 0) return file;
    }
    return NULL;
}

bool model_file_is_bundled(const char *model)
{
    return find_bundled(model) != NULL;
}

/* OWNER/NAME, as models are called where they are published. */
static bool is_hub_id(const char *model)
{
    const char *slash = strchr(model, '/');
    const char *dot = strrchr(model, '.');
    return slash && slash > model && slash[1] && !strchr(slash + 1, '/') && model[0] != '.' &&
           !(dot && strcmp(dot, ".json") == 0);
}

static Status not_found(const char *model)
{
    int n = 0;
    while (model_file_names[n]) n++;
    for (int i = 0; model_spec_presets[i]; i++) {
        if (strcasecmp(model, model_spec_presets[i]) == 0)
            return FAIL(ST_USAGE, "%s is a size: did you mean --size %s?", human_quote(model).s,
                        model_spec_presets[i]);
    }
    const char *slash = strrchr(model, '/');
    const char *near = suggest_word(slash ? slash + 1 : model, model_file_names, n);
    if (near && !slash)
        return FAIL(ST_USAGE, "no model %s: did you mean %s?", human_path(model).s, near);
    if (is_hub_id(model))
        return FAIL(ST_USAGE,
                    "no model %s: there is no such folder, and nothing is downloaded: give a local"
                    " folder with its config.json%s%s",
                    human_path(model).s, near ? ", or the bundled " : "", near ? near : "");
    return FAIL(ST_USAGE, "no model %s: neither a file, a folder nor a name of --model list",
                human_path(model).s);
}

/* The last folder of a path, or NULL; cuts it off. */
static const char *take_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || !slash[1]) return NULL;
    *slash = 0;
    return slash + 1;
}

/* A cache of downloads has models--OWNER--NAME/snapshots/COMMIT. */
static const char *folder_name(char *path)
{
    const char *folder = take_last(path);
    const char *above = folder ? take_last(path) : NULL;
    const char *owner = above && strcmp(above, "snapshots") == 0 ? take_last(path) : NULL;
    if (!owner || strncmp(owner, "models--", 8) != 0) return folder;
    const char *name = strstr(owner + 8, "--");
    return name ? name + 2 : owner + 8;
}

/* model.json says what it is, config.json stands in a folder that does. */
ModelName model_file_name(const char *model)
{
    ModelName name = {"config.json"};
    const char *base = strrchr(model, '/') ? strrchr(model, '/') + 1 : model;
    const bool bundled = find_bundled(model) != NULL;
    const size_t stem =
        strlen(base) > 5 && strcmp(base + strlen(base) - 5, ".json") == 0 ? strlen(base) - 5 : 0;
    const bool is_config = strcmp(base, config_name) == 0;
    if (bundled || (stem > 0 && !is_config)) {
        snprintf(name.s, sizeof name.s, "%.*s", (int)(bundled ? strlen(model) : stem),
                 bundled ? model : human_plain(base).s);
        return name;
    }
    /* The folder's real name, but not where a link of that name leads to. */
    CLEANUP(text_free) Text folder = {0};
    text_append(&folder, model, is_config ? (size_t)(base - model) : strlen(model));
    char *real = realpath(folder.n > 0 ? text_str(&folder) : ".", NULL);
    const char *found = real ? folder_name(real) : NULL;
    if (found) snprintf(name.s, sizeof name.s, "%.39s", human_plain(found).s);
    free(real);
    return name;
}

static Status find_file(const char *model, Text *path)
{
    struct stat info;
    if (stat(model, &info) != 0) return not_found(model);
    const bool folder = S_ISDIR(info.st_mode);
    text_printf(path, folder ? "%s/%s" : "%s", model, config_name);
    TRY(text_status(path));
    if (folder && stat(text_str(path), &info) != 0)
        return FAIL(ST_USAGE, "%s has no %s: is it the folder of a model?", human_path(model).s,
                    config_name);
    if (!S_ISREG(info.st_mode))
        return FAIL(ST_USAGE, "%s is not a file", human_path(text_str(path)).s);
    if (info.st_size > MOST_BYTES)
        return FAIL(ST_USAGE, "%s has %s; the configuration of a model has a few KiB",
                    human_path(text_str(path)).s, human_bytes((double)info.st_size).s);
    return ST_OK;
}

static Status read_text(const char *model, Text *path, Text *text)
{
    TRY(find_file(model, path));
    const Status status = text_read_file(text, text_str(path), MOST_BYTES);
    return status == ST_IO ? ST_USAGE : status; /* with its message */
}

void model_file_add_hash(ModelSpec *spec)
{
    char name[sizeof spec->name];
    snprintf(name, sizeof name, "%.*s-%.4s", (int)sizeof name - 6, spec->name,
             model_spec_hash(spec).s);
    memcpy(spec->name, name, sizeof name);
    memcpy(spec->size, name, sizeof name);
}

/* A folder may be called as a bundled model or a preset is, and hold another. */
static bool is_name_of_another(const ModelSpec *spec)
{
    const ModelFile *bundled = find_bundled(spec->name);
    ModelSpec other;
    for (int i = 0; model_spec_presets[i]; i++) {
        if (strcmp(model_spec_presets[i], spec->name) == 0) return true;
    }
    if (!bundled || model_file_parse(&other, bundled->text, strlen(bundled->text), "") != ST_OK)
        return false;
    return strcmp(model_spec_hash(&other).s, model_spec_hash(spec).s) != 0;
}

Status model_file_load(ModelSpec *spec, const char *model)
{
    const ModelFile *bundled = find_bundled(model);
    CLEANUP(text_free) Text path = {0};
    CLEANUP(text_free) Text text = {0};
    if (bundled) {
        TRY(model_file_parse(spec, bundled->text, strlen(bundled->text), model));
    } else {
        TRY(read_text(model, &path, &text));
        TRY(model_file_parse(spec, text_str(&text), text.n, text_str(&path)));
    }
    const ModelName name = model_file_name(model);
    memcpy(spec->name, name.s, sizeof spec->name);
    memcpy(spec->size, name.s, sizeof spec->size);
    if (!bundled && is_name_of_another(spec)) model_file_add_hash(spec);
    return ST_OK;
}
