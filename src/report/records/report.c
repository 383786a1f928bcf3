#include "report/records/report.h"

#include "base/json_text.h"
#include "report/records/record_table.h"

#include <string.h>

const char report_formats[] = {
#define REPORT(kind, name, ending, help) #name " "
#include "report/format/reports.def"
};

static const struct {
    const char *name, *ending;
    ReportFn *write; /* NULL: a table */
} formats[] = {
#define WRITE_TABLE(name)                NULL
#define WRITE_RECORDS(name)              report_##name
#define REPORT(kind, name, ending, help) {#name, ending, WRITE_##kind(name)},
#include "report/format/reports.def"
};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *report_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (int i = 0; dot && i < FORMATS; i++) {
        if (strcmp(dot, formats[i].ending) == 0) return formats[i].name;
    }
    return NULL;
}

/* Whether a word is in a list with blanks between. */
static bool lists(const char *words, const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += n) {
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return true;
    }
    return false;
}

void report_endings(Text *out, const char *names)
{
    const char *before = "";
    for (int i = 0; i < FORMATS; i++) {
        if (!lists(names, formats[i].name)) continue;
        text_printf(out, "%s%s", before, formats[i].ending);
        before = ", ";
    }
}

Status report_json(Text *out, const ReportInput *input)
{
    return record_file_json(out, input->set);
}

Status report_jsonl(Text *out, const ReportInput *input)
{
    return record_file_jsonl(out, input->set);
}

Status report_write(Text *out, const char *format, const ReportInput *input)
{
    for (int i = 0; i < FORMATS; i++) {
        if (strcmp(formats[i].name, format) != 0) continue;
        return formats[i].write ? formats[i].write(out, input)
                                : record_table_write(out, format, input);
    }
    return FAIL(ST_USAGE, "no format '%s'; there are %s", format, report_formats);
}

Status report_study_json(Text *out, const RecordSet *rows, const char *name, json_t *value)
{
    CLEANUP(json_text_free)
    json_t *root =
        json_pack("{s:i, s:O, s:o, s:O}", "schema", RECORD_SCHEMA, "environment",
                  json_array_get(rows->environments, 0), name, value, "results", rows->results);
    json_text_put(out, root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    text_puts(out, "\n");
    return text_status(out);
}
