/* Durations by name: of kernels, copies, calls. */
#ifndef PROF_NAME_STATS_H
#define PROF_NAME_STATS_H

#include "prof/running_stats.h"
#include "prof/trace_log.h"

typedef struct NameStats {
    TraceKind kind;
    const char *name; /* of trace_log_name(): equal names are one pointer */
    int row;          /* of OpRows that launched it, or NAME_TALLIES_ANY */
    RunningStats seconds;
    RunningStats bytes; /* of copies and memsets; otherwise empty */
} NameStats;

enum { NAME_TALLIES_ANY = -2 };

/* A zeroed one is empty. */
typedef struct NameStatsTable {
    NameStats *list;
    int n;
} NameStatsTable;

Status name_stats_add(NameStatsTable *names, const TraceEvent *event, int row);
void name_stats_free(NameStatsTable *names);

#endif
