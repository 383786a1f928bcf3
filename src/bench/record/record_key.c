/* The identity of a cell: everything it was asked for, in one line. */
#include "bench/record/record.h"

#include <stdio.h>

typedef struct KeyPart {
    char s[192];
} KeyPart;

static KeyPart subject_part(const Config *c)
{
    KeyPart part;
    if (c->subject == SUBJECT_ATTENTION) {
        snprintf(part.s, sizeof part.s, "d_head=%lld heads=%lld mask=%s", (long long)c->d_head,
                 (long long)c->heads, config_mask_name(c->mask));
    } else {
        snprintf(part.s, sizeof part.s,
                 "size=%s d_model=%lld d_ff=%lld num_layers=%lld num_heads=%lld vocab=%lld",
                 c->model.size, (long long)c->model.d_model, (long long)c->model.d_ff,
                 (long long)c->model.num_layers, (long long)c->model.num_heads,
                 (long long)c->model.vocab);
    }
    return part;
}

static KeyPart training_part(const Config *c)
{
    KeyPart part = {""};
    if (c->subject == SUBJECT_ATTENTION) return part;
    snprintf(part.s, sizeof part.s, " lr=%.15g clip=%.15g loss_scale=%s", c->lr + 0, c->clip + 0,
             config_loss_scale_text(c->loss_scale).s);
    return part;
}

/* Absent where nothing is computed again, as in files from before there was a choice. */
static KeyPart recompute_part(const Config *c)
{
    KeyPart part = {""};
    if (c->recompute != CONFIG_RECOMPUTE_NONE)
        snprintf(part.s, sizeof part.s, " recompute=%s", config_recompute_text(c->recompute).s);
    return part;
}

/* Absent where --steps alone settles the samples, as in files from before there was a choice. */
static KeyPart time_part(const Config *c)
{
    KeyPart part = {""};
    int n = 0;
    if (c->sample_time > 0)
        n = snprintf(part.s, sizeof part.s, " sample_time=%.15g", c->sample_time);
    if (c->until > 0)
        n += snprintf(part.s + n, sizeof part.s - (size_t)n, " until=%.15g%s%s", c->until,
                      c->stat == STAT_MEDIAN ? "" : " stat=",
                      c->stat == STAT_MEDIAN ? "" : config_stat_name(c->stat));
    if (c->from_first)
        snprintf(part.s + n, sizeof part.s - (size_t)n, " from=first%s",
                 c->by_phase ? " by=phase" : "");
    return part;
}

void record_key_of_config(const Config *c, char key[RECORD_KEY_SIZE])
{
    snprintf(key, RECORD_KEY_SIZE,
             "%s ctx=%lld batch=%lld device=%s precision=%s mode=%s attention=%s exec=%s "
             "warmup=%lld steps=%lld seed=%lld threads=%lld%s blas=%s memory_limit=%lld%s%s",
             subject_part(c).s, (long long)c->ctx, (long long)c->batch, c->device,
             config_precision_name(c->precision), config_mode_name(c->mode),
             config_attention_name(c->attention), config_exec_name(c->exec), (long long)c->warmup,
             (long long)c->steps, (long long)c->seed, (long long)c->threads, training_part(c).s,
             config_blas_name(c->blas), (long long)c->memory_limit, time_part(c).s,
             recompute_part(c).s);
}
