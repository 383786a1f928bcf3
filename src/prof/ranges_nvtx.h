/* NVTX ranges for those who run another profiler: phases, layers, ops with their shapes, calls of cuBLASLt
 * and cuDNN. In a graph they are there while it is captured. A build without NVTX has none. */
#pragma once

#include "exec/binding.h"
#include "exec/observer.h"

/* ST_UNSUPPORTED: this build has none. */
Status ranges_nvtx_check(void);

typedef struct RangesNvtx RangesNvtx;

/* `parts`: with the parts of attention between layers and ops. ranges_nvtx_close() frees. */
Status ranges_nvtx_open(RangesNvtx **out, const Binding *binding, bool parts);
void ranges_nvtx_close(RangesNvtx *ranges);
Observer ranges_nvtx_observer(RangesNvtx *ranges);

/* A range of the calling thread. */
void ranges_nvtx_push(const char *name);
void ranges_nvtx_pop(void);
