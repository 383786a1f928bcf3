/* CUPTI: the functions we use, loaded when something is profiled and not before, and its records as
 * events. */
#pragma once

#include "prof/trace_log.h"

#include <cupti.h>

/* As CUDA 12.0 has them. Records grow at their end from toolkit to toolkit: what a newer library hands out
 * begins with these. */
typedef CUpti_ActivityKernel9 CuptiKernel;
typedef CUpti_ActivityMemcpy5 CuptiCopy;
typedef CUpti_ActivityMemset4 CuptiSet;
typedef CUpti_ActivityOverhead CuptiOverhead;

#define CUPTI_API_FUNCTIONS(FUNCTION)                      \
    FUNCTION(unsubscribe, cuptiUnsubscribe)                \
    FUNCTION(enable_callback, cuptiEnableCallback)         \
    FUNCTION(callbacks, cuptiActivityRegisterCallbacks)    \
    FUNCTION(set_attribute, cuptiActivitySetAttribute)     \
    FUNCTION(enable, cuptiActivityEnable)                  \
    FUNCTION(disable, cuptiActivityDisable)                \
    FUNCTION(flush, cuptiActivityFlushAll)                 \
    FUNCTION(next, cuptiActivityGetNextRecord)             \
    FUNCTION(dropped, cuptiActivityGetNumDroppedRecords)   \
    FUNCTION(push, cuptiActivityPushExternalCorrelationId) \
    FUNCTION(pop, cuptiActivityPopExternalCorrelationId)   \
    FUNCTION(graph_node_id, cuptiGetGraphNodeId)           \
    FUNCTION(callback_name, cuptiGetCallbackName)          \
    FUNCTION(timestamp, cuptiGetTimestamp)                 \
    FUNCTION(version, cuptiGetVersion)                     \
    FUNCTION(result_string, cuptiGetResultString)          \
    FUNCTION(subscribe, CUPTI_API_SUBSCRIBE)
/* From CUDA 13 on it names the profiler that is there already. */
#if CUPTI_API_VERSION >= 130000
#define CUPTI_API_SUBSCRIBE cuptiSubscribe_v2
#else
#define CUPTI_API_SUBSCRIBE cuptiSubscribe
#endif

/* Whether a single function is recorded. */
typedef CUptiResult CUPTIAPI CuptiEnableOne(CUpti_CallbackId id, uint8_t enable);

typedef struct CuptiApi {
#define FUNCTION(field, symbol) __typeof__(symbol) *field;
    CUPTI_API_FUNCTIONS(FUNCTION)
#undef FUNCTION
    CuptiEnableOne *enable_runtime, *enable_driver; /* NULL: an older CUDA 12 has them not */
} CuptiApi;

extern CuptiApi cupti_api;

/* ST_UNSUPPORTED: it is not there, or older than what this was compiled for. */
Status cupti_api_load(void);
/* ST_DEVICE with CUPTI's own words. */
Status cupti_api_status(CUptiResult result, const char *what);

/* ---- records made into events, each with the node it belongs to; there is one such reader in a
 * process ---- */

/* The kind of external ids that are ours: node + 1. */
#define CUPTI_RECORDS_KIND CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0

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
void cupti_records_node_captured(uint64_t id, int value);
void cupti_records_node_cloned(uint64_t id, uint64_t original);

/* The events of all buffers, there until the next call. */
Status cupti_records_read(const CuptiBuffer *first, TraceEvent **events, size_t *n);
