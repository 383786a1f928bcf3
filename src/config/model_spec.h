/* What a model is, whatever runs it: its dimensions. */
#pragma once

#include "base/status.h"

#include <stdint.h>

typedef struct ModelSpec {
    char size[16]; /* the preset's name, or "custom" */
#define DIMENSION(id, name, ...) int64_t name;
#include "config/cell_fields.def"
} ModelSpec;

/* The names of presets.def, ended by NULL. */
extern const char *const model_spec_presets[];
/* Each dimension as cell_fields.def has it; 0 where presets have it. */
extern const ModelSpec model_spec_defaults;
/* Sets the dimensions that the preset has. ST_USAGE names the nearest preset. */
Status model_spec_preset(ModelSpec *spec, const char *name);
