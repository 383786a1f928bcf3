#include "report/records/column.h"

#include "base/escape.h"

#include <stdio.h>
#include <string.h>

/* How a table writes a cell's field of each kind. */
#define COLUMN_OF_INT       COLUMN_WHOLE
#define COLUMN_OF_REAL      COLUMN_WORD
#define COLUMN_OF_BYTES     COLUMN_WORD
#define COLUMN_OF_SIZE      COLUMN_WHOLE
#define COLUMN_OF_CHOICE    COLUMN_WORD
#define COLUMN_OF_PRESET    COLUMN_WORD
#define COLUMN_OF_DEVICE    COLUMN_WORD
#define COLUMN_OF_SCALE     COLUMN_WORD
#define COLUMN_OF_RECOMPUTE COLUMN_WORD
#define COLUMN_OF_ROUTING   COLUMN_WORD
#define COLUMN_OF_LINEARS   COLUMN_WORD

/* A field that is hidden has no column. */
#define SHOWN_HIDDEN(...)
#define SHOWN_ALWAYS(...)  __VA_ARGS__,
#define SHOWN_AXIS(...)    __VA_ARGS__,
#define SHOWN_CUSTOM(...)  __VA_ARGS__,
#define SHOWN_REPEATS(...) __VA_ARGS__,
#define SHOWN_VARIES(...)  __VA_ARGS__,

const Column column_list[] = {
#define CELL_IDENTITY(id, option, kind, member, words, least, most, value, help, name, label, \
                      subject, part, need, show, key, csv, peer)                              \
    SHOWN_##show({true, name, label, "", COLUMN_OF_##kind, 0, COLUMN_##show})
#define IDENTITY(path, label, kind, show) {true, path, label, "", COLUMN_##kind, 0, COLUMN_##show},
#define FIGURE(path, label, unit, kind, digits, show) \
    {false, path, label, unit, COLUMN_##kind, digits, COLUMN_##show},
#define SPARE(heading)
#include "report/records/columns.def"
};
const int column_count = (int)(sizeof column_list / sizeof *column_list);
_Static_assert(sizeof column_list / sizeof *column_list <= COLUMN_MOST, "a ColumnSet has them all");

static bool value_text(const json_t *value, char text[COLUMN_TEXT])
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        snprintf(text, COLUMN_TEXT, "%s", json_string_value(value));
        escape_trim(text);
        return true;
    case JSON_INTEGER:
        snprintf(text, COLUMN_TEXT, "%lld", (long long)json_integer_value(value));
        return true;
    case JSON_REAL:
        snprintf(text, COLUMN_TEXT, "%.15g", json_real_value(value));
        return true;
    default:
        return false;
    }
}

static bool asked(const Column *column, const Record *record, char text[COLUMN_TEXT])
{
    return record_asked(record, column->path, text, COLUMN_TEXT);
}

/* What was used; "auto" and 0 threads, which a row that never ran keeps, are not known. */
static bool used(const Column *column, const Record *record, char text[COLUMN_TEXT])
{
    if (!value_text(record_value(record, column->path), text)) {
        strcpy(text, "1");
        return column->show == COLUMN_REPEATS && !record_value(record, "d_head");
    }
    if (strcmp(text, "auto") == 0) return false;
    return strcmp(column->path, "threads") != 0 || strcmp(text, "0") != 0;
}

bool column_text(const Column *column, const Record *record, char text[COLUMN_TEXT])
{
    return used(column, record, text) || asked(column, record, text);
}

bool column_asked(const Column *column, const Record *record, char text[COLUMN_TEXT])
{
    return asked(column, record, text) || used(column, record, text);
}

bool column_has(const Column *column, const Record *record, const char *value)
{
    char text[COLUMN_TEXT];
    return (asked(column, record, text) && strcmp(text, value) == 0) ||
           (used(column, record, text) && strcmp(text, value) == 0);
}

bool column_differs(const Column *column, const Record *a, const Record *b)
{
    char x[COLUMN_TEXT], y[COLUMN_TEXT];
    if (asked(column, a, x) && asked(column, b, y)) return strcmp(x, y) != 0;
    return used(column, a, x) && used(column, b, y) && strcmp(x, y) != 0;
}

/* What a row has in a column. */
typedef struct Both {
    bool is_asked, is_used;
    char asked[COLUMN_TEXT], used[COLUMN_TEXT];
} Both;

static void read_both(Both *both, const Column *column, const Record *record)
{
    both->is_asked = asked(column, record, both->asked);
    both->is_used = used(column, record, both->used);
}

/* What was asked for, or what `auto` became: eager runs other attention than fused, and a table that
 * compares them must say so. */
static bool shows_difference(const Both *a, const Both *b)
{
    return (a->is_asked && b->is_asked && strcmp(a->asked, b->asked) != 0) ||
           (a->is_used && b->is_used && strcmp(a->used, b->used) != 0);
}

