/* Every line of the write-ups' tables asks for a figure that there is: a slip in published.def
 * would be a "-" for ever. */
#include "bench/record/component_dtypes.h"
#include "bench/record/profile_figure.h"
#include "bench/study/accumulation.h"
#include "prof/part.h"
#include "published_lines.h"
#include "with_cmocka.h"

#include <stdio.h>
#include <string.h>

static int table_of(const Line *line)
{
    for (int t = 0; t < N_TABLES; t++) {
        if (strcmp(tables[t].table, line->table) == 0) return t;
    }
    fail_msg("%s is no table", line->table);
    return -1;
}

static bool is_of(const Line *line, const char *command)
{
    return strcmp(tables[table_of(line)].command, command) == 0;
}

/* ---- a profile that has everything ---- */

enum { RANKS = 3, MOST = 256 };

typedef struct Whole {
    ViewOp ops[MOST];
    ViewName kernels[MOST], names[1];
    ViewRange ranges[3];
    Record *record;
    ProfileView view;
} Whole;

/* As many kernels as a table asks for, in a row of its own each. */
static void add_ops(Whole *w, Phase phase, const char *category, const char *part)
{
    static char names[MOST][32];
    for (int rank = 0; rank < RANKS; rank++) {
        const int i = w->view.n_ops++;
        const double time = 1e6 * (1 + i);
        assert_true(i < MOST);
        snprintf(names[i], sizeof names[i], "kernel of row %d", i);
        w->ops[i] = (ViewOp){.phase = phase,
                             .category = plan_category_find(category),
                             .part = part,
                             .nodes = 1,
                             .time = {.n = 1, .total = time}};
        w->kernels[i] = (ViewName){.kind = "kernel",
                                   .brief = names[i],
                                   .row = i,
                                   .time = {1, time, time, time, time, time, 0}};
    }
    w->view.n_kernels = w->view.n_ops;
}

static void add_phases(Whole *w)
{
    static const char *const categories[] = {"matmul",    "elementwise", "softmax",
                                             "reduction", "optimizer",   "loss"};
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        w->view.phases[phase] =
            (ViewPhase){.there = true, .wall = {.avg = 1e9}, .nodes = 1e6, .kernels = 9};
        for (size_t c = 0; c < sizeof categories / sizeof *categories; c++)
            add_ops(w, (Phase)phase, categories[c], NULL);
    }
    for (int part = 0; part < PART_COUNT; part++)
        add_ops(w, PHASE_FORWARD, "matmul", part_name((Part)part));
}

static Whole *whole(void)
{
    static Whole w;
    static const char *const scopes[] = {"layer.0/attn/scores", "layer.0/attn/softmax",
                                         "layer.0/attn/values"};
    w.view =
        (ProfileView){.steps = 1, .gpu = true, .step = {.total = 3e9}, .n_names = 1, .n_ranges = 3};
    w.view.record = w.record = json_pack("{s:i}", "num_layers", 1);
    w.view.ops = w.ops;
    w.view.kernels = w.kernels;
    w.view.names = w.names;
    w.view.ranges = w.ranges;
    w.view.device =
        (ViewGpu){.compute = 1, .copies = 1, .gaps = {.time = {.n = 1, .med = 1, .max = 1}}};
    w.view.host_gaps.time = (ViewStats){.n = 1, .med = 1, .max = 1};
    w.names[0] =
        (ViewName){.name = "[CUDA memcpy Host-to-Device]", .kind = "copy", .time = {.total = 1}};
    for (int i = 0; i < 3; i++)
        w.ranges[i] = (ViewRange){
            .phase = PHASE_FORWARD, .name = scopes[i], .level = 2, .wall = {.total = 1}};
    add_phases(&w);
    return &w;
}

/* ---- the lines ---- */

/* Of a table that names measures, each of them. */
static void check_measures(const ProfileView *v, const Line *line, const char *measures)
{
    char list[128], what[256], *rest = NULL;
    snprintf(list, sizeof list, "%s", measures);
    for (char *m = strtok_r(list, " ", &rest); m; m = strtok_r(NULL, " ", &rest)) {
        snprintf(what, sizeof what, "%s %s", m, line->what);
        const bool there = strcmp(m, "name") == 0 ? profile_figure_kernel(v, line->what) != NULL
                                                  : !isnan(profile_figure(v, what));
        if (!there) fail_msg("%s, %s: no '%s'", line->table, line->label, what);
    }
}

