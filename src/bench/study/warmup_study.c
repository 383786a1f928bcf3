#include "bench/study/warmup_study.h"

#include "base/i64.h"
#include "base/rank_test.h"
#include "base/stats.h"
#include "bench/measure/sample.h"

#include <math.h>
#include <stdlib.h>

/* As compare's verdicts (bench/record/comparison.c). */
static const double significant = 0.05, relevant = 1.01;
static const double too_noisy = 0.1; /* of the mean */

/* So that numbers of steps can be added to one from a file. */
static const int64_t MOST_STEPS = INT64_MAX / 2;

/* ---- what rows say ---- */

static bool is_run(const Record *row)
{
    return record_status(row) == RECORD_OK && json_array_size(record_value(row, "step.samples_ms"));
}

static int64_t warmup_of(const Record *row)
{
    int64_t warmup = 0;
    record_int(row, "warmup", &warmup);
    return i64_min(warmup, MOST_STEPS);
}

enum { ALL_RUNS = -1 };

/* A statistic (base/stats.h) of one number of every run, or of those of one setting: of the field at `path`,
 * or where that is an array, of its element k. */
static Status summarise(double *out, const RecordSet *rows, int64_t warmup, const char *path,
                        size_t k, double (*statistic)(const double *x, int n))
{
    CLEANUP(sample_list_free) SampleList list = {0};
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (!is_run(row) || (warmup != ALL_RUNS && warmup_of(row) != warmup)) continue;
        const json_t *value = record_value(row, path);
        if (json_is_array(value)) value = json_array_get(value, k);
        if (json_is_number(value)) TRY(sample_list_add(&list, json_number_value(value)));
    }
    *out = statistic(list.seconds, list.n);
    return ST_OK;
}

/* ---- settings ---- */

static double root_mean_square(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum / n);
}

static Status fill_setting(WarmupSetting *s, const RecordSet *rows)
{
    const int64_t w = s->warmup;
    TRY(summarise(&s->mean, rows, w, "step.mean_ms", 0, stats_mean));
    TRY(summarise(&s->std, rows, w, "step.std_ms", 0, root_mean_square));
    TRY(summarise(&s->between, rows, w, "step.mean_ms", 0, stats_std));
    TRY(summarise(&s->first, rows, w, "step.samples_ms", 0, stats_median));
    return summarise(&s->second, rows, w, "step.samples_ms", 1, stats_median);
}

static int compare_settings(const void *a, const void *b)
{
    const WarmupSetting *x = a, *y = b;
    return (x->warmup > y->warmup) - (x->warmup < y->warmup);
}

/* As the first of them says: it was asked for no more than the others. */
static Status none_whole(const RecordSet *rows)
{
    const Record *row = record_set_size(rows) > 0 ? record_set_at(rows, 0) : NULL;
    const char *why = row ? record_text(row, "message") : NULL;
    if (!why) return FAIL(ST_FAILED, "no run was measured completely");
    return FAIL(ST_FAILED, "no run was measured completely: %s: %s",
                record_status_word(record_status(row)), why);
}

static Status find_settings(WarmupStudy *study, const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        int k = 0;
        if (!is_run(row)) continue;
        while (k < study->n && study->settings[k].warmup != warmup_of(row)) k++;
        if (k == WARMUP_STUDY_MAX)
            return FAIL(ST_USAGE, "more than %d settings of --warmup", WARMUP_STUDY_MAX);
        if (k == study->n) study->settings[study->n++].warmup = warmup_of(row);
        study->settings[k].runs++;
    }
    if (study->n == 0) return none_whole(rows);
    qsort(study->settings, (size_t)study->n, sizeof *study->settings, compare_settings);
    for (int k = 0; k < study->n; k++) TRY(fill_setting(&study->settings[k], rows));
    return ST_OK;
}

/* ---- from which step on all is steady ---- */

/* Steps with these numbers, from 1, of all runs; sorted. */
static Status steps_between(SampleList *list, const RecordSet *rows, int64_t from, int64_t to)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (!is_run(row)) continue;
        const json_t *samples = record_value(row, "step.samples_ms");
        const int64_t n = (int64_t)json_array_size(samples), first = warmup_of(row) + 1;
        for (int64_t k = from > first ? from - first : 0; k < n && first + k <= to; k++)
            TRY(sample_list_add(list, json_number_value(json_array_get(samples, (size_t)k))));
    }
    stats_sort(list->seconds, list->n);
    return ST_OK;
}

/* Is this step, as the runs measured it, slower than the steady ones? Ranks decide, as in compare. Both are
 * sorted. */
