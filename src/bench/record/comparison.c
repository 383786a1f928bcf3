#include "bench/record/comparison.h"

#include "base/array.h"
#include "base/json_text.h"
#include "base/rank_test.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const comparison_phases[COMPARISON_PHASES] = {"forward", "backward", "optimizer",
                                                          "step"};

const char *comparison_verdict_word(ComparisonVerdict verdict)
{
    static const char *const words[] = {[COMPARISON_NONE] = "",
                                        [COMPARISON_FASTER] = "faster",
                                        [COMPARISON_SLOWER] = "slower",
                                        [COMPARISON_SAME] = "same",
                                        [COMPARISON_UNSURE] = "unsure"};
    return words[verdict];
}

/* ---- one phase ---- */

/* The samples in ms, sorted, malloc'd; NULL when memory runs out. */
static double *sorted_samples(const json_t *array)
{
    const size_t n = json_array_size(array);
    double *x = malloc((n + 1) * sizeof *x);
    if (!x) return NULL;
    for (size_t i = 0; i < n; i++) x[i] = json_number_value(json_array_get(array, i));
    stats_sort(x, (int)n);
    return x;
}

static double median_of(const json_t *phase, const double *samples, int n)
{
    double ms = NAN;
    if (n > 0) return stats_median(samples, n);
    if (!record_number(phase, "median_ms", &ms)) record_number(phase, "mean_ms", &ms);
    return ms;
}

static ComparisonVerdict judge(const ComparisonPhase *p, double ratio)
{
    const double noticed = 1 + COMPARISON_NOTICED, change = 1 + p->change;
    if (isnan(p->change)) return COMPARISON_NONE;
    if (p->p <= COMPARISON_SIGNIFICANT) {
        if (change >= noticed && ratio > 1) return COMPARISON_SLOWER;
        if (change * noticed <= 1 && ratio < 1) return COMPARISON_FASTER;
    }
    const bool within = (1 + p->low) * noticed >= 1 && 1 + p->high <= noticed;
    return within ? COMPARISON_SAME : COMPARISON_UNSURE;
}

/* A time of 0 has no ratio: then there is no test. */
static void test_samples(ComparisonPhase *p, const double *a, const double *b)
{
    RankRatio ratio = {NAN, NAN, NAN};
    if (p->n_a > 0 && p->n_b > 0 && a[0] > 0 && b[0] > 0) {
        const RankTest test = rank_test_mann_whitney(a, p->n_a, b, p->n_b);
        ratio = rank_test_ratio(a, p->n_a, b, p->n_b);
        p->p = test.p;
        p->exact = test.exact;
        p->low = ratio.low - 1;
        p->high = ratio.high - 1;
    }
    if (p->median_a > 0 && p->median_b > 0) p->change = p->median_b / p->median_a - 1;
    p->verdict = judge(p, ratio.ratio);
}

static Status measure(ComparisonPhase *p, const json_t *a, const json_t *b)
{
    json_t *list_a = json_object_get(a, "samples_ms"), *list_b = json_object_get(b, "samples_ms");
    CLEANUP(array_free) double *x = sorted_samples(list_a), *y = sorted_samples(list_b);
    if (!x || !y) return NO_MEMORY("for a comparison");
    p->n_a = (int)json_array_size(list_a);
    p->n_b = (int)json_array_size(list_b);
    p->median_a = median_of(a, x, p->n_a);
    p->median_b = median_of(b, y, p->n_b);
    if (p->n_a > 0) p->min_a = x[0], p->max_a = x[p->n_a - 1];
    if (p->n_b > 0) p->min_b = y[0], p->max_b = y[p->n_b - 1];
    if (!p->other_mode) test_samples(p, x, y);
    /* The same samples on both sides are the same measurement, whatever their spread. */
    p->same_samples = p->n_a > 0 && json_equal(list_a, list_b);
    if (p->verdict == COMPARISON_UNSURE && p->same_samples) p->verdict = COMPARISON_SAME;
    return ST_OK;
}

static RecordStatus status_of(const Record *record, const char *phase)
{
    const RecordStatus status = record_phase_status(record, phase);
    if (status != RECORD_STATUS_COUNT || record_status(record) == RECORD_OK) return status;
    return record_status(record);
}

static bool is_other_mode(const Record *a, const Record *b, const char *phase)
{
    const char *mode_a = record_text(a, "measured_mode"), *mode_b = record_text(b, "measured_mode");
    return strcmp(phase, "step") == 0 && mode_a && mode_b && strcmp(mode_a, mode_b) != 0;
}

