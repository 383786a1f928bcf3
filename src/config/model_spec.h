/* What a model is, whatever runs it: its dimensions. */
#ifndef CONFIG_MODEL_SPEC_H
#define CONFIG_MODEL_SPEC_H

#include <stdint.h>

typedef struct ModelSpec {
    char size[16]; /* the preset's name, or "custom" */
    int64_t d_model, d_ff, num_layers, num_heads, vocab;
} ModelSpec;

#endif
