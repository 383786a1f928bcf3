#include "report/findings/summary.h"

#include "base/human.h"
#include "base/json_text.h"
#include "bench/measure/interference.h"
#include "bench/record/comparison.h"
#include "bench/record/record_stat.h"
#include "report/findings/findings.h"
#include "report/findings/missing_results.h"
#include "report/records/attention_rivals.h"
#include "report/records/cell_text.h"
#include "report/records/column.h"
#include "report/records/measured_phase.h"
#include "report/records/record_conclusion.h"

#include <math.h>

typedef struct Summary {
    json_t *lines;
    const ResultInput *files;
    int n_files;
} Summary;

/* ---- the row with the largest or smallest value ---- */

typedef struct Pick {
    const ResultInput *file;
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

static void consider(Pick *best, const ResultInput *file, const Record *record, const char *path,
                     bool most)
{
    double value;
    if (record_text(record, "peer") || !figure_of(record, path, &value)) return;
    if (best->record && (most ? value <= best->value : value >= best->value)) return;
    *best = (Pick){file, record, value};
}

static Pick pick(const Summary *s, const char *path, bool most)
{
    Pick best = {0};
    for (int f = 0; f < s->n_files; f++) {
        const RecordSet *rows = &s->files[f].kind[RESULT_MODEL];
        for (size_t i = 0; i < record_set_size(rows); i++)
            consider(&best, &s->files[f], record_set_at(rows, i), path, most);
    }
    return best;
}

/* Of a model's row. */
static void put_label(Text *text, const Summary *s, const char *before, const Pick *p)
{
    text_puts(text, before);
    result_input_label(text, &p->file->kind[RESULT_MODEL], p->record);
    if (column_measured_less(p->record))
        text_printf(text, " (%s only)", record_text(p->record, "measured_mode"));
    if (result_input_count(s->files, s->n_files, RESULT_MODEL) > 1)
        text_printf(text, " (%s)", result_input_name(p->file));
}

/* ---- how the cells ended ---- */

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
    static const char *const words[STAT_COUNT] = {
        [STAT_MEDIAN] = "medians", [STAT_MEAN] = "means", [STAT_MIN] = "the fastest samples"};
    if (stat == STAT_COUNT)
        text_puts(text, "; each file names the statistic of its times");
    else
        text_printf(text, "; times are %s", words[stat]);
}

static void put_statuses(Text *text, const Summary *s)
{
    int counts[RECORD_STATUS_COUNT] = {0}, all = 0;
    const char *separator = ": ";
    for (int f = 0; f < s->n_files; f++) {
        const RecordSet *rows = &s->files[f].rows;
        for (size_t i = 0; i < record_set_size(rows); i++) {
            if (record_text(record_set_at(rows, i), "peer")) continue; /* beside a cell of ours */
            counts[record_status(record_set_at(rows, i))]++;
            all++;
        }
    }
    if (all == 0) return;
    text_printf(text, "%d %s", all, all == 1 ? "cell" : "cells");
    for (int status = 0; status < RECORD_STATUS_COUNT; status++) {
        if (counts[status] == 0) continue;
        text_printf(text, "%s%d %s", separator, counts[status],
                    cell_text_status((RecordStatus)status));
        separator = ", ";
    }
    if (counts[RECORD_OK] > 0) put_stat(text, common_stat(s));
    text_puts(text, ".");
}

/* ---- interference ---- */

static void put_interference(Text *text, const Summary *s, const char *who, const char *field,
                             double much)
{
    int cells = 0;
    double most = 0;
    for (int f = 0; f < s->n_files; f++) {
        const RecordSet *rows = &s->files[f].rows;
        for (size_t i = 0; i < record_set_size(rows); i++) {
            const Record *row = record_set_at(rows, i);
            const double percent = record_real(row, field);
            if (record_text(row, "peer") || !(percent >= much)) continue;
            most = percent > most ? percent : most;
            cells++;
        }
    }
    if (cells > 0)
        text_printf(
            text,
            "%s used up to %.0f %% of CPU time while %d %s measured: a quiet machine is faster.",
            who, most, cells, cells == 1 ? "cell was" : "cells were");
}

static void put_others(Text *text, const Summary *s)
{
    put_interference(text, s, "Other programs", "others_percent", INTERFERENCE_MUCH_OTHERS);
}

static void put_stolen(Text *text, const Summary *s)
{
    put_interference(text, s, "Other virtual machines", "stolen_percent", INTERFERENCE_MUCH_STOLEN);
}

/* ---- whole models ---- */

static void put_speed(Text *text, const Summary *s, const char *before, const Pick *p)
{
    double ms;
    put_label(text, s, before, p);
    text_printf(text, ", %s tokens/s", human_number(p->value, 4).s);
    if (record_stat_ms(p->record, "step", &ms))
        text_printf(text, ", a step in %s", human_seconds(ms / 1000).s);
    text_puts(text, ".");
}

static void put_fastest(Text *text, const Summary *s)
{
    const Pick fastest = pick(s, "tokens_per_s", true);
    if (fastest.record) put_speed(text, s, "Fastest: ", &fastest);
}

static void put_slowest(Text *text, const Summary *s)
{
    const Pick slowest = pick(s, "tokens_per_s", false);
    if (slowest.record != pick(s, "tokens_per_s", true).record)
        put_speed(text, s, "Slowest: ", &slowest);
}

