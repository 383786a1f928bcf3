#include "report/format/csv_writer.h"
#include "report/format/flat_row.h"
#include "report/records/report.h"

Status report_csv(Text *out, const ReportInput *input)
{
    int n = 0;
    const FlatColumn *columns = flat_row_columns(&n);
    for (int c = 0; c < n; c++) text_printf(out, "%s%s", c ? "," : "", columns[c].name);
    text_puts(out, "\n");
    for (size_t i = 0; i < record_set_size(input->set); i++) {
        for (int c = 0; c < n; c++) {
            if (c) text_puts(out, ",");
            csv_writer_value(out,
                             flat_row_value(&columns[c], input->set, record_set_at(input->set, i)));
        }
        text_puts(out, "\n");
    }
    return text_status(out);
}
