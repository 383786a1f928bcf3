#include "cli/published/published_tables.h"

#include "base/human.h"
#include "bench/record/profile_figure.h"
#include "cli/published/published_expected.h"
#include "cli/published/published_numbers.h"
#include "cli/published/published_reasons.h"
#include "cli/published/published_words.h"
#include "report/format/table_write.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* One table as it is filled. */
typedef struct Filling {
    Table *table;
    int id;
    const PublishedResults *results;
    PublishedFigure figures[PUBLISHED_MAX_FIGURES];
    int n;
    PublishedReasons reasons;
} Filling;

static const Record *find(const RecordSet *rows, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    return record_set_find(rows, key);
}

/* With all its digits; those that another unit adds say nothing. */
static void put_published(Table *table, double x, double scale)
{
    if (isinf(x) || isnan(x))
        table_cell(table, isinf(x) ? "OOM" : "-");
    else
        table_cell_printf(table, "%.*g", scale == 1 ? 8 : 6, x * scale);
}

/* The first cell of a line, with a mark where there is a note on it. */
static void put_label(Filling *f, Text *label, const char *which)
{
    published_reasons_mark(&f->reasons, f->table, label, published_list_note_of(f->id, which));
    table_cell(f->table, text_str(label));
    f->table->failed = f->table->failed || label->failed;
}

/* ---- figures of a row ---- */

/* "forward.mean_ms" is of a phase; false: "tokens_per_s" is not. */
static bool phase_of(const char *path, char phase[32])
{
    const size_t n = strcspn(path, ".");
    snprintf(phase, 32, "%.*s", (int)n, path);
    return path[n] == '.';
}

/* What did not fit as a whole has figures of the phases that did, and what was in memory before backward. */
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
    const char *word = published_reasons_word(record);
    const bool forward = record && record_text(record, "fits") && strncmp(path, "forward.", 8) == 0;
    const bool late = strcmp(word, "no time") == 0 || forward;
    if (ours(record, path, &x)) {
        table_cell(f->table, human_number(x, 4).s);
        return;
    }
    if (late) x = published_expected_figure(f->results->expected, path, config);
    f->reasons.estimated += !isnan(x);
    if (isnan(x))
        table_cell(f->table, *word && !late ? word : "-");
    else
        table_cell_printf(f->table, "≈%s", human_number(x, 3).s);
}

/* By how many % the figure is more than that of the same row in fp32, where both were measured. */
static void put_change(Filling *f, const char *path, const Config *config)
{
    Config wide = *config;
    double x = NAN, y = NAN;
    wide.precision = PRECISION_FP32;
    const bool both = ours(find(f->results->rows, config), path, &x) &&
                      ours(find(f->results->rows, &wide), path, &y);
    table_cell(f->table, both ? human_number(100 * (x / y - 1), 3).s : "-");
}

/* By how much the figure is more than that of the row before, where both were measured. */
static void put_more(Filling *f, const char *path, double published, const Config *config)
{
    double x = NAN, y = NAN;
    const bool both = !isnan(published) && ours(find(f->results->rows, config), path, &x) &&
                      ours(find(f->results->rows, config - 1), path, &y);
    table_cell(f->table, both ? human_number(x - y, 4).s : "-");
}

/* The record's field, of a change or a difference as well. */
static const char *field_of(const PublishedFigure *figure)
{
    const bool marked = published_words_is_change(figure) || published_words_is_more(figure);
    return figure->path + (marked ? 1 : 0);
}

static bool has_some(const Filling *f, const Record *record)
{
    double x;
    for (int i = 0; i < f->n; i++) {
        if (ours(record, field_of(&f->figures[i]), &x)) return true;
    }
    return false;
}

/* "3 of 30": of the phase that the table is about, else of steps; of a row without a figure why it has none. */
static void put_samples(Filling *f, const Record *record, const Config *config)
{
    char path[48], phase[32];
    int64_t n = 0;
    const char *word = published_reasons_word(record);
    const bool of_phase = phase_of(field_of(&f->figures[0]), phase);
    snprintf(path, sizeof path, "%s.samples_ms", of_phase ? phase : "step");
    if (has_some(f, record)) n = (int64_t)json_array_size(record_value(record, path));
    if (n > 0)
        table_cell_printf(f->table, "%lld of %lld", (long long)n, (long long)config->steps);
    else
        table_cell(f->table, *word ? word : "-");
}

/* What the clock did not come to may have another reason. */
static const Record *settled(const Filling *f, const Record *record, const Config *config)
{
    const bool late = !record || record_status(record) == RECORD_TIMEOUT;
    const Record *reason = late ? published_expected_reason(f->results->expected, config) : NULL;
    return reason ? reason : record;
}

