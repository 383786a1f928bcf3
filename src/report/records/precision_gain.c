#include "report/records/precision_gain.h"

#include "base/human.h"
#include "bench/record/profile_view.h"
#include "bench/record/record_stat.h"
#include "report/records/column.h"
#include "report/records/record_notes.h"
#include "report/records/same_work.h"

#include <stdlib.h>
#include <string.h>

/* ---- pairs ---- */

static bool has_precision(const Record *record, const char *precision)
{
    const char *own = record_text(record, "precision");
    return own && strcmp(own, precision) == 0 && !record_text(record, "peer");
}

/* The same work but for the precision has the same text. Which product or attention `auto` takes
 * may differ with it. False: it is not known what was asked for. */
static bool put_work(Text *out, const Record *record)
{
    static const char *const but[] = {"precision", "attention", "blas"};
    static const char *const fields[] = {"measured_mode", "warmup", "environment_id"};
    char asked[COLUMN_TEXT];
    text_clear(out);
    if (!record_asked(record, "attention", asked, sizeof asked)) return false;
    text_printf(out, "%s\n", asked);
    same_work_put(out, record, but, sizeof but / sizeof *but);
    same_work_fields(out, record, fields, sizeof fields / sizeof *fields);
    return !out->failed;
}

/* The first row of each work in a precision, by put_work(); empty where there are none. */
static json_t *rows_of(const RecordSet *rows, const char *precision)
{
    json_t *found = json_object();
    CLEANUP(text_free) Text work = {0};
    for (size_t i = 0; i < record_set_size(rows); i++) {
        Record *record = record_set_at(rows, i);
        if (!has_precision(record, precision) || !put_work(&work, record)) continue;
        if (!json_object_get(found, text_str(&work)))
            json_object_set(found, text_str(&work), record);
    }
    return found;
}

static const Record *partner(const json_t *others, const Record *fp32)
{
    CLEANUP(text_free) Text work = {0};
    if (json_object_size(others) == 0) return NULL;
    const Record *found = put_work(&work, fp32) ? json_object_get(others, text_str(&work)) : NULL;
    return found;
}

/* By the rows' statistic; 0: one of them was not measured. */
static double gain(const Record *fp32, const Record *other, const char *phase)
{
    double before, after;
    if (!record_stat_ms(fp32, phase, &before) || !record_stat_ms(other, phase, &after)) return 0;
    return after > 0 ? before / after : 0;
}

/* ---- rows ---- */

/* Names the pair by the columns that vary; nothing if none does. */
static bool put_label(Text *out, const RecordSet *rows, const Record *record)
{
    static const char *const follow[] = {"precision", "blas"};
    bool shown[TABLE_MAX_COLUMNS] = {0}, any = false;
    char value[COLUMN_TEXT];
    column_distinct(shown, rows);
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        for (size_t i = 0; i < sizeof follow / sizeof *follow; i++)
            shown[c] = shown[c] && strcmp(column->path, follow[i]) != 0;
        any = any || (shown[c] && column_text(column, record, value));
    }
    if (any) record_notes_label(out, shown, record);
    return any;
}

/* " (small)" */
static void put_in_brackets(Text *out, const RecordSet *rows, const Record *record)
{
    CLEANUP(text_free) Text label = {0};
    if (put_label(&label, rows, record)) text_printf(out, " (%s)", text_str(&label));
}

