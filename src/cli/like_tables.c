#include "cli/like_tables.h"

#include "base/human.h"
#include "bench/profile_figure.h"
#include "cli/like_expected.h"
#include "report/cell_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- cells of a table ---- */

static void put_published(Table *table, double x)
{
    table_cell(table, isinf(x) ? "OOM" : isnan(x) ? "-" : human_number(x, 4).s);
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

static void put_columns(Table *table, const LikeFigure *figures, int n)
{
    table_column(table, "row", "", false);
    for (int i = 0; i < n; i++) {
        table_column(table, figures[i].path, "published", true);
        table_column(table, figures[i].path, "here", true);
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
    text_printf(&line, "roofstep %s %s", like->command->name, like->words);
    table_note(table, "every row", text_str(&line));
    text_free(&line);
}

static const Record *find(const RecordSet *rows, const Config *config)
{
    char key[RECORD_KEY_SIZE];
    record_key_of_config(config, key);
    return record_set_find(rows, key);
}

/* ---- a table of bench or attention: a line for every cell ---- */

static bool put_rows(Table *table, int id, const LikeResults *results)
{
    LikeFigure figures[LIKE_MOST_FIGURES];
    const int n = like_figures(&like_tables[id], figures);
    bool marked = false;
    put_columns(table, figures, n);
    for (int r = 0; r < like_n_rows; r++) {
        const Config *config = &results->cells[r];
        if (like_rows[r].table != id) continue;
        const Record *record = find(results->rows, config);
        put_label(table, like_rows[r].words);
        for (int i = 0; i < n; i++) {
            put_published(table, like_rows[r].published[i] * figures[i].scale);
            put_ours(table, figures[i].path, record, config, results->expected, &marked);
        }
    }
    return marked;
}

/* ---- a table of profile: a line for every figure of its cell ---- */

/* Of what the plan knows, the time of forward and backward. */
static double planned_measure(const char *what, const Config *config, const json_t *expected)
{
    const bool forward = strcmp(what, "wall forward") == 0;
    if (!forward && strcmp(what, "wall backward") != 0) return NAN;
    return like_expected_figure(expected, forward ? "forward.mean_ms" : "backward.mean_ms", config);
}

static void put_measure(Table *table, double x, bool is_planned)
{
    if (isnan(x))
        table_cell(table, "-");
    else
        table_cell_printf(table, "%s%s", is_planned ? "≈" : "",
                          human_number(x, is_planned ? 3 : 4).s);
}

static bool put_measures(Table *table, int id, const LikeResults *results)
{
    const Config *config = &results->watched[id];
    const Record *record = find(results->profiles, config);
    ProfileView view;
    const bool seen = record && profile_view_make(&view, record) == ST_OK;
    table_column(table, "figure", "", false);
    table_column(table, "published", "", true);
    table_column(table, "here", "", true);
    for (int m = 0; m < like_n_measures; m++) {
        if (like_measures[m].table != id) continue;
        const char *what = like_measures[m].what;
        table_cell(table, like_measures[m].label);
        put_published(table, like_measures[m].published);
        const double x =
            seen ? profile_figure(&view, what) : planned_measure(what, config, results->expected);
        put_measure(table, x, !seen);
    }
    if (seen) profile_view_free(&view);
    return !seen;
}

/* ---- all of them ---- */

/* PagePartWrite */
static Status write_table(Text *out, TableWriter *writer, const PagePart *part)
{
    const LikeResults *results = part->self;
    const int id = part->number;
    Table table = {0};
    const bool marked = like_is_profile(&like_tables[id]) ? put_measures(&table, id, results)
                                                          : put_rows(&table, id, results);
    put_notes(&table, &like_tables[id], marked);
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