static void put_roof(Text *text, const Summary *s)
{
    const Pick near = pick(s, "percent_of_limit", true), far = pick(s, "percent_of_limit", false);
    if (!near.record) return;
    put_label(text, s, "Closest to the machine's limits: ", &near);
    text_printf(text, ", %.1f %% of limit", near.value);
    if (far.record != near.record) {
        put_label(text, s, "; farthest: ", &far);
        text_printf(text, ", %.1f %%", far.value);
    }
    text_puts(text, ".");
}

static void put_bound(Text *text, const Summary *s)
{
    const Pick p = pick(s, "step", true);
    CLEANUP(text_free) Text bound = {0};
    if (!p.record || !record_conclusion_bound(&bound, p.record)) return;
    put_label(text, s, "The step of ", &p);
    text_printf(text, " is %s.", text_str(&bound));
    text->failed |= bound.failed;
}

static void put_phases(Text *text, const Summary *s)
{
    static const char *const phases[] = {"forward", "backward", "optimizer"};
    const Pick p = pick(s, "step", true);
    double ms[3] = {0}, sum = 0;
    const char *separator = ": ";
    for (int i = 0; i < 3 && p.record; i++) {
        if (record_stat_ms(p.record, phases[i], &ms[i])) sum += ms[i];
    }
    if (sum <= 0) return;
    put_label(text, s, "Time of ", &p);
    for (int i = 0; i < 3; i++) {
        if (ms[i] <= 0) continue;
        text_printf(text, "%s%s %.0f %%", separator, phases[i], 100 * ms[i] / sum);
        separator = ", ";
    }
    text_puts(text, ".");
}

/* Of the steps that `memory` ran, too: it names them by their own fields. */
static Pick pick_of_memory(const Summary *s)
{
    Pick best = {0};
    for (int f = 0; f < s->n_files; f++) {
        for (size_t i = 0; i < json_array_size(s->files[f].memory); i++) {
            const json_t *cell = json_array_get(s->files[f].memory, i);
            const Record *ran = record_value(cell, "measured");
            if (json_is_object(ran)) consider(&best, &s->files[f], ran, "peak_alloc_mib", true);
        }
    }
    return best;
}

static void put_memory_label(Text *text, const Record *ran)
{
    const char *size = record_text(ran, "size"), *precision = record_text(ran, "precision");
    int64_t ctx = 0, batch = 0;
    record_int(ran, "ctx", &ctx);
    record_int(ran, "batch", &batch);
    text_printf(text, "Most memory: %s, ctx %lld, batch %lld, precision %s", size ? size : "a step",
                (long long)ctx, (long long)batch, precision ? precision : "unknown");
}

static void put_memory(Text *text, const Summary *s)
{
    const Pick bench = pick(s, "peak_alloc_mib", true), memory = pick_of_memory(s);
    const bool ran = memory.record && (!bench.record || memory.value > bench.value);
    const Pick *p = ran ? &memory : &bench;
    if (!p->record) return;
    if (ran)
        put_memory_label(text, p->record);
    else
        put_label(text, s, "Most memory: ", p);
    text_printf(text, ", peak %s.", human_bytes(p->value * 1024 * 1024).s);
}

/* ---- attention alone ---- */

static Status add_attention(const Summary *s, Text *text)
{
    AttentionRivals longest = {0};
    for (int f = 0; f < s->n_files; f++)
        TRY(attention_rivals_find(&longest, &s->files[f].kind[RESULT_ATTENTION]));
    attention_rivals_put(text, &longest);
    return json_text_append(s->lines, text);
}

/* ---- several files ---- */

void summary_put_verdicts(Text *text, const Comparison *c)
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
    CLEANUP(comparison_free) Comparison comparison = {0};
    const ResultInput *before = result_input_before(s->files, f), *other = &s->files[f];
    if (!before) return ST_OK;
    TRY(comparison_make(&comparison, &before->rows, &other->rows));
    text_printf(text, "%s against %s", result_input_name(other), result_input_name(before));
    summary_put_verdicts(text, &comparison);
    text_puts(text, ".");
    return json_text_append(s->lines, text);
}

/* ---- commands that measured nothing ---- */

static Status add_gaps(const Summary *s, Text *text)
{
    CLEANUP(json_text_free) json_t *gaps = json_array();
    TRY(missing_results_add(gaps, s->files, s->n_files));
    for (size_t i = 0; i < json_array_size(gaps); i++) {
        const json_t *gap = json_array_get(gaps, i);
        text_printf(text, "%s measured nothing: %s.", record_text(gap, "command"),
                    record_text(gap, "why"));
        TRY(json_text_append(s->lines, text));
    }
    return ST_OK;
}

/* ---- all lines ---- */

/* A line each, or nothing; NULL ends them. */
typedef void PutLine(Text *text, const Summary *s);

static Status add_lines(const Summary *s, Text *text, PutLine *const *put)
{
    for (; *put; put++) {
        (*put)(text, s);
        TRY(json_text_append(s->lines, text));
    }
    return ST_OK;
}

Status summary_add(json_t *lines, const ResultInput *files, int n)
{
    static PutLine *const all[] = {put_statuses, put_others, put_stolen, NULL};
    static PutLine *const models[] = {put_fastest, put_slowest, put_roof, put_bound,
                                      put_phases,  put_memory,  NULL};
    const Summary s = {lines, files, n};
    CLEANUP(text_free) Text text = {0};
    TRY(add_lines(&s, &text, all));
    for (int f = 1; f < n; f++) TRY(add_comparison(&s, &text, f));
    TRY(add_lines(&s, &text, models));
    TRY(add_attention(&s, &text));
    TRY(findings_add(lines, files, n));
    TRY(add_gaps(&s, &text));
    return advice_add(lines, files, n);
}
