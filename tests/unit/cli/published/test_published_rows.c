/* Rows of published.def run what plain PyTorch ran, and where published figures contradict each
 * other a note says so. */
#include "published_lines.h"
#include "with_cmocka.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *table, *which;
} notes[] = {
#define NOTE(table, which, text) {#table, which},
#include "cli/published/published.def"
};

static bool has_note(const Line *line)
{
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (strcmp(notes[i].table, line->table) == 0 && strcmp(notes[i].which, line->label) == 0)
            return true;
    }
    return false;
}

static bool is_in(const Line *line, const char *table)
{
    return strcmp(line->table, table) == 0;
}

/* ---- the work ---- */

static bool has_words(const char *list, const char *words)
{
    const char *at = strstr(list, words);
    const char after = at ? at[strlen(words)] : 'x';
    return after == ' ' || after == '\0';
}

static void needs(int table, const char *words)
{
    if (!has_words(tables[table].words, words))
        fail_msg("%s runs \"%s\", without %s", tables[table].table, tables[table].words, words);
}

/* What a model was trained with; compiled attention is fused. */
static void plain_pytorch_is_eager_and_naive(void **state)
{
    (void)state;
    for (int t = 0; t < N_TABLES; t++) {
        const bool alone = strcmp(tables[t].command, "attention") == 0;
        const bool numbers = has_words(tables[t].words, "--count 1000"); /* sums have no model */
        if (alone && !has_words(tables[t].words, "--attention fused"))
            needs(t, "--attention naive");
        if (!alone && !numbers) needs(t, "--exec eager --attention naive");
    }
}

/* Gradients were enabled wherever a write-up ran a forward pass alone. */
static void forward_keeps_the_graph(void **state)
{
    (void)state;
    for (int t = 0; t < N_TABLES; t++) {
        if (has_words(tables[t].words, "--mode fwd"))
            fail_msg("%s keeps no graph", tables[t].table);
    }
    for (int r = 0; r < N_ROWS; r++) {
        if (has_words(rows[r].label, "--mode fwd"))
            fail_msg("%s, %s keeps no graph", rows[r].table, rows[r].label);
    }
}

/* ---- changes and shares, against the times they are of ---- */

static void must_be_noted(const Line *line, double published, double found, double rounding)
{
    if (fabs(published - found) > rounding && !has_note(line))
        fail_msg("%s, %s: %g is published, its own figures give %.3g, and no note says so",
                 line->table, line->label, published, found);
}

static const Line *row_of(const char *table, const char *words)
{
    for (int r = 0; r < N_ROWS; r++) {
        if (is_in(&rows[r], table) && strcmp(rows[r].label, words) == 0) return &rows[r];
    }
    fail_msg("%s has no row %s", table, words);
    return NULL;
}

/* Its table has a note on those that are rounded wrongly, by 0.1; "about 0" is within 1. */
static void changes_fit_their_times(void **state)
{
    int n = 0;
    (void)state;
    for (int r = 0; r < N_ROWS; r++) {
        if (!is_in(&rows[r], "NSYS_TF32")) continue;
        const double *changed = rows[r].published;
        const double *before = row_of("NSYS_FP32", rows[r].label)->published;
        for (int i = 0; i < 2; i++, n++)
            must_be_noted(&rows[r], changed[2 * i + 1], 100 * (changed[2 * i] / before[i] - 1),
                          changed[2 * i + 1] == 0 ? 1 : 0.1);
    }
    assert_int_equal(n, 70);
}

/* Of a table of kernels with calls, us and share: against the first, which is of the most time and
 * so has the most digits. */
static void shares_fit_their_times(void **state)
{
    static const char *const tops[] = {"P100_FORWARD_TOP", "P100_BACKWARD_TOP"};
    int n = 0;
    (void)state;
    for (size_t t = 0; t < 2; t++) {
        double whole = NAN;
        for (int i = 0; i < N_LINES; i++) {
            const double *x = lines[i].published;
            if (!is_in(&lines[i], tops[t])) continue;
            if (isnan(whole)) whole = x[0] * x[1] / x[2];
            must_be_noted(&lines[i], x[2], x[0] * x[1] / whole, 0.1);
            n++;
        }
    }
    assert_int_equal(n, 6);
}

/* Tokens/s are the batch times the context over the time, which shows what was run where no text does. */
static void tokens_fit_their_times(void **state)
{
    static const struct {
        const char *table;
        int time, rate;
    } rates[] = {{"NSYS_END", 0, 2}, {"NSYS_PRECISION", 0, 1}, {"NSYS_MEMORY", 0, 1}};
    int n = 0;
    (void)state;
    for (size_t t = 0; t < sizeof rates / sizeof *rates; t++) {
        for (int r = 0; r < N_ROWS; r++) {
            int ctx = 512;
            if (!is_in(&rows[r], rates[t].table)) continue;
            const char *given = strstr(rows[r].label, "--ctx ");
            if (given) sscanf(given, "--ctx %d", &ctx);
            const double tokens =
                rows[r].published[rates[t].time] * 1e-3 * rows[r].published[rates[t].rate];
            if (fabs(tokens / (4 * ctx) - 1) > 2e-4)
                fail_msg("%s, %s: %g tokens a step", rows[r].table, rows[r].label, tokens);
            n++;
        }
    }
    assert_int_equal(n, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_pytorch_is_eager_and_naive),
        cmocka_unit_test(forward_keeps_the_graph),
        cmocka_unit_test(changes_fit_their_times),
        cmocka_unit_test(shares_fit_their_times),
        cmocka_unit_test(tokens_fit_their_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
