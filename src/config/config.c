#include "config/config.h"

#include "base/human.h"
#include "base/suggest.h"
#include "config/option.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const char *const config_modes[] = {
#define MODE(suffix, word) word,
#include "config/choices.def"
    NULL,
};

const char *const config_precisions[] = {
#define PRECISION(suffix, word) word,
#include "config/choices.def"
    NULL,
};

const char *const config_attentions[] = {
#define ATTENTION(suffix, word) word,
#include "config/choices.def"
    NULL,
};

const char *const config_execs[] = {
#define EXEC(suffix, word) word,
#include "config/choices.def"
    NULL,
};

const char *const config_blases[] = {
#define BLAS(suffix, word) word,
#include "config/choices.def"
    NULL,
};

const char *const config_masks[] = {
#define MASK(suffix, word) word,
#include "config/choices.def"
    NULL,
};

const char *const config_stats[] = {
#define STAT(suffix, word) word,
#include "config/choices.def"
    NULL,
};

const char *const config_presets[] = {
#define PRESET(name, d_model, d_ff, num_layers, num_heads) name,
#include "config/presets.def"
#undef PRESET
    NULL,
};

enum { N_PRESETS = sizeof config_presets / sizeof *config_presets - 1 };

static const struct Dims {
    int64_t d_model, d_ff, num_layers, num_heads;
} presets[N_PRESETS] = {
#define PRESET(name, d_model, d_ff, num_layers, num_heads) {d_model, d_ff, num_layers, num_heads},
#include "config/presets.def"
#undef PRESET
};

bool config_mode_saves(Mode mode)
{
    return mode != MODE_FWD;
}

bool config_mode_has_backward(Mode mode)
{
    return mode == MODE_FWD_BWD || mode == MODE_TRAIN;
}

const char *config_mode_name(Mode mode)
{
    return config_modes[mode];
}

const char *config_precision_name(Precision precision)
{
    return config_precisions[precision];
}

const char *config_attention_name(Attention attention)
{
    return config_attentions[attention];
}

const char *config_exec_name(Exec exec)
{
    return config_execs[exec];
}

const char *config_blas_name(Blas blas)
{
    return config_blases[blas];
}

const char *config_mask_name(Mask mask)
{
    return config_masks[mask];
}

const char *config_stat_name(Stat stat)
{
    return config_stats[stat];
}

double config_sample_seconds(const Config *config)
{
    const double enough = 60; /* for --until without --sample-time */
    const double share = config->sample_share;
    const double asked =
        config->sample_time > 0 || !(config->until > 0) ? config->sample_time : enough;
    return share > 0 && !(asked > 0 && asked < share) ? share : asked;
}

bool config_scales_loss(const Config *config)
{
    return config->precision == PRECISION_FP16 && config->loss_scale != CONFIG_SCALE_NONE;
}

ConfigText config_loss_scale_text(double loss_scale)
{
    ConfigText text = {"dynamic"};
    if (loss_scale == CONFIG_SCALE_NONE) strcpy(text.s, "none");
    if (loss_scale > 0) snprintf(text.s, sizeof text.s, "%.15g", loss_scale);
    return text;
}

ConfigText config_recompute_text(int64_t recompute)
{
    ConfigText text = {"none"};
    if (recompute == CONFIG_RECOMPUTE_AUTO) strcpy(text.s, "auto");
    if (recompute == CONFIG_RECOMPUTE_BLOCK) strcpy(text.s, "block");
    if (recompute > CONFIG_RECOMPUTE_BLOCK) snprintf(text.s, sizeof text.s, "%" PRId64, recompute);
    return text;
}

void config_defaults(Config *config)
{
    *config = (Config){
        .model.vocab = 10000,
        .d_head = 64,
        .heads = 1,
        .ctx = 128,
        .batch = 4,
        .device = "auto",
        .mode = MODE_TRAIN,
        .precision = PRECISION_FP32,
        .attention = ATTENTION_AUTO,
        .exec = EXEC_FUSED,
        .warmup = 5,
        .steps = 10,
        .lr = 1e-3,
        .timeout = 600,
    };
    config_preset(config, "small");
}

/* As the write-ups measured it. */
void config_attention_defaults(Config *config)
{
    config_defaults(config);
    config->subject = SUBJECT_ATTENTION;
    config->model.size[0] = '\0';
    config->ctx = 1024;
    config->batch = 8;
    config->mode = MODE_FWD_BWD;
    config->warmup = 10;
    config->steps = 100;
    config->sample_time = 1;
}

