#include "cli/published/published_list.h"

#include "base/human.h"
#include "base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
#define WRITEUP(id, name, what) WRITEUP_##id,
#include "cli/published/published.def"
    N_WRITEUPS
};

enum {
#define TABLE(id, ...) TABLE_##id,
#include "cli/published/published.def"
    N_TABLES
};

const PublishedWriteup published_list_writeups[] = {
#define WRITEUP(id, name, what) {name, what},
#include "cli/published/published.def"
};

const PublishedTable published_list_tables[] = {
#define TABLE(id, writeup, command, title, words, figures, note) \
    {WRITEUP_##writeup, &cmd_##command, title, words, figures, note},
#include "cli/published/published.def"
};

#define OOM INFINITY
const PublishedRow published_list_rows[] = {
#define ROW(table, words, ...) {TABLE_##table, words, {__VA_ARGS__}},
#include "cli/published/published.def"
};
#undef OOM

const PublishedMeasure published_list_measures[] = {
#define FIGURE(table, label, what, ...) {TABLE_##table, label, what, NULL, {__VA_ARGS__}},
#define TEXT(table, label, what, text)  {TABLE_##table, label, what, text, {NAN}},
#include "cli/published/published.def"
};

const PublishedRemark published_list_names[] = {
#define NAME(table, words, name) {TABLE_##table, words, name},
#include "cli/published/published.def"
};

const PublishedRemark published_list_notes[] = {
#define NOTE(table, which, text) {TABLE_##table, which, text},
#include "cli/published/published.def"
};

const int published_list_n_tables = N_TABLES;
const int published_list_n_rows = sizeof published_list_rows / sizeof *published_list_rows;
const int published_list_n_measures =
    sizeof published_list_measures / sizeof *published_list_measures;
const int published_list_n_names = sizeof published_list_names / sizeof *published_list_names;
const int published_list_n_notes = sizeof published_list_notes / sizeof *published_list_notes;

static const char *find_remark(const PublishedRemark *list, int n, int table, const char *which)
{
    for (int i = 0; i < n; i++) {
        if (list[i].table == table && strcmp(list[i].which, which) == 0) return list[i].text;
    }
    return NULL;
}

const char *published_list_row_name(const PublishedRow *row)
{
    return find_remark(published_list_names, published_list_n_names, row->table, row->words);
}

const char *published_list_note_of(int table, const char *which)
{
    return find_remark(published_list_notes, published_list_n_notes, table, which);
}

Status published_list_find(const char *name, int *writeup)
{
    const char *names[N_WRITEUPS];
    Text list = {0};
    for (int i = 0; i < N_WRITEUPS; i++) {
        names[i] = published_list_writeups[i].name;
        text_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
        *writeup = i;
        if (strcmp(name, names[i]) != 0) continue;
        text_free(&list);
        return ST_OK;
    }
    const char *near = suggest_word(name, names, N_WRITEUPS);
    const Status status =
        near ? FAIL(ST_USAGE, "--like %s: did you mean %s?", human_quote(name).s, near)
             : FAIL(ST_USAGE, "--like %s: there are %s", human_quote(name).s, text_str(&list));
    text_free(&list);
    return status;
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

/* A write-up that leaves out the warm-up has the first step among its samples: what it costs is the point, and
 * among fewer samples it would weigh more. */
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
    enum { MOST_WORDS = 64 };
    char line[1024], *argv[MOST_WORDS], *rest = NULL;
    int argc = 0;
    Settings settings;
    Sweep sweep;
    snprintf(line, sizeof line, "%s %s %s", table->words, row ? row->words : "", device);
    for (char *word = strtok_r(line, " ", &rest); word && argc < MOST_WORDS;
         word = strtok_r(NULL, " ", &rest))
        argv[argc++] = word;
    TRY(sweep_parse(&table->command->options, argc, argv, &settings, &sweep));
    *config = sweep.configs[0];
    config->stat = STAT_MEAN; /* what write-ups publish, with standard deviations */
    count_first_step(table, config);
    sweep_free(&sweep);
    return ST_OK;
}

int published_list_figures(const PublishedTable *table,
                           PublishedFigure figures[PUBLISHED_MAX_FIGURES])
{
    int n = 0;
    for (const char *at = table->figures; *at && n < PUBLISHED_MAX_FIGURES; n++) {
        const int length = (int)strcspn(at, " *");
        snprintf(figures[n].path, sizeof figures[n].path, "%.*s", length, at);
        at += length;
        char *end = (char *)at;
        figures[n].scale = *at == '*' ? strtod(at + 1, &end) : 1;
        at = end + strspn(end, " ");
    }
    return n;
}
