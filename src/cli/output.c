#include "cli/output.h"

#include "report/report.h"

#include <stdio.h>
#include <stdlib.h>

Status output_choose_format(Settings *settings, const OptionSet *options)
{
    const bool choose = settings->out && (options->taken & OPTION_BIT(FORMAT)) != 0 &&
                        (settings->given & OPTION_BIT(FORMAT)) == 0;
    const char *named = choose ? report_format_of(settings->out) : NULL;
    if (!named) return ST_OK;
    const Status status = option_read_format(options, named, settings->format);
    if (status != ST_OK) status_context("--out %s", settings->out);
    return status;
}

Status output_text(const Settings *settings, const Text *text)
{
    TRY(text_status(text));
    if (settings->out) return text_write_file(settings->out, text_str(text), text->n);
    fputs(text_str(text), stdout); /* main() sees whether it got there */
    return ST_OK;
}

Status output_json(Text *text, const json_t *json)
{
    char *dump = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
    if (!dump) return FAIL(ST_NO_MEMORY, "no memory for the result as JSON");
    text_puts(text, dump);
    text_puts(text, "\n");
    free(dump);
    return text_status(text);
}
