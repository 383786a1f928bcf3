#include "cli/published/published_list.h"

#include "base/human.h"
#include "base/suggest.h"
#include "cli/suite/suite_arguments.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define WRITEUP(id, ...) WRITEUP_##id,
#include "cli/published/published.def"
    N_WRITEUPS
};

enum {
#define TABLE(id, ...) TABLE_##id,
#include "cli/published/published.def"
    N_TABLES
};

const PublishedWriteup published_list_writeups[] = {
#define WRITEUP(id, name, what, gpu) {name, what, gpu},
#include "cli/published/published.def"
};

const PublishedTable published_list_tables[] = {
#define TABLE(id, writeup, command, title, args, figures, note) \
    {WRITEUP_##writeup, &cmd_##command, title, args, figures, note},
#include "cli/published/published.def"
};

#define OOM INFINITY
const PublishedRow published_list_rows[] = {
#define ROW(table, args, ...)             {TABLE_##table, NULL, args, {__VA_ARGS__}},
#define NAMED_ROW(table, name, args, ...) {TABLE_##table, name, args, {__VA_ARGS__}},
#include "cli/published/published.def"
};
#undef OOM

const PublishedMeasure published_list_measures[] = {
#define FIGURE(table, label, what, ...) {TABLE_##table, label, what, NULL, {__VA_ARGS__}},
#define TEXT(table, label, what, text)  {TABLE_##table, label, what, text, {NAN}},
#include "cli/published/published.def"
};

static const struct {
    int table;
    const char *which, *text;
} notes[] = {
#define NOTE(table, which, text) {TABLE_##table, which, text},
#include "cli/published/published.def"
};

const int published_list_n_tables = N_TABLES;
const int published_list_n_rows = sizeof published_list_rows / sizeof *published_list_rows;
const int published_list_n_measures =
    sizeof published_list_measures / sizeof *published_list_measures;

void published_list_put_label(Text *out, const PublishedRow *row)
{
    const char *args = row->args, *separator = "";
    if (row->name) text_puts(out, row->name);
    while (!row->name && *(args += strspn(args, " "))) {
        const size_t n = strcspn(args, " "), dashes = strncmp(args, "--", 2) == 0 ? 2 : 0;
        text_puts(out, *separator && dashes ? ", " : separator);
        text_append(out, args + dashes, n - dashes);
        args += n;
        separator = " ";
    }
}

const char *published_list_gpu(int table)
{
    static const struct {
        int table;
        const char *gpu;
    } others[] = {
#define ON(table, gpu) {TABLE_##table, gpu},
#include "cli/published/published.def"
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].table == table) return others[i].gpu;
    }
    return published_list_writeups[published_list_tables[table].writeup].gpu;
}

const char *published_list_note_of(int table, const char *which)
{
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (notes[i].table == table && strcmp(notes[i].which, which) == 0) return notes[i].text;
    }
    return NULL;
}

Status published_list_find(const char *name, int *writeup)
{
    const char *names[N_WRITEUPS];
    CLEANUP(text_free) Text list = {0};
    for (int i = 0; i < N_WRITEUPS; i++) {
        names[i] = published_list_writeups[i].name;
        text_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
        *writeup = i;
        if (strcmp(name, names[i]) == 0) return ST_OK;
    }
    const char *near = suggest_word(name, names, N_WRITEUPS);
    if (near) return FAIL(ST_USAGE, "--like %s: did you mean %s?", human_quote(name).s, near);
    return FAIL(ST_USAGE, "--like %s: there are %s", human_quote(name).s, text_str(&list));
}

bool published_list_is_profile(const PublishedTable *table)
{
    return table->command == &cmd_profile;
}

bool published_list_has_one_cell(const PublishedTable *table)
{
    return published_list_is_profile(table) || table->command == &cmd_precision ||
           table->command == &cmd_memory;
}

/* A write-up without warm-up has the first step among its samples: its cost is the point, and among fewer
 * samples it would weigh more. */
