#include "cli/like_tables.h"

#include "base/human.h"
#include "bench/profile_figure.h"
#include "cli/like_expected.h"
#include "cli/like_numbers.h"
#include "report/cell_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cells of a table ---- */

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

/* Of a phase ("forward.mean_ms") its own counts, otherwise the row's. */
static RecordStatus status_of(const Record *record, const char *path)
{
    char phase[64];
    snprintf(phase, sizeof phase, "%.*s", (int)strcspn(path, "."), path);
    const RecordStatus status = record_phase_status(record, phase);
    return status == RECORD_STATUS_COUNT || status == RECORD_OK ? record_status(record) : status;
}

/* A row that is ok and has no such figure was not asked for it; one that cannot be has no plan. */
static bool has_plan(const Record *record, RecordStatus status)
{
    return !record || (status != RECORD_OK && status != RECORD_UNSUPPORTED);
}

static void put_ours(Table *table, const char *path, const Record *record, const Config *config,
                     const json_t *expected, bool *marked)
{
    double x = NAN;
    if (record && record_number(record, path, &x)) {
        table_cell(table, human_number(x, 4).s);
        return;
    }
    const RecordStatus status = record ? status_of(record, path) : RECORD_OK;
    const char *word = status == RECORD_OK ? "" : cell_text_status(status);
    if (has_plan(record, status)) x = like_expected_figure(expected, path, config);
    *marked = *marked || !isnan(x);
    if (isnan(x))
        table_cell(table, *word ? word : "-");
    else
        table_cell_printf(table, "%s%s≈%s", word, *word ? " " : "", human_number(x, 3).s);
}

/* By how many % the figure is more than that of the same row in fp32, where both were measured. */
static void put_change(Table *table, const char *path, const RecordSet *rows, const Config *config)
{
    Config wide = *config;
    double x = NAN, y = NAN;
    wide.precision = PRECISION_FP32;
    const Record *record = find(rows, config), *other = find(rows, &wide);
    const bool both =
        record && other && record_number(record, path, &x) && record_number(other, path, &y);
    table_cell(table, both ? human_number(100 * (x / y - 1), 3).s : "-");
}

/* By how much the figure is more than that of the row before, where both were measured. */
static void put_more(Table *table, const char *path, const RecordSet *rows, const Config *config)
{
    double x = NAN, y = NAN;
    const Record *record = find(rows, config), *before = find(rows, config - 1);
    const bool both =
        record && before && record_number(record, path, &x) && record_number(before, path, &y);
    table_cell(table, both ? human_number(x - y, 4).s : "-");
}

/* "--size small --ctx 128" as people say it: "size small, ctx 128". */
static void put_label(Table *table, const char *words)
{
    Text text = {0};
    while (*(words += strspn(words, " "))) {
        const size_t n = strcspn(words, " ");
        const size_t dashes = strncmp(words, "--", 2) == 0 ? 2 : 0;
        text_puts(&text, text.n == 0 ? "" : dashes ? ", " : " ");
        text_append(&text, words + dashes, n - dashes);
        words += n;
    }
    table_cell(table, text_str(&text));
    table->failed = table->failed || text.failed;
    text_free(&text);
}

static bool is_change(const LikeFigure *figure)
{
    return figure->path[0] == '%';
}

static bool is_more(const LikeFigure *figure)
{
    return figure->path[0] == '+';
}

static bool is_name(const LikeFigure *figure)
{
    return strcmp(figure->path, "name") == 0;
}

/* A name of a result as it is; a measure of a profile, and a change, in words. */
static void heading(const LikeFigure *figure, char text[96])
{
    static const struct {
        const char *measure, *words;
    } list[] = {{"ms", "ms a step"},       {"total", "total ms"},  {"share", "%"},
                {"calls", "calls a step"}, {"all_calls", "calls"}, {"us", "avg us"},
                {"us_med", "median us"},   {"us_min", "min us"},   {"us_max", "max us"},
                {"us_std", "std us"},      {"name", "kernel"}};
    const char *words = figure->path;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (strcmp(figure->path, list[i].measure) == 0) words = list[i].words;
    }
    if (is_change(figure))
        snprintf(text, 96, "%s against fp32, %%", figure->path + 1);
    else if (is_more(figure))
        snprintf(text, 96, "%s, more than the row before", figure->path + 1);
    else
        snprintf(text, 96, "%s", words);
}

