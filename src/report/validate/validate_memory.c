#include "base/array.h"
#include "bench/record/record.h"
#include "report/validate/validate.h"
#include "report/validate/validate_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Memory that is in use from one node to another. */
typedef struct Block {
    int64_t address, bytes, born, died;
    size_t index; /* in the file */
} Block;

static Status take_block(Block *b, const json_t *json, size_t i)
{
    b->index = i;
    const bool whole = record_int(json, "address", &b->address) &&
                       record_int(json, "bytes", &b->bytes) && record_int(json, "born", &b->born) &&
                       record_int(json, "died", &b->died) && record_text(json, "name");
    if (!whole) return FAIL(ST_FAILED, "block %zu lacks name, address, bytes, born or died", i);
    if (b->address >= 0 && b->bytes >= 0 && b->address <= INT64_MAX - b->bytes &&
        b->born <= b->died)
        return ST_OK;
    return FAIL(ST_FAILED, "block %zu dies before it is born, or has no place", i);
}

static int by_address(const void *a, const void *b)
{
    const Block *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* No two blocks overlap in address and time. */
static Status check_places(Block *blocks, size_t n)
{
    qsort(blocks, n, sizeof *blocks, by_address);
    for (size_t i = 0; i < n; i++) {
        const Block *a = &blocks[i];
        for (const Block *b = a + 1; b < blocks + n && b->address < a->address + a->bytes; b++) {
            if (b->bytes > 0 && a->born <= b->died && b->born <= a->died)
                return FAIL(ST_FAILED, "blocks %zu and %zu have the same place at the same time",
                            a->index, b->index);
        }
    }
    return ST_OK;
}

/* The blocks alive at the node of the peak add up to it. */
static Status check_peak(const json_t *cell, const Block *blocks, size_t n)
{
    int64_t node = 0;
    double bytes = 0, total;
    if (!record_int(cell, "peak.node", &node) || !record_number(cell, "peak.total_mib", &total))
        return FAIL(ST_FAILED, "the peak has no node");
    for (size_t i = 0; i < n; i++) {
        if (blocks[i].born <= node && node <= blocks[i].died) bytes += (double)blocks[i].bytes;
    }
    if (fabs(bytes / 0x1p20 - total) <= 1e-6 * total) return ST_OK;
    return FAIL(ST_FAILED, "blocks of %.6g MiB live at the peak of %.6g", bytes / 0x1p20, total);
}

static Status check_blocks(const json_t *cell, const json_t *list)
{
    const size_t n = json_array_size(list);
    CLEANUP(array_free) Block *blocks = malloc((n + 1) * sizeof *blocks);
    if (!blocks) return NO_MEMORY("for %zu blocks", n);
    for (size_t i = 0; i < n; i++) TRY(take_block(&blocks[i], json_array_get(list, i), i));
    TRY(check_places(blocks, n));
    return check_peak(cell, blocks, n);
}

static Status check_phases(const json_t *cell, const char *step)
{
    const char *phase;
    json_t *unused, *phases = json_object_get(cell, step);
    json_object_foreach(phases, phase, unused)
    {
        char total[96];
        snprintf(total, sizeof total, "%.60s.total_mib", phase);
        TRY(validate_check_mib(phases, phase, total));
    }
    return ST_OK;
}

static Status check_cell(const json_t *cell)
{
    double peak, reserved;
    const json_t *blocks = json_object_get(cell, "blocks");
    if (record_status(cell) == RECORD_UNSUPPORTED) return ST_OK;
    if (record_status(cell) != RECORD_OK) return FAIL(ST_FAILED, "its status is not known");
    TRY(validate_check_mib(cell, "peak", "peak.total_mib"));
    TRY(validate_check_mib(cell, "forward_peak", "forward_peak.total_mib"));
    TRY(check_phases(cell, "first_step"));
    TRY(check_phases(cell, "later_steps"));
    if (!record_number(cell, "peak.total_mib", &peak) ||
        !record_number(cell, "reserved_mib", &reserved) || peak > reserved * (1 + 1e-6))
        return FAIL(ST_FAILED, "the peak is more than what is reserved");
    return blocks ? check_blocks(cell, blocks) : ST_OK;
}

Status validate_memory(const json_t *json, ValidateNote *note)
{
    size_t i, blocks = 0;
    json_t *cell;
    const json_t *cells = json_object_get(json, "cells");
    TRY(validate_check_each(cells, "cell", check_cell));
    json_array_foreach(cells, i, cell) blocks += json_array_size(json_object_get(cell, "blocks"));
    snprintf(note->s, sizeof note->s, "memory, %zu cells, %zu blocks", json_array_size(cells),
             blocks);
    return ST_OK;
}
