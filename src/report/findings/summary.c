#include "report/findings/summary.h"

#include "base/human.h"
#include "base/json_text.h"
#include "base/text_groups.h"
#include "bench/measure/interference.h"
#include "bench/record/comparison.h"
#include "bench/record/record_stat.h"
#include "report/findings/advice.h"
#include "report/findings/findings.h"
#include "report/findings/missing_results.h"
#include "report/records/cell_text.h"
#include "report/records/column.h"
#include "report/records/measured_phase.h"
#include "report/records/same_work.h"

#include <string.h>

typedef struct Summary {
    json_t *lines;
    const ResultInput *files;
    int n_files;
} Summary;

/* ---- the row with the largest or smallest value ---- */

typedef struct Pick {
    const ResultInput *file;
    ResultKind kind;
    const Record *record; /* NULL: no row has it */
    double value;
} Pick;

/* A path without a dot that is a phase's name is its time by the result's statistic. */
static bool figure_of(const Record *record, const char *path, double *value)
{
    if (record_phase_status(record, path) != RECORD_STATUS_COUNT)
        return record_stat_ms(record, path, value);
    return measured_phase_number(record, path, value);
}

static void consider(Pick *best, const ResultInput *file, ResultKind kind, const Record *record,
                     const char *path, bool most)
{
    double value;
    if (record_text(record, "peer") || !figure_of(record, path, &value)) return;
    if (best->record && (most ? value <= best->value : value >= best->value)) return;
    *best = (Pick){file, kind, record, value};
}

static Pick pick(const Summary *s, ResultKind kind, const char *path, bool most)
{
    Pick best = {0};
    for (int f = 0; f < s->n_files; f++) {
        const RecordSet *rows = &s->files[f].kind[kind];
        for (size_t i = 0; i < record_set_size(rows); i++)
            consider(&best, &s->files[f], kind, record_set_at(rows, i), path, most);
    }
    return best;
}

static void put_label(Text *text, const Summary *s, const Pick *p)
{
    result_input_label(text, &p->file->kind[p->kind], p->record);
    if (column_measured_less(p->record))
        text_printf(text, " (%s only)", record_text(p->record, "measured_mode"));
    if (result_input_count(s->files, s->n_files, p->kind) > 1)
        text_printf(text, " (%s)", result_input_name(p->file));
}

/* ---- how the cells ended ---- */

static void count_statuses(const Summary *s, int counts[RECORD_STATUS_COUNT], int *all)
{
    for (int f = 0; f < s->n_files; f++) {
        const RecordSet *rows = &s->files[f].rows;
        for (size_t i = 0; i < record_set_size(rows); i++) {
            if (record_text(record_set_at(rows, i), "peer")) continue; /* beside a cell of ours */
            counts[record_status(record_set_at(rows, i))]++;
            (*all)++;
        }
    }
}

static const char *stat_plural(Stat stat)
{
    return stat == STAT_MEDIAN ? "medians" : stat == STAT_MEAN ? "means" : "the fastest samples";
}

/* Of every file that has times; STAT_COUNT where they differ. */
static Stat common_stat(const Summary *s)
{
    Stat common = STAT_COUNT;
    for (int f = 0; f < s->n_files; f++) {
        Stat stat;
        if (!record_stat_measured(&s->files[f].rows, &stat)) continue;
        if (common != STAT_COUNT && stat != common) return STAT_COUNT;
        common = stat;
    }
    return common;
}

static void put_stat(Text *text, Stat stat)
{
    if (stat == STAT_COUNT)
        text_puts(text, "; each file names the statistic of its times");
    else
        text_printf(text, "; times are %s", stat_plural(stat));
}

