/* Every number of published.def is as the write-ups have it, by the quotes of published_quotes.def;
 * and where the write-ups are at hand (../shared/seeds beside the checkout, or the folder
 * ROOFSTEP_SEEDS), the quotes are theirs and none of their numbers is left out but those that
 * published_asides.def gives a reason for. */
#include "number_scan.h"
#include "published_quotes.h"
#include "with_cmocka.h"

#include <stdio.h>

enum { MOST = 64 };

/* As digits were written: what scaling rounds is no difference. */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b || fabs(a - b) <= 1e-9 * fabs(b);
}

/* ---- a quote has its values ---- */

static const size_t *places_of(const Quote *quote)
{
    for (int i = 0; i < N_PLACES; i++) {
        if (strcmp(places[i].table, quote->table) != 0) continue;
        if (places[i].n != quote->n)
            fail_msg("%s: %zu places, %zu values", quote->table, places[i].n, quote->n);
        return places[i].at;
    }
    return NULL;
}

static void fail_quote(const Quote *quote, double value)
{
    fail_msg("%s, %s: %g is not where it should be in \"%s\"", quote->table, quote->which, value,
             quote->text);
}

static void check_placed(const Quote *quote, const Number *numbers, size_t n, const size_t *at)
{
    for (size_t i = 0; i < quote->n; i++) {
        if (at[i] > n || !same(numbers[at[i] - 1].value, quote->values[i]))
            fail_quote(quote, quote->values[i]);
    }
}

/* One "did not fit" may stand for all figures of a row. */
static void check_in_order(const Quote *quote, const Number *numbers, size_t n)
{
    size_t next = 0;
    double last = NAN;
    for (size_t i = 0; i < quote->n; i++) {
        const double value = quote->values[i];
        if (isnan(value)) continue;
        while (next < n && !same(numbers[next].value, value)) next++;
        if (next == n) fail_quote(quote, value);
        next += !isinf(value) || next + 1 < n;
        last = value;
    }
    if (!isnan(last) && !same(numbers[n - 1].value, last)) fail_quote(quote, last);
}

static void check_last(const Quote *quote, const char *text, double value)
{
    Number numbers[MOST];
    const size_t n = number_list(text, numbers, MOST);
    if (n == 0 || !same(numbers[n - 1].value, fabs(value))) fail_quote(quote, value);
}

static void quotes_have_their_values(void **state)
{
    (void)state;
    for (int i = 0; i < N_QUOTES; i++) {
        const Quote *quote = &quotes[i];
        Number numbers[MOST];
        const size_t n = number_list(quote->text, numbers, MOST);
        const size_t *at = places_of(quote);
        if (quote->other) {
            check_last(quote, quote->text, quote->values[0]);
            check_last(quote, quote->other, quote->values[1]);
        } else if (at) {
            check_placed(quote, numbers, n, at);
        } else {
            check_in_order(quote, numbers, n);
        }
    }
}

/* ---- a line has its quotes ---- */

static bool is_of(const Quote *quote, const Line *line)
{
    return strcmp(quote->table, line->table) == 0 && strcmp(quote->which, line->label) == 0;
}

static size_t values_of(const Quote *quote, double *values)
{
    if (quote->other) {
        *values = quote->values[0] + quote->values[1];
        return 1;
    }
    for (size_t i = 0; i < quote->n; i++) values[i] = quote->values[i] * quote->scale;
    return quote->n;
}

static bool has_figures(const Line *line)
{
    for (size_t i = 0; i < line->n; i++) {
        if (!isnan(line->published[i])) return true;
    }
    return false;
}

static void check_figures(const Line *line)
{
    double values[MOST];
    size_t n = 0;
    for (int i = 0; i < N_QUOTES; i++) {
        if (is_of(&quotes[i], line)) n += values_of(&quotes[i], values + n);
    }
    if (n == 0 && !has_figures(line)) return;
    if (n != line->n)
        fail_msg("%s, %s: %zu figures, %zu of them quoted", line->table, line->label, line->n, n);
    for (size_t i = 0; i < n; i++) {
        if (!same(values[i], line->published[i]))
            fail_msg("%s, %s: published.def has %.9g, the write-up %.9g", line->table, line->label,
                     line->published[i], values[i]);
    }
}

