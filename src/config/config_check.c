#include "base/human.h"
#include "config/config.h"
#include "config/option_value.h"

#include <inttypes.h>
#include <math.h>

/* Says of which model a failure is. */
static Status of_model(const Config *c, Status status)
{
    const bool file = c->subject == SUBJECT_MODEL && model_spec_is_file(&c->model);
    if (status != ST_OK && file) status_context("--model %s", human_plain(c->model.name).s);
    return status;
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
static Status check_sizes(const Config *c)
{
    const ModelSpec *m = &c->model;
    const double layers = (double)m->num_layers, width = (double)m->d_model;
    const double heads = (double)m->num_heads * (double)model_spec_head_dim(m);
    const double experts = (double)m->num_experts * (double)model_spec_expert_ff(m);
    const double ff = (double)m->d_ff, vocab = (double)m->vocab;
    const double ctx = (double)c->ctx, tokens = (double)c->batch * ctx;
    const Product products[] = {
        {"vocab x d_model", vocab * width},
        {"positions x d_model", (double)m->positions * width},
        {"num_layers x d_model x d_model", layers * width * width},
        {"num_layers x d_model x num_heads x head width", layers * width * heads},
        {"num_layers x d_model x d_ff", layers * width * ff},
        {"num_layers x experts x d_model x expert width", layers * experts * width},
        {"num_layers x batch x ctx x experts of a token x width",
         layers * tokens * (double)m->experts_per_token *
             fmax(width, (double)model_spec_expert_ff(m))},
        {"batch x ctx x vocab", tokens * vocab},
        {"num_layers x batch x ctx x d_model", layers * tokens * width},
        {"num_layers x batch x ctx x num_heads x head width", layers * tokens * heads},
        {"num_layers x batch x ctx x d_ff", layers * tokens * ff},
        {"num_layers x batch x num_heads x ctx x ctx",
         layers * tokens * (double)m->num_heads * ctx},
        {"accumulate x batch x ctx", config_tokens(c)},
        {"accumulate x batch x ctx x vocab", config_tokens(c) * vocab}, /* export keeps them all */
    };
    return check_products(products, sizeof products / sizeof *products);
}

/* A token goes through an expert once at most. */
static Status check_routing(const Config *c)
{
    const ModelSpec *m = &c->model;
    if (c->routing == CONFIG_ROUTING_MODEL) return ST_OK;
    if (m->num_experts == 0)
        return FAIL(ST_USAGE, "--routing %s is for a model with experts: give one with --model",
                    config_routing_text(c->routing).s);
    const double most = (double)m->num_experts / (double)m->experts_per_token;
    if (c->routing <= most) return ST_OK;
    return FAIL(ST_USAGE,
                "--routing %s: with %" PRId64 " of %" PRId64
                " experts a token, one has %.6g times its share at most",
                config_routing_text(c->routing).s, m->experts_per_token, m->num_experts, most);
}

static Status check_model(const Config *c)
{
    const ModelSpec *m = &c->model;
    Status status = model_spec_check(m);
    if (status == ST_OK && c->accumulate > 1 && c->mode != MODE_TRAIN)
        status = FAIL(ST_USAGE,
                      "--accumulate %" PRId64 " sums gradients for the optimizer, which --mode %s "
                      "does not run; use --mode train",
                      c->accumulate, config_modes[c->mode]);
    if (status == ST_OK) status = check_routing(c);
    if (status == ST_OK) status = check_sizes(c);
    return of_model(c, status);
}

static Status check_shared_heads(const Config *c)
{
    if (c->kv_heads > 0 && c->heads % c->kv_heads != 0)
        return FAIL(ST_USAGE,
                    "--kv-heads %" PRId64 ": heads %" PRId64 " is no multiple of it; equally many "
                    "share each",
                    c->kv_heads, c->heads);
    if (c->window > 0 && c->mask != MASK_CAUSAL)
        return FAIL(ST_USAGE, "--window %" PRId64 " is one of causal attention: use --mask causal",
                    c->window);
    return ST_OK;
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
    TRY(check_shared_heads(c));
    if (width > option_table[OPTION_D_MODEL].max)
        return FAIL(ST_USAGE, "heads %" PRId64 " x d_head %" PRId64 " is too wide; at most %.0f",
                    c->heads, c->d_head, option_table[OPTION_D_MODEL].max);
    return check_products(products, sizeof products / sizeof *products);
}

static Status check_collective(const Config *c)
{
    const bool bf16 = c->precision == PRECISION_BF16;
    const int64_t size = bf16 ? 2 : 4;
    if (!bf16 && c->precision != PRECISION_FP32)
        return FAIL(ST_USAGE, "--precision %s: a collective is of fp32 or bf16",
                    config_precisions[c->precision]);
    if (c->bytes % size != 0)
        return FAIL(ST_USAGE,
                    "--bytes %" PRId64 ": no whole number of elements of %" PRId64 " bytes (%s)",
                    c->bytes, size, config_precisions[c->precision]);
    return ST_OK;
}

Status config_check_positions(const Config *c)
{
    const int64_t positions = c->subject == SUBJECT_MODEL ? c->model.positions : 0;
    if (positions == 0 || c->ctx <= positions) return ST_OK;
    return of_model(c, FAIL(ST_UNSUPPORTED, "--ctx %" PRId64 " is beyond its %" PRId64 " positions",
                            c->ctx, positions));
}

Status config_check(const Config *config)
{
    for (int id = 0; id < CELL_FIELD_COUNT; id++) {
        const Status status = option_value_check((OptionId)id, config);
        if (status != ST_OK) return of_model(config, status);
    }
    if (config->until > 0 && config->stat == STAT_MIN)
        return FAIL(ST_USAGE, "--until: a minimum has no interval; use --stat median or mean");
    return config->subject == SUBJECT_COLLECTIVE  ? check_collective(config)
           : config->subject == SUBJECT_ATTENTION ? check_attention(config)
                                                  : check_model(config);
}
