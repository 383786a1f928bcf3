#include "report/records/precision_gain.h"

#include "base/human.h"
#include "base/json_text.h"
#include "bench/record/profile_view.h"
#include "bench/record/record_stat.h"
#include "report/records/column.h"
#include "report/records/same_work.h"

#include <math.h>
#include <string.h>

/* ---- pairs ---- */

/* The same work but for the precision, and which GEMM or attention `auto` takes in it, has the same
 * text. False: it is not known what was asked for. */
static bool put_work(Text *out, const Record *record)
{
    static const char *const but[] = {"precision", "fp8_recipe", "fp8_layers", "attention", "blas"};
    static const char *const fields[] = {"measured_mode", "warmup", "environment_id"};
    char asked[COLUMN_TEXT];
    text_clear(out);
    if (!record_asked(record, "attention", asked, sizeof asked)) return false;
    text_printf(out, "%s\n", asked);
    same_work_put(out, record, but, sizeof but / sizeof *but);
    same_work_fields(out, record, fields, sizeof fields / sizeof *fields);
    return !out->failed;
}

/* {precision: {put_work(): the first such row}} */
static json_t *index_rows(const RecordSet *rows)
{
    json_t *index = json_object();
    CLEANUP(text_free) Text work = {0};
    for (size_t i = 0; i < record_set_size(rows); i++) {
        Record *record = record_set_at(rows, i);
        const char *precision = record_text(record, "precision");
        if (!precision || record_text(record, "peer") || !put_work(&work, record)) continue;
        if (!json_object_get(index, precision))
            json_object_set_new(index, precision, json_object());
        json_t *own = json_object_get(index, precision);
        if (!json_object_get(own, text_str(&work))) json_object_set(own, text_str(&work), record);
    }
    return index;
}

/* The row of the same work in another precision. NULL: none, or `record` is not one of ours in fp32. */
static const Record *partner(const json_t *index, const Record *record, const char *precision)
{
    CLEANUP(text_free) Text work = {0};
    const json_t *others = json_object_get(index, precision);
    const char *own = record_text(record, "precision");
    if (!others || !own || strcmp(own, "fp32") != 0 || record_text(record, "peer")) return NULL;
    return put_work(&work, record) ? json_object_get(others, text_str(&work)) : NULL;
}

/* By the rows' statistic; 0: one of them was not measured. */
static double gain(const Record *fp32, const Record *other, const char *phase)
{
    double before, after;
    if (!record_stat_ms(fp32, phase, &before) || !record_stat_ms(other, phase, &after)) return 0;
    return after > 0 ? before / after : 0;
}

/* ---- rows ---- */

/* " (small)": the pair by the columns that vary; nothing if none does. */
static void put_in_brackets(Text *out, const RecordSet *rows, const Record *record)
{
    CLEANUP(text_free) Text label = {0};
    ColumnSet shown = column_distinct(rows);
    column_leave_out(&shown, "precision");
    column_leave_out(&shown, "blas");
    if (column_label(&label, &shown, record)) text_printf(out, " (%s)", text_str(&label));
}

static void put_phases(Text *out, const Record *fp32, const Record *other)
{
    static const char *const phases[] = {"forward", "backward", "optimizer"};
    const char *separator = ": ";
    for (int i = 0; i < 3; i++) {
        const double times = gain(fp32, other, phases[i]);
        if (!(times > 0)) continue;
        text_printf(out, "%s%s %s times", separator, phases[i], human_number(times, 3).s);
        separator = ", ";
    }
    const double before = record_real(fp32, "peak_alloc_mib");
    const double after = record_real(other, "peak_alloc_mib");
    if (before > 0 && !isnan(after))
        text_printf(out, "%speak memory %+.0f %%", separator, 100 * (after / before - 1));
    text_puts(out, ".");
}

enum { MOST_PAIRS = 6 };

static void put_pair_gain(Text *out, const RecordSet *rows, const Record *fp32, double times,
                          int before)
{
    if (before >= MOST_PAIRS) return;
    text_printf(out, before ? ", %s" : "%s times as fast", human_number(times, 3).s);
    put_in_brackets(out, rows, fp32);
}

