#include "config/model_spec.h"

#include "base/human.h"
#include "base/suggest.h"

#include <string.h>
#include <strings.h>

static const ModelSpec presets[] = {
#define PRESET(name, ...) {.size = name, __VA_ARGS__},
#include "config/presets.def"
};
enum { N_PRESETS = sizeof presets / sizeof *presets };

const char *const model_spec_presets[] = {
#define PRESET(name, ...) name,
#include "config/presets.def"
    NULL,
};

const ModelSpec model_spec_defaults = {
#define DIMENSION(id, name, option, label, need, show, key, least, most, usual, help) .name = usual,
#include "config/cell_fields.def"
};

Status model_spec_preset(ModelSpec *spec, const char *name)
{
    for (int i = 0; i < N_PRESETS; i++) {
        if (strcasecmp(name, presets[i].size) != 0) continue;
        memcpy(spec->size, presets[i].size, sizeof spec->size);
#define DIMENSION(id, name, ...) \
    if (presets[i].name) spec->name = presets[i].name;
#include "config/cell_fields.def"
        return ST_OK;
    }
    const char *near = suggest_word(name, model_spec_presets, N_PRESETS);
    return FAIL(ST_USAGE, "no model size %s%s%s", human_quote(name).s,
                near ? ": did you mean " : "; see --help for those there are", near ? near : "");
}
