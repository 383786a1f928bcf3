#include "cli/output.h"

#include <stdio.h>
#include <stdlib.h>

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
