#include "cli/suite/suite_cells.h"

#include "bench/cell/runner.h"
#include "report/records/cell_text.h"

#include <stdio.h>

/* `rows`: those that the label sets it apart from; NULL: it is alone. */
static void add(SuiteCells *cells, const RecordSet *rows, const Record *record)
{
    const RecordStatus status = record_status(record);
    const char *message = record_text(record, "message");
    Text text = {0};
    /* A peer stands beside a cell of ours; `memory` may hold what a stranger wrote. */
    if (record_text(record, "peer") || status == RECORD_STATUS_COUNT) return;
    cells->all++;
    if (cell_record_is_final(record)) return;
    cells->ended[status]++;
    if (cells->cut++ > 0) return;
    if (rows) result_input_label(&text, rows, record);
    text_printf(&text, "%s%s", text.n > 0 ? ": " : "", cell_text_status(status));
    if (message) text_printf(&text, ": %s", message);
    snprintf(cells->first, sizeof cells->first, "%s", text_str(&text));
    text_free(&text);
}

void suite_cells_add_rows(SuiteCells *cells, const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) add(cells, rows, record_set_at(rows, i));
}

void suite_cells_add(SuiteCells *cells, const ResultInput *file)
{
    static const char *const measured[] = {"measured", "measured_forward"};
    suite_cells_add_rows(cells, &file->rows);
    for (size_t i = 0; i < json_array_size(file->memory); i++) {
        for (size_t k = 0; k < sizeof measured / sizeof *measured; k++) {
            const Record *record = json_object_get(json_array_get(file->memory, i), measured[k]);
            if (json_is_object(record)) add(cells, NULL, record);
        }
    }
}

void suite_cells_tell(Text *out, const SuiteCells *cells)
{
    const char *separator = " (";
    text_printf(out, "%d of %d %s cut short", cells->cut, cells->all,
                cells->all == 1 ? "cell was" : "cells were");
    for (int status = 0; status < RECORD_STATUS_COUNT; status++) {
        if (cells->ended[status] == 0) continue;
        text_printf(out, "%s%d %s", separator, cells->ended[status],
                    cell_text_status((RecordStatus)status));
        separator = ", ";
    }
    text_printf(out, "); the first: %s", cells->first);
}