/* Small enough for a step in float64. */
void config_precision_defaults(Config *config)
{
    config_defaults(config);
    config_preset(config, "tiny");
    config->warmup = 2;
    config->steps = 5;
}

/* A cell for every setting, started several times over. */
void config_warmup_defaults(Config *config)
{
    config_defaults(config);
    config_preset(config, "tiny");
    config->from_first = true;
}

Status config_preset(Config *config, const char *name)
{
    for (int i = 0; i < N_PRESETS; i++) {
        if (strcasecmp(name, config_presets[i]) != 0) continue;
        snprintf(config->model.size, sizeof config->model.size, "%s", config_presets[i]);
        config->model.d_model = presets[i].d_model;
        config->model.d_ff = presets[i].d_ff;
        config->model.num_layers = presets[i].num_layers;
        config->model.num_heads = presets[i].num_heads;
        return ST_OK;
    }
    const char *near = suggest_word(name, config_presets, N_PRESETS);
    return FAIL(ST_USAGE, "no model size %s%s%s", human_quote(name).s,
                near ? ": did you mean " : "; see --help for those there are", near ? near : "");
}

static Status check_heads(const Config *c)
{
    if (c->model.d_model % c->model.num_heads != 0)
        return FAIL(ST_USAGE,
                    "num_heads %" PRId64 " does not divide d_model %" PRId64
                    ": change --num-heads or --d-model",
                    c->model.num_heads, c->model.d_model);
    if (c->model.d_model / c->model.num_heads % 2 != 0)
        return FAIL(ST_USAGE,
                    "d_model %" PRId64 " / num_heads %" PRId64 " = %" PRId64
                    " is an odd head width; rotary embedding needs an even one",
                    c->model.d_model, c->model.num_heads, c->model.d_model / c->model.num_heads);
    return ST_OK;
}

typedef struct Product {
    const char *name;
    double elements;
} Product;

/* 2^55 elements leave room for 16 arrays of 16 bytes. */
static Status check_products(const Product *products, size_t n)
{
    const double most = 0x1p55;
    for (size_t i = 0; i < n; i++) {
        if (products[i].elements <= most) continue;
        return FAIL(ST_USAGE, "%s is %.3g elements, more than this program can address (%.3g)",
                    products[i].name, products[i].elements, most);
    }
    return ST_OK;
}

/* Nothing in a step is larger than these. */
static Status check_model(const Config *c)
{
    const double layers = (double)c->model.num_layers, width = (double)c->model.d_model;
    const double ff = (double)c->model.d_ff, vocab = (double)c->model.vocab;
    const double ctx = (double)c->ctx, tokens = (double)c->batch * ctx;
    const Product products[] = {
        {"vocab x d_model", vocab * width},
        {"num_layers x d_model x d_model", layers * width * width},
        {"num_layers x d_model x d_ff", layers * width * ff},
        {"batch x ctx x vocab", tokens * vocab},
        {"num_layers x batch x ctx x d_model", layers * tokens * width},
        {"num_layers x batch x ctx x d_ff", layers * tokens * ff},
        {"num_layers x batch x num_heads x ctx x ctx",
         layers * tokens * (double)c->model.num_heads * ctx},
    };
    TRY(check_heads(c));
    return check_products(products, sizeof products / sizeof *products);
}

static Status check_attention(const Config *c)
{
    const double ctx = (double)c->ctx, tokens = (double)c->batch * ctx;
    const double heads = (double)c->heads, width = heads * (double)c->d_head;
    const Product products[] = {
        {"batch x ctx x heads x d_head", tokens * width},
        {"batch x heads x ctx x ctx", tokens * heads * ctx},
    };
    if (c->mode == MODE_TRAIN)
        return FAIL(ST_USAGE, "--mode train: attention alone has nothing to train; use fwd_bwd");
    if (width > option_table[OPTION_D_MODEL].max)
        return FAIL(ST_USAGE, "heads %" PRId64 " x d_head %" PRId64 " is too wide; at most %.0f",
                    c->heads, c->d_head, option_table[OPTION_D_MODEL].max);
    return check_products(products, sizeof products / sizeof *products);
}

Status config_check(const Config *config)
{
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_table[id].cell) TRY(option_check((OptionId)id, config));
    }
    if (config->until > 0 && config->stat == STAT_MIN)
        return FAIL(ST_USAGE, "--until: a minimum has no interval; use --stat median or mean");
    return config->subject == SUBJECT_ATTENTION ? check_attention(config) : check_model(config);
}
