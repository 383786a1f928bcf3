#include "report/records/growth_report.h"

#include "base/human.h"
#include "report/format/table_write.h"

#include <math.h>
#include <string.h>

/* ---- one law ---- */

static const double mib = 1024 * 1024;

/* Whole bytes as such, others with four digits. */
static void put_bytes(Text *out, double bytes)
{
    if (bytes < 1023.5)
        text_printf(out, "%s B", human_mean_count(bytes).s);
    else
        text_puts(out, human_bytes(bytes).s);
}

static void put_terms(Text *out, const char *axis, const GrowthTerms *t)
{
    static const char *const powers[] = {"", "", "^2"};
    const size_t before = out->n;
    for (int d = 0; d <= t->degree; d++) {
        if (t->term[d] == 0) continue;
        const bool first = out->n == before;
        text_puts(out, t->term[d] < 0 ? first ? "-" : " - " : first ? "" : " + ");
        put_bytes(out, fabs(t->term[d]) * mib);
        if (d > 0) text_printf(out, " x %s%s", axis, powers[d]);
    }
}

/* "± 0.03" where both sides are about as wide, "(1.90 to 2.20)" otherwise. */
static void put_interval(Text *out, const GrowthFit *fit)
{
    const double below = fit->exponent - fit->low, above = fit->high - fit->exponent;
    const double half = fmax(below, above);
    const int decimals = half < 0.00995 ? 3 : 2;
    text_printf(out, "%.*f", decimals, fit->exponent);
    if (half < 0.0005)
        text_puts(out, " ± less than 0.001");
    else if (fabs(above - below) <= fmax(0.3 * half, 0.01))
        text_printf(out, " ± %.*f", decimals, half);
    else if (fit->high >= GROWTH_FIT_MOST_EXPONENT)
        text_printf(out, " (%.2f or more)", fit->low);
    else
        text_printf(out, " (%.2f to %.2f)", fit->low, fit->high);
}

static void put_floor(Text *out, const char *axis, const GrowthLaw *law)
{
    const GrowthFit *fit = &law->fit;
    if (fit->begins > law->least)
        text_printf(out, " from %s %s on", axis, human_whole(fit->begins).s);
    text_puts(out, ", above a floor of ");
    if (law->figure->kind == GROWTH_TIME)
        text_puts(out, human_seconds(fit->floor / 1e3).s);
    else
        put_bytes(out, fit->floor * mib);
}

static void put_fit(Text *out, const GrowthSweep *sweep, const GrowthLaw *law)
{
    const GrowthFit *fit = &law->fit;
    const char *axis = sweep->axis;
    if (fit->verdict != GROWTH_LAW) {
        text_puts(out, "no exponent: ");
        growth_why(out, sweep->axis, fit);
        return;
    }
    text_printf(out, "%s^", axis);
    put_interval(out, fit);
    if (fit->floor_seen) put_floor(out, axis, law);
    if (law->figure->kind == GROWTH_MEMORY) text_puts(out, " (no exact terms)");
}

static void put_law(Text *out, const GrowthSweep *sweep, const GrowthLaw *law)
{
    const GrowthTerms *terms = &law->terms;
    if (terms->degree < 0) {
        put_fit(out, sweep, law);
        return;
    }
    put_terms(out, sweep->axis, terms);
    if (terms->points == terms->degree + 1)
        text_puts(out, " (as many values as terms: the fit is unchecked)");
    else if (terms->points < law->points)
        text_printf(out, " for %s %s to %s, other terms elsewhere", sweep->axis,
                    human_whole(terms->from).s, human_whole(terms->to).s);
}

/* ---- which sweep ---- */

/* Names the sweep by the columns that vary. False: none does. */
static bool put_label(Text *out, const ColumnSet *names, const GrowthSweep *sweep)
{
    ColumnSet shown = *names;
    for (int c = 0; c < column_count; c++)
        shown.has[c] = names->has[c] && growth_is_fixed(sweep->axis, column_list[c].path);
    return column_label(out, &shown, sweep->first);
}

/* What there is to say of a law. */
typedef enum Told { TOLD_NOTHING, TOLD_FEW_POINTS, TOLD_NO_EXPONENT, TOLD_LAW, TOLD_COUNT } Told;

