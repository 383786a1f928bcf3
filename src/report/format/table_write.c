#include "report/format/table_write.h"

#include <string.h>

#undef TABLE_WRITE_TABLE
#define TABLE_WRITE_TABLE(name) &table_##name,

const TableFormat *const table_write_formats[] = {
#define REPORT(kind, name, ending, help) TABLE_WRITE_##kind(name)
#include "report/format/reports.def"
    &table_page, NULL};

Status table_write(Text *out, const char *format, const Table *table)
{
    TRY(table_status(table));
    for (int i = 0; table_write_formats[i]; i++) {
        if (strcmp(table_write_formats[i]->name, format) == 0)
            return table_write_formats[i]->write(out, table);
    }
    return FAIL(ST_USAGE, "no table can be written as '%s'", format);
}

Status table_write_next(Text *out, const char *format, Table *table)
{
    Status status = table_status(table);
    if (status == ST_OK && table_rows(table) > 0) {
        if (out->n && !text_ends_with(text_str(out), "\n\n")) text_puts(out, "\n");
        status = table_write(out, format, table);
    }
    table_free(table);
    return status;
}

Status table_write_conclusion(Text *out, const char *format, Text *sentence)
{
    const Status status = text_status(sentence);
    if (status == ST_OK && sentence->n > 0 && strcmp(format, table_md.name) == 0) {
        if (out->n) text_puts(out, "\n");
        table_md.put_text(out, text_str(sentence));
        text_puts(out, "\n");
    }
    text_free(sentence);
    return status;
}