static void put_row(Filling *f, int r)
{
    const PublishedRow *row = &published_list_rows[r];
    const Config *config = &f->results->cells->rows[r];
    const Record *record = settled(f, find(f->results->rows, config), config);
    Text label = {0};
    published_words_row(&label, row);
    published_reasons_add(&f->reasons, text_str(&label), record);
    put_label(f, &label, row->words);
    text_free(&label);
    for (int i = 0; i < f->n; i++) {
        const PublishedFigure *figure = &f->figures[i];
        put_published(f->table, row->published[i], figure->scale);
        if (published_words_is_change(figure))
            put_change(f, field_of(figure), config);
        else if (published_words_is_more(figure))
            put_more(f, field_of(figure), row->published[i], config);
        else
            put_ours(f, figure->path, record, config);
    }
    put_samples(f, record, config);
}

/* ---- a table of bench or attention: a line for every cell ---- */

static void put_rows(Filling *f)
{
    table_column(f->table, "row", "", false);
    published_words_columns(f->table, f->figures, f->n);
    table_column(f->table, "samples", "", true);
    for (int r = 0; r < published_list_n_rows; r++) {
        if (published_list_rows[r].table == f->id && f->results->cells->has_row[r]) put_row(f, r);
    }
}

/* ---- a table that has one cell: a line for every figure of it, or several figures to a line ---- */

/* What is published in a line, in words or as its only figure. */
static void put_first(Table *table, const PublishedMeasure *m)
{
    if (m->text)
        table_cell(table, m->text);
    else
        put_published(table, m->published[0], 1);
}

typedef struct Seen {
    const ProfileView *view; /* NULL: it was not run, */
    const char *word;        /* and why not */
    const Config *config;
} Seen;

/* Of what is expected, the time of the step and its phases: of one step, or of all of them. */
static double expected_measure(Filling *f, const char *what, const Seen *seen)
{
    static const char *const phases[] = {"forward", "backward", "optimizer", "step"};
    double x = NAN;
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++) {
        char one[32], all[32], path[32];
        snprintf(one, sizeof one, "ms %s", phases[i]);
        snprintf(all, sizeof all, "total %s", phases[i]);
        snprintf(path, sizeof path, "%s.mean_ms", phases[i]);
        const double steps = strcmp(what, all) == 0 ? (double)seen->config->steps : 1;
        if (steps == 1 && strcmp(what, one) != 0 && strcmp(what, all) != 0) continue;
        x = steps * published_expected_figure(f->results->expected, path, seen->config);
    }
    if (strcmp(what, "ms device forward") == 0)
        x = published_expected_figure(f->results->expected, "device_forward_ms", seen->config);
    f->reasons.estimated += !isnan(x);
    return x;
}

static bool begins(const char *what, const char *measure)
{
    const size_t n = strlen(measure);
    return strncmp(what, measure, n) == 0 && what[n] == ' ';
}

static bool is_sum(const char *what)
{
    return begins(what, "total") || begins(what, "all_calls");
}

/* What is of all steps is of as many as were published. */
static double all_steps(const char *what, const Seen *seen)
{
    const double taken = seen->view ? (double)seen->view->steps : 0;
    return is_sum(what) && taken > 0 ? (double)seen->config->steps / taken : 1;
}

static void put_measure(Filling *f, const Seen *seen, const char *what)
{
    const double x = seen->view ? profile_figure(seen->view, what) * all_steps(what, seen)
                                : expected_measure(f, what, seen);
    const bool count = begins(what, "calls") || begins(what, "all_calls");
    if (isnan(x))
        table_cell(f->table, seen->view ? "-" : seen->word);
    else if (count)
        table_cell(f->table, human_mean_count(x).s);
    else
        table_cell_printf(f->table, "%s%s", seen->view ? "" : "≈",
                          human_number(x, seen->view ? 4 : 3).s);
}

/* What was published in words has a name or a figure beside it. */
static void put_line(Filling *f, const PublishedMeasure *m, const Seen *seen)
{
    const char *name = m->text && seen->view ? profile_figure_kernel(seen->view, m->what) : NULL;
    put_first(f->table, m);
    if (name)
        table_cell(f->table, name);
    else
        put_measure(f, seen, m->what);
}

/* The measures of the table, each of the thing that the line is about. */
static void put_wide_line(Filling *f, const PublishedMeasure *m, const Seen *seen)
{
    const double *published = m->published;
    for (int i = 0; i < f->n; i++) {
        char what[144];
        snprintf(what, sizeof what, "%.63s %.79s", f->figures[i].path, m->what);
        if (published_words_is_name(&f->figures[i])) {
            table_cell(f->table, seen->view ? profile_figure_kernel(seen->view, m->what) : NULL);
            continue;
        }
        put_published(f->table, *published++, f->figures[i].scale);
        put_measure(f, seen, what);
    }
}