/* Attention alone: its step is forward and backward, and what it keeps says more than its peak. */
static Told told(const GrowthSweep *sweep, const GrowthLaw *law)
{
    const char *name = law->figure->name;
    const bool alone = record_value(sweep->first, "d_head");
    if (alone && (strcmp(name, "step") == 0 || strcmp(name, "peak_alloc_mib") == 0))
        return TOLD_NOTHING;
    if (law->terms.degree >= 0 || law->fit.verdict == GROWTH_LAW) return TOLD_LAW;
    return law->fit.verdict == GROWTH_FEW_POINTS ? TOLD_FEW_POINTS : TOLD_NO_EXPONENT;
}

static const char *verb(const GrowthLaw *law)
{
    if (law->terms.degree >= 0) return "is";
    return law->fit.verdict == GROWTH_LAW ? "scales as" : "has";
}

void growth_report_sentence(Text *out, const ColumnSet *names, const GrowthSweep *sweep)
{
    const char *separator = ": ";
    const GrowthLaw *few = NULL;
    if (!put_label(out, names, sweep))
        text_puts(out, record_value(sweep->first, "d_head") ? "attention" : "the step");
    for (int i = 0; i < sweep->n_laws; i++) {
        const GrowthLaw *law = &sweep->laws[i];
        const Told what = told(sweep, law);
        if (what == TOLD_FEW_POINTS) few = law;
        if (what < TOLD_NO_EXPONENT) continue;
        text_printf(out, "%s%s %s ", separator, law->figure->text, verb(law));
        put_law(out, sweep, law);
        separator = "; ";
    }
    if (few)
        text_printf(out, "%sthe exponent of times needs more values of %s: %d of %d", separator,
                    sweep->axis, few->points, GROWTH_FIT_LEAST);
    text_puts(out, ".");
}

/* ---- the table ---- */

static void put_row(Table *table, const ColumnSet *names, const GrowthSweep *sweep,
                    const GrowthLaw *law)
{
    Text text = {0};
    if (names) {
        if (!put_label(&text, names, sweep)) text_puts(&text, "-");
        table_cell_text(table, &text);
    }
    table_cell_printf(table, "%s %s to %s", sweep->axis, human_whole(law->least).s,
                      human_whole(law->most).s);
    table_cell(table, law->figure->text);
    put_law(&text, sweep, law);
    table_cell_text(table, &text);
    table_cell_printf(table, "%d", law->points);
}

/* Counts the laws by what there is to say of them. Where no sweep has a label, no column is needed for
 * it: false. */
static bool count_laws(const Growth *growth, const ColumnSet *names, int count[TOLD_COUNT])
{
    CLEANUP(text_free) Text label = {0};
    for (int s = 0; s < growth->n; s++) {
        const GrowthSweep *sweep = &growth->sweeps[s];
        put_label(&label, names, sweep);
        for (int i = 0; i < sweep->n_laws; i++) count[told(sweep, &sweep->laws[i])]++;
    }
    return label.n > 0;
}

static void put_rows(Table *table, const RecordSet *set, const Growth *growth)
{
    enum { MOST_ROWS = 24 }; /* of more laws a table has those with an exponent or terms */
    const ColumnSet names = column_distinct(set);
    int count[TOLD_COUNT] = {0};
    const bool named = count_laws(growth, &names, count);
    const bool all = count[TOLD_LAW] + count[TOLD_NO_EXPONENT] <= MOST_ROWS;
    table->title = "How times and memory grow";
    if (named) table_column(table, "cell", "", false);
    TABLE_COLUMNS(table, 3, "over", "figure", "scales as", "points");
    for (int s = 0; s < growth->n; s++) {
        const GrowthSweep *sweep = &growth->sweeps[s];
        for (int i = 0; i < sweep->n_laws; i++) {
            if (told(sweep, &sweep->laws[i]) >= (all ? TOLD_NO_EXPONENT : TOLD_LAW))
                put_row(table, named ? &names : NULL, sweep, &sweep->laws[i]);
        }
    }
    if (count[TOLD_FEW_POINTS])
        table_note_printf(table, "the exponent of a time needs at least %d values",
                          GROWTH_FIT_LEAST);
    if (!all && count[TOLD_NO_EXPONENT])
        table_note_printf(table, "%d more have no exponent; the json says why",
                          count[TOLD_NO_EXPONENT]);
    table_note(table,
               "times are fitted by a + b n^k: exponent k with its 95 % interval, floor a; memory "
               "has exact terms");
}

Status growth_report_write(Text *out, const char *format, const RecordSet *set)
{
    CLEANUP(growth_free) Growth growth = {0};
    Table table = {0};
    TRY(growth_make(&growth, set));
    if (growth.n == 0) return ST_OK;
    put_rows(&table, set, &growth);
    return table_write_next(out, format, &table);
}