static Status add_statuses(const Summary *s, Text *text)
{
    int counts[RECORD_STATUS_COUNT] = {0}, all = 0;
    const char *separator = ": ";
    count_statuses(s, counts, &all);
    if (all == 0) return ST_OK;
    text_printf(text, "%d %s", all, all == 1 ? "cell" : "cells");
    for (int status = 0; status < RECORD_STATUS_COUNT; status++) {
        if (counts[status] == 0) continue;
        text_printf(text, "%s%d %s", separator, counts[status],
                    cell_text_status((RecordStatus)status));
        separator = ", ";
    }
    if (counts[RECORD_OK] > 0) put_stat(text, common_stat(s));
    text_puts(text, ".");
    return json_text_append(s->lines, text);
}

/* ---- interference ---- */

static Status add_interference(const Summary *s, Text *text, const char *who, const char *field,
                               double much)
{
    int cells = 0;
    double most = 0, percent;
    for (int f = 0; f < s->n_files; f++) {
        const RecordSet *rows = &s->files[f].rows;
        for (size_t i = 0; i < record_set_size(rows); i++) {
            const Record *row = record_set_at(rows, i);
            if (record_text(row, "peer")) continue;
            if (!record_number(row, field, &percent) || percent < much) continue;
            most = percent > most ? percent : most;
            cells++;
        }
    }
    if (cells == 0) return ST_OK;
    text_printf(
        text, "%s used up to %.0f %% of CPU time while %d %s measured: a quiet machine is faster.",
        who, most, cells, cells == 1 ? "cell was" : "cells were");
    return json_text_append(s->lines, text);
}

/* ---- whole models ---- */

static Status add_speed(const Summary *s, Text *text, const char *word, const Pick *p)
{
    double ms;
    if (!p->record) return ST_OK;
    text_printf(text, "%s: ", word);
    put_label(text, s, p);
    text_printf(text, ", %s tokens/s", human_number(p->value, 4).s);
    if (record_stat_ms(p->record, "step", &ms))
        text_printf(text, ", a step in %s", human_seconds(ms / 1000).s);
    text_puts(text, ".");
    return json_text_append(s->lines, text);
}

static Status add_speeds(const Summary *s, Text *text)
{
    const Pick fastest = pick(s, RESULT_MODEL, "tokens_per_s", true);
    const Pick slowest = pick(s, RESULT_MODEL, "tokens_per_s", false);
    TRY(add_speed(s, text, "Fastest", &fastest));
    return slowest.record == fastest.record ? ST_OK : add_speed(s, text, "Slowest", &slowest);
}

static Status add_roof(const Summary *s, Text *text)
{
    const Pick near = pick(s, RESULT_MODEL, "percent_of_limit", true);
    const Pick far = pick(s, RESULT_MODEL, "percent_of_limit", false);
    if (!near.record) return ST_OK;
    text_puts(text, "Closest to the machine's limits: ");
    put_label(text, s, &near);
    text_printf(text, ", %.1f %% of limit", near.value);
    if (far.record != near.record) {
        text_puts(text, "; farthest: ");
        put_label(text, s, &far);
        text_printf(text, ", %.1f %%", far.value);
    }
    text_puts(text, ".");
    return json_text_append(s->lines, text);
}

/* The shortest possible time of a step is that of matrix multiplications at the highest rate,
 * and of waiting for memory. */
static Status add_bound(const Summary *s, Text *text)
{
    const Pick p = pick(s, RESULT_MODEL, "step", true);
    double flops, rate, least;
    if (!p.record || !record_number(p.record, "flops_per_step", &flops)) return ST_OK;
    if (!record_number(p.record, "limit_tflops", &rate) || rate <= 0) return ST_OK;
    if (!record_number(p.record, "limit_step_ms", &least) || least <= 0) return ST_OK;
    const double matmuls = 100 * flops / (rate * 1e9) / least;
    text_puts(text, "The step of ");
    put_label(text, s, &p);
    text_printf(text, " is %s: matrix multiplications are %.0f %% of its shortest possible time.",
                matmuls >= 50 ? "compute-bound" : "memory-bound", matmuls < 100 ? matmuls : 100);
    return json_text_append(s->lines, text);
}