static void put_measure_label(Filling *f, const PublishedMeasure *m)
{
    Text label = {0};
    text_puts(&label, m->label);
    put_label(f, &label, m->label);
    text_free(&label);
}

static void put_lines(Filling *f, const Seen *seen)
{
    const bool names = f->n > 0 && published_words_is_name(&f->figures[0]);
    table_column(f->table, names ? "kernel, published" : "figure", "", false);
    published_words_columns(f->table, f->figures, f->n);
    if (f->n == 0) {
        table_column(f->table, "published", "", true);
        table_column(f->table, "here", "", true);
    }
    for (int m = 0; m < published_list_n_measures; m++) {
        if (published_list_measures[m].table != f->id) continue;
        put_measure_label(f, &published_list_measures[m]);
        if (f->n > 0)
            put_wide_line(f, &published_list_measures[m], seen);
        else
            put_line(f, &published_list_measures[m], seen);
    }
}

static bool has_sums(const Filling *f)
{
    for (int i = 0; i < f->n; i++) {
        if (!strcmp(f->figures[i].path, "total") || !strcmp(f->figures[i].path, "all_calls"))
            return true;
    }
    for (int m = 0; m < published_list_n_measures; m++) {
        if (published_list_measures[m].table == f->id && is_sum(published_list_measures[m].what))
            return true;
    }
    return false;
}

static void put_profile(Filling *f)
{
    const Config *config = &f->results->cells->watched[f->id];
    const Record *record = settled(f, find(f->results->profiles, config), config);
    ProfileView view;
    const bool there = record && is_measured(record, "forward.mean_ms") &&
                       profile_view_make(&view, record) == ST_OK;
    const char *word = published_reasons_word(record);
    const Seen seen = {there ? &view : NULL, *word ? word : "-", config};
    published_reasons_add(&f->reasons, "its profile", record);
    put_lines(f, &seen);
    if (!there) return;
    table_note_printf(
        f->table, "profiled: %lld of %lld steps%s", (long long)view.steps, (long long)config->steps,
        view.steps < config->steps && has_sums(f) ? "; totals are scaled to all of them" : "");
    profile_view_free(&view);
}

/* ---- a table of precision: sums and dtypes ---- */

static void put_numbers(Filling *f)
{
    table_column(f->table, "figure", "", false);
    table_column(f->table, "published", "", true);
    table_column(f->table, "here", "", true);
    for (int i = 0; i < published_list_n_measures; i++) {
        const PublishedMeasure *m = &published_list_measures[i];
        Text ours_here = {0};
        if (m->table != f->id) continue;
        put_measure_label(f, m);
        put_first(f->table, m);
        published_numbers_put(&ours_here, &f->results->cells->watched[f->id], m->what);
        table_cell(f->table, text_str(&ours_here));
        f->table->failed = f->table->failed || ours_here.failed;
        text_free(&ours_here);
    }
}

/* ---- all of them ---- */

static void put_notes(Filling *f)
{
    const PublishedTable *like = &published_list_tables[f->id];
    Text line = {0};
    if (*like->note) table_note(f->table, like->note, NULL);
    published_reasons_tell(&f->reasons, f->table);
    text_printf(&line, "roofstep %s %s%s", like->command->name, like->words,
                option_takes(&like->command->options, OPTION_STAT) ? " --stat mean" : "");
    table_note(f->table, published_list_has_one_cell(like) ? "every row" : "common to every row",
               text_str(&line));
    text_free(&line);
}

/* PagePartWrite */
static Status write_table(Text *out, const char *format, const PagePart *part)
{
    Table table = {0};
    Filling f = {.table = &table,
                 .id = part->number,
                 .results = part->self,
                 .reasons = published_reasons_none()};
    const PublishedTable *like = &published_list_tables[f.id];
    f.n = published_list_figures(like, f.figures);
    if (published_list_is_profile(like))
        put_profile(&f);
    else if (published_list_has_one_cell(like))
        put_numbers(&f);
    else
        put_rows(&f);
    put_notes(&f);
    const Status status = table_write(out, format, &table);
    table_free(&table);
    return status;
}

int published_tables_list(const PublishedResults *results, int writeup, PagePart *parts)
{
    int n = 0;
    for (int id = 0; id < published_list_n_tables; id++) {
        if (published_list_tables[id].writeup != writeup || !results->cells->has_table[id])
            continue;
        parts[n++] = (PagePart){.section = "like",
                                .title = published_list_tables[id].title,
                                .self = results,
                                .number = id,
                                .write = write_table};
    }
    return n;
}
