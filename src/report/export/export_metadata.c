#include "report/export/export_metadata.h"

#include "config/architecture.h"
#include "config/cell_field.h"
#include "config/option_value.h"

#include <stdio.h>

Status export_metadata_sizes(Safetensors *file, const Config *config)
{
    Config whole = *config, *c = &whole;
    if (c->accumulate > 1) {
        whole.batch *= c->accumulate;
        TRY(safetensors_metadata(file, "accumulate", option_value_text(OPTION_ACCUMULATE, c).s));
    }
    if (c->precision == PRECISION_FP8)
        TRY(safetensors_metadata(file, "fp8_recipe", config_fp8_recipes[c->fp8_recipe]));
    if (c->ranks > 1) {
        whole.batch *= c->ranks;
        TRY(safetensors_metadata(file, "ranks", option_value_text(OPTION_RANKS, c).s));
    }
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        const bool dimension = option_table[id].kind == OPTION_KIND_INT &&
                               cell_field_table[id].part == CELL_PART_DIMS &&
                               cell_field_of(id, c->subject);
        if (!dimension && id != OPTION_STEPS && id != OPTION_SEED) continue;
        TRY(safetensors_metadata(file, cell_field_table[id].name,
                                 option_value_text((OptionId)id, c).s));
    }
    return ST_OK;
}

static Status put_model(Safetensors *file, const ModelSpec *spec)
{
    if (spec->architecture == ARCHITECTURE_OWN) return ST_OK;
    TRY(safetensors_metadata(file, "architecture",
                             architecture_table[spec->architecture].class_name));
    return safetensors_metadata(file, "model", model_spec_hash(spec).s);
}

Status export_metadata_put(Safetensors *file, const Config *c, const Model *model)
{
    const ConfigText loss_scale = config_loss_scale_text(c->loss_scale);
    char lr[32], clip[32];
    const char *const words[][2] = {{"lr", lr},
                                    {"clip", clip},
                                    {"size", c->model.size},
                                    {"precision", config_precisions[c->precision]},
                                    {"mode", config_modes[c->mode]},
                                    {"exec", config_execs[c->exec]},
                                    {"attention", config_attentions[model->attention]},
                                    {"loss_scale", loss_scale.s},
                                    {"format", "roofstep export 1"}};
    snprintf(lr, sizeof lr, "%.17g", c->lr);
    snprintf(clip, sizeof clip, "%.17g", c->clip);
    TRY(export_metadata_sizes(file, c));
    TRY(put_model(file, &c->model));
    if (c->precision == PRECISION_FP8 && model->config.fp8_layers != CONFIG_LINEARS_ALL)
        TRY(safetensors_metadata(file, "fp8_layers",
                                 config_linears_text(model->config.fp8_layers).s));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        TRY(safetensors_metadata(file, words[i][0], words[i][1]));
    }
    return ST_OK;
}