static void put_phases(Text *out, const Record *fp32, const Record *other)
{
    static const char *const phases[] = {"forward", "backward", "optimizer"};
    const char *separator = ": ";
    double before, after;
    for (int i = 0; i < 3; i++) {
        const double times = gain(fp32, other, phases[i]);
        if (!(times > 0)) continue;
        text_printf(out, "%s%s %s times", separator, phases[i], human_number(times, 3).s);
        separator = ", ";
    }
    if (record_number(fp32, "peak_alloc_mib", &before) && before > 0 &&
        record_number(other, "peak_alloc_mib", &after))
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

static void put_precision(Text *out, const RecordSet *rows, const char *precision)
{
    const Record *slowest = NULL, *its = NULL;
    double longest = 0, ms = 0;
    int pairs = 0;
    json_t *others = rows_of(rows, precision);
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *fp32 = record_set_at(rows, i);
        const Record *other = has_precision(fp32, "fp32") ? partner(others, fp32) : NULL;
        const double times = other ? gain(fp32, other, "step") : 0;
        if (!(times > 0)) continue;
        if (pairs == 0)
            text_printf(out, "%s%s instead of fp32: the step is ", out->n ? " " : "", precision);
        put_pair_gain(out, rows, fp32, times, pairs++);
        if (!record_stat_ms(fp32, "step", &ms) || ms <= longest) continue;
        longest = ms, slowest = fp32, its = other;
    }
    json_decref(others); /* the rows have them too */
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
    for (int p = 0; p < PRECISION_COUNT; p++) {
        const char *name = config_precisions[p];
        if (strcmp(name, "fp32") != 0) put_precision(out, rows, name);
    }
}

void precision_gain_note(Table *table, const RecordSet *rows)
{
    Text text = {0};
    precision_gain_rows(&text, rows);
    table_note_text(table, &text);
}

/* ---- op categories ---- */

static double category_ns(const ProfileView *v, OpCategory category)
{
    double ns = 0;
    for (int i = 0; i < v->n_ops; i++) {
        if (v->ops[i].category == category) ns += v->ops[i].time.total / (double)v->steps;
    }
    return ns;
}

static double all_ns(const ProfileView *v)
{
    double ns = 0;
    for (int i = 0; i < v->n_ops; i++) ns += v->ops[i].time.total / (double)v->steps;
    return ns;
}

static bool is_first(const ProfileView *v, int op)
{
    for (int i = 0; i < op; i++) {
        if (v->ops[i].category == v->ops[op].category) return false;
    }
    return true;
}

/* Those with 2 % of the time or more. */
static void put_categories(Text *out, const ProfileView *fp32, const ProfileView *other)
{
    const double all = all_ns(fp32);
    const char *separator = ": ";
    for (int i = 0; i < fp32->n_ops; i++) {
        const OpCategory category = fp32->ops[i].category;
        const double before = category_ns(fp32, category), after = category_ns(other, category);
        if (!is_first(fp32, i) || before < 0.02 * all || !(after > 0)) continue;
        text_printf(out, "%s%s %s times as fast (%.0f %% of the time in fp32)", separator,
                    plan_category_name(category), human_number(before / after, 3).s,
                    100 * before / all);
        separator = ", ";
    }
    text_puts(out, ".");
}

static void put_pair(Text *out, const RecordSet *rows, const Record *fp32, const Record *other)
{
    ProfileView a, b;
    if (profile_view_make(&a, fp32) != ST_OK) return;
    if (profile_view_make(&b, other) == ST_OK) {
        text_printf(out, "By op category, %s instead of fp32", record_text(other, "precision"));
        put_in_brackets(out, rows, fp32);
        put_categories(out, &a, &b);
        profile_view_free(&b);
    }
    profile_view_free(&a);
}

/* True: it was a pair. */
static bool put_first_pair(Text *out, const RecordSet *profiles,
                           json_t *const others[PRECISION_COUNT], const Record *fp32)
{
    if (!has_precision(fp32, "fp32") || !record_value(fp32, "profile")) return false;
    for (int p = 0; p < PRECISION_COUNT; p++) {
        const Record *other = partner(others[p], fp32);
        if (!other || !record_value(other, "profile")) continue;
        put_pair(out, profiles, fp32, other);
        return true;
    }
    return false;
}

void precision_gain_ops(Text *out, const RecordSet *profiles)
{
    json_t *others[PRECISION_COUNT] = {0};
    for (int p = 0; p < PRECISION_COUNT; p++) {
        const char *name = config_precisions[p];
        if (strcmp(name, "fp32") != 0) others[p] = rows_of(profiles, name);
    }
    for (size_t i = 0; i < record_set_size(profiles); i++) {
        if (put_first_pair(out, profiles, others, record_set_at(profiles, i))) break;
    }
    for (int p = 0; p < PRECISION_COUNT; p++) json_decref(others[p]);
}