static void put_columns(Table *table, const LikeFigure *figures, int n)
{
    for (int i = 0; i < n; i++) {
        char words[96];
        heading(&figures[i], words);
        if (!is_name(&figures[i])) table_column(table, words, "published", true);
        table_column(table, words, "here", !is_name(&figures[i]));
    }
}

static void put_notes(Table *table, const LikeTable *like, bool marked)
{
    if (*like->note) table_note(table, like->note, NULL);
    if (marked)
        table_note(
            table,
            "≈: not run here, for it does not fit or takes longer than --budget or --timeout: the "
            "plan's figure, products at the rate that steps reach of the limits",
            NULL);
    Text line = {0};
    const bool cut = !like_has_one_cell(like);
    text_printf(&line, "roofstep %s%s%s %s", like->command->name, cut ? " " : "",
                cut ? LIKE_CELLS_SAMPLES : "", like->words);
    table_note(table, cut ? "every row; without warm-up all of --steps" : "every row",
               text_str(&line));
    text_free(&line);
}

/* ---- a table of bench or attention: a line for every cell ---- */

static bool put_rows(Table *table, int id, const LikeResults *results)
{
    LikeFigure figures[LIKE_MOST_FIGURES];
    const int n = like_figures(&like_tables[id], figures);
    bool marked = false;
    table_column(table, "row", "", false);
    put_columns(table, figures, n);
    for (int r = 0; r < like_n_rows; r++) {
        const Config *config = &results->cells[r];
        if (like_rows[r].table != id) continue;
        const Record *record = find(results->rows, config);
        put_label(table, like_rows[r].words);
        for (int i = 0; i < n; i++) {
            put_published(table, like_rows[r].published[i], figures[i].scale);
            if (is_change(&figures[i]))
                put_change(table, figures[i].path + 1, results->rows, config);
            else if (is_more(&figures[i]) && isnan(like_rows[r].published[i]))
                table_cell(table, "-");
            else if (is_more(&figures[i]))
                put_more(table, figures[i].path + 1, results->rows, config);
            else
                put_ours(table, figures[i].path, record, config, results->expected, &marked);
        }
    }
    return marked;
}

/* ---- a table that has one cell: a line for every figure of it, or several figures to a line ---- */

/* What is published in a line, in words or as its only figure. */
static void put_first(Table *table, const LikeMeasure *m)
{
    if (m->text)
        table_cell(table, m->text);
    else
        put_published(table, m->published[0], 1);
}

typedef struct Seen {
    const ProfileView *view; /* NULL: it was not run */
    const Config *config;
    const json_t *expected;
    bool marked; /* some figures are the plan's */
} Seen;

/* Of what the plan knows, the time of the step and its phases. */
static double planned_measure(const char *what, const Seen *seen)
{
    static const struct {
        const char *what, *path;
    } known[] = {{"ms forward", "forward.mean_ms"},
                 {"ms backward", "backward.mean_ms"},
                 {"ms step", "step.mean_ms"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(what, known[i].what) == 0)
            return like_expected_figure(seen->expected, known[i].path, seen->config);
    }
    return NAN;
}

static bool is_count(const char *what)
{
    return strncmp(what, "calls ", 6) == 0 || strncmp(what, "all_calls ", 10) == 0;
}

static void put_measure(Table *table, Seen *seen, const char *what)
{
    const double x = seen->view ? profile_figure(seen->view, what) : planned_measure(what, seen);
    seen->marked = seen->marked || (!seen->view && !isnan(x));
    if (isnan(x))
        table_cell(table, "-");
    else if (is_count(what))
        table_cell(table, human_mean_count(x).s);
    else
        table_cell_printf(table, "%s%s", seen->view ? "" : "≈",
                          human_number(x, seen->view ? 4 : 3).s);
}

