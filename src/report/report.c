#include "report/report.h"

#include <string.h>

const char report_formats[] = {
#define REPORT(name, ending, help) #name " "
#include "report/reports.def"
#undef REPORT
};

const char *report_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot) return NULL;
#define REPORT(name, ending, help) \
    if (strcmp(dot, ending) == 0) return #name;
#include "report/reports.def"
#undef REPORT
    return NULL;
}

Status report_write(Text *out, const char *format, const ReportInput *input)
{
    static const struct {
        const char *name;
        ReportFn *write;
    } formats[] = {
#define REPORT(name, ending, help) {#name, report_##name},
#include "report/reports.def"
#undef REPORT
    };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, format) == 0) return formats[i].write(out, input);
    }
    return FAIL(ST_USAGE, "no format '%s'; there are %s", format, report_formats);
}
