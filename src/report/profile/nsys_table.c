#include "report/format/csv_reader.h"
#include "report/profile/nsys_profile.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The first five are required where a report has them; a trace has Start and Duration for the last two. */
enum { NAME, GROUP, GROUP2, COUNT, TOTAL, AVG, MED, MIN, MAX, STD, OPS, COLUMNS };

static const struct {
    const char *report;
    bool trace;
    const char *heading[COLUMNS]; /* without the unit; NULL: this report has no such column */
} inputs[NSYS_INPUT_COUNT] = {
#define NSYS_SUM(id, report, name, group, group2, count, total, before, ops)                     \
    {report,                                                                                     \
     false,                                                                                      \
     {name, group, group2, count, total, before "Avg", before "Med", before "Min", before "Max", \
      before "StdDev", ops}},
#define NSYS_EVENTS(id, report, name, group) \
    {report, true, {name, group, NULL, "Start", "Duration"}},
#include "report/profile/nsys_inputs.def"
};

/* No report's name is the end of another's after a '_'. */
NsysInput nsys_table_input(const char *file, size_t *prefix)
{
    for (int i = 0; i < NSYS_INPUT_COUNT; i++) {
        char ending[80];
        snprintf(ending, sizeof ending, "_%s.csv", inputs[i].report);
        const bool alone = strcmp(file, ending + 1) == 0;
        if (!alone && !text_ends_with(file, ending)) continue;
        *prefix = alone ? 0 : strlen(file) - strlen(ending);
        return (NsysInput)i;
    }
    return NSYS_INPUT_COUNT;
}

/* ---- the header ---- */

typedef struct Header {
    const char *const *name; /* of each column; NULL: this report has none */
    int at[COLUMNS];         /* -1: not there */
    double unit[COLUMNS];    /* in ns or bytes */
    int n;                   /* fields of the header */
    bool trace;
} Header;

/* A trace of one GPU need not say which. */
static bool is_required(const Header *header, int column)
{
    return column <= TOTAL && !(column == GROUP && header->trace);
}

/* Whether `field` is `name`, alone or with a unit in parentheses behind it, which `unit` then gets. */
static bool is_heading(const char *field, const char *name, char unit[16])
{
    const size_t n = strlen(name);
    while (*field == ' ') field++;
    if (strncasecmp(field, name, n) != 0) return false;
    const char *rest = field + n;
    while (*rest == ' ') rest++;
    unit[0] = '\0';
    const char *end = strchr(rest, ')');
    if (*rest == '(' && end) {
        snprintf(unit, 16, "%.*s", (int)(end - rest - 1), rest + 1);
        rest = end + 1;
        while (*rest == ' ') rest++;
    }
    return *rest == '\0';
}

static Status read_unit(const char *column, const char *unit, double *out)
{
    static const struct {
        const char *name;
        double in;
    } units[] = {{"ns", 1},        {"nsec", 1},         {"us", 1e3},     {"usec", 1e3},
                 {"μs", 1e3},      {"µs", 1e3},         {"ms", 1e6},     {"msec", 1e6},
                 {"s", 1e9},       {"sec", 1e9},        {"B", 1},        {"bytes", 1},
                 {"KB", 1e3},      {"MB", 1e6},         {"GB", 1e9},     {"KiB", 1024},
                 {"MiB", 1048576}, {"GiB", 1073741824}, {"seconds", 1e9}};
    *out = 1;
    if (!*unit) return ST_OK;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcasecmp(unit, units[i].name) != 0) continue;
        *out = units[i].in;
        return ST_OK;
    }
    return FAIL(
        ST_USAGE,
        "the unit of the column '%s' is not known; expected ns, us, ms or s, of sizes B to GiB",
        column);
}

static void add_word(Text *list, const char *word)
{
    text_printf(list, "%s%s", list->n ? ", " : "", word);
}

/* A column that is not there goes to `needed` if it must be, otherwise to table->missing. */
static Status find_column(const NsysTable *table, const CsvReader *in, int column, Header *header,
                          Text *needed)
{
    const char *name = header->name[column];
    char unit[16];
    header->at[column] = -1;
    header->unit[column] = 1;
    if (!name) return ST_OK;
    for (int i = 0; i < in->n; i++) {
        if (!is_heading(csv_reader_field(in, i), name, unit)) continue;
        header->at[column] = i;
        return column >= TOTAL || header->trace ? read_unit(name, unit, &header->unit[column])
                                                : ST_OK;
    }
    if (is_required(header, column))
        add_word(needed, name);
    else if (column != GROUP)
        add_word(table->missing, name);
    return ST_OK;
}

static bool starts(const CsvReader *in, const char *word)
{
    return strncmp(csv_reader_field(in, 0), word, strlen(word)) == 0;
}

static const char skipped[] = "SKIPPED: "; /* a report that has nothing to tell */