static const Quote *quote_of(const Line *line)
{
    for (int i = 0; i < N_QUOTES; i++) {
        if (is_of(&quotes[i], line)) return &quotes[i];
    }
    fail_msg("%s, %s is not quoted", line->table, line->label);
    return NULL;
}

static bool has_value(const Number *numbers, size_t n, double value)
{
    for (size_t i = 0; i < n; i++) {
        if (same(numbers[i].value, value)) return true;
    }
    return false;
}

static void check_text(const Line *line)
{
    const Quote *quote = quote_of(line);
    Number own[MOST], theirs[MOST];
    const size_t n = number_list(line->text, own, MOST), m = number_list(quote->text, theirs, MOST);
    const bool words = quote->n == 0 && (n > 0 || strstr(quote->text, line->text));
    for (size_t i = 0; words && i < n; i++) {
        if (!has_value(theirs, m, own[i].value / quote->scale))
            fail_msg("%s, %s: no %g in \"%s\"", line->table, line->label, own[i].value,
                     quote->text);
    }
    if (!words)
        fail_msg("%s, %s: no \"%s\" in \"%s\"", line->table, line->label, line->text, quote->text);
}

static void every_number_is_quoted(void **state)
{
    (void)state;
    for (int i = 0; i < N_ROWS; i++) check_figures(&rows[i]);
    for (int i = 0; i < N_LINES; i++) {
        if (lines[i].text)
            check_text(&lines[i]);
        else
            check_figures(&lines[i]);
    }
}

static const Line *line_of(const Quote *quote)
{
    for (int i = 0; i < N_ROWS; i++) {
        if (is_of(quote, &rows[i])) return &rows[i];
    }
    for (int i = 0; i < N_LINES; i++) {
        if (is_of(quote, &lines[i])) return &lines[i];
    }
    fail_msg("%s has no line '%s' to quote", quote->table, quote->which);
    return NULL;
}

static void every_quote_is_of_a_line(void **state)
{
    (void)state;
    for (int i = 0; i < N_QUOTES; i++) {
        const Line *line = line_of(&quotes[i]);
        if (!line->text != !!quotes[i].n)
            fail_msg("%s, %s: WORDS are of a TEXT", line->table, line->label);
    }
}

/* ---- the rows run what was published ---- */

static const char *words_of(const char *table)
{
    for (int t = 0; t < N_TABLES; t++) {
        if (strcmp(tables[t].table, table) == 0) return tables[t].words;
    }
    fail_msg("there is no table %s", table);
    return NULL;
}

/* As often as they are told: 10 warm-ups and 10 steps are two. */
static size_t how_often(const char *text, double value)
{
    Number numbers[MOST];
    const size_t n = number_list(text, numbers, MOST);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += same(numbers[i].value, value);
    return found;
}

static void settings_are_those_of_the_rows(void **state)
{
    (void)state;
    for (int a = 0; a < N_ASIDES; a++) {
        Number numbers[MOST];
        if (!asides[a].table) continue;
        const char *words = words_of(asides[a].table), *text = asides[a].text;
        const size_t n = number_list(text, numbers, MOST);
        for (size_t i = 0; i < n; i++) {
            if (how_often(words, numbers[i].value) < how_often(text, numbers[i].value))
                fail_msg("%s is run with \"%s\", which is not \"%s\"", asides[a].table, words,
                         text);
        }
    }
}

/* ---- the write-ups themselves ---- */

/* With one blank wherever there are some; NULL: they are not here. */
static char *read_seed(int file)
{
    const char *given = getenv("ROOFSTEP_SEEDS");
    char path[4096];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s", given ? given : "../../shared/seeds", files[file]);
    FILE *stream = fopen(path, "r");
    if (!stream) return NULL;
    char *text = calloc(1, 1 << 20);
    for (int c; (c = getc(stream)) != EOF && n + 1 < 1 << 20;) {
        const bool blank = isspace(c);
        if (!blank || (n > 0 && text[n - 1] != ' ')) text[n++] = blank ? ' ' : (char)c;
    }
    fclose(stream);
    return text;
}

