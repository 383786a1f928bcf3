/* What a running cell tells the process that started it: one JSON object per line of a pipe.
 *
 *   {"stage": "warm-up", "done": 2, "of": 5}     where it is
 *   {"facts": {"parameters": 128625408, ...}}    fields of its record
 *   {"sample": {"forward": 0.0123, ...}}         seconds
 *   {"warning": "..."}
 *   {"end": "ok", "message": null}               always the last; without it the cell has failed
 *   {"next": 1}                                  messages of the second cell of this process follow
 *
 * So whatever happens to the cell, what it had found is not lost. */
#pragma once

#include "base/text.h"
#include "bench/measure/child.h"
#include "bench/measure/sample.h"
#include "bench/record/record.h"

/* Where it is and samples are sent together some ten times a second: waking the parent after every
 * step would disturb short ones. Everything else is sent at once. */
typedef struct CellLink {
    int fd;
    Text pending;
    char stage[32];
    double sent_at;
} CellLink;

void cell_link_open(CellLink *link, int fd);
void cell_link_close(CellLink *link); /* not the descriptor */

Status cell_link_stage(CellLink *link, const char *what, int64_t done, int64_t of);
Status cell_link_facts(CellLink *link, const Record *facts);
Status cell_link_sample(CellLink *link, const Sample *sample);
Status cell_link_warning(CellLink *link, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
Status cell_link_next(CellLink *link, int cell);
Status cell_link_end(CellLink *link, RecordStatus status, const char *message);
/* Ends a cell that failed with this status, and with its message. */
Status cell_link_fail(CellLink *link, Status failure);

/* How a cell ended whose process ended so. */
RecordStatus cell_link_status_of(const ChildResult *end);