static void check_count(const Line *line)
{
    size_t n = 0;
    for (const char *at = tables[table_of(line)].figures; *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        n += length != 4 || strncmp(at, "name", 4) != 0;
        at += length;
    }
    if (line->n != (n ? n : 1))
        fail_msg("%s, %s: %zu figures, not %zu", line->table, line->label, line->n, n);
}

/* What is missing would be a published 0. */
static void as_many_as_the_table_has(void **state)
{
    (void)state;
    for (int i = 0; i < N_LINES; i++) check_count(&lines[i]);
    for (int i = 0; i < N_ROWS; i++) check_count(&rows[i]);
}

/* ---- names and notes ---- */

typedef struct Remark {
    const char *kind, *table, *which, *text;
} Remark;

static const Remark remarks[] = {
#define NAMED_ROW(table, name, words, ...) {"NAMED_ROW", #table, words, name},
#define NOTE(table, which, text)           {"NOTE", #table, which, text},
#include "cli/published/published.def"
};

enum { N_REMARKS = sizeof remarks / sizeof *remarks };

static int how_many(const Line *list, int n, const Remark *remark)
{
    int found = 0;
    for (int i = 0; i < n; i++)
        found +=
            strcmp(list[i].table, remark->table) == 0 && strcmp(list[i].label, remark->which) == 0;
    return found;
}

/* One that names no line would never be shown, and of two for one line only the first would. */
static void remarks_are_of_one_line(void **state)
{
    (void)state;
    for (int i = 0; i < N_REMARKS; i++) {
        const Remark *at = &remarks[i];
        const int n = how_many(rows, N_ROWS, at) + how_many(lines, N_LINES, at);
        if (n != 1) fail_msg("%s(%s, \"%s\"): %d such lines", at->kind, at->table, at->which, n);
        if (!*at->text) fail_msg("%s(%s, \"%s\") says nothing", at->kind, at->table, at->which);
        for (int j = 0; j < i; j++) {
            if (strcmp(at->kind, remarks[j].kind) == 0 &&
                strcmp(at->table, remarks[j].table) == 0 &&
                strcmp(at->which, remarks[j].which) == 0)
                fail_msg("%s(%s, \"%s\") is there twice", at->kind, at->table, at->which);
        }
    }
}

static void figures_of_profiles(void **state)
{
    Whole *w = whole();
    int n = 0;
    (void)state;
    for (int i = 0; i < N_LINES; i++) {
        const Line *line = &lines[i];
        if (!is_of(line, "profile") || !*line->what) continue; /* "": said to have no counterpart */
        const char *measures = tables[table_of(line)].figures;
        n++;
        if (*measures)
            check_measures(&w->view, line, measures);
        else if (isnan(profile_figure(&w->view, line->what)))
            fail_msg("%s, %s: no '%s'", line->table, line->label, line->what);
    }
    assert_true(n > 0);
    json_decref(w->record);
}

static const AccumulationWay *way_of(const char *name)
{
    for (int w = 0; w < accumulation_n_ways; w++) {
        if (strcmp(accumulation_ways[w].name, name) == 0) return &accumulation_ways[w];
    }
    fail_msg("no sum %s", name);
    return NULL;
}

/* To the digit that was printed. */
static void sums_are_the_published_ones(void **state)
{
    int n = 0;
    (void)state;
    for (int i = 0; i < N_LINES; i++) {
        if (!is_of(&lines[i], "precision") || strncmp(lines[i].what, "sum ", 4) != 0) continue;
        const double sum =
            accumulation_sum(way_of(lines[i].what + 4), ACCUMULATION_PLAIN, 1000, 0.01);
        if (!(fabs(sum - lines[i].published[0]) <= 0.5e-4))
            fail_msg("%s: %.6f", lines[i].label, sum);
        n++;
    }
    assert_int_equal(n, 8);
}

static void dtypes_are_of_components(void **state)
{
    int n = 0;
    (void)state;
    for (int i = 0; i < N_LINES; i++) {
        if (!is_of(&lines[i], "precision") || strncmp(lines[i].what, "dtype ", 6) != 0) continue;
        int c = 0;
        while (c < COMPONENT_COUNT && strcmp(component_dtypes_names[c], lines[i].what + 6) != 0)
            c++;
        if (c == COMPONENT_COUNT) fail_msg("no component '%s'", lines[i].what + 6);
        n++;
    }
    assert_int_equal(n, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_the_table_has), cmocka_unit_test(remarks_are_of_one_line),
        cmocka_unit_test(figures_of_profiles),      cmocka_unit_test(sums_are_the_published_ones),
        cmocka_unit_test(dtypes_are_of_components),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