static void count_first_step(const PublishedTable *table, Config *config)
{
    if (table->command != &cmd_bench || config->warmup > 0) return;
    config->from_first = true;
    config->sample_time = 0;
    config->by_phase = strstr(table->figures, "forward.") != NULL;
}

Status published_list_config(const PublishedTable *table, const PublishedRow *row,
                             const char *device, Config *config)
{
    char args[1024];
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    snprintf(args, sizeof args, "%s %s %s", table->args, row ? row->args : "", device);
    TRY(suite_arguments_parse(args, &table->command->options, &settings, &sweep));
    *config = sweep.configs[0];
    config->stat = STAT_MEAN; /* write-ups publish means and standard deviations */
    count_first_step(table, config);
    return ST_OK;
}

/* ---- cells ---- */

/* Attention alone and sums have no size. */
static bool is_chosen(const Config *config, const char *sizes)
{
    char size[sizeof config->model.size + 1];
    snprintf(size, sizeof size, "%s,", config->model.size);
    if (!*sizes) return true;
    if (config->subject != SUBJECT_MODEL) return false;
    for (const char *at = sizes; (at = strstr(at, size)); at++) {
        if (at == sizes || at[-1] == ',') return true;
    }
    return false;
}

static Status fill(PublishedCells *cells, const char *device, const char *sizes)
{
    for (int r = 0; r < published_list_n_rows; r++) {
        const int table = published_list_rows[r].table;
        TRY(published_list_config(&published_list_tables[table], &published_list_rows[r], device,
                                  &cells->rows[r]));
        cells->has_row[r] = is_chosen(&cells->rows[r], sizes);
        cells->has_table[table] = cells->has_table[table] || cells->has_row[r];
    }
    for (int t = 0; t < published_list_n_tables; t++) {
        const PublishedTable *table = &published_list_tables[t];
        if (!published_list_has_one_cell(table)) continue;
        TRY(published_list_config(table, NULL, device, &cells->tables[t]));
        cells->has_table[t] =
            !*sizes || (strstr(table->args, "--size") && is_chosen(&cells->tables[t], sizes));
    }
    return ST_OK;
}

Status published_list_cells(PublishedCells *cells, const char *device, const char *sizes)
{
    const size_t n = (size_t)(published_list_n_rows + published_list_n_tables);
    cells->rows = calloc(n, sizeof *cells->rows);
    cells->has_row = calloc(n, sizeof *cells->has_row);
    if (!cells->rows || !cells->has_row) return NO_MEMORY("for the rows of a write-up");
    cells->tables = cells->rows + published_list_n_rows;
    cells->has_table = cells->has_row + published_list_n_rows;
    return fill(cells, device, sizes);
}

void published_list_cells_free(PublishedCells *cells)
{
    free(cells->rows);
    free(cells->has_row);
    *cells = (PublishedCells){0};
}

bool published_list_next(PublishedCell *cell, const PublishedCells *cells, int writeup)
{
    for (; cell->next < published_list_n_rows + published_list_n_tables; cell->next++) {
        cell->profiled = cell->next >= published_list_n_rows;
        cell->row = cell->profiled ? NULL : &published_list_rows[cell->next];
        cell->table = cell->row ? cell->row->table : cell->next - published_list_n_rows;
        const PublishedTable *table = &published_list_tables[cell->table];
        if (table->writeup != writeup || !cells->has_row[cell->next]) continue;
        if (cell->profiled && !published_list_is_profile(table)) continue;
        cell->config = &cells->rows[cell->next++]; /* cells->tables and has_table follow the rows */
        return true;
    }
    return false;
}

/* ---- records ---- */

Status published_list_records(PublishedRecords *records, json_t *environment)
{
    *records = (PublishedRecords){0};
    TRY(record_set_init(&records->of[false], environment));
    return record_set_init(&records->of[true], environment);
}

void published_list_records_free(PublishedRecords *records)
{
    record_set_free(&records->of[false]);
    record_set_free(&records->of[true]);
}

Record *published_list_record(const PublishedRecords *records, const Config *config, bool profiled)
{
    return record_set_find_config(&records->of[profiled], config);
}
