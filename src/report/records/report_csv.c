#include "report/format/csv_writer.h"
#include "report/format/flat_row.h"
#include "report/records/report.h"

Status report_csv(Text *out, const ReportInput *input)
{
    for (int c = 0; c < flat_row_count; c++) {
        text_printf(out, "%s%s", c ? "," : "", flat_row_columns[c].name);
    }
    text_puts(out, "\n");
    for (size_t i = 0; i < record_set_size(input->set); i++) {
        for (int c = 0; c < flat_row_count; c++) {
            if (c) text_puts(out, ",");
            csv_writer_value(out, flat_row_value(&flat_row_columns[c], input->set,
                                                 record_set_at(input->set, i)));
        }
        text_puts(out, "\n");
    }
    return text_status(out);
}
