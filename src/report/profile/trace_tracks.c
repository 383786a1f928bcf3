#include "report/profile/trace_tracks.h"

#include <stdbool.h>
#include <stddef.h>

enum { NUMBERS = 1000 }; /* kept for the lanes of a thread */

static TraceTrack *lane_of(TraceTracks *tracks, int pid, int tid, int lane)
{
    for (int i = 0; i < tracks->n; i++) {
        TraceTrack *at = &tracks->list[i];
        if (at->pid == pid && at->tid == tid && at->lane == lane) return at;
    }
    if (tracks->n == TRACE_TRACKS_MOST) return NULL;
    TraceTrack *at = &tracks->list[tracks->n++];
    *at = (TraceTrack){.pid = pid, .tid = tid, .lane = lane};
    return at;
}

int trace_tracks_tid(const TraceTrack *track)
{
    return track->lane ? track->tid * NUMBERS + track->lane : track->tid;
}

/* True when the new slice lies within what is open, or after it. */
static bool nests(TraceTrack *track, int64_t begin, int64_t end)
{
    while (track->n_open && track->open[track->n_open - 1] <= begin) track->n_open--;
    if (track->n_open && track->open[track->n_open - 1] < end) return false;
    if (track->n_open == TRACE_TRACKS_DEEPEST) return false;
    track->open[track->n_open++] = end;
    return true;
}

int trace_tracks_place(TraceTracks *tracks, int pid, int tid, int64_t begin, int64_t end)
{
    for (int lane = 0;; lane++) {
        TraceTrack *track = lane_of(tracks, pid, tid, lane);
        if (!track) return tid; /* more lanes than anybody could look at */
        if (nests(track, begin, end)) return trace_tracks_tid(track);
    }
}
