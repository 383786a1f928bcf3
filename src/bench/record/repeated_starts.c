#include "bench/record/repeated_starts.h"

#include "base/array.h"
#include "base/json_text.h"
#include "bench/record/comparison.h"

#include <stdlib.h>
#include <string.h>

static const char *const phase_samples[COMPARISON_PHASES] = {
    "forward.samples_ms", "backward.samples_ms", "optimizer.samples_ms", "step.samples_ms"};

/* A file and a copy of its rows in another file of the folder. */
static bool same_measurement(const Record *a, const Record *b)
{
    bool any = false;
    for (int k = 0; k < COMPARISON_PHASES; k++) {
        const json_t *x = record_value(a, phase_samples[k]), *y = record_value(b, phase_samples[k]);
        if (!x && !y) continue;
        if (!x || !y || !json_equal(x, y)) return false;
        any = any || json_array_size(x) > 0;
    }
    return any;
}

/* Adds the record to the starts of its key unless it is there. */
static Status add_start(json_t *starts, Record *record)
{
    for (size_t i = 0; i < json_array_size(starts); i++) {
        if (same_measurement(json_array_get(starts, i), record)) return ST_OK;
    }
    return json_array_append(starts, record) == 0 ? ST_OK : NO_MEMORY("for the results");
}

/* By key, in the order of their first rows, the complete measurements. */
static Status group(json_t *starts_of, const RecordSet *in)
{
    for (size_t i = 0; i < record_set_size(in); i++) {
        Record *record = record_set_at(in, i);
        const char *key = record_key(record);
        if (!key) continue;
        if (!json_object_get(starts_of, key) && json_object_set_new(starts_of, key, json_array()))
            return NO_MEMORY("for the results");
        if (record_status(record) == RECORD_OK)
            TRY(add_start(json_object_get(starts_of, key), record));
    }
    return ST_OK;
}

/* Replaces the samples of a phase by the medians of the starts. */
static Status put_medians(Record *row, const char *phase, const json_t *starts)
{
    char path[40];
    const size_t n = json_array_size(starts);
    int found = 0;
    CLEANUP(array_free) double *seconds = malloc((n + 1) * sizeof *seconds);
    if (!seconds) return NO_MEMORY("for %zu starts", n);
    snprintf(path, sizeof path, "%s.median_ms", phase);
    for (size_t i = 0; i < n; i++) {
        double ms;
        const Record *start = json_array_get(starts, i);
        if (record_phase_status(start, phase) != RECORD_OK) continue;
        if (record_number(start, path, &ms)) seconds[found++] = ms / 1e3;
    }
    return found > 0 ? record_put_samples(row, phase, seconds, found) : ST_OK;
}

static Status add_joined(RecordSet *out, const RecordSet *in, const json_t *starts)
{
    const size_t n = json_array_size(starts);
    CLEANUP(json_text_free) json_t *row = json_deep_copy(json_array_get(starts, n - 1));
    if (!row) return NO_MEMORY("for %zu starts", n);
    for (int k = 0; k < COMPARISON_PHASES; k++) TRY(put_medians(row, comparison_phases[k], starts));
    return record_set_share(out, in, row);
}

static Status join(RecordSet *out, const RecordSet *in, json_t *starts_of, int *most)
{
    const char *key;
    json_t *starts;
    json_object_foreach(starts_of, key, starts)
    {
        const int n = (int)json_array_size(starts);
        if (n > *most) *most = n;
        /* Without a complete one the last counts, as for --resume. */
        TRY(n > 1 ? add_joined(out, in, starts)
                  : record_set_share(out, in,
                                     n ? json_array_get(starts, 0) : record_set_find(in, key)));
    }
    return ST_OK;
}

Status repeated_starts_join(RecordSet *out, const RecordSet *in, int *most)
{
    CLEANUP(json_text_free) json_t *starts_of = json_object();
    *most = 0;
    if (!starts_of) return NO_MEMORY("for the results");
    TRY(group(starts_of, in));
    TRY(join(out, in, starts_of, most));
    for (size_t i = 0; i < record_set_size(in); i++) { /* rows of a peer */
        Record *record = record_set_at(in, i);
        if (!record_key(record)) TRY(record_set_share(out, in, record));
    }
    return ST_OK;
}
