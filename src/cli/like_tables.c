#include "cli/like_tables.h"

#include "base/human.h"
#include "bench/fit.h"
#include "bench/outlook.h"
#include "bench/recompute_fit.h"
#include "report/cell_text.h"
#include "report/report_md.h"

#include <math.h>
#include <string.h>

static const double mib = 1024.0 * 1024.0;

/* ---- what the plan says of a row that was not run ---- */

static double planned_mib(const Config *config)
{
    Placement placement;
    size_t bytes = 0;
    if (placement_of(config, &placement) != ST_OK) return NAN;
    if (recompute_fit_planned(config, &placement, config->mode, &bytes) != ST_OK) return NAN;
    return (double)bytes / mib;
}

static double before_backward_mib(const Config *config)
{
    Placement placement;
    Fit fit = {0};
    double x = NAN;
    if (placement_of(config, &placement) != ST_OK) return NAN;
    if (fit_make(&fit, config, &placement, 0, SIZE_MAX) == ST_OK && fit.before_backward > 0)
        x = (double)fit.before_backward / mib;
    fit_free(&fit);
    return x;
}

/* Products at the rate that steps reach here; NAN where the plan has no such figure. */
static double planned(const char *path, const Config *config, const SuiteRates *rates)
{
    Config forward = *config;
    forward.mode = MODE_FWD;
    const double rate = rates->flops[config->precision] * 1e-3; /* per ms */
    const double step = outlook_work(config) / rate;
    if (strcmp(path, "forward.mean_ms") == 0) return outlook_work(&forward) / rate;
    if (strcmp(path, "backward.mean_ms") == 0) return 2 * outlook_work(&forward) / rate;
    if (strcmp(path, "step.mean_ms") == 0) return step;
    if (strcmp(path, "tokens_per_s") == 0)
        return (double)config->batch * (double)config->ctx / step * 1e3;
    if (strcmp(path, "peak_alloc_mib") == 0) return planned_mib(config);
    if (strcmp(path, "mem_before_bwd_mib") == 0) return before_backward_mib(config);
    return NAN;
}

/* ---- cells of a table ---- */

static void put_published(Table *table, double x)
{
    table_cell(table, isinf(x) ? "OOM" : isnan(x) ? "-" : human_number(x, 4).s);
}

/* Of a phase ("forward.mean_ms") its own status counts, otherwise the row's. */
static void put_status(Table *table, const Record *record, const char *path)
{
    char phase[64];
    snprintf(phase, sizeof phase, "%.*s", (int)strcspn(path, "."), path);
    RecordStatus status = record_phase_status(record, phase);
    if (status == RECORD_STATUS_COUNT || status == RECORD_OK) status = record_status(record);
    table_cell(table, status == RECORD_OK ? "-" : cell_text_status(status));
}

static void put_ours(Table *table, const char *path, const Record *record, const Config *config,
                     const SuiteRates *rates, bool *marked)
{
    double x = NAN;
    if (record && record_number(record, path, &x)) {
        table_cell(table, human_number(x, 4).s);
    } else if (record && record_status(record) != RECORD_TIMEOUT) {
        put_status(table, record, path);
    } else {
        x = planned(path, config, rates);
        *marked = *marked || !isnan(x);
        if (isnan(x)) table_cell(table, "-");
        if (!isnan(x)) table_cell_printf(table, "≈%s", human_number(x, 3).s);
    }
}

/* "--size small --ctx 128" as people say it: "size small, ctx 128". */
static void put_label(Table *table, const char *words)
{
    Text text = {0};
    for (const char *at = words; *at; at++) {
        if (strncmp(at, "--", 2) == 0) {
            if (at > words) text.data[--text.n] = '\0';
            text_puts(&text, at > words ? ", " : "");
            at++;
        } else {
            text_append(&text, at, 1);
        }
    }
    table_cell(table, text_str(&text));
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
            "≈: not run here, for it takes longer than --budget or --timeout: the plan's figure, "
            "products at the rate that steps reach of the limits",
            NULL);
    Text line = {0};
    text_printf(&line, "roofstep %s %s", like->command->name, like->words);
    table_note(table, "every row", text_str(&line));
    text_free(&line);
}

static Status write_table(Text *out, int id, const Config *cells, const RecordSet *rows,
                          const SuiteRates *rates)
{
    Table table = {0};
    LikeFigure figures[LIKE_MOST_FIGURES];
    const int n = like_figures(&like_tables[id], figures);
    bool marked = false;
    put_columns(&table, figures, n);
    for (int r = 0; r < like_n_rows; r++) {
        char key[RECORD_KEY_SIZE];
        if (like_rows[r].table != id) continue;
        record_key_of_config(&cells[r], key);
        const Record *record = record_set_find(rows, key);
        put_label(&table, like_rows[r].words);
        for (int i = 0; i < n; i++) {
            put_published(&table, like_rows[r].published[i] * figures[i].scale);
            put_ours(&table, figures[i].path, record, &cells[r], rates, &marked);
        }
    }
    put_notes(&table, &like_tables[id], marked);
    Status status = table_status(&table);
    if (status == ST_OK) status = report_md_table(out, &table);
    table_free(&table);
    return status;
}

Status like_tables_write(Text *out, int writeup, const Config *cells, const RecordSet *rows,
                         const SuiteRates *rates)
{
    for (int id = 0; id < like_n_tables; id++) {
        if (like_tables[id].writeup != writeup) continue;
        text_printf(out, "## %s: %s\n\n", like_writeups[writeup].what, like_tables[id].title);
        TRY(write_table(out, id, cells, rows, rates));
        text_puts(out, "\n");
    }
    return text_status(out);
}