static void put_precision(Text *out, const RecordSet *rows, const json_t *index,
                          const char *precision)
{
    const Record *slowest = NULL, *its = NULL;
    double longest = 0, ms = 0;
    int pairs = 0;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *fp32 = record_set_at(rows, i), *other = partner(index, fp32, precision);
        const double times = other ? gain(fp32, other, "step") : 0;
        if (!(times > 0)) continue;
        if (pairs == 0)
            text_printf(out, "%s%s instead of fp32: the step is ", out->n ? " " : "", precision);
        put_pair_gain(out, rows, fp32, times, pairs++);
        if (!record_stat_ms(fp32, "step", &ms) || ms <= longest) continue;
        longest = ms, slowest = fp32, its = other;
    }
    if (pairs == 0) return;
    if (pairs > MOST_PAIRS) text_printf(out, " and %d more", pairs - MOST_PAIRS);
    if (pairs > 1) {
        text_puts(out, ". Of the slowest");
        put_in_brackets(out, rows, slowest);
    }
    put_phases(out, slowest, its);
}

void precision_gain_rows(Text *out, const RecordSet *rows)
{
    CLEANUP(json_text_free) json_t *index = index_rows(rows);
    for (int p = PRECISION_FP32 + 1; p < PRECISION_COUNT; p++)
        put_precision(out, rows, index, config_precisions[p]);
}

void precision_gain_note(Table *table, const RecordSet *rows)
{
    Text text = {0};
    precision_gain_rows(&text, rows);
    table_note_text(table, &text);
}

/* ---- op categories ---- */

/* Adds the time of a step to that of each category. Returns all of it. */
static double sum_categories(double ns[CATEGORY_COUNT + 1], const ProfileView *v)
{
    double all = 0;
    for (int i = 0; i < v->n_ops; i++) {
        const double own = v->ops[i].time.total / (double)v->steps;
        ns[v->ops[i].category] += own;
        all += own;
    }
    return all;
}

/* Those with 2 % of the time or more. */
static void put_categories(Text *out, const ProfileView *fp32, const ProfileView *other)
{
    double before[CATEGORY_COUNT + 1] = {0}, after[CATEGORY_COUNT + 1] = {0};
    const double all = sum_categories(before, fp32);
    const char *separator = ": ";
    sum_categories(after, other);
    for (int i = 0; i < fp32->n_ops; i++) {
        const OpCategory c = fp32->ops[i].category;
        if (before[c] < 0.02 * all || !(after[c] > 0)) continue;
        text_printf(out, "%s%s %s times as fast (%.0f %% of the time in fp32)", separator,
                    plan_category_name(c), human_number(before[c] / after[c], 3).s,
                    100 * before[c] / all);
        separator = ", ";
        after[c] = 0; /* it is told */
    }
    text_puts(out, ".");
}

static void put_pair(Text *out, const RecordSet *rows, const Record *fp32, const Record *other)
{
    CLEANUP(profile_view_free) ProfileView a = {0};
    CLEANUP(profile_view_free) ProfileView b = {0};
    if (profile_view_make(&a, fp32) != ST_OK || profile_view_make(&b, other) != ST_OK) return;
    text_printf(out, "By op category, %s instead of fp32", record_text(other, "precision"));
    put_in_brackets(out, rows, fp32);
    put_categories(out, &a, &b);
}

void precision_gain_ops(Text *out, const RecordSet *profiles)
{
    CLEANUP(json_text_free) json_t *index = index_rows(profiles);
    for (size_t i = 0; i < record_set_size(profiles); i++) {
        const Record *fp32 = record_set_at(profiles, i);
        for (int p = PRECISION_FP32 + 1; p < PRECISION_COUNT; p++) {
            const Record *other = partner(index, fp32, config_precisions[p]);
            if (!record_value(fp32, "profile") || !record_value(other, "profile")) continue;
            put_pair(out, profiles, fp32, other);
            return;
        }
    }
}
