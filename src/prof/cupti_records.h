/* CUPTI's records made into events, each with the node it belongs to. There is one in a process. */
#ifndef PROF_CUPTI_RECORDS_H
#define PROF_CUPTI_RECORDS_H

#include "prof/cupti_api.h"
#include "prof/trace_log.h"

/* The kind of external ids that are ours: node + 1. */
#define CUPTI_RECORDS_OURS CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0

/* A buffer that CUPTI has filled. */
typedef struct CuptiBuffer {
    struct CuptiBuffer *next;
    uint8_t *data;
    size_t valid;
} CuptiBuffer;

Status cupti_records_open(TraceLog *names);
void cupti_records_close(void);

/* A node of a graph was made while a node of the plan was captured (`value` is that node + 1; 0: none);
 * it was cloned. */
void cupti_records_graph_node(uint64_t id, int value);
void cupti_records_cloned(uint64_t id, uint64_t original);

/* The events of all buffers, there until the next call. */
Status cupti_records_read(const CuptiBuffer *first, TraceEvent **events, size_t *n);

#endif
