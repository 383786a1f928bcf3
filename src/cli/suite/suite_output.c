#include "cli/suite/suite_output.h"

#include "base/escape.h"
#include "base/json_text.h"
#include "bench/cell/cell_record.h"
#include "bench/record/record_file.h"
#include "cli/output.h"
#include "report/page/page.h"
#include "report/records/cell_text.h"

#include <stdio.h>

/* ---- cells that were cut short ---- */

/* `rows`: the label tells the record from these; NULL: it has no label. */
static void count(SuiteCells *cells, const RecordSet *rows, const Record *record)
{
    const RecordStatus status = record_status(record);
    const char *message = record_text(record, "message");
    CLEANUP(text_free) Text text = {0};
    /* A peer's row is no cell of ours; a file of `memory` may hold any status. */
    if (record_text(record, "peer") || status == RECORD_STATUS_COUNT) return;
    cells->all++;
    if (cell_record_is_final(record)) return;
    cells->ended[status]++;
    if (cells->cut++ > 0) return;
    if (rows) result_input_label(&text, rows, record);
    text_printf(&text, "%s%s", text.n > 0 ? ": " : "", cell_text_status(status));
    if (message) text_printf(&text, ": %s", message);
    snprintf(cells->first, sizeof cells->first, "%s", text_str(&text));
}

void suite_output_count_rows(SuiteCells *cells, const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) count(cells, rows, record_set_at(rows, i));
}

void suite_output_count(SuiteCells *cells, const ResultInput *file)
{
    static const char *const measured[] = {"measured", "measured_forward"};
    suite_output_count_rows(cells, &file->rows);
    for (size_t i = 0; i < json_array_size(file->memory); i++) {
        for (size_t k = 0; k < sizeof measured / sizeof *measured; k++) {
            const Record *record = json_object_get(json_array_get(file->memory, i), measured[k]);
            if (json_is_object(record)) count(cells, NULL, record);
        }
    }
}

void suite_output_put_cut(Text *out, const SuiteCells *cells)
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

Status suite_output_add_missing(json_t *list, const char *folder, const char *part,
                                const char *command, const char *why, int cut)
{
    CLEANUP(text_free) Text text = {0};
    text_printf(&text, "%s; roofstep suite --resume ", why);
    escape_shell(&text, folder);
    text_puts(&text, cut == 0 ? " runs it again" : " measures again what was cut short");
    json_t *entry =
        json_pack("{s:s, s:s, s:s}", "part", part, "command", command, "why", text_str(&text));
    if (cut > 0) json_object_set_new(entry, "cut_short", json_integer(cut));
    const bool failed = text.failed || json_array_append_new(list, entry);
    return failed ? NO_MEMORY("for the results of a suite") : ST_OK;
}

/* ---- files ---- */

Status suite_output_rows(json_t **out, const RecordSet *rows)
{
    CLEANUP(text_free) Text text = {0};
    TRY(record_file_json(&text, rows));
    *out = json_loadb(text_str(&text), text.n, 0, NULL);
    return *out ? ST_OK : NO_MEMORY("for the results of a suite");
}

static Status write_text(const char *folder, const char *name, const Text *text)
{
    char path[PATH_MAX];
    TRY(text_status(text));
    TRY(output_path(folder, name, path));
    return text_write_file(path, text_str(text), text->n);
}

Status suite_output_results(const char *folder, const RecordSet *rows, json_t *members)
{
    CLEANUP(json_text_free) json_t *root = NULL;
    CLEANUP(text_free) Text text = {0};
    TRY(suite_output_rows(&root, rows));
    if (json_object_update(root, members)) return NO_MEMORY("for the results of a suite");
    json_text_put(&text, root, JSON_COMPACT | JSON_REAL_PRECISION(15));
    return write_text(folder, "results.json", &text);
}

Status suite_output_page(const char *folder, const PageInput *input)
{
    CLEANUP(text_free) Text text = {0};
    if (!page_is_built()) return ST_OK;
    TRY(page_write(&text, input));
    return write_text(folder, "index.html", &text);
}
