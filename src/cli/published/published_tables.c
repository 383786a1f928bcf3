#include "cli/published/published_tables.h"

#include "base/human.h"
#include "bench/record/profile_figure.h"
#include "cli/published/published_estimate.h"
#include "cli/published/published_figure.h"
#include "report/format/table_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One table while it is filled. */
typedef struct Filling {
    Table *table;
    int id;
    const PublishedResults *results;
    PublishedFigure figures[PUBLISHED_MAX_FIGURES];
    int n;
    PublishedNotes notes;
    bool sums; /* over all profiled steps are in it */
} Filling;

/* Prints all published digits; a conversion of units adds digits without meaning. */
static void put_published(Table *table, double x, double scale)
{
    if (isinf(x) || isnan(x))
        table_cell(table, isinf(x) ? "OOM" : "-");
    else
        table_cell_printf(table, "%.*g", scale == 1 ? 8 : 6, x * scale);
}

/* The first cell of a line, marked where there is a note on the line. */
static void put_label(Filling *f, Text *label, const char *which)
{
    published_notes_mark(&f->notes, f->table, label, published_list_note_of(f->id, which));
    table_cell_text(f->table, label);
}

/* ---- figures of a row ---- */

/* True for "forward.mean_ms", which belongs to a phase; false for "tokens_per_s". */
static bool phase_of(const char *path, char phase[32])
{
    const size_t n = strcspn(path, ".");
    snprintf(phase, 32, "%.*s", (int)n, path);
    return path[n] == '.';
}

/* A row that does not fit has figures of the phases that do, and the memory before backward. */
static bool is_measured(const Record *record, const char *path)
{
    char phase[32];
    const char *mode = record_text(record, "mode"), *done = record_text(record, "measured_mode");
    const RecordStatus status = record_status(record);
    if (status == RECORD_OK) return true;
    if (status != RECORD_OOM) return false;
    if (!phase_of(path, phase))
        return strcmp(path, "mem_before_bwd_mib") == 0 &&
               record_phase_status(record, "forward") == RECORD_OK;
    if (strcmp(phase, "step") == 0 && (!mode || !done || strcmp(mode, done) != 0)) return false;
    return record_phase_status(record, phase) == RECORD_OK;
}

static bool ours(const Record *record, const char *path, double *x)
{
    return record && is_measured(record, path) && record_number(record, path, x);
}

static void put_ours(Filling *f, const char *path, const Record *record, const Config *config)
{
    double x = NAN;
    const char *status = published_notes_status(record);
    const bool forward = record && record_text(record, "fits") && strncmp(path, "forward.", 8) == 0;
    const bool late = strcmp(status, "no time") == 0 || forward;
    if (ours(record, path, &x)) {
        table_cell(f->table, human_number(x, 4).s);
        return;
    }
    if (late) x = published_estimate_figure(f->results->expected, path, config);
    f->notes.estimated += !isnan(x);
    if (isnan(x))
        table_cell(f->table, *status && !late ? status : "-");
    else
        table_cell_printf(f->table, "≈%s", human_number(x, 3).s);
}

static bool measured(const Filling *f, const Config *config, const char *path, double *x)
{
    return ours(published_list_record(&f->results->records, config, false), path, x);
}

/* The change in % against the same row in fp32, where both were measured. */
static void put_change(Filling *f, const char *path, const Config *config)
{
    Config wide = *config;
    double x = NAN, y = NAN;
    wide.precision = PRECISION_FP32;
    const bool both = measured(f, config, path, &x) && measured(f, &wide, path, &y);
    table_cell(f->table, both ? human_number(100 * (x / y - 1), 3).s : "-");
}

/* The difference to the row before, where both were measured. */
static void put_difference(Filling *f, const char *path, double published, const Config *config)
{
    double x = NAN, y = NAN;
    const bool both =
        !isnan(published) && measured(f, config, path, &x) && measured(f, config - 1, path, &y);
    table_cell(f->table, both ? human_number(x - y, 4).s : "-");
}

static bool has_any(const Filling *f, const Record *record)
{
    double x;
    for (int i = 0; i < f->n; i++) {
        if (ours(record, f->figures[i].path, &x)) return true;
    }
    return false;
}

/* "3 of 30": samples of the phase that the table is about, else of steps; the status of a row without
 * figures. */