static Status add_phases(const Summary *s, Text *text)
{
    static const char *const phases[] = {"forward", "backward", "optimizer"};
    const Pick p = pick(s, RESULT_MODEL, "step", true);
    double ms[3] = {0}, sum = 0;
    const char *separator = ": ";
    if (!p.record) return ST_OK;
    for (int i = 0; i < 3; i++) {
        if (record_stat_ms(p.record, phases[i], &ms[i])) sum += ms[i];
    }
    if (sum <= 0) return ST_OK;
    text_puts(text, "Time of ");
    put_label(text, s, &p);
    for (int i = 0; i < 3; i++) {
        if (ms[i] <= 0) continue;
        text_printf(text, "%s%s %.0f %%", separator, phases[i], 100 * ms[i] / sum);
        separator = ", ";
    }
    text_puts(text, ".");
    return json_text_append(s->lines, text);
}

static Status add_memory(const Summary *s, Text *text)
{
    const Pick p = pick(s, RESULT_MODEL, "peak_alloc_mib", true);
    if (!p.record) return ST_OK;
    text_puts(text, "Most memory: ");
    put_label(text, s, &p);
    text_printf(text, ", peak %s.", human_bytes(p.value * 1024 * 1024).s);
    return json_text_append(s->lines, text);
}

/* ---- attention alone ---- */

/* Rows of the same attention by whichever implementation. */
static Status find_rivals(TextGroups *rivals, Text *work, const RecordSet *rows)
{
    static const char *const fields[] = {"ctx",  "d_head", "heads",    "batch",
                                         "mask", "device", "precision"};
    TRY(text_groups_init(rivals, record_set_size(rows)));
    for (size_t i = 0; i < record_set_size(rows); i++) {
        text_clear(work);
        if (!same_work_fields(work, record_set_at(rows, i), fields, sizeof fields / sizeof *fields))
            continue;
        TRY(text_status(work));
        TRY(text_groups_put(rivals, i, text_str(work)));
    }
    return ST_OK;
}

/* The attention of the longest sequence that more than one implementation ran. */
typedef struct Longest {
    int64_t ctx; /* 0: none */
    Pick slow, fast;
} Longest;

/* The slowest and the fastest of the rows that are like row `i`. */
static void consider_rivals(Longest *longest, const ResultInput *file, const TextGroups *rivals,
                            size_t i)
{
    const RecordSet *rows = &file->kind[RESULT_ATTENTION];
    Longest own = {0};
    if (!record_int(record_set_at(rows, i), "ctx", &own.ctx) || own.ctx <= longest->ctx) return;
    for (; i < record_set_size(rows); i = text_groups_next(rivals, i)) {
        consider(&own.slow, file, RESULT_ATTENTION, record_set_at(rows, i), "forward", true);
        consider(&own.fast, file, RESULT_ATTENTION, record_set_at(rows, i), "forward", false);
    }
    if (own.slow.record != own.fast.record && own.fast.value > 0) *longest = own;
}

static Status pick_longest(const Summary *s, Text *work, Longest *longest)
{
    *longest = (Longest){0};
    Status status = ST_OK;
    for (int f = 0; status == ST_OK && f < s->n_files; f++) {
        TextGroups rivals;
        status = find_rivals(&rivals, work, &s->files[f].kind[RESULT_ATTENTION]);
        for (size_t i = 0; status == ST_OK && i < rivals.n; i++) {
            if (text_groups_leads(&rivals, i)) consider_rivals(longest, &s->files[f], &rivals, i);
        }
        text_groups_free(&rivals);
    }
    text_clear(work);
    return status;
}

