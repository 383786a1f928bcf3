#include "report/records/report.h"

#include <string.h>

const char report_formats[] = {
#define REPORT(name, ending, help) #name " "
#include "report/records/reports.def"
#undef REPORT
};

const char *report_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot) return NULL;
#define REPORT(name, ending, help) \
    if (strcmp(dot, ending) == 0) return #name;
#include "report/records/reports.def"
#undef REPORT
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
#define REPORT(name, ending, help)                \
    if (lists(formats, #name)) {                  \
        text_printf(out, "%s%s", before, ending); \
        before = ", ";                            \
    }
#include "report/records/reports.def"
#undef REPORT
}

Status report_write(Text *out, const char *format, const ReportInput *input)
{
    static const struct {
        const char *name;
        ReportFn *write;
    } formats[] = {
#define REPORT(name, ending, help) {#name, report_##name},
#include "report/records/reports.def"
#undef REPORT
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, format) == 0) return formats[i].write(out, input);
    }
    return FAIL(ST_USAGE, "no format '%s'; there are %s", format, report_formats);
}
