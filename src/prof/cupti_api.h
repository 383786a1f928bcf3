/* The functions of CUPTI that are used, loaded when something is profiled and not before. */
#ifndef PROF_CUPTI_API_H
#define PROF_CUPTI_API_H

#include "base/status.h"

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

#endif
