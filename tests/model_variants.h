/* The plan of a small model in every way it can be built: mode x precision x exec x attention. */
#pragma once

#include "model/model.h"
#include "with_cmocka.h"

#include <stdio.h>

/* No two dimensions are equal, so that a mistaken one shows. */
static inline Config variants_config(void)
{
    Config c;
    config_defaults(&c);
    snprintf(c.model.size, sizeof c.model.size, "custom");
    c.model.d_model = 24;
    c.model.d_ff = 40;
    c.model.num_layers = 3;
    c.model.num_heads = 2;
    c.model.vocab = 101;
    c.ctx = 9;
    c.batch = 5;
    return c;
}

typedef void VariantFn(const Config *config);

/* Calls `fn` with every combination on top of `config`. tf32 and graph build the plans of fp32 and
 * fused; cudnn that of flash. */
static inline void variants_each(const Config *config, VariantFn *fn)
{
    static const Precision precisions[] = {PRECISION_FP32, PRECISION_BF16, PRECISION_FP16};
    static const Exec execs[] = {EXEC_EAGER, EXEC_FUSED};
    static const Attention attentions[] = {ATTENTION_AUTO, ATTENTION_NAIVE, ATTENTION_FUSED,
                                           ATTENTION_FLASH};
    Config c = *config;
    for (int mode = 0; mode < MODE_COUNT; mode++) {
        for (size_t p = 0; p < sizeof precisions / sizeof *precisions; p++) {
            for (size_t e = 0; e < sizeof execs / sizeof *execs; e++) {
                for (size_t a = 0; a < sizeof attentions / sizeof *attentions; a++) {
                    c.mode = (Mode)mode;
                    c.precision = precisions[p];
                    c.exec = execs[e];
                    c.attention = attentions[a];
                    fn(&c);
                }
            }
        }
    }
}

static inline void variants_build(Model *model, const Config *config)
{
    if (model_build(model, config, config->mode, DT_F32) != ST_OK) fail_msg("%s", status_message());
}

/* For messages: which variant this is. */
typedef struct VariantName {
    char s[96];
} VariantName;

static inline VariantName variants_name(const Config *c)
{
    VariantName name;
    snprintf(name.s, sizeof name.s, "%s %s %s %s %s ctx %lld", c->model.size, config_modes[c->mode],
             config_precisions[c->precision], config_execs[c->exec],
             config_attentions[c->attention], (long long)c->ctx);
    return name;
}
