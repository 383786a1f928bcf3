#include "report/records/report.h"

#include "report/records/record_table.h"

#include <string.h>

const char report_formats[] = {
#define REPORT(kind, name, ending, help) #name " "
#include "report/format/reports.def"
};

const char *report_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot) return NULL;
#define REPORT(kind, name, ending, help) \
    if (strcmp(dot, ending) == 0) return #name;
#include "report/format/reports.def"
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

void report_endings(Text *out, const char *formats)
{
    const char *before = "";
#define REPORT(kind, name, ending, help)          \
    if (lists(formats, #name)) {                  \
        text_printf(out, "%s%s", before, ending); \
        before = ", ";                            \
    }
#include "report/format/reports.def"
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
    static const struct {
        const char *name;
        ReportFn *write; /* NULL: a table */
    } formats[] = {
#define WRITE_TABLE(name)                NULL
#define WRITE_RECORDS(name)              report_##name
#define REPORT(kind, name, ending, help) {#name, WRITE_##kind(name)},
#include "report/format/reports.def"
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, format) != 0) continue;
        return formats[i].write ? formats[i].write(out, input)
                                : record_table_write(out, format, input);
    }
    return FAIL(ST_USAGE, "no format '%s'; there are %s", format, report_formats);
}
