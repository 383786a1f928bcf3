#include "report/findings/faster_choice.h"

#include "base/array.h"
#include "base/stats.h"
#include "base/text_groups.h"
#include "bench/record/comparison.h"
#include "bench/record/record_stat.h"
#include "report/records/same_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a row could be changed to without being another model. */
static const char *const fields[] = {"precision", "exec"};

static bool agree(const Record *a, const Record *b, const char *field)
{
    const json_t *x = record_value(a, field), *y = record_value(b, field);
    return x == y || json_equal(x, y);
}

bool faster_choice_step(const Record *record, double *ms)
{
    return !record_text(record, "peer") && record_stat_ms(record, "step", ms);
}

/* Groups rows that agree in all but this field. */
static Status find_alternatives(TextGroups *groups, const RecordSet *rows, const char *field)
{
    static const char *const also[] = {"measured_mode"};
    const char *const but[] = {field, "attention", "blas"};
    CLEANUP(text_free) Text text = {0};
    double ms;
    TRY(text_groups_init(groups, record_set_size(rows)));
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *record = record_set_at(rows, i);
        if (!faster_choice_step(record, &ms)) continue;
        same_work_put(&text, record, but, sizeof but / sizeof *but);
        same_work_fields(&text, record, also, 1);
        TRY(text_groups_put(groups, i, &text));
    }
    return ST_OK;
}

/* The fastest row of a group that has made another choice than `unlike`, which may be NULL. As many as
 * there are rows: none. */
static size_t find_fastest(const RecordSet *rows, const TextGroups *groups, size_t first,
                           const char *field, const Record *unlike)
{
    size_t fastest = groups->n;
    double least = INFINITY, ms;
    for (size_t i = first; i < groups->n; i = text_groups_next(groups, i)) {
        const Record *record = record_set_at(rows, i);
        if (!faster_choice_step(record, &ms) || ms >= least) continue;
        if (unlike && agree(record, unlike, field)) continue;
        least = ms;
        fastest = i;
    }
    return fastest;
}

/* fp32 and fused are where one starts: nobody needs to be told to go back there. */
static bool is_start(const Record *record, const char *field)
{
    const char *value = record_text(record, field);
    return value && (strcmp(value, "fp32") == 0 || strcmp(value, "fused") == 0);
}

/* One sample has no spread: nothing is known of what it would be the next time. */
static bool is_evident(const ComparisonPhase *step)
{
    const int least = step->n_a < step->n_b ? step->n_a : step->n_b;
    if (least >= STATS_MEDIAN_LEAST) return step->verdict == COMPARISON_FASTER;
    return least >= 2 && step->max_b < step->min_a;
}

static Status consider(FasterChoices *choices, const RecordSet *rows, size_t from, size_t to,
                       const char *field)
{
    double before = 0, after = 0;
    ComparisonPhase step;
    if (to == record_set_size(rows) || !is_start(record_set_at(rows, from), field)) return ST_OK;
    faster_choice_step(record_set_at(rows, from), &before);
    faster_choice_step(record_set_at(rows, to), &after);
    const FasterChoice found = {field, rows, from, to, 1 - after / before};
    if (!(before > 0) || found.saved < COMPARISON_NOTICED) return ST_OK;
    TRY(comparison_phase_make(&step, record_set_at(rows, from), record_set_at(rows, to), "step"));
    if (!is_evident(&step)) return ST_OK;
    TRY(array_grow(&choices->at, choices->n, 1, sizeof *choices->at));
    choices->at[choices->n++] = found;
    return ST_OK;
}

static Status add_field(FasterChoices *choices, const RecordSet *rows, const char *field)
{
    CLEANUP(text_groups_free) TextGroups groups = {0};
    TRY(find_alternatives(&groups, rows, field));
    for (size_t first = 0; first < groups.n; first++) {
        if (!text_groups_leads(&groups, first)) continue;
        const size_t fastest = find_fastest(rows, &groups, first, field, NULL);
        const Record *record = record_set_at(rows, fastest);
        const size_t other = find_fastest(rows, &groups, first, field, record);
        for (size_t i = first; i < groups.n; i = text_groups_next(&groups, i)) {
            const bool same = agree(record_set_at(rows, i), record, field);
            TRY(consider(choices, rows, i, same ? other : fastest, field));
        }
    }
    return ST_OK;
}

Status faster_choice_add(FasterChoices *choices, const RecordSet *rows)
{
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++)
        TRY(add_field(choices, rows, fields[f]));
    return ST_OK;
}

/* Of several that save as much, the first row of the first file, and the first that it could be. */
static bool is_better(const FasterChoice *a, const FasterChoice *b)
{
    if (a->saved != b->saved || a->rows != b->rows) return a->saved > b->saved;
    return a->from != b->from ? a->from < b->from : a->to < b->to;
}

const FasterChoice *faster_choice_best(const FasterChoices *choices)
{
    const FasterChoice *best = NULL;
    for (size_t i = 0; i < choices->n; i++) {
        if (!best || is_better(&choices->at[i], best)) best = &choices->at[i];
    }
    return best;
}

void faster_choice_free(FasterChoices *choices)
{
    free(choices->at);
    *choices = (FasterChoices){0};
}
