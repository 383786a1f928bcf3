#include "cli/name_list.h"

#include "cli/output.h"
#include "report/format/table_write.h"

#include <string.h>

static bool is_for_people(const char *format)
{
    for (int i = 0; table_write_formats[i]; i++) {
        if (strcmp(table_write_formats[i]->name, format) == 0) return true;
    }
    return false;
}

static Status check(const Settings *settings, const OptionSet *options, const char *option)
{
    const char *format = settings->format;
    if (settings->out_json || (*format && !is_for_people(format)))
        return FAIL(ST_USAGE, "--%s list is a table for people: --format md, latex or typst",
                    option);
    if (settings->out && !option_takes(options, OPTION_FORMAT))
        return FAIL(ST_USAGE,
                    "--%s list: this command writes no tables to a file; roofstep plan --%s list "
                    "--out FILE does",
                    option, option);
    return ST_OK;
}

Status name_list_write(const Settings *settings, const OptionSet *options, OptionId option,
                       Status (*fill)(Table *table, Text *conclusion))
{
    Table table = {0};
    CLEANUP(text_free) Text text = {0}, conclusion = {0};
    const char *format = *settings->format ? settings->format : "md";
    TRY(check(settings, options, option_table[option].name));
    if (settings->out) TRY(output_take(settings->out));
    Status status = fill(&table, &conclusion);
    if (status == ST_OK) status = table_write_next(&text, format, &table);
    if (status == ST_OK) status = table_write_conclusion(&text, format, &conclusion);
    table_free(&table);
    return status == ST_OK ? output_text(settings, &text) : status;
}
