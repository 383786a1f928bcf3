#include "base/array.h"
#include "report/format/sql_writer.h"
#include "report/records/report.h"

#include <stdlib.h>

/* Made once, filled again and again: `roofstep ... --format sql | sqlite3 db` accumulates. */
static const char table[] = "roofstep_results";

Status report_sql(Text *out, const ReportInput *input)
{
    int n = 0;
    const FlatColumn *columns = flat_row_columns(&n);
    CLEANUP(array_free) const json_t **values = calloc((size_t)n, sizeof *values);
    if (!values) return NO_MEMORY("for results as SQL");
    sql_writer_begin(out, table, columns, n);
    for (size_t i = 0; i < record_set_size(input->set); i++) {
        for (int c = 0; c < n; c++)
            values[c] = flat_row_value(&columns[c], input->set, record_set_at(input->set, i));
        sql_writer_insert(out, table, columns, values, n);
    }
    sql_writer_end(out);
    return text_status(out);
}