static bool is_slow(const SampleList *step, const SampleList *steady)
{
    if (step->n == 0 || steady->n == 0) return false;
    const double p = rank_test_mann_whitney(steady->seconds, steady->n, step->seconds, step->n).p;
    return p <= significant && stats_median(step->seconds, step->n) >=
                                   relevant * stats_median(steady->seconds, steady->n);
}

/* As many steps can never be told from as many: even if all of them were slower, chance would do it too
 * often. */
static bool can_decide(int n, int n_steady)
{
    double low[RANK_TEST_EXACT], high[RANK_TEST_EXACT];
    const int a = n_steady < RANK_TEST_EXACT ? n_steady : RANK_TEST_EXACT;
    const int b = n < RANK_TEST_EXACT ? n : RANK_TEST_EXACT;
    for (int i = 0; i < RANK_TEST_EXACT; i++) {
        low[i] = 1 + i;
        high[i] = 100 + i;
    }
    return rank_test_mann_whitney(low, a, high, b).p <= significant;
}

/* The first number above `after` that a run has measured a step of; INT64_MAX: none. */
static int64_t next_measured(const RecordSet *rows, int64_t after)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        if (!is_run(row)) continue;
        const int64_t first = warmup_of(row) + 1;
        const int64_t last =
            first + (int64_t)json_array_size(record_value(row, "step.samples_ms")) - 1;
        const int64_t own = first > after ? first : after + 1;
        if (own <= last && own < next) next = own;
    }
    return next;
}

/* The change point: the first step that ranks cannot tell from the steady ones. A step that no run
 * measured is told by the next one. */
static Status find_change(WarmupStudy *study, const RecordSet *rows, const SampleList *steady)
{
    const int64_t least = study->settings[0].warmup, most = study->settings[study->n - 1].warmup;
    study->enough = -1;
    for (int64_t number = least + 1; number <= most; number = next_measured(rows, number)) {
        CLEANUP(sample_list_free) SampleList step = {0};
        TRY(steps_between(&step, rows, number, number));
        if (number == least + 1) study->undecided = !can_decide(step.n, steady->n);
        if (is_slow(&step, steady)) continue;
        study->enough = number - 1;
        return ST_OK;
    }
    if (least == most) study->undecided = true;
    return ST_OK;
}

static int64_t most_samples(const RecordSet *rows, int64_t warmup)
{
    size_t most = 0;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *row = record_set_at(rows, i);
        const size_t n = json_array_size(record_value(row, "step.samples_ms"));
        if (is_run(row) && warmup_of(row) == warmup && n > most) most = n;
    }
    return (int64_t)most;
}

static Status find_steady(WarmupStudy *study, const RecordSet *rows)
{
    const WarmupSetting *last = &study->settings[study->n - 1];
    CLEANUP(sample_list_free) SampleList steady = {0};
    study->steady_from = last->warmup + most_samples(rows, last->warmup) / 2 + 1;
    TRY(steps_between(&steady, rows, study->steady_from, INT64_MAX));
    study->steady = stats_median(steady.seconds, steady.n);
    study->noise = stats_std(steady.seconds, steady.n) / stats_mean(steady.seconds, steady.n);
    study->noisy = study->noise > too_noisy;
    return find_change(study, rows, &steady);
}

static Status find_cold(WarmupCold *cold, const RecordSet *rows)
{
    TRY(summarise(&cold->first, rows, ALL_RUNS, "cold_step_ms", 0, stats_median));
    TRY(summarise(&cold->plan, rows, ALL_RUNS, "plan_ms", 0, stats_median));
    TRY(summarise(&cold->prepare, rows, ALL_RUNS, "prepare_ms", 0, stats_median));
    TRY(summarise(&cold->open, rows, ALL_RUNS, "open_ms", 0, stats_median));
    TRY(summarise(&cold->system, rows, ALL_RUNS, "cold_system_ms", 0, stats_median));
    TRY(summarise(&cold->faults, rows, ALL_RUNS, "cold_page_faults", 0, stats_median));
    TRY(summarise(&cold->capture, rows, ALL_RUNS, "capture_ms", 0, stats_median));
    if (isnan(cold->capture)) cold->capture = 0;
    return ST_OK;
}

Status warmup_study_make(WarmupStudy *study, const RecordSet *rows)
{
    *study = (WarmupStudy){0};
    TRY(find_settings(study, rows));
    TRY(find_steady(study, rows));
    return find_cold(&study->cold, rows);
}
