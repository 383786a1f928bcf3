#include "prof/comm_lane.h"

#include "base/array.h"
#include "base/i64.h"

#include <stdlib.h>
#include <string.h>

static const int64_t shortest_wait = 1000; /* ns: less is the price of asking */
static const double second = 1e-9;         /* of a nanosecond */

Status comm_lane_make(CommLane *lane, const Plan *plan)
{
    *lane = (CommLane){.plan = plan};
    pthread_mutex_init(&lane->lock, NULL);
    for (int i = 0; i < plan->n_nodes; i++) {
        if (plan_op_category(plan->nodes[i].op) != CATEGORY_communication) continue;
        TRY(array_grow(&lane->nodes, (size_t)lane->n, 1, sizeof *lane->nodes));
        lane->nodes[lane->n++] = (CommNode){.node = i, .waiter = PLAN_NONE};
    }
    return ST_OK;
}

void comm_lane_free(CommLane *lane)
{
    if (!lane->plan) return;
    pthread_mutex_destroy(&lane->lock);
    free(lane->nodes);
    free(lane->computed.list);
    free(lane->waits.list);
    free(lane->ran.list);
    *lane = (CommLane){0};
}

/* ---- spans ---- */

static Status append(CommSpans *spans, const CommSpan *span)
{
    TRY(array_grow(&spans->list, spans->n, 1, sizeof *spans->list));
    spans->list[spans->n++] = *span;
    return ST_OK;
}

/* The first that ends after `time`. */
static size_t first_after(const CommSpans *spans, int64_t time)
{
    size_t low = 0, high = spans->n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (spans->list[middle].end <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void drop_until(CommSpans *spans, int64_t time)
{
    const size_t first = first_after(spans, time);
    if (first == 0) return;
    spans->n -= first;
    memmove(spans->list, spans->list + first, spans->n * sizeof *spans->list);
}

static int64_t shared(const CommSpan *span, int64_t begin, int64_t end)
{
    return i64_max(i64_min(span->end, end) - i64_max(span->begin, begin), 0);
}

int64_t comm_lane_overlap(const CommSpans *spans, int64_t begin, int64_t end)
{
    int64_t sum = 0;
    for (size_t i = first_after(spans, begin); i < spans->n && spans->list[i].begin < end; i++)
        sum += shared(&spans->list[i], begin, end);
    return sum;
}

/* ---- what happens ---- */

static void ran(void *self, int node, int64_t begin, int64_t end)
{
    CommLane *lane = self;
    pthread_mutex_lock(&lane->lock);
    const Status status = append(&lane->ran, &(CommSpan){begin, end, node});
    if (lane->status == ST_OK) lane->status = status;
    pthread_mutex_unlock(&lane->lock);
}

void comm_lane_fail(CommLane *lane, Status status)
{
    pthread_mutex_lock(&lane->lock);
    if (lane->status == ST_OK) lane->status = status;
    pthread_mutex_unlock(&lane->lock);
}

static void waited(void *self, int node, int64_t begin, int64_t end)
{
    CommLane *lane = self;
    if (!lane->counting || end - begin < shortest_wait) return;
    lane->waited += (double)(end - begin) * second;
    comm_lane_fail(lane, append(&lane->waits, &(CommSpan){begin, end, node}));
}

CommWatch comm_lane_watch(CommLane *lane)
{
    return (CommWatch){.self = lane, .ran = ran, .waited = waited};
}

void comm_lane_step_begin(CommLane *lane)
{
    if (lane->step.n == 0) { /* what was before the first one does not count */
        pthread_mutex_lock(&lane->lock);
        lane->ran.n = 0;
        pthread_mutex_unlock(&lane->lock);
    }
    lane->counting = true;
}

static CommNode *find(CommLane *lane, int node)
{
    int i = 0;
    while (lane->nodes[i].node != node) i++;
    return &lane->nodes[i];
}

static void count(CommLane *lane, CommNode *at, const CommSpan *span, int64_t hidden)
{
    const double seconds = (double)(span->end - span->begin) * second;
    running_stats_add(&at->time, seconds);
    at->hidden += (double)hidden * second;
    lane->seconds += seconds;
    lane->hidden += (double)hidden * second;
    lane->step_seconds += seconds;
}

/* In the compute queue all that follows waits for a collective. */
Status comm_lane_add(CommLane *lane, const CommSpan *span)
{
    if (!lane->counting || lane->n == 0) return ST_OK;
    if (plan_op_category(lane->plan->nodes[span->node].op) != CATEGORY_communication)
        return append(&lane->computed, span);
    CommNode *at = find(lane, span->node);
    const double seconds = (double)(span->end - span->begin) * second;
    count(lane, at, span, 0);
    at->waited += seconds;
    lane->waited += seconds;
    return ST_OK;
}

/* ---- after a step ---- */

static void find_waits(const CommLane *lane, CommNode *at, const CommSpan *span)
{
    const CommSpans *waits = &lane->waits;
    for (size_t i = first_after(waits, span->begin);
         i < waits->n && waits->list[i].begin < span->end; i++) {
        const double seconds = (double)shared(&waits->list[i], span->begin, span->end) * second;
        at->waited += seconds;
        if (seconds <= at->longest) continue;
        at->longest = seconds;
        at->waiter = waits->list[i].node;
    }
}

static Status settle(CommLane *lane, Status (*told)(void *self, const CommSpan *collective),
                     void *self)
{
    for (size_t i = 0; i < lane->ran.n; i++) {
        const CommSpan *span = &lane->ran.list[i];
        CommNode *at = find(lane, span->node);
        count(lane, at, span, comm_lane_overlap(&lane->computed, span->begin, span->end));
        find_waits(lane, at, span);
        if (told) TRY(told(self, span));
    }
    lane->ran.n = 0;
    return lane->status == ST_OK ? ST_OK : NO_MEMORY("for what ranks send each other");
}

Status comm_lane_step_end(CommLane *lane, int64_t begin,
                          Status (*told)(void *self, const CommSpan *collective), void *self)
{
    if (lane->n == 0) return ST_OK;
    pthread_mutex_lock(&lane->lock);
    const Status status = settle(lane, told, self);
    pthread_mutex_unlock(&lane->lock);
    running_stats_add(&lane->step, lane->step_seconds);
    lane->step_seconds = 0;
    lane->counting = false;
    drop_until(&lane->computed, begin);
    drop_until(&lane->waits, begin);
    return status;
}