static Status add_attention(const Summary *s, Text *text)
{
    Longest longest;
    double kept, less;
    TRY(pick_longest(s, text, &longest));
    const Pick slow = longest.slow, fast = longest.fast;
    const int64_t ctx = longest.ctx;
    if (ctx == 0) return ST_OK;
    text_printf(text, "Attention over %lld tokens, forward: %s is %.1f times as fast as %s",
                (long long)ctx, record_text(fast.record, "attention"), slow.value / fast.value,
                record_text(slow.record, "attention"));
    if (record_number(slow.record, "mem_before_bwd_mib", &kept) &&
        record_number(fast.record, "mem_before_bwd_mib", &less))
        text_printf(text, " and keeps %s for backward instead of %s",
                    human_bytes(less * 1024 * 1024).s, human_bytes(kept * 1024 * 1024).s);
    text_puts(text, ".");
    return json_text_append(s->lines, text);
}

/* ---- several files ---- */

static void put_verdicts(Text *text, const Comparison *c)
{
    static const ComparisonVerdict order[] = {COMPARISON_FASTER, COMPARISON_SLOWER, COMPARISON_SAME,
                                              COMPARISON_UNSURE};
    const char *separator = ": ";
    for (size_t v = 0; v < sizeof order / sizeof *order; v++) {
        int count = 0;
        for (size_t i = 0; i < c->n_cells; i++) {
            for (int k = 0; k < COMPARISON_PHASES; k++)
                count += c->cells[i].phases[k].verdict == order[v];
        }
        if (count == 0) continue;
        text_printf(text, "%s%d %s %s", separator, count, count == 1 ? "phase" : "phases",
                    comparison_verdict_word(order[v]));
        separator = ", ";
    }
    if (*separator == ':') text_puts(text, ": nothing was measured in both");
}

static Status add_comparison(const Summary *s, Text *text, int f)
{
    Comparison comparison;
    const ResultInput *before = result_input_before(s->files, f), *other = &s->files[f];
    if (!before) return ST_OK;
    Status status = comparison_make(&comparison, &before->rows, &other->rows);
    text_printf(text, "%s against %s", result_input_name(other), result_input_name(before));
    if (status == ST_OK) put_verdicts(text, &comparison);
    text_puts(text, ".");
    if (status == ST_OK) status = json_text_append(s->lines, text);
    comparison_free(&comparison);
    return status;
}

/* ---- commands that measured nothing ---- */

static Status add_gaps(const Summary *s, Text *text)
{
    CLEANUP(json_text_free) json_t *gaps = json_array();
    Status status = missing_results_add(gaps, s->files, s->n_files);
    for (size_t i = 0; status == ST_OK && i < json_array_size(gaps); i++) {
        const json_t *gap = json_array_get(gaps, i);
        text_printf(text, "%s measured nothing: %s.", record_text(gap, "command"),
                    record_text(gap, "why"));
        status = json_text_append(s->lines, text);
    }
    return status;
}

/* ---- all lines ---- */

static Status add_all(const Summary *s, Text *text)
{
    TRY(add_statuses(s, text));
    TRY(add_interference(s, text, "Other programs", "others_percent", INTERFERENCE_MUCH_OTHERS));
    TRY(add_interference(s, text, "Other virtual machines", "stolen_percent",
                         INTERFERENCE_MUCH_STOLEN));
    for (int f = 1; f < s->n_files; f++) TRY(add_comparison(s, text, f));
    TRY(add_speeds(s, text));
    TRY(add_roof(s, text));
    TRY(add_bound(s, text));
    TRY(add_phases(s, text));
    TRY(add_memory(s, text));
    TRY(add_attention(s, text));
    TRY(findings_add(s->lines, s->files, s->n_files));
    return add_gaps(s, text);
}

Status summary_add(json_t *lines, const ResultInput *files, int n)
{
    const Summary summary = {lines, files, n};
    CLEANUP(text_free) Text text = {0};
    const Status status = add_all(&summary, &text);
    return status == ST_OK ? advice_add(lines, files, n) : status;
}