/* What nsys says before the table, and instead of it where it has nothing. */
static bool is_said(const CsvReader *in)
{
    return starts(in, "Generating ") || starts(in, "Processing [") || starts(in, skipped) ||
           (in->n == 1 && !*csv_reader_field(in, 0));
}

static Status read_header(const NsysTable *table, CsvReader *in, Header *header, bool *more)
{
    CLEANUP(text_free) Text needed = {0};
    bool nothing = false;
    do {
        TRY(csv_reader_next(in, more));
        nothing = nothing || starts(in, skipped);
        if (!*more) return nothing ? ST_OK : FAIL(ST_USAGE, "no header: the file is empty");
    } while (is_said(in));
    *header = (Header){
        .n = in->n, .trace = inputs[table->input].trace, .name = inputs[table->input].heading};
    for (int c = 0; c < COLUMNS; c++) TRY(find_column(table, in, c, header, &needed));
    TRY(text_status(&needed));
    if (needed.n)
        TRY(FAIL(ST_USAGE, "line %zu: not the header of %s: no column %s", in->line,
                 inputs[table->input].report, text_str(&needed)));
    return ST_OK;
}

/* ---- rows ---- */

/* "2,782,360,479": each comma has three digits behind it; then they are left out. */
static bool drop_commas(char *text)
{
    char *to = text;
    for (const char *at = text; *at; at++) {
        if (*at != ',') {
            *to++ = *at;
            continue;
        }
        for (int i = 1; i <= 3; i++) {
            if (!isdigit((unsigned char)at[i])) return false;
        }
        if (isdigit((unsigned char)at[4]) || at == text) return false;
    }
    *to = '\0';
    return true;
}

/* A number as people and nsys write one, not below 0. */
static bool read_number(const char *field, double *out)
{
    char text[64], *end = NULL;
    while (*field == ' ') field++;
    if (snprintf(text, sizeof text, "%s", field) >= (int)sizeof text || !drop_commas(text))
        return false;
    for (size_t n = strlen(text); n && text[n - 1] == ' ';) text[--n] = '\0';
    if (!*text || strspn(text, "0123456789.eE+-") != strlen(text)) return false;
    *out = strtod(text, &end);
    return !*end && isfinite(*out) && *out >= 0;
}

/* NAN of a column that is not there, or of an empty field that may be. */
static Status figure(const CsvReader *in, const Header *header, int column, double *out)
{
    static const double latest = 4e18; /* ns or bytes: two of them stay within 63 bits */
    const char *field = csv_reader_field(in, header->at[column]);
    *out = NAN;
    if (header->at[column] < 0 || (!*field && !is_required(header, column))) return ST_OK;
    if (!read_number(field, out))
        return FAIL(ST_USAGE, "line %zu: the field '%s' is no number", in->line,
                    header->name[column]);
    *out *= header->unit[column];
    if (*out <= latest) return ST_OK;
    return FAIL(ST_USAGE, "line %zu: the field '%s' is larger than any time or size", in->line,
                header->name[column]);
}

static Status read_row(const NsysTable *table, const CsvReader *in, const Header *header)
{
    enum { EXACT = 53 }; /* bits of a double */
    double count = 0;
    NsysRow row = {.name = csv_reader_field(in, header->at[NAME]),
                   .group = csv_reader_field(in, header->at[GROUP]),
                   .group2 = csv_reader_field(in, header->at[GROUP2])};
    double *const to[COLUMNS] = {
        [COUNT] = &count, [TOTAL] = &row.total, [AVG] = &row.avg, [MED] = &row.med,
        [MIN] = &row.min, [MAX] = &row.max,     [STD] = &row.std, [OPS] = &row.ops};
    if (in->n < header->n)
        return FAIL(ST_USAGE, "line %zu: %d fields where the header has %d: the file is cut short",
                    in->line, in->n, header->n);
    for (int c = COUNT; c < COLUMNS; c++) TRY(figure(in, header, c, to[c]));
    if (!*row.name) return FAIL(ST_USAGE, "line %zu: no name", in->line);
    row.start = count;
    if (!header->trace && (count != floor(count) || count >= ldexp(1, EXACT)))
        return FAIL(ST_USAGE, "line %zu: '%s' is no whole number", in->line, header->name[COUNT]);
    row.n = header->trace ? 1 : (int64_t)count;
    if (isnan(row.avg)) row.avg = row.total / (double)row.n;
    return row.n > 0 ? table->row(table->self, &row) : ST_OK;
}

Status nsys_table_read(const NsysTable *table, const char *text, size_t n)
{
    CLEANUP(csv_reader_close) CsvReader in;
    Header header = {0};
    bool more = true;
    csv_reader_open(&in, text, n);
    TRY(read_header(table, &in, &header, &more));
    while (more) {
        TRY(csv_reader_next(&in, &more));
        if (!more || (is_said(&in) && csv_reader_field(&in, 0)[0]))
            break; /* the next report begins */
        if (!is_said(&in)) TRY(read_row(table, &in, &header));
    }
    return ST_OK;
}