static bool has_seeds(void)
{
    char *text = read_seed(0);
    if (!text)
        print_message("the write-ups are not in ../shared/seeds: quotes are not held to them\n");
    free(text);
    return text != NULL;
}

static void check_verbatim(const char *text, int file, const char *quote)
{
    if (quote && !strstr(text, quote)) fail_msg("%s has no \"%s\"", files[file], quote);
}

static void quotes_are_verbatim(void **state)
{
    (void)state;
    if (!has_seeds()) skip();
    for (int file = 0; file < N_FILES; file++) {
        char *text = read_seed(file);
        if (!text) fail_msg("no %s", files[file]);
        for (int i = 0; i < N_QUOTES; i++) {
            if (quotes[i].file != file) continue;
            check_verbatim(text, file, quotes[i].text);
            check_verbatim(text, file, quotes[i].other);
        }
        for (int i = 0; i < N_ASIDES; i++) {
            if (asides[i].file == file) check_verbatim(text, file, asides[i].text);
        }
        free(text);
    }
}

/* Published, or what the row is of: "| 32 | 64 |" of "--d-head 32 --ctx 64". */
static bool is_told(const Quote *quote, double value)
{
    Number numbers[MOST];
    const Line *line = line_of(quote);
    for (size_t i = 0; i < quote->n; i++) {
        if (same(fabs(quote->values[i]), fabs(value))) return true;
    }
    return has_value(numbers, number_list(words_of(quote->table), numbers, MOST), value) ||
           has_value(numbers, number_list(line->label, numbers, MOST), value) ||
           (line->text &&
            has_value(numbers, number_list(line->text, numbers, MOST), value * quote->scale));
}

/* Wherever `part` is in the text: its numbers that are told, or with no quote all of it. */
static void tick(char *ticks, const char *text, const char *part, const Quote *quote)
{
    const size_t length = strlen(part);
    for (const char *at = text; (at = strstr(at, part)); at++) {
        const size_t begin = (size_t)(at - text);
        Number number;
        if (!quote) memset(ticks + begin, 1, length);
        for (size_t i = begin; quote && number_next(text, i, &number) && number.at < begin + length;
             i = number.at + number.length) {
            if (is_told(quote, number.value)) memset(ticks + number.at, 1, number.length);
        }
    }
}

static int report_rest(const char *ticks, const char *text, int file)
{
    Number number;
    int n = 0;
    for (size_t i = 0; number_next(text, i, &number); i = number.at + number.length) {
        if (ticks[number.at] || isinf(number.value)) continue;
        const size_t from = number.at > 40 ? number.at - 40 : 0;
        print_error("%s: %g in \"%.90s\" is not published here, and not said why\n", files[file],
                    number.value, text + from);
        n++;
    }
    return n;
}

static void no_number_is_left_out(void **state)
{
    int n = 0;
    (void)state;
    if (!has_seeds()) skip();
    for (int file = 0; file < N_FILES; file++) {
        char *text = read_seed(file);
        char *ticks = calloc(1, strlen(text) + 1);
        for (int i = 0; i < N_QUOTES; i++) {
            if (quotes[i].file == file) tick(ticks, text, quotes[i].text, &quotes[i]);
        }
        for (int i = 0; i < N_ASIDES; i++) {
            if (asides[i].file == file) tick(ticks, text, asides[i].text, NULL);
        }
        n += report_rest(ticks, text, file);
        free(ticks);
        free(text);
    }
    if (n > 0) fail_msg("%d numbers of the write-ups are left out", n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_have_their_values),
        cmocka_unit_test(every_number_is_quoted),
        cmocka_unit_test(every_quote_is_of_a_line),
        cmocka_unit_test(settings_are_those_of_the_rows),
        cmocka_unit_test(quotes_are_verbatim),
        cmocka_unit_test(no_number_is_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