ComparisonPhase comparison_no_phase(void)
{
    return (ComparisonPhase){.status_a = RECORD_STATUS_COUNT,
                             .status_b = RECORD_STATUS_COUNT,
                             .median_a = NAN,
                             .median_b = NAN,
                             .min_a = NAN,
                             .max_a = NAN,
                             .min_b = NAN,
                             .max_b = NAN,
                             .change = NAN,
                             .low = NAN,
                             .high = NAN,
                             .p = NAN};
}

Status comparison_phase_make(ComparisonPhase *p, const Record *a, const Record *b,
                             const char *phase)
{
    const json_t *phase_a = record_value(a, phase), *phase_b = record_value(b, phase);
    *p = comparison_no_phase();
    p->present = json_is_object(phase_a) || json_is_object(phase_b);
    p->other_mode = is_other_mode(a, b, phase);
    p->status_a = status_of(a, phase);
    p->status_b = status_of(b, phase);
    return measure(p, p->status_a == RECORD_OK ? phase_a : NULL,
                   p->status_b == RECORD_OK ? phase_b : NULL);
}

/* ---- warnings in the files ---- */

/* Finds or adds the item of this text; NULL when memory runs out. */
static json_t *warning_item(Comparison *c, const char *text)
{
    json_t *item = json_object_get(c->known, text);
    if (item) return item;
    item = json_pack("{s:s, s:[], s:[]}", "warning", text, "a", "b");
    if (!item || json_array_append_new(c->warnings, item)) return NULL;
    return json_object_set(c->known, text, item) == 0 ? item : NULL;
}

static Status add_warnings(Comparison *c, const Record *record, const char *file)
{
    const json_t *list = record_value(record, "warnings");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text) continue;
        json_t *cells = json_object_get(warning_item(c, text), file);
        if (json_array_append_new(cells, json_string(record_key(record))))
            return NO_MEMORY("for a comparison");
    }
    return ST_OK;
}

/* ---- differences of the environments ---- */

/* Differ from run to run, or only identify the environment: not compared. */
static const char *const volatile_fields[] = {
    "id",
    "time_utc",
    "command",
    "load",
    "steal_percent",
    "memory_available_mib",
    "frequency_mhz",
    "gpu_sm_mhz",
    "gpu_memory_mhz",
    "gpu_power_w",
    "gpu_temperature_c",
};

/* Fields of a record that `auto` resolved. */
static const char *const resolved[] = {"device",    "threads", "blas",
                                       "attention", "exec",    "peer_version"};

static bool is_volatile(const char *name)
{
    for (size_t i = 0; i < sizeof volatile_fields / sizeof *volatile_fields; i++) {
        if (strcmp(name, volatile_fields[i]) == 0) return true;
    }
    return false;
}

/* Marks this text as known; *known: it was known before. */
static Status mark_known(Comparison *c, Text *text, bool *known)
{
    text_puts(text, "\n");
    TRY(text_status(text));
    *known = json_object_get(c->known, text_str(text)) != NULL;
    return !*known && json_object_set_new(c->known, text_str(text), json_true())
               ? NO_MEMORY("for a comparison")
               : ST_OK;
}

static json_t *or_null(json_t *value)
{
    return value ? value : json_null();
}

static Status add_pair(Comparison *c, const char *field, json_t *a, json_t *b)
{
    if (json_equal(or_null(a), or_null(b))) return ST_OK;
    CLEANUP(json_text_free)
    json_t *item = json_pack("{s:s, s:O, s:O}", "field", field, "a", or_null(a), "b", or_null(b));
    CLEANUP(text_free) Text text = {0};
    bool known = false;
    json_text_put(&text, item, JSON_COMPACT | JSON_SORT_KEYS);
    TRY(mark_known(c, &text, &known));
    if (!known && json_array_append(c->differences, item)) return NO_MEMORY("for a comparison");
    return ST_OK;
}

/* Compares all that either has, and what is below it. */
static Status add_members(Comparison *c, const char *prefix, json_t *a, json_t *b)
{
    CLEANUP(json_text_free) json_t *all = json_object();
    const char *key;
    json_t *either;
    if (!all || (json_is_object(a) && json_object_update(all, a)) ||
        (json_is_object(b) && json_object_update_missing(all, b)))
        return NO_MEMORY("for a comparison");
    json_object_foreach(all, key, either)
    {
        char name[80], below[sizeof name + 1];
        json_t *in_a = json_object_get(a, key), *in_b = json_object_get(b, key);
        snprintf(name, sizeof name, "%s%s", prefix, key);
        snprintf(below, sizeof below, "%s.", name);
        if (is_volatile(name)) continue;
        TRY(json_is_object(in_a) || json_is_object(in_b) ? add_members(c, below, in_a, in_b)
                                                         : add_pair(c, name, in_a, in_b));
    }
    return ST_OK;
}