/* What was published in words has a name or a figure beside it. */
static void put_beside_text(Table *table, Seen *seen, const char *what)
{
    const char *name = seen->view ? profile_figure_kernel(seen->view, what) : NULL;
    if (name)
        table_cell(table, name);
    else
        put_measure(table, seen, what);
}

static void put_line(Table *table, const LikeMeasure *m, Seen *seen)
{
    put_first(table, m);
    if (m->text)
        put_beside_text(table, seen, m->what);
    else
        put_measure(table, seen, m->what);
}

/* The measures of the table, each of the thing that the line is about. */
static void put_wide_line(Table *table, const LikeMeasure *m, Seen *seen, const LikeFigure *figures,
                          int n)
{
    const double *published = m->published;
    for (int i = 0; i < n; i++) {
        char what[144];
        snprintf(what, sizeof what, "%.63s %.79s", figures[i].path, m->what);
        if (is_name(&figures[i])) {
            table_cell(table, seen->view ? profile_figure_kernel(seen->view, m->what) : NULL);
            continue;
        }
        put_published(table, *published++, figures[i].scale);
        put_measure(table, seen, what);
    }
}

static void put_lines(Table *table, int id, Seen *seen)
{
    LikeFigure figures[LIKE_MOST_FIGURES];
    const int n = like_figures(&like_tables[id], figures);
    table_column(table, n > 0 && is_name(&figures[0]) ? "kernel (published)" : "figure", "", false);
    put_columns(table, figures, n);
    if (n == 0) {
        table_column(table, "published", "", true);
        table_column(table, "here", "", true);
    }
    for (int m = 0; m < like_n_measures; m++) {
        if (like_measures[m].table != id) continue;
        table_cell(table, like_measures[m].label);
        if (n > 0)
            put_wide_line(table, &like_measures[m], seen, figures, n);
        else
            put_line(table, &like_measures[m], seen);
    }
}

static bool put_profile(Table *table, int id, const LikeResults *results)
{
    const Config *config = &results->watched[id];
    const Record *record = find(results->profiles, config);
    ProfileView view;
    const bool there = record && profile_view_make(&view, record) == ST_OK;
    Seen seen = {.view = there ? &view : NULL, .config = config, .expected = results->expected};
    put_lines(table, id, &seen);
    if (there)
        profile_view_free(&view);
    else
        table_note(table, "not profiled here: it does not fit or --budget leaves no time for it",
                   NULL);
    return seen.marked;
}

/* ---- a table of precision: sums and dtypes ---- */

static bool put_numbers(Table *table, int id, const LikeResults *results)
{
    table_column(table, "figure", "", false);
    table_column(table, "published", "", true);
    table_column(table, "here", "", true);
    for (int i = 0; i < like_n_measures; i++) {
        const LikeMeasure *m = &like_measures[i];
        Text ours = {0};
        if (m->table != id) continue;
        table_cell(table, m->label);
        put_first(table, m);
        like_numbers_put(&ours, &results->watched[id], m->what);
        table_cell(table, text_str(&ours));
        table->failed = table->failed || ours.failed;
        text_free(&ours);
    }
    return false;
}

/* ---- all of them ---- */

/* PagePartWrite */
static Status write_table(Text *out, TableWriter *writer, const PagePart *part)
{
    const LikeResults *results = part->self;
    const int id = part->number;
    Table table = {0};
    const LikeTable *like = &like_tables[id];
    const bool marked = like_is_profile(like)     ? put_profile(&table, id, results)
                        : like_has_one_cell(like) ? put_numbers(&table, id, results)
                                                  : put_rows(&table, id, results);
    put_notes(&table, like, marked);
    Status status = table_status(&table);
    if (status == ST_OK) status = writer(out, &table);
    table_free(&table);
    return status;
}

int like_tables_list(const LikeResults *results, int writeup, PagePart *parts)
{
    int n = 0;
    for (int id = 0; id < like_n_tables; id++) {
        if (like_tables[id].writeup != writeup) continue;
        parts[n++] = (PagePart){.section = "like",
                                .title = like_tables[id].title,
                                .self = results,
                                .number = id,
                                .write = write_table};
    }
    return n;
}
