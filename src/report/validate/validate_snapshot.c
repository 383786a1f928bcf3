/* The events of a memory snapshot, replayed: what they leave is what its segments hold. */
#include "base/array.h"
#include "bench/record/record.h"
#include "report/validate/validate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stretch of memory: a segment, or an allocation within one. */
typedef struct Piece {
    int64_t address, bytes;
} Piece;

typedef struct Pieces {
    Piece *list; /* by address */
    size_t n;
} Pieces;

typedef struct Replay {
    Pieces segments, live;
    int64_t requested; /* the address whose free must be completed next; -1: none */
    int64_t now;
} Replay;

/* The first piece at or after the address. */
static size_t place_of(const Pieces *pieces, int64_t address)
{
    return array_first_from(pieces->list, pieces->n, sizeof *pieces->list, address);
}

static bool holds(const Pieces *pieces, const Piece *p)
{
    const size_t at = place_of(pieces, p->address);
    return at < pieces->n && pieces->list[at].address == p->address &&
           pieces->list[at].bytes == p->bytes;
}

static bool is_within(const Pieces *pieces, const Piece *p)
{
    size_t at = place_of(pieces, p->address + 1);
    if (at == 0) return false;
    const Piece *before = &pieces->list[--at];
    return p->address + p->bytes <= before->address + before->bytes;
}

/* False: it overlaps another. There is room. */
static bool insert(Pieces *pieces, const Piece *p)
{
    const size_t at = place_of(pieces, p->address);
    Piece *here = pieces->list + at;
    if (at < pieces->n && here->address < p->address + p->bytes) return false;
    if (at > 0 && here[-1].address + here[-1].bytes > p->address) return false;
    memmove(here + 1, here, (pieces->n - at) * sizeof *here);
    *here = *p;
    pieces->n++;
    return true;
}

static void take_out(Pieces *pieces, const Piece *p)
{
    Piece *here = pieces->list + place_of(pieces, p->address);
    pieces->n--;
    memmove(here, here + 1, (size_t)(pieces->list + pieces->n - here) * sizeof *here);
}

/* ---- events ---- */

static Status take(Replay *r, const char *action, const Piece *p, size_t i)
{
    const bool completes = strcmp(action, "free_completed") == 0;
    if (completes != (r->requested >= 0) || (completes && p->address != r->requested))
        return FAIL(ST_FAILED, "event %zu: a free is completed right after it is requested", i);
    r->requested = -1;
    if (strcmp(action, "snapshot") == 0) return ST_OK; /* the moment it was taken */
    if (strcmp(action, "segment_alloc") == 0)
        return insert(&r->segments, p) ? ST_OK : FAIL(ST_FAILED, "event %zu: segments overlap", i);
    if (strcmp(action, "alloc") == 0) {
        if (!is_within(&r->segments, p))
            return FAIL(ST_FAILED, "event %zu: outside any segment", i);
        return insert(&r->live, p) ? ST_OK : FAIL(ST_FAILED, "event %zu: its place is taken", i);
    }
    if (!completes && strcmp(action, "free_requested") != 0)
        return FAIL(ST_FAILED, "event %zu: unknown action '%.30s'", i, action);
    if (!holds(&r->live, p)) return FAIL(ST_FAILED, "event %zu frees what is not there", i);
    if (completes)
        take_out(&r->live, p);
    else
        r->requested = p->address;
    return ST_OK;
}

static Status replay_event(Replay *r, const json_t *event, size_t i)
{
    Piece p;
    int64_t time = 0;
    const char *action = record_text(event, "action");
    if (!action || !record_int(event, "addr", &p.address) || !record_int(event, "size", &p.bytes) ||
        !record_int(event, "time_us", &time))
        return FAIL(ST_FAILED, "event %zu lacks action, addr, size or time_us", i);
    if (p.bytes < 0 || p.address < 0 || p.address > INT64_MAX - p.bytes)
        return FAIL(ST_FAILED, "event %zu has no place", i);
    if (time < r->now) return FAIL(ST_FAILED, "event %zu: time goes back", i);
    r->now = time;
    return take(r, action, &p, i);
}

static Status replay(Replay *r, const json_t *events)
{
    size_t i;
    json_t *event;
    json_array_foreach(events, i, event) TRY(replay_event(r, event, i));
    return r->requested < 0 ? ST_OK : FAIL(ST_FAILED, "the last free is not completed");
}

/* ---- segments ---- */

static Status check_segment(const Replay *r, const json_t *segment, size_t *active)
{
    Piece whole;
    size_t i;
    json_t *block;
    if (!record_int(segment, "address", &whole.address) ||
        !record_int(segment, "total_size", &whole.bytes) || !holds(&r->segments, &whole))
        return FAIL(ST_FAILED, "no event makes this segment");
    int64_t at = whole.address;
    json_array_foreach(json_object_get(segment, "blocks"), i, block)
    {
        Piece p;
        const char *state = record_text(block, "state");
        if (!state || !record_int(block, "address", &p.address) ||
            !record_int(block, "size", &p.bytes) || p.bytes < 0 || p.address != at ||
            p.bytes > whole.address + whole.bytes - at)
            return FAIL(ST_FAILED, "block %zu is not where the one before it ends", i);
        at += p.bytes;
        if (strcmp(state, "active_allocated") != 0) continue;
        if (!holds(&r->live, &p))
            return FAIL(ST_FAILED, "block %zu is not what the events leave", i);
        (*active)++;
    }
    return at == whole.address + whole.bytes ? ST_OK : FAIL(ST_FAILED, "its blocks do not fill it");
}

static Status check_segments(const Replay *r, const json_t *segments)
{
    size_t i, active = 0;
    json_t *segment;
    json_array_foreach(segments, i, segment)
    {
        const Status status = check_segment(r, segment, &active);
        if (status != ST_OK) status_context("segment %zu", i);
        TRY(status);
    }
    if (json_array_size(segments) == r->segments.n && active == r->live.n) return ST_OK;
    return FAIL(ST_FAILED, "the segments are not all that the events leave");
}

Status validate_snapshot(const json_t *json, ValidateNote *note)
{
    const json_t *events = json_array_get(json_object_get(json, "device_traces"), 0);
    const json_t *segments = json_object_get(json, "segments");
    const size_t n = json_array_size(events);
    Replay r = {.requested = -1};
    if (!json_is_array(events) || !json_is_array(segments))
        return FAIL(ST_FAILED, "a snapshot without events or segments");
    CLEANUP(array_free) Piece *pieces = malloc(2 * (n + 1) * sizeof *pieces);
    if (!pieces) return NO_MEMORY("for %zu events", n);
    r.segments.list = pieces;
    r.live.list = pieces + n + 1;
    TRY(replay(&r, events));
    TRY(check_segments(&r, segments));
    snprintf(note->s, sizeof note->s, "memory snapshot, %zu events, %zu blocks at its end", n,
             r.live.n);
    return ST_OK;
}
