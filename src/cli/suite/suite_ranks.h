/* Whether the parts of a suite that several ranks share can run here. */
#pragma once

#include "cli/suite/suite.h"

/* Four ranks share a CPU, each with as many threads, and two or more GPUs, one each. */
enum { SUITE_RANKS_CPU = 4, SUITE_RANKS_GPU = 2 };

/* Do its workloads name --ranks? */
bool suite_ranks_has(SuitePartId part);

/* `threads` of each rank on a CPU, or none that fit; `threads_given` is what --threads says, 0: nothing. */
SuiteRanks suite_ranks_on_cpu(int processors, int64_t threads_given);
/* Looks at this machine; on the device that the rest of the suite runs on. */
Status suite_ranks_find(SuiteRanks *ranks, const Suite *suite, bool gpu);
