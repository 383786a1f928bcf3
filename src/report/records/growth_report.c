#include "report/records/growth_report.h"

#include "base/human.h"
#include "report/format/table_write.h"
#include "report/records/column.h"
#include "report/records/record_notes.h"

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
    const char *axis = sweep->axis->field;
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

void growth_report_law(Text *out, const GrowthSweep *sweep, const GrowthLaw *law)
{
    const GrowthTerms *terms = &law->terms;
    if (terms->degree < 0) {
        put_fit(out, sweep, law);
        return;
    }
    put_terms(out, sweep->axis->field, terms);
    if (terms->points == terms->degree + 1)
        text_puts(out, " (as many values as terms: the fit is unchecked)");
    else if (terms->points < law->points)
        text_printf(out, " for %s %s to %s, other terms elsewhere", sweep->axis->field,
                    human_whole(terms->from).s, human_whole(terms->to).s);
}

/* ---- which sweep ---- */

GrowthNames growth_report_names(const RecordSet *set)
{
    GrowthNames names = {{0}};
    column_distinct(names.shown, set);
    return names;
}

/* Names the sweep by the columns that vary; nothing if none does. */
static void put_label(Text *out, const GrowthNames *names, const GrowthSweep *sweep)
{
    bool shown[TABLE_MAX_COLUMNS] = {0}, any = false;
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        shown[c] = names->shown[c] && growth_is_fixed(sweep->axis, column->path);
        any = any || (shown[c] && record_value(sweep->first, column->path));
    }
    if (any) record_notes_label(out, shown, sweep->first);
}

/* Attention alone: its step is forward and backward, and what it keeps says more than its peak. */
static bool is_told(const GrowthSweep *sweep, const GrowthLaw *law)
{
    const char *name = law->figure->name;
    const bool alone = record_value(sweep->first, "d_head");
    return !alone || (strcmp(name, "step") != 0 && strcmp(name, "peak_alloc_mib") != 0);
}

/* Of memory that has terms there is something to tell from three values on. */
static bool is_few(const GrowthLaw *law)
{
    return law->terms.degree < 0 && law->fit.verdict == GROWTH_FEW_POINTS;
}

static const char *verb(const GrowthLaw *law)
{
    if (law->terms.degree >= 0) return "is";
    return law->fit.verdict == GROWTH_LAW ? "scales as" : "has";
}

void growth_report_sentence(Text *out, const GrowthNames *names, const GrowthSweep *sweep)
{
    const size_t before = out->n;
    const char *separator = ": ";
    const GrowthLaw *few = NULL;
    put_label(out, names, sweep);
    if (out->n == before)
        text_puts(out, record_value(sweep->first, "d_head") ? "attention" : "the step");
    for (int i = 0; i < sweep->n_laws; i++) {
        const GrowthLaw *law = &sweep->laws[i];
        if (is_few(law)) few = law;
        if (!is_told(sweep, law) || is_few(law)) continue;
        text_printf(out, "%s%s %s ", separator, law->figure->text, verb(law));
        growth_report_law(out, sweep, law);
        separator = "; ";
    }
    if (few)
        text_printf(out, "%sthe exponent of times needs more values of %s: %d of %d", separator,
                    sweep->axis->field, few->points, GROWTH_FIT_LEAST);
    text_puts(out, ".");
}

/* ---- the table ---- */

static void put_row(Table *table, const GrowthNames *names, const GrowthSweep *sweep,
                    const GrowthLaw *law, bool named)
{
    Text text = {0};
    put_label(&text, names, sweep);
    if (named && !text.n) text_puts(&text, "-");
    if (named) table_cell_text(table, &text);
    table_cell_printf(table, "%s %s to %s", sweep->axis->field, human_whole(law->least).s,
                      human_whole(law->most).s);
    table_cell(table, law->figure->text);
    growth_report_law(&text, sweep, law);
    table_cell_text(table, &text);
    table_cell_printf(table, "%d", law->points);
}

/* Where no sweep has a label, no column is needed for it. */
static bool any_label(const GrowthNames *names, const Growth *growth)
{
    CLEANUP(text_free) Text text = {0};
    for (int s = 0; s < growth->n; s++) put_label(&text, names, &growth->sweeps[s]);
    return text.n > 0;
}

/* Of more laws than this a table has those that are claimed. */
enum { MOST_ROWS = 24 };

typedef struct Count {
    int told, few, unclaimed;
} Count;

static bool is_claimed(const GrowthLaw *law)
{
    return law->terms.degree >= 0 || law->fit.verdict == GROWTH_LAW;
}

static Count count_laws(const Growth *growth)
{
    Count count = {0};
    for (int s = 0; s < growth->n; s++) {
        for (int i = 0; i < growth->sweeps[s].n_laws; i++) {
            const GrowthLaw *law = &growth->sweeps[s].laws[i];
            if (!is_told(&growth->sweeps[s], law)) continue;
            count.told += !is_few(law);
            count.few += is_few(law);
            count.unclaimed += !is_few(law) && !is_claimed(law);
        }
    }
    return count;
}

static void put_notes(Table *table, const Count *count)
{
    if (count->few)
        table_note_printf(table, "the exponent of a time needs at least %d values",
                          GROWTH_FIT_LEAST);
    if (count->told > MOST_ROWS && count->unclaimed)
        table_note_printf(table, "%d more have no exponent; the json says why", count->unclaimed);
    table_note(table,
               "times are fitted by a + b n^k: exponent k with its 95 % interval, floor a; memory "
               "has exact terms",
               NULL);
}

static void put_rows(Table *table, const RecordSet *set, const Growth *growth)
{
    const GrowthNames names = growth_report_names(set);
    const bool named = any_label(&names, growth);
    const Count count = count_laws(growth);
    if (named) table_column(table, "cell", "", false);
    TABLE_COLUMNS(table, 3, "over", "figure", "scales as", "points");
    for (int s = 0; s < growth->n; s++) {
        const GrowthSweep *sweep = &growth->sweeps[s];
        for (int i = 0; i < sweep->n_laws; i++) {
            const GrowthLaw *law = &sweep->laws[i];
            if (!is_told(sweep, law) || is_few(law)) continue;
            if (count.told <= MOST_ROWS || is_claimed(law))
                put_row(table, &names, sweep, law, named);
        }
    }
    put_notes(table, &count);
}

Status growth_report_write(Text *out, const char *format, const RecordSet *set)
{
    Growth growth;
    Table table = {0};
    Status status = growth_make(&growth, set);
    if (status == ST_OK && growth.n > 0) {
        put_rows(&table, set, &growth);
        status = table_write_next(out, format, &table);
    }
    growth_free(&growth);
    return status;
}
