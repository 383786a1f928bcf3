/* The rows of slices in a viewer. A viewer drops a slice that overlaps another on its row without nesting,
 * so such a one goes to the next lane of its row. */
#pragma once

#include <stdint.h>

enum { TRACE_TRACKS_MOST = 64, TRACE_TRACKS_DEEPEST = 64 };

typedef struct TraceTrack {
    int pid, tid; /* of lane 0 */
    int lane;
    int64_t open[TRACE_TRACKS_DEEPEST]; /* ends of the slices that are open */
    int n_open;
} TraceTrack;

/* A zeroed one is empty. */
typedef struct TraceTracks {
    TraceTrack list[TRACE_TRACKS_MOST];
    int n;
} TraceTracks;

/* The thread number for a slice; they come by their begin. */
int trace_tracks_place(TraceTracks *tracks, int pid, int tid, int64_t begin, int64_t end);
int trace_tracks_tid(const TraceTrack *track);
