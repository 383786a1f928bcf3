/* The functions of CUPTI that are used, loaded when something is profiled and not before. */
#ifndef PROF_CUPTI_API_H
#define PROF_CUPTI_API_H

#include "base/status.h"

#include <cupti.h>

/* Records grow with the toolkit; what is read here is in all of these. */
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 CuptiKernel;
typedef CUpti_ActivityMemcpy6 CuptiCopy;
typedef CUpti_ActivityOverhead3 CuptiOverhead;
#else
typedef CUpti_ActivityKernel9 CuptiKernel;
typedef CUpti_ActivityMemcpy5 CuptiCopy;
typedef CUpti_ActivityOverhead CuptiOverhead;
#endif
typedef CUpti_ActivityMemset4 CuptiSet;

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
    CUPTI_API_CHANGED(FUNCTION)
#if CUPTI_API_VERSION >= 130000
#define CUPTI_API_CHANGED(FUNCTION)                         \
    FUNCTION(subscribe, cuptiSubscribe_v2)                  \
    FUNCTION(enable_runtime, cuptiActivityEnableRuntimeApi) \
    FUNCTION(enable_driver, cuptiActivityEnableDriverApi)
#else
#define CUPTI_API_CHANGED(FUNCTION) FUNCTION(subscribe, cuptiSubscribe)
#endif

typedef struct CuptiApi {
#define FUNCTION(field, symbol) __typeof__(symbol) *field;
    CUPTI_API_FUNCTIONS(FUNCTION)
#undef FUNCTION
} CuptiApi;

extern CuptiApi cupti_api;

/* ST_UNSUPPORTED: it is not there, or older than what this was compiled for. */
Status cupti_api_load(void);
/* ST_DEVICE with CUPTI's own words. */
Status cupti_api_status(CUptiResult result, const char *what);

#endif
