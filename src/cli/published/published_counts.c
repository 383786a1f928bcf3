#include "cli/published/published_counts.h"

#include "cli/published/published_expected.h"

#include <jansson.h>

typedef struct Counts {
    const PublishedResults *results;
    json_t *seen; /* keys of cells */
    int n[RECORD_STATUS_COUNT + 1];
} Counts;

/* Cut by the clock, or not begun. */
static bool is_late(const Record *record)
{
    return !record || record_status(record) == RECORD_TIMEOUT;
}

static Status count(Counts *counts, const Config *config, bool watched)
{
    const RecordSet *set = watched ? counts->results->profiles : counts->results->rows;
    char key[RECORD_KEY_SIZE + 1] = {watched ? 'p' : 'r'};
    record_key_of_config(config, key + 1);
    if (json_object_get(counts->seen, key)) return ST_OK;
    if (json_object_set_new(counts->seen, key, json_true()))
        return NO_MEMORY("to count the rows of a write-up");
    const Record *record = record_set_find(set, key + 1);
    const Record *reason =
        is_late(record) ? published_expected_reason(counts->results->expected, config) : NULL;
    if (reason) record = reason;
    counts->n[is_late(record) ? RECORD_TIMEOUT : record_status(record)]++;
    return ST_OK;
}

static Status count_all(Counts *counts, int writeup)
{
    const PublishedCells *cells = counts->results->cells;
    for (int r = 0; r < published_list_n_rows; r++) {
        if (published_list_tables[published_list_rows[r].table].writeup == writeup &&
            cells->has_row[r])
            TRY(count(counts, &cells->rows[r], false));
    }
    for (int t = 0; t < published_list_n_tables; t++) {
        const PublishedTable *table = &published_list_tables[t];
        if (table->writeup == writeup && published_list_is_profile(table) && cells->has_table[t])
            TRY(count(counts, &cells->watched[t], true));
    }
    return ST_OK;
}

static void put(Text *out, const Counts *counts)
{
    const int *n = counts->n, all = (int)json_object_size(counts->seen);
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

Status published_counts_put(Text *out, const PublishedResults *results, int writeup)
{
    Counts counts = {.results = results, .seen = json_object()};
    const Status status = count_all(&counts, writeup);
    if (status == ST_OK) put(out, &counts);
    json_decref(counts.seen);
    return status;
}
