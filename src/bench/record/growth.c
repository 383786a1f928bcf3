#include "bench/record/growth.h"

#include "base/array.h"
#include "base/stats.h"
#include "base/text_groups.h"
#include "bench/record/record_stat.h"
#include "config/cell_field.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const axes[] = {"ctx", "batch", "parameters"};

static const GrowthFigure figures[GROWTH_FIGURES] = {
    {"forward", "forward", GROWTH_TIME},
    {"backward", "backward", GROWTH_TIME},
    {"optimizer", "optimizer", GROWTH_TIME},
    {"step", "step", GROWTH_TIME},
    {"mem_before_bwd_mib", "memory before backward", GROWTH_MEMORY},
    {"peak_alloc_mib", "peak memory", GROWTH_MEMORY},
};

enum { LEAST_POINTS = 3 };

/* Parameters follow from the size and the dimensions of a preset. */
bool growth_is_fixed(const char *axis, const char *field)
{
    if (strcmp(axis, "parameters") != 0) return strcmp(axis, field) != 0;
    const int id = cell_field_find(field);
    return id != OPTION_SIZE && id != OPTION_MODEL &&
           (id < 0 || cell_field_table[id].show != CELL_SHOW_CUSTOM);
}

/* ---- which rows belong together ---- */

/* Does this part of a key say what work it is, the same for all rows of a sweep? */
static bool tells_work(const char *axis, const RecordKeyPart *part)
{
    static const char *const others[] = {"steps", "seed", "sample_time", "until", "memory_limit"};
    char name[32];
    snprintf(name, sizeof name, "%.*s", (int)part->name, part->text);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(name, others[i]) == 0) return false;
    }
    return growth_is_fixed(axis, name);
}

/* What a cell was asked for but for the axis and what does not change its work, then what it used. */
static void put_identity(Text *out, const char *axis, const Record *record)
{
    static const char *const used[] = {"attention", "device",        "blas",
                                       "threads",   "measured_mode", "environment_id"};
    RecordKeyPart part = {record_key(record), 0, 0};
    while (record_key_next(&part)) {
        if (tells_work(axis, &part)) text_printf(out, "%.*s ", (int)part.length, part.text);
    }
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        const char *text = record_text(record, used[i]);
        int64_t number = 0;
        record_int(record, used[i], &number);
        text_printf(out, " %s=%s%lld", used[i], text ? text : "", (long long)number);
    }
}

/* ---- points ---- */

/* Standard error of the median by the median distance from it; few samples tell little: 0. */
static double spread_of(const json_t *samples, double ms)
{
    enum { LEAST = 5, MOST = 256 };
    double x[MOST];
    int n = 0;
    for (size_t i = 0; i < json_array_size(samples) && n < MOST; i++)
        x[n++] = json_number_value(json_array_get(samples, i));
    if (n < LEAST) return 0;
    const double sigma =
        1.4826 * stats_mad(x, n); /* of a normal distribution; 1.2533: its median */
    return 1.2533 * sigma / sqrt(n) / ms;
}

/* By the row's statistic; how far apart its samples are is a weight, and much the same for each. */
static bool time_point(const Record *record, const char *phase, GrowthPoint *point)
{
    if (!record_stat_ms(record, phase, &point->y)) return false;
    point->spread = spread_of(record_value(record_value(record, phase), "samples_ms"), point->y);
    return true;
}

static bool take_point(const Record *record, const char *axis, const GrowthFigure *figure,
                       GrowthPoint *point)
{
    *point = (GrowthPoint){0};
    if (!record_number(record, axis, &point->n) || !(point->n > 0)) return false;
    const bool there =
        figure->kind == GROWTH_TIME
            ? time_point(record, figure->name, point)
            : record_status(record) == RECORD_OK && record_number(record, figure->name, &point->y);
    return there && point->y > 0;
}

/* ---- one sweep ---- */

typedef struct Rows {
    const Record *list[GROWTH_FIT_MOST];
    int n;
} Rows;

static int count_different(const GrowthPoint *points, int n)
{
    int different = 0;
    for (int i = 0; i < n; i++) {
        bool seen = false;
        for (int j = 0; j < i && !seen; j++) seen = points[j].n == points[i].n;
        different += !seen;
    }
    return different;
}

