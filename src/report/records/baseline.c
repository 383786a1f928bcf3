#include "report/records/baseline.h"

#include "base/escape.h"
#include "base/json_text.h"

#include <stdio.h>
#include <string.h>

/* Has one of the first n rows this value? */
static bool has_value(const Column *column, const RecordSet *set, size_t n, const char *value)
{
    for (size_t i = 0; i < n; i++) {
        if (column_has(column, record_set_at(set, i), value)) return true;
    }
    return false;
}

/* Of "ctx=128" the value, when the column is ctx; of "128" the whole, for every column. */
static const char *value_for(const Column *column, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals) return text;
    const size_t n = (size_t)(equals - text);
    const bool named = strlen(column->path) == n && strncmp(column->path, text, n) == 0;
    return named ? equals + 1 : NULL;
}

static bool is_candidate(const Column *column, const RecordSet *set, const char *text)
{
    const char *value = column->identity ? value_for(column, text) : NULL;
    return value && column_varies(column, set) &&
           has_value(column, set, record_set_size(set), value);
}

/* " size small medium; precision fp32 bf16", each value once. */
static void list_values(Text *out, const RecordSet *set)
{
    char text[COLUMN_TEXT];
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        if (!column->identity || !column_varies(column, set)) continue;
        text_printf(out, "%s %s", out->n ? ";" : "", column->path);
        for (size_t i = 0; i < record_set_size(set); i++) {
            if (!column_text(column, record_set_at(set, i), text)) continue;
            if (has_value(column, set, i, text)) continue;
            text_puts(out, " ");
            escape_put(out, ESCAPE_LINE, text);
        }
    }
}

static Status nothing_found(const RecordSet *set, const char *text)
{
    CLEANUP(text_free) Text values = {0};
    list_values(&values, set);
    return values.n ? FAIL(ST_USAGE, "--baseline %s: no row has this value; rows differ in%.600s",
                           text, text_str(&values))
                    : FAIL(ST_USAGE,
                           "--baseline %s: the rows do not differ in any option; sweep the one to "
                           "compare: --precision fp32,bf16 --baseline fp32",
                           text);
}

/* A size brings its dimensions with it; the model of a configuration file its vocabulary, too. */
static bool follows(const Column *column, const Column *baseline, bool files)
{
    const bool dimension =
        column->show == COLUMN_CUSTOM || (files && strcmp(column->path, "vocab") == 0);
    return dimension && strcmp(baseline->path, "size") == 0;
}

static bool has_files(const RecordSet *set)
{
    for (size_t i = 0; i < record_set_size(set); i++) {
        if (record_text(record_set_at(set, i), "model")) return true;
    }
    return false;
}

static void find_others(Baseline *baseline, const RecordSet *set)
{
    const bool files = has_files(set);
    baseline->n_others = 0;
    for (int c = 0; c < column_count && c < TABLE_MAX_COLUMNS; c++) {
        const Column *column = &column_list[c];
        if (!column->identity || column == baseline->column) continue;
        if (follows(column, baseline->column, files) || !column_varies(column, set)) continue;
        baseline->others[baseline->n_others++] = column;
    }
}

static Status find_column(const RecordSet *set, const char *text, const Column **out)
{
    const Column *found = NULL;
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        if (!is_candidate(column, set, text)) continue;
        if (found) {
            return FAIL(ST_USAGE,
                        "--baseline %s: %s and %s both have this value; use %s=%s or %s=%s", text,
                        found->path, column->path, found->path, text, column->path, text);
        }
        found = column;
    }
    *out = found;
    return found ? ST_OK : nothing_found(set, text);
}

/* Looks at our own rows: a peer's rows differ in more than the options. */
Status baseline_find(Baseline *baseline, const RecordSet *set, const char *text)
{
    CLEANUP(record_set_free) RecordSet ours = {0};
    TRY(record_set_init(&ours, NULL));
    for (size_t i = 0; i < record_set_size(set); i++) {
        Record *row = record_set_at(set, i);
        if (!record_text(row, "peer")) TRY(record_set_add(&ours, row));
    }
    TRY(find_column(&ours, text, &baseline->column));
    snprintf(baseline->value, sizeof baseline->value, "%s", value_for(baseline->column, text));
    find_others(baseline, set);
    return ST_OK;
}

Status baseline_check(const Config *configs, int n, const char *text)
{
    CLEANUP(record_set_free) RecordSet set = {0};
    Baseline baseline;
    TRY(record_set_init(&set, NULL));
    for (int i = 0; i < n; i++) {
        CLEANUP(json_text_free) Record *record = NULL;
        TRY(record_new(&record, &configs[i]));
        TRY(record_set_add(&set, record));
    }
    return baseline_find(&baseline, &set, text);
}

/* Ours, or the same way of the same peer to run. */
static bool same_program(const Record *a, const Record *b)
{
    static const char *const fields[] = {"peer", "variant"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const char *x = record_text(a, fields[i]), *y = record_text(b, fields[i]);
        if (x != y && !(x && y && strcmp(x, y) == 0)) return false;
    }
    return true;
}

bool baseline_alike(const Baseline *baseline, const Record *a, const Record *b)
{
    if (!same_program(a, b)) return false;
    for (int i = 0; i < baseline->n_others; i++) {
        if (column_differs(baseline->others[i], a, b)) return false;
    }
    return true;
}

/* If a sweep has both `auto` and the value that auto became, the row that asked for this value wins. */
const Record *baseline_row_with(const Baseline *baseline, const RecordSet *set,
                                const Record *record, const char *value)
{
    const Record *other = NULL;
    char text[COLUMN_TEXT];
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *row = record_set_at(set, i);
        if (!column_has(baseline->column, row, value) || !baseline_alike(baseline, record, row)) {
            continue;
        }
        if (column_asked(baseline->column, row, text) && strcmp(text, value) == 0) return row;
        if (!other) other = row;
    }
    return other;
}

const Record *baseline_row(const Baseline *baseline, const RecordSet *set, const Record *record)
{
    return baseline_row_with(baseline, set, record, baseline->value);
}
