#include "report/records/attention_rivals.h"

#include "base/human.h"
#include "base/text_groups.h"
#include "bench/record/record_stat.h"
#include "report/records/same_work.h"

#include <math.h>

static void consider_row(AttentionRivals *rivals, const Record *record)
{
    double ms;
    if (record_text(record, "peer") || !record_stat_ms(record, "forward", &ms)) return;
    if (!rivals->slow || ms > rivals->slow_ms) rivals->slow = record, rivals->slow_ms = ms;
    if (!rivals->fast || ms < rivals->fast_ms) rivals->fast = record, rivals->fast_ms = ms;
}

/* The slowest and the fastest of the rows that are like row `i`. */
static void consider_alike(AttentionRivals *longest, const RecordSet *rows, const TextGroups *alike,
                           size_t i)
{
    AttentionRivals own = {0};
    if (!record_int(record_set_at(rows, i), "ctx", &own.ctx) || own.ctx <= longest->ctx) return;
    for (; i < record_set_size(rows); i = text_groups_next(alike, i))
        consider_row(&own, record_set_at(rows, i));
    if (own.slow != own.fast && own.fast_ms > 0) *longest = own;
}

Status attention_rivals_find(AttentionRivals *longest, const RecordSet *rows)
{
    static const char *const but[] = {"attention", "exec", "mode", "threads", "blas"};
    CLEANUP(text_groups_free) TextGroups alike = {0};
    CLEANUP(text_free) Text work = {0};
    TRY(text_groups_init(&alike, record_set_size(rows)));
    for (size_t i = 0; i < alike.n; i++) {
        same_work_put(&work, record_set_at(rows, i), but, sizeof but / sizeof *but);
        TRY(text_groups_put(&alike, i, &work));
    }
    for (size_t i = 0; i < alike.n; i++) {
        if (text_groups_leads(&alike, i)) consider_alike(longest, rows, &alike, i);
    }
    return ST_OK;
}

void attention_rivals_put(Text *out, const AttentionRivals *longest)
{
    if (longest->ctx == 0) return;
    text_printf(out, "Attention over %lld tokens, forward: %s is %.1f times as fast as %s",
                (long long)longest->ctx, record_text(longest->fast, "attention"),
                longest->slow_ms / longest->fast_ms, record_text(longest->slow, "attention"));
    const double kept = record_real(longest->slow, "mem_before_bwd_mib");
    const double less = record_real(longest->fast, "mem_before_bwd_mib");
    if (!isnan(kept) && !isnan(less))
        text_printf(out, " and keeps %s for backward instead of %s",
                    human_bytes(less * 1024 * 1024).s, human_bytes(kept * 1024 * 1024).s);
    text_puts(out, ".");
}