static void add_law(GrowthSweep *sweep, const Rows *rows, const GrowthFigure *figure)
{
    GrowthPoint points[GROWTH_FIT_MOST];
    int n = 0;
    GrowthLaw law = {.figure = figure, .least = INFINITY, .terms.degree = -1};
    for (int i = 0; i < rows->n; i++)
        n += take_point(rows->list[i], sweep->axis, figure, &points[n]);
    law.points = count_different(points, n);
    if (law.points < LEAST_POINTS) return;
    for (int i = 0; i < n; i++) {
        law.least = fmin(law.least, points[i].n);
        law.most = fmax(law.most, points[i].n);
    }
    if (figure->kind == GROWTH_MEMORY) law.terms = growth_terms(points, n);
    if (law.terms.degree < 0) law.fit = growth_fit_law(points, n);
    if (law.points > sweep->points) sweep->points = law.points;
    sweep->laws[sweep->n_laws++] = law;
}

static Status add_sweep(Growth *growth, const char *axis, const Rows *rows)
{
    GrowthSweep sweep = {.axis = axis, .first = rows->list[0]};
    for (int f = 0; f < GROWTH_FIGURES; f++) add_law(&sweep, rows, &figures[f]);
    if (sweep.n_laws == 0) return ST_OK;
    TRY(array_grow(&growth->sweeps, (size_t)growth->n, 1, sizeof *growth->sweeps));
    growth->sweeps[growth->n++] = sweep;
    return ST_OK;
}

/* ---- all of them ---- */

static Status group_rows(TextGroups *groups, const RecordSet *set, const char *axis)
{
    CLEANUP(text_free) Text identity = {0};
    TRY(text_groups_init(groups, record_set_size(set)));
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *record = record_set_at(set, i);
        if (!record_key(record) || record_text(record, "peer")) continue;
        put_identity(&identity, axis, record);
        TRY(text_groups_put(groups, i, &identity));
    }
    return ST_OK;
}

static Status add_axis(Growth *growth, const RecordSet *set, const char *axis)
{
    CLEANUP(text_groups_free) TextGroups groups = {0};
    TRY(group_rows(&groups, set, axis));
    for (size_t i = 0; i < groups.n; i++) {
        Rows rows = {.n = 0};
        if (!text_groups_leads(&groups, i)) continue;
        for (size_t at = i; at < groups.n && rows.n < GROWTH_FIT_MOST;
             at = text_groups_next(&groups, at))
            rows.list[rows.n++] = record_set_at(set, at);
        TRY(add_sweep(growth, axis, &rows));
    }
    return ST_OK;
}

Status growth_make(Growth *growth, const RecordSet *set)
{
    *growth = (Growth){0};
    for (size_t a = 0; a < sizeof axes / sizeof *axes; a++) TRY(add_axis(growth, set, axes[a]));
    return ST_OK;
}

void growth_free(Growth *growth)
{
    free(growth->sweeps);
    *growth = (Growth){0};
}

/* ---- why not ---- */

void growth_why(Text *out, const char *axis, const GrowthFit *fit)
{
    switch (fit->verdict) {
    case GROWTH_LAW:
        break;
    case GROWTH_FEW_POINTS:
        text_printf(out, "%d values of %s, and %d are needed", fit->points, axis, GROWTH_FIT_LEAST);
        break;
    case GROWTH_FLAT:
        text_printf(out, "noise of %.1f %% hides any growth with %s", 100 * fit->scatter, axis);
        break;
    case GROWTH_MOSTLY_FLOOR:
        text_printf(out,
                    "%d of %d values of %s are beyond the floor, and %d are needed: larger ones "
                    "would show it",
                    fit->beyond, fit->points, axis, GROWTH_FIT_LEAST_BEYOND);
        break;
    case GROWTH_BENT:
        text_printf(out,
                    "no a + b %s^k fits to better than %.0f %%; between neighbouring values k is "
                    "%.2f to %.2f",
                    axis, 100 * fit->scatter, fit->local_low, fit->local_high);
        break;
    }
}