bool column_varies(const Column *column, const RecordSet *set)
{
    Both first, rows[2];
    if (record_set_size(set) == 0) return false;
    read_both(&first, column, record_set_at(set, 0));
    rows[0] = first;
    for (size_t i = 1; i < record_set_size(set); i++) {
        const Both *before = &rows[(i - 1) % 2];
        Both *row = &rows[i % 2];
        read_both(row, column, record_set_at(set, i));
        if (shows_difference(&first, row) || shows_difference(before, row)) return true;
    }
    return false;
}

/* The dimensions of presets are known by their name; those of a file's model may not be the file's. */
static bool matters(const Column *column, const RecordSet *set)
{
    if (column->show != COLUMN_CUSTOM) return true;
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *row = record_set_at(set, i);
        const char *size = record_text(row, "size");
        if ((size && strcmp(size, "custom") == 0) || record_text(row, "model")) return true;
    }
    return false;
}

/* Not a row that has nothing because it was not begun, nor another program's. What a file says of its model
 * is there from the start. */
static bool is_without(const Column *column, const Record *row)
{
    const bool of_file =
        strcmp(column->path, "window") == 0 || strcmp(column->path, "head_dim") == 0;
    if (of_file && record_text(row, "model")) return true;
    return record_status(row) == RECORD_OK && !record_text(row, "peer");
}

/* Shown where rows differ, otherwise named once for all. */
static bool is_axis(const Column *column)
{
    return column->show == COLUMN_AXIS || column->show == COLUMN_CUSTOM ||
           column->show == COLUMN_REPEATS;
}

bool column_common(const Column *column, const RecordSet *set, char value[COLUMN_TEXT])
{
    char text[COLUMN_TEXT];
    bool seen = false;
    if (!is_axis(column)) return false;
    if (!matters(column, set) || column_varies(column, set)) return false;
    for (size_t i = 0; i < record_set_size(set); i++) {
        const Record *row = record_set_at(set, i);
        if (!used(column, row, text)) {
            if (is_without(column, row)) return false;
            continue;
        }
        if (seen && strcmp(value, text) != 0) return false;
        memcpy(value, text, sizeof text);
        seen = true;
    }
    return seen && (column->show != COLUMN_REPEATS || strcmp(value, "1") != 0);
}

static bool has_value(const Column *column, const Record *record)
{
    const json_t *value = record_value(record, column->path);
    switch (column->kind) {
    case COLUMN_TIME:
        return json_is_object(value);
    case COLUMN_SPEEDUP:
        return record_phase_status(record, column->path) == RECORD_OK;
    case COLUMN_RATIO:
        return record_phase_status(record, column->path) == RECORD_OK &&
               record_phase_status(record, "forward") == RECORD_OK;
    default:
        return value && !json_is_null(value);
    }
}

bool column_measured_less(const Record *record)
{
    const char *asked_for = record_text(record, "mode");
    const char *measured = record_text(record, "measured_mode");
    return asked_for && measured && strcmp(asked_for, measured) != 0;
}

static bool tells_samples(const Record *record)
{
    int64_t samples, steps;
    return record_status(record) == RECORD_OK && record_int(record, "samples", &samples) &&
           record_int(record, "steps", &steps) &&
           (samples < steps || record_text(record, "ended_by"));
}

static bool wanted_by(const Column *column, const Record *record)
{
    double value = 0;
    switch (column->show) {
    case COLUMN_NONZERO:
        return record_number(record, column->path, &value) && value > 0;
    case COLUMN_LESS:
        return column_measured_less(record);
    case COLUMN_FEWER:
        return tells_samples(record);
    default:
        return has_value(column, record);
    }
}

bool column_shown(const Column *column, const RecordSet *set, bool baseline)
{
    if (column->kind == COLUMN_SPEEDUP && !baseline) return false;
    if (column->show == COLUMN_VARIES || is_axis(column))
        return matters(column, set) && column_varies(column, set);
    for (size_t i = 0; i < record_set_size(set); i++) {
        if (wanted_by(column, record_set_at(set, i))) return true;
    }
    return false;
}

ColumnSet column_distinct(const RecordSet *set)
{
    ColumnSet columns = {{0}};
    for (int c = 0; c < column_count; c++)
        columns.has[c] = column_list[c].identity && column_shown(&column_list[c], set, false);
    return columns;
}

void column_leave_out(ColumnSet *columns, const char *path)
{
    for (int c = 0; c < column_count; c++) {
        if (strcmp(column_list[c].path, path) == 0) columns->has[c] = false;
    }
}

bool column_label(Text *out, const ColumnSet *columns, const Record *record)
{
    char value[COLUMN_TEXT];
    const char *separator = "";
    for (int c = 0; c < column_count; c++) {
        const Column *column = &column_list[c];
        if (!column->identity || !columns->has[c] || !column_text(column, record, value)) continue;
        const bool is_size = column->show == COLUMN_ALWAYS;
        text_printf(out, "%s%s%s%s", separator, is_size ? "" : column->label, is_size ? "" : " ",
                    value);
        separator = ", ";
    }
    return *separator;
}
