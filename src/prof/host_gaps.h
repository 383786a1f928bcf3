/* The gaps between what a host thread does one after the other: calls of CUDA on a GPU, ops on a CPU. */
#ifndef PROF_HOST_GAPS_H
#define PROF_HOST_GAPS_H

#include "prof/running_stats.h"

#include <stdbool.h>

/* A zeroed one is empty. */
typedef struct HostGaps {
    RunningStats seconds;       /* from the latest end so far to the next begin */
    const char *after, *before; /* the longest one: names that outlive it; NULL: none */
    /* of the step or phase at hand */
    bool begun;
    int64_t end; /* ns: the latest so far */
    const char *last;
} HostGaps;

/* What comes next has no gap before it: a step or a phase begins. */
void host_gaps_restart(HostGaps *gaps);
/* Something from `begin` to `end` in ns; they come in the order of their begins. A call made within another
 * one leaves no gap. */
Status host_gaps_add(HostGaps *gaps, const char *name, int64_t begin, int64_t end);
void host_gaps_free(HostGaps *gaps);

#endif
