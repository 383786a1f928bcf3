#include "config/config.h"
#include "config/option_value.h"

#include <inttypes.h>

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
    for (int id = 0; id < CELL_FIELD_COUNT; id++) TRY(option_value_check((OptionId)id, config));
    if (config->until > 0 && config->stat == STAT_MIN)
        return FAIL(ST_USAGE, "--until: a minimum has no interval; use --stat median or mean");
    return config->subject == SUBJECT_ATTENTION ? check_attention(config) : check_model(config);
}
