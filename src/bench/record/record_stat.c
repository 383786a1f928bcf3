#include "bench/record/record_stat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Stat record_stat(const Record *r)
{
    const char *word = record_text(r, "stat");
    for (int s = 0; word && s < STAT_COUNT; s++) {
        if (strcmp(word, config_stats[s]) == 0) return (Stat)s;
    }
    return STAT_MEAN;
}

bool record_stat_measured(const RecordSet *set, Stat *stat)
{
    double ms;
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *r = record_set_at(set, i);
        if (!record_stat_ms(r, "step", &ms) && !record_stat_ms(r, "forward", &ms)) continue;
        *stat = record_stat(r);
        return true;
    }
    return false;
}

Stat record_stat_of_set(const RecordSet *set)
{
    Stat stat;
    return record_stat_measured(set, &stat) ? stat : STAT_MEDIAN;
}

/* Results of other programs may lack the median or the minimum. */
bool record_stat_ms(const Record *r, const char *phase, double *ms)
{
    static const char *const names[STAT_COUNT] = {
        [STAT_MEDIAN] = "median_ms", [STAT_MEAN] = "mean_ms", [STAT_MIN] = "min_ms"};
    const json_t *of = record_value(r, phase);
    return record_phase_status(r, phase) == RECORD_OK &&
           (record_number(of, names[record_stat(r)], ms) || record_number(of, "mean_ms", ms));
}

bool record_stat_spread(const Record *r, const char *phase, double *ms)
{
    const json_t *of = record_value(r, phase);
    const Stat stat = record_stat(r);
    double median, low, high;
    if (record_phase_status(r, phase) != RECORD_OK || stat == STAT_MIN) return false;
    if (stat == STAT_MEAN) return record_number(of, "std_ms", ms);
    if (!record_number(of, "median_ms", &median) || !record_number(of, "median_low_ms", &low) ||
        !record_number(of, "median_high_ms", &high))
        return false;
    *ms = fmax(median - low, high - median);
    return true;
}

/* ---- rates ---- */

static Status put_phase_rate(Record *r, const char *phase)
{
    char flops_path[32], rate_path[32];
    double flops = 0, ms = 0;
    snprintf(flops_path, sizeof flops_path, "%s_flops", phase);
    snprintf(rate_path, sizeof rate_path, "%s_tflops", phase);
    if (!record_number(r, flops_path, &flops) || !record_stat_ms(r, phase, &ms)) return ST_OK;
    return ms > 0 ? record_put_number(r, rate_path, flops / ms * 1e-9) : ST_OK;
}

static Status put_tokens_per_unit(Record *r)
{
    double price, tokens;
    if (!record_number(r, "price_per_hour", &price) || !(price > 0)) return ST_OK;
    if (!record_number(r, "tokens_per_s", &tokens)) return ST_OK;
    return record_put_number(r, "tokens_per_unit", 3600 * tokens / price);
}

/* Attention alone has no tokens that anyone counts. */
static Status put_tokens(Record *r, double ms)
{
    int64_t batch = 0, ctx = 0, micro_batches = 1,
            ranks = 1; /* files from before may not have them */
    if (record_value(r, "d_head")) return ST_OK;
    if (!record_int(r, "batch", &batch) || !record_int(r, "ctx", &ctx)) return ST_OK;
    record_int(r, "accumulate", &micro_batches);
    record_int(r, "ranks", &ranks);
    const double tokens = (double)ranks * (double)micro_batches * (double)batch * (double)ctx;
    TRY(record_put_number(r, "tokens_per_s", tokens / (ms * 1e-3)));
    return put_tokens_per_unit(r);
}

Status record_stat_put_price(Record *r, double price)
{
    TRY(record_put_number(r, "price_per_hour", price));
    return put_tokens_per_unit(r);
}

Status record_stat_put_rates(Record *r)
{
    double ms = 0, flops = 0, limit_tflops = 0, limit_ms = 0;
    TRY(put_phase_rate(r, "forward"));
    TRY(put_phase_rate(r, "backward"));
    if (!record_stat_ms(r, "step", &ms) || ms <= 0) return ST_OK;
    TRY(put_tokens(r, ms));
    if (!record_number(r, "flops_per_step", &flops)) return ST_OK;
    const double tflops = flops / ms * 1e-9;
    TRY(record_put_number(r, "tflops", tflops));
    if (record_number(r, "limit_tflops", &limit_tflops) && limit_tflops > 0)
        TRY(record_put_number(r, "mfu", tflops / limit_tflops));
    if (!record_number(r, "limit_step_ms", &limit_ms)) return ST_OK;
    return record_put_number(r, "percent_of_limit", 100 * limit_ms / ms);
}

Status record_stat_change(Record *r, Stat stat)
{
    if (record_text(r, "stat") && record_stat(r) == stat) return ST_OK;
    TRY(record_put_text(r, "stat", config_stats[stat]));
    if (record_status(r) != RECORD_OK && record_status(r) != RECORD_OOM) return ST_OK;
    return record_stat_put_rates(r);
}

Status record_stat_change_set(RecordSet *set, Stat stat)
{
    for (size_t i = 0; i < record_set_size(set); i++) {
        Record *r = record_set_at(set, i);
        if (record_stat(r) != stat) TRY(record_stat_change(r, stat));
    }
    return ST_OK;
}