static void put_samples(Filling *f, const Record *record, const Config *config)
{
    char path[48], phase[32];
    int64_t n = 0;
    const char *status = published_notes_status(record);
    const bool of_phase = phase_of(f->figures[0].path, phase);
    snprintf(path, sizeof path, "%s.samples_ms", of_phase ? phase : "step");
    if (has_any(f, record)) n = (int64_t)json_array_size(record_value(record, path));
    if (n > 0)
        table_cell_printf(f->table, "%lld of %lld", (long long)n, (long long)config->steps);
    else
        table_cell(f->table, *status ? status : "-");
}

static void put_row(Filling *f, int r)
{
    const PublishedRow *row = &published_list_rows[r];
    const Config *config = &f->results->cells.rows[r];
    const Record *record = published_notes_record(f->results, config, false);
    Text label = {0};
    published_list_put_label(&label, row);
    published_notes_add(&f->notes, text_str(&label), record);
    put_label(f, &label, row->args);
    for (int i = 0; i < f->n; i++) {
        const PublishedFigure *figure = &f->figures[i];
        put_published(f->table, row->published[i], figure->scale);
        if (figure->kind == PUBLISHED_CHANGE)
            put_change(f, figure->path, config);
        else if (figure->kind == PUBLISHED_DIFFERENCE)
            put_difference(f, figure->path, row->published[i], config);
        else
            put_ours(f, figure->path, record, config);
    }
    put_samples(f, record, config);
}

/* ---- a table of bench or attention: one line per cell ---- */

static void put_rows(Filling *f)
{
    table_column(f->table, "row", "", false);
    published_figure_columns(f->table, f->figures, f->n);
    table_column(f->table, "samples", "", true);
    for (int r = 0; r < published_list_n_rows; r++) {
        if (published_list_rows[r].table == f->id && f->results->cells.has_row[r]) put_row(f, r);
    }
}

/* ---- a table of one cell, with one or several figures per line ---- */

typedef struct Profile {
    const ProfileView *view; /* NULL: not run, */
    const char *status;      /* and why */
    const Config *config;
} Profile;

static bool begins(const char *what, const char *measure)
{
    const size_t n = strlen(measure);
    return strncmp(what, measure, n) == 0 && what[n] == ' ';
}

/* The estimated time of the step or a phase, for one step ("ms") or for all of them ("total"). */
static double expected_measure(Filling *f, const char *what, const Profile *profile)
{
    char path[96];
    const bool total = begins(what, "total");
    if (!total && !begins(what, "ms")) return NAN;
    snprintf(path, sizeof path, "%.79s.mean_ms", strchr(what, ' ') + 1);
    if (strcmp(what, "ms device forward") == 0) strcpy(path, "device_forward_ms");
    const double x = published_estimate_figure(f->results->expected, path, profile->config);
    f->notes.estimated += !isnan(x);
    return total ? x * (double)profile->config->steps : x;
}

/* Scales a sum over the profiled steps to as many steps as were published. */
static double profiled_measure(Filling *f, const char *what, const Profile *profile)
{
    const double x = profile_figure(profile->view, what), taken = (double)profile->view->steps;
    if (!begins(what, "total") && !begins(what, "all_calls")) return x;
    f->sums = true;
    return taken > 0 ? x * ((double)profile->config->steps / taken) : x;
}

static void put_measure(Filling *f, const Profile *profile, const char *what)
{
    const double x =
        profile->view ? profiled_measure(f, what, profile) : expected_measure(f, what, profile);
    const bool count = begins(what, "calls") || begins(what, "all_calls");
    if (isnan(x))
        table_cell(f->table, profile->view ? "-" : profile->status);
    else if (count)
        table_cell(f->table, human_mean_count(x).s);
    else
        table_cell_printf(f->table, "%s%s", profile->view ? "" : "≈",
                          human_number(x, profile->view ? 4 : 3).s);
}

/* The kernel that is meant; NULL: it was not run. */
static const char *kernel_of(const Profile *profile, const char *what)
{
    return profile->view ? profile_figure_kernel(profile->view, what) : NULL;
}

/* The measures of the table, each for the thing that the line names. */
static void put_measures(Filling *f, const PublishedMeasure *m, const Profile *profile)
{
    const double *published = m->published;
    for (int i = 0; i < f->n; i++) {
        char what[144];
        snprintf(what, sizeof what, "%.63s %.79s", f->figures[i].path, m->what);
        if (f->figures[i].kind == PUBLISHED_KERNEL) {
            table_cell(f->table, kernel_of(profile, m->what));
            continue;
        }
        put_published(f->table, *published++, f->figures[i].scale);
        put_measure(f, profile, what);
    }
}