/* Compares two environments, each pair once. */
static Status add_environments(Comparison *c, json_t *a, json_t *b)
{
    const char *id_a = record_text(a, "id"), *id_b = record_text(b, "id");
    CLEANUP(text_free) Text pair = {0};
    bool known = false;
    text_printf(&pair, "%s\n%s", id_a ? id_a : "", id_b ? id_b : "");
    if (id_a || id_b) TRY(mark_known(c, &pair, &known));
    return known ? ST_OK : add_members(c, "", a, b);
}

/* Differences of the machines, the builds and the libraries, and of how "auto" was resolved. */
static Status add_differences(Comparison *c, const RecordSet *set_a, const Record *a,
                              const RecordSet *set_b, const Record *b)
{
    TRY(add_environments(c, record_set_environment(set_a, a), record_set_environment(set_b, b)));
    if (record_status(a) != RECORD_OK || record_status(b) != RECORD_OK) return ST_OK;
    for (size_t i = 0; i < sizeof resolved / sizeof *resolved; i++) {
        TRY(add_pair(c, resolved[i], record_value(a, resolved[i]), record_value(b, resolved[i])));
    }
    return ST_OK;
}

/* ---- all cells ---- */

static Status compare_cell(ComparisonCell *cell)
{
    bool any = false;
    for (int i = 0; i < COMPARISON_PHASES; i++) {
        TRY(comparison_phase_make(&cell->phases[i], cell->a, cell->b, comparison_phases[i]));
        any = any || cell->phases[i].present;
    }
    if (!any) cell->phases[COMPARISON_PHASES - 1].present = true; /* carries the reason */
    return ST_OK;
}

static const Record *find(const RecordSet *set, const Record *record)
{
    const char *key = record_key(record);
    return key ? record_set_find(set, key) : NULL;
}

/* The set has a later record with the same key. */
static bool is_replaced(const RecordSet *set, const Record *record)
{
    return record_key(record) && find(set, record) != record;
}

static Status match(Comparison *c, const RecordSet *a, const RecordSet *b)
{
    for (size_t i = 0; i < record_set_size(a); i++) {
        const Record *record = record_set_at(a, i), *other = find(b, record);
        if (is_replaced(a, record)) continue;
        if (!other) {
            c->only_a[c->n_only_a++] = record;
            continue;
        }
        ComparisonCell *cell = &c->cells[c->n_cells++];
        *cell = (ComparisonCell){.a = record, .b = other};
        TRY(compare_cell(cell));
        TRY(add_differences(c, a, record, b, other));
        TRY(add_warnings(c, record, "a"));
        TRY(add_warnings(c, other, "b"));
    }
    for (size_t i = 0; i < record_set_size(b); i++) {
        const Record *record = record_set_at(b, i);
        if (!is_replaced(b, record) && !find(a, record)) c->only_b[c->n_only_b++] = record;
    }
    return ST_OK;
}

static void average(Comparison *c, int phase)
{
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < c->n_cells; i++) {
        const double change = c->cells[i].phases[phase].change;
        if (isnan(change)) continue;
        sum += log1p(change);
        n++;
    }
    c->mean_ratio[phase] = n ? exp(sum / n) : NAN;
    c->n_ratios[phase] = n;
}

Status comparison_make(Comparison *out, const RecordSet *a, const RecordSet *b)
{
    const size_t n_a = record_set_size(a), n_b = record_set_size(b);
    *out = (Comparison){.cells = calloc(n_a + 1, sizeof *out->cells),
                        .only_a = calloc(n_a + 1, sizeof *out->only_a),
                        .only_b = calloc(n_b + 1, sizeof *out->only_b),
                        .differences = json_array(),
                        .warnings = json_array(),
                        .known = json_object()};
    const bool made =
        out->cells && out->only_a && out->only_b && out->differences && out->warnings && out->known;
    if (!made) return NO_MEMORY("for a comparison");
    TRY(match(out, a, b));
    for (int i = 0; i < COMPARISON_PHASES; i++) average(out, i);
    return ST_OK;
}

void comparison_free(Comparison *comparison)
{
    free(comparison->cells);
    free(comparison->only_a);
    free(comparison->only_b);
    json_decref(comparison->differences);
    json_decref(comparison->warnings);
    json_decref(comparison->known);
    *comparison = (Comparison){0};
}
