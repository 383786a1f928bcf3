#include "report/report_csv.h"

#include "report/flat_row.h"
#include "report/report.h"

#include <string.h>

void report_csv_field(Text *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        text_puts(out, text);
        return;
    }
    text_puts(out, "\"");
    for (; *text; text++) {
        if (*text == '"') text_puts(out, "\"");
        text_append(out, text, 1);
    }
    text_puts(out, "\"");
}

Status report_csv(Text *out, const ReportInput *input)
{
    for (int c = 0; c < flat_row_count; c++) {
        text_printf(out, "%s%s", c ? "," : "", flat_row_columns[c].name);
    }
    text_puts(out, "\n");
    Text value = {0};
    for (size_t i = 0; i < record_set_size(input->set); i++) {
        for (int c = 0; c < flat_row_count; c++) {
            text_clear(&value);
            flat_row_put(&value, flat_row_value(&flat_row_columns[c], input->set,
                                                record_set_at(input->set, i)));
            if (c) text_puts(out, ",");
            report_csv_field(out, text_str(&value));
        }
        text_puts(out, "\n");
    }
    out->failed = out->failed || value.failed;
    text_free(&value);
    return text_status(out);
}
