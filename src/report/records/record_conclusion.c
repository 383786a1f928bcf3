#include "report/records/record_conclusion.h"

#include "base/human.h"
#include "bench/record/record_stat.h"
#include "report/records/attention_rivals.h"
#include "report/records/cell_text.h"
#include "report/records/measured_phase.h"
#include "report/records/record_notes.h"

#include <math.h>
#include <string.h>

/* The shortest possible time of a step is that of matrix multiplications at the highest rate, and of
 * waiting for memory. */
bool record_conclusion_bound(Text *out, const Record *record)
{
    const double flops = record_real(record, "flops_per_step");
    const double rate = record_real(record, "limit_tflops");
    const double least = record_real(record, "limit_step_ms");
    if (isnan(flops) || !(rate > 0 && least > 0)) return false;
    const double matmuls = 100 * flops / (rate * 1e9) / least;
    text_printf(out, "%s: matrix multiplications are %.0f %% of its shortest possible time",
                matmuls >= 50 ? "compute-bound" : "memory-bound", matmuls < 100 ? matmuls : 100);
    return true;
}

/* ---- how the cells ended, where none was measured ---- */

static void put_statuses(Text *out, const RecordSet *set)
{
    int counts[RECORD_STATUS_COUNT] = {0};
    const char *separator = ": ";
    for (size_t i = 0; i < record_set_size(set); i++)
        counts[record_status(record_set_at(set, i))]++;
    text_puts(out, "Nothing was measured");
    for (int status = 0; status < RECORD_STATUS_COUNT; status++) {
        if (counts[status] == 0) continue;
        text_printf(out, "%s%d %s", separator, counts[status],
                    cell_text_status((RecordStatus)status));
        separator = ", ";
    }
    text_puts(out, ".");
}

/* ---- the fastest ---- */

/* By tokens a second; of rows without them, by the time of the step. NULL: none was measured. */
static const Record *fastest_of(const RecordSet *set, int *n)
{
    const Record *best = NULL;
    double most = -INFINITY;
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *record = record_set_at(set, i);
        double rate, ms;
        if (record_text(record, "peer") || !record_stat_ms(record, "step", &ms)) continue;
        if (!measured_phase_number(record, "tokens_per_s", &rate)) rate = -ms;
        if (rate > most) most = rate, best = record;
        ++*n;
    }
    return best;
}

static void put_longest_phase(Text *out, const Record *record)
{
    static const char *const phases[] = {"forward", "backward", "optimizer"};
    double most = 0, sum = 0, ms;
    int longest = 0;
    for (int p = 0; p < 3; p++) {
        if (!record_stat_ms(record, phases[p], &ms)) continue;
        sum += ms;
        if (ms > most) most = ms, longest = p;
    }
    if (most > 0 && most < sum)
        text_printf(out, "; %s takes %.0f %% of it", phases[longest], 100 * most / sum);
}

static void put_figures(Text *out, const Record *record, double ms)
{
    double x;
    CLEANUP(text_free) Text bound = {0};
    text_printf(out, "a step in %s", human_seconds(ms / 1e3).s);
    if (measured_phase_number(record, "tokens_per_s", &x))
        text_printf(out, ", %s tokens/s", human_whole(round(x)).s);
    if (measured_phase_number(record, "percent_of_limit", &x))
        text_printf(out, ", %.1f %% of limit", x);
    if (measured_phase_number(record, "tokens_per_unit", &x))
        text_printf(out, ", %s tokens for 1", human_si(x).s);
    const char *peer = record_text(record, "peer_best");
    if (peer && record_number(record, "peer_ratio", &x))
        text_printf(out, "; PyTorch (%s) takes %s times as long", peer, human_number(x, 3).s);
    if (record_conclusion_bound(&bound, record))
        text_printf(out, "; it is %s", text_str(&bound));
    else
        put_longest_phase(out, record);
    text_puts(out, ".");
    out->failed |= bound.failed;
}

static void put_fastest(Text *out, const RecordSet *set)
{
    const ColumnSet shown = column_distinct(set);
    int n = 0;
    double ms = 0;
    const Record *best = fastest_of(set, &n);
    if (!best) {
        put_statuses(out, set);
        return;
    }
    record_stat_ms(best, "step", &ms);
    text_puts(out, n > 1 ? "Fastest: " : "Measured: ");
    const size_t before = out->n;
    column_label(out, &shown, best);
    if (out->n > before) text_puts(out, ", ");
    if (column_measured_less(best))
        text_printf(out, "%s only, ", record_text(best, "measured_mode"));
    put_figures(out, best, ms);
}

Status record_conclusion_put(Text *out, const RecordSet *set)
{
    AttentionRivals rivals = {0};
    if (record_set_size(set) == 0) return ST_OK;
    if (record_value(record_set_at(set, 0), "d_head")) TRY(attention_rivals_find(&rivals, set));
    attention_rivals_put(out, &rivals);
    if (rivals.ctx == 0) put_fastest(out, set);
    return ST_OK;
}
