#include "base/json_text.h"
#include "cli/published/published_estimate.h"
#include "cli/published/published_tables.h"
#include "report/records/cell_text.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool ran_out_of_time(const Record *record)
{
    return !record || record_status(record) == RECORD_TIMEOUT;
}

const Record *published_notes_record(const PublishedResults *results, const Config *config,
                                     bool profiled)
{
    const Record *record = published_list_record(&results->records, config, profiled);
    const Record *reason =
        ran_out_of_time(record) ? published_estimate_reason(results->expected, config) : NULL;
    return reason ? reason : record;
}

const char *published_notes_status(const Record *record)
{
    if (ran_out_of_time(record)) return "no time";
    return record_status(record) == RECORD_OK ? "" : cell_text_status(record_status(record));
}

/* ---- rows ---- */

static void add_reason(PublishedNotes *notes, const char *status, const char *label,
                       const char *message)
{
    for (int i = 0; i < notes->n; i++) {
        PublishedReason *known = &notes->list[i];
        if (known->status != status || strcmp(known->message, message) != 0) continue;
        known->n++;
        return;
    }
    if (notes->n == PUBLISHED_MAX_REASONS) {
        notes->more++;
        return;
    }
    PublishedReason *reason = &notes->list[notes->n++];
    *reason = (PublishedReason){.status = status, .n = 1};
    snprintf(reason->label, sizeof reason->label, "%s", label);
    snprintf(reason->message, sizeof reason->message, "%s", message);
}

void published_notes_add(PublishedNotes *notes, const char *label, const Record *record)
{
    double x;
    if (!record) {
        notes->no_time++;
        return;
    }
    const char *message = record_text(record, "message");
    if (record_number(record, "others_percent", &x)) notes->others = fmax(notes->others, x);
    if (record_number(record, "stolen_percent", &x)) notes->stolen = fmax(notes->stolen, x);
    if (record_status(record) != RECORD_OK)
        add_reason(notes, published_notes_status(record), label, message ? message : "no reason");
}

void published_notes_mark(PublishedNotes *notes, Table *table, Text *label, const char *remark)
{
    int i = 0;
    if (!remark) return;
    while (i < notes->n_remarks && strcmp(notes->remarks[i], remark) != 0) i++;
    if (i == PUBLISHED_MAX_REMARKS) return; /* no table has a quarter of that */
    text_printf(label, " (%d)", i + 1);
    if (i < notes->n_remarks) return;
    notes->remarks[notes->n_remarks++] = remark;
    table_note_printf(table, "(%d) %s", notes->n_remarks, remark);
}

/* ---- under the table ---- */

static void put_load(const PublishedNotes *notes, Table *table)
{
    CLEANUP(text_free) Text text = {0};
    if (isnan(notes->others) && isnan(notes->stolen)) return;
    text_puts(&text, "load while these rows were measured:");
    if (!isnan(notes->others))
        text_printf(&text, " other programs took up to %.1f %% of the CPU time%s", notes->others,
                    isnan(notes->stolen) ? "" : ",");
    if (!isnan(notes->stolen))
        text_printf(&text, " other virtual machines up to %.1f %%", notes->stolen);
    table_note(table, text_str(&text));
}

void published_notes_put(const PublishedNotes *notes, Table *table)
{
    for (int i = 0; i < notes->n; i++) {
        const PublishedReason *reason = &notes->list[i];
        char others[48] = "";
        if (reason->n > 1)
            snprintf(others, sizeof others, " and %d more row%s", reason->n - 1,
                     reason->n > 2 ? "s" : "");
        table_note_printf(table, "%s: %s%s: %s", reason->status, reason->label, others,
                          reason->message);
    }
    if (notes->more > 0)
        table_note_printf(table, "and %d more row%s that could not be measured", notes->more,
                          notes->more > 1 ? "s" : "");
    if (notes->no_time > 0)
        table_note_printf(table,
                          "no time: %d row%s; run the same command again or --resume DIR to "
                          "continue; a longer --budget measures more at once",
                          notes->no_time, notes->no_time > 1 ? "s" : "");
    if (notes->estimated > 0)
        table_note(table,
                   "≈: not measured; times are estimated from the nearest measured row with the "
                   "same implementation, memory from the plan");
    put_load(notes, table);
}

/* ---- how many rows were measured ---- */

static Status count(int n[RECORD_STATUS_COUNT], json_t *seen, const PublishedResults *results,
                    const PublishedCell *cell)
{
    char key[RECORD_KEY_SIZE + 1] = {cell->profiled ? 'p' : 'r'};
    record_key_of_config(cell->config, key + 1);
    if (json_object_get(seen, key)) return ST_OK;
    if (json_object_set_new(seen, key, json_true()))
        return NO_MEMORY("to count the rows of a write-up");
    const Record *record = published_notes_record(results, cell->config, cell->profiled);
    n[record ? record_status(record) : RECORD_TIMEOUT]++;
    return ST_OK;
}

static void put_counts(Text *out, const int n[RECORD_STATUS_COUNT], int all)
{
    const int failed =
        all - n[RECORD_OK] - n[RECORD_OOM] - n[RECORD_UNSUPPORTED] - n[RECORD_TIMEOUT];
    if (all == 0) return;
    text_printf(out, "Of its %d row%s %d %s measured", all, all == 1 ? "" : "s", n[RECORD_OK],
                n[RECORD_OK] == 1 ? "was" : "were");
    if (n[RECORD_OOM] > 0) text_printf(out, ", %d did not fit", n[RECORD_OOM]);
    if (n[RECORD_UNSUPPORTED] > 0)
        text_printf(out, ", %d %s unsupported", n[RECORD_UNSUPPORTED],
                    n[RECORD_UNSUPPORTED] == 1 ? "is" : "are");
    if (n[RECORD_TIMEOUT] > 0) text_printf(out, ", %d had no time", n[RECORD_TIMEOUT]);
    if (failed > 0) text_printf(out, ", %d failed", failed);
    text_puts(out, ".");
}

Status published_notes_count(Text *out, const PublishedResults *results)
{
    int n[RECORD_STATUS_COUNT + 1] = {0};
    CLEANUP(json_text_free) json_t *seen = json_object();
    for (PublishedCell cell = {0}; published_list_next(&cell, &results->cells, results->writeup);)
        TRY(count(n, seen, results, &cell));
    put_counts(out, n, (int)json_object_size(seen));
    return ST_OK;
}
