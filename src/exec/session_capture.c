/* Graphs of phases and of whole steps, on devices that have them. */
#include "exec/session.h"

/* Phases [first, last] as one graph. Both queues end where it ends. */
static Status capture(Session *s, Phase first, Phase last, void **graph)
{
    TRY(session_wait(s));
    TRY(s->api->capture_begin(s->backend));
    Status run = ST_OK;
    for (int phase = (int)first; run == ST_OK && phase <= (int)last; phase++) {
        run = session_run_nodes(s, (Phase)phase);
    }
    if (run == ST_OK) run = session_wait(s);
    const Status end = s->api->capture_end(s->backend, graph);
    return run == ST_OK ? end : run;
}

static bool has_collectives(const Session *s, Phase phase)
{
    int begin = 0, end = 0;
    plan_phase_nodes(s->plan, phase, &begin, &end);
    while (begin < end && plan_op_category(s->plan->nodes[begin].op) != CATEGORY_communication)
        begin++;
    return begin < end;
}

/* A phase without collectives is the same in all sets. */
static Status capture_set(Session *s, GraphSet *set)
{
    const bool one = plan_phase_runs(s->plan, PHASE_FORWARD) == 1;
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        int begin = 0, end = 0;
        plan_phase_nodes(s->plan, (Phase)phase, &begin, &end);
        if (begin == end || (set != &s->graphs && !has_collectives(s, (Phase)phase))) continue;
        TRY(capture(s, (Phase)phase, (Phase)phase, &set->phase[phase]));
    }
    return capture(s, PHASE_FORWARD, one ? PHASE_OPTIMIZER : PHASE_BACKWARD, &set->step);
}

/* Everything, as the last micro-batch runs it; what the others run; and without collectives. */
Status session_capture(Session *s)
{
    const int64_t last = plan_phase_runs(s->plan, PHASE_FORWARD) - 1;
    if (!s->api->capture_begin) {
        return FAIL(ST_UNSUPPORTED, "%s has no graphs: use --exec fused", s->api->name);
    }
    s->micro_batch = last;
    TRY(capture_set(s, &s->graphs));
    if (s->stream.n == 0) return ST_OK;
    s->micro_batch = 0;
    Status status = last > 0 ? capture_set(s, &s->earlier) : ST_OK;
    s->micro_batch = last;
    s->alone = true;
    if (status == ST_OK) status = capture_set(s, &s->quiet);
    s->alone = false;
    return status;
}
