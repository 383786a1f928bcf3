/* The record of a cell, put together in the parent from what the cell tells (bench/measure/cell_link.h) and
 * from how its process ended. */
#pragma once

#include "bench/cell/peer.h"
#include "bench/measure/child.h"

typedef struct CellRecord {
    const Config *config; /* outlives it */
    const Peer *peer;     /* so does it; NULL: the cell is ours */
    Record *record;       /* owned */
    SampleList series[SAMPLE_COUNT];
    char stage[32]; /* where the cell is: "warm-up" 2 of 5 */
    int64_t done, of;
    int64_t steps_begun; /* measured or not */
    int rank_rounds;     /* rounds that have told what communication cost */
    bool ended;          /* it said so */
    char garbled[160];   /* why its messages cannot be trusted; empty: they can */
} CellRecord;

Status cell_record_begin(CellRecord *c, const Config *config, const Peer *peer);
/* The cell is started again: its samples join those it has. */
void cell_record_again(CellRecord *c);
/* It said that all is well and went. */
bool cell_record_is_ok(const CellRecord *c, const ChildResult *end);
/* One message. What cannot be read is remembered and makes the cell fail in the end. */
void cell_record_take(CellRecord *c, const char *line, size_t length);
/* Settles status, phases and everything that follows from them: tokens/s, TFLOP/s, MFU, warnings. */
Status cell_record_finish(CellRecord *c, const ChildResult *end);
void cell_record_free(CellRecord *c);

/* Whether a resumed sweep keeps this record. It runs a cell again that timed out, was killed or
 * failed, or that ran out of memory although its plan fits. */
bool cell_record_is_final(const Record *record);