/* What the plan of the cell says: a table of precision or memory. */
static void put_planned(Filling *f, const PublishedMeasure *m)
{
    Text here = {0};
    published_figure_put_planned(&here, &f->results->cells.tables[f->id], m->what);
    table_cell_text(f->table, &here);
}

/* One figure or text, and what it is here. A published text has a kernel name or a figure beside it. */
static void put_one(Filling *f, const PublishedMeasure *m, const Profile *profile)
{
    const char *name = m->text && profile ? kernel_of(profile, m->what) : NULL;
    if (m->text)
        table_cell(f->table, m->text);
    else
        put_published(f->table, m->published[0], 1);
    if (name)
        table_cell(f->table, name);
    else if (profile)
        put_measure(f, profile, m->what);
    else
        put_planned(f, m);
}

/* `profile` NULL: a table of values that need no run. */
static void put_lines(Filling *f, const Profile *profile)
{
    const bool names = f->n > 0 && f->figures[0].kind == PUBLISHED_KERNEL;
    table_column(f->table, names ? "kernel, published" : "figure", "", false);
    published_figure_columns(f->table, f->figures, f->n);
    if (f->n == 0) TABLE_COLUMNS(f->table, 0, "published", "here");
    for (int i = 0; i < published_list_n_measures; i++) {
        const PublishedMeasure *m = &published_list_measures[i];
        Text label = {0};
        if (m->table != f->id) continue;
        text_puts(&label, m->label);
        put_label(f, &label, m->label);
        if (f->n > 0)
            put_measures(f, m, profile);
        else
            put_one(f, m, profile);
    }
}

static void put_profile(Filling *f)
{
    const Config *config = &f->results->cells.tables[f->id];
    const Record *record = published_notes_record(f->results, config, true);
    ProfileView view;
    const bool there = record && is_measured(record, "forward.mean_ms") &&
                       profile_view_make(&view, record) == ST_OK;
    const char *status = published_notes_status(record);
    const Profile profile = {there ? &view : NULL, *status ? status : "-", config};
    published_notes_add(&f->notes, "its profile", record);
    put_lines(f, &profile);
    if (!there) return;
    table_note_printf(
        f->table, "profiled: %lld of %lld steps%s", (long long)view.steps, (long long)config->steps,
        view.steps < config->steps && f->sums ? "; totals are scaled to all of them" : "");
    profile_view_free(&view);
}

/* ---- all of them ---- */

static void put_notes(Filling *f)
{
    const PublishedTable *published = &published_list_tables[f->id];
    CLEANUP(text_free) Text line = {0};
    if (*published->note) table_note(f->table, published->note);
    published_notes_put(&f->notes, f->table);
    text_printf(&line, "roofstep %s %s%s", published->command->name, published->args,
                option_takes(&published->command->options, OPTION_STAT) ? " --stat mean" : "");
    table_note_code(f->table,
                    published_list_has_one_cell(published) ? "every row" : "common to every row",
                    text_str(&line));
}

/* PagePartWrite */
static Status write_table(Text *out, const char *format, const PagePart *part)
{
    CLEANUP(table_free) Table table = {0};
    Filling f = {.table = &table,
                 .id = part->number,
                 .results = part->self,
                 .notes = {.others = NAN, .stolen = NAN}};
    const PublishedTable *published = &published_list_tables[f.id];
    table.title = published->title;
    f.n = published_figure_list(published, f.figures);
    if (published_list_is_profile(published))
        put_profile(&f);
    else if (published_list_has_one_cell(published))
        put_lines(&f, NULL);
    else
        put_rows(&f);
    put_notes(&f);
    return table_write(out, format, &table);
}

int published_tables_list(const PublishedResults *results, PagePart *parts)
{
    int n = 0;
    for (int id = 0; id < published_list_n_tables; id++) {
        if (published_list_tables[id].writeup != results->writeup || !results->cells.has_table[id])
            continue;
        parts[n++] = (PagePart){.section = "like",
                                .title = published_list_tables[id].title,
                                .self = results,
                                .number = id,
                                .write = write_table};
    }
    return n;
}
