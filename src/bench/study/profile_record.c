#include "bench/study/profile_record.h"

#include "base/i64.h"
#include "base/json_text.h"
#include "prof/kernel_name.h"

#include <string.h>

static const double ns = 1e9;

json_t *profile_record_stats(const RunningStats *t, double unit)
{
    if (t->n == 0) return json_null();
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "n", (json_int_t)t->n, "total",
                     t->sum * unit, "avg", t->mean * unit, "med",
                     running_stats_quantile(t, 0.5) * unit, "min", t->min * unit, "max",
                     t->max * unit, "std", running_stats_std(t) * unit);
}

static json_t *stats(const RunningStats *t)
{
    return profile_record_stats(t, ns);
}

/* The durations a stats kept: all of them up to RUNNING_STATS_RESERVOIR. */
static json_t *samples(const RunningStats *t)
{
    return json_text_reals(t->kept, i64_min(t->n, RUNNING_STATS_RESERVOIR), ns);
}

/* ---- phases ---- */

static json_t *gpu_phase(const Profiler *p, int phase)
{
    const GpuPhase *at = &p->gpu.phases[phase];
    if (!p->device) return json_null();
    return json_pack("{s:o, s:f, s:f, s:I}", "span", stats(&at->span), "busy", at->busy * ns,
                     "work", at->work * ns, "kernels", (json_int_t)at->kernels);
}

static json_t *phases(const Profiler *p)
{
    json_t *list = json_array();
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        if (p->phases[phase].n == 0) continue;
        json_array_append_new(
            list,
            json_pack("{s:s, s:o, s:o, s:o, s:o}", "phase", plan_phase_name((Phase)phase), "wall",
                      stats(&p->phases[phase]), "samples", samples(&p->phases[phase]), "nodes",
                      json_text_real(p->node_seconds[phase] * ns), "gpu", gpu_phase(p, phase)));
    }
    return list;
}

/* ---- ops, ranges, kernels ---- */

static json_t *ops(const Profiler *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->rows.n; i++) {
        const OpRow *row = &p->rows.rows[i];
        const OpSource source = op_source(row->op);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s?, s:s*, s:s,"
                            " s:i, s:s, s:i, s:f, s:f, s:f, s:o, s:o}",
                            "phase", plan_phase_name(row->phase), "scope", row->scope, "op",
                            plan_op_name(row->op), "impl", row->impl, "by", row->by, "category",
                            plan_category_name(row->category), "part", part_name(row->part),
                            "operands", row->operands, "source", source.file, "line", source.line,
                            "shape", row->shape, "nodes", row->nodes, "flops", row->flops, "bytes",
                            row->bytes, "allocated", row->allocated, "host", stats(&row->host),
                            "device", stats(&row->device)));
    }
    return list;
}

static json_t *ranges(const Profiler *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->ranges.n; i++) {
        const Range *range = &p->ranges.ranges[i];
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:I}", "phase",
                            plan_phase_name(range->phase), "name", range->name, "level",
                            range->level, "host", stats(&range->host), "span", stats(&range->span),
                            "wall", stats(&range->wall), "device",
                            p->device ? json_text_real(range->device * ns) : json_null(), "kernels",
                            (json_int_t)range->kernels));
    }
    return list;
}

static const char *kind_word(TraceKind kind)
{
    return kind == TRACE_MEMCPY ? "copy" : kind == TRACE_MEMSET ? "memset" : "kernel";
}

static json_t *row_number(int row)
{
    return row < 0 ? json_null() : json_integer(row);
}

static json_t *phase_word(int phase)
{
    if (phase == NAME_STATS_ANY_ROW) return json_string("step");
    return phase < 0 ? json_null() : json_string(plan_phase_name((Phase)phase));
}

/* Each says under `key` what its `row` is: the row of `ops` it belongs to, or the phase; null: none. Without
 * a key the row means nothing. */
static json_t *names(const NameStatsTable *list, const char *key, json_t *(*row)(int))
{
    json_t *array = json_array();
    for (int i = 0; i < list->n; i++) {
        const NameStats *name = &list->list[i];
        char brief[128];
        kernel_name_short(name->name, brief, sizeof brief);
        json_t *item = json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", name->name, "short", brief,
                                 "kind", kind_word(name->kind), "time", stats(&name->seconds),
                                 "bytes", profile_record_stats(&name->bytes, 1));
        if (key) json_object_set_new(item, key, row(name->row));
        json_array_append_new(array, item);
    }
    return array;
}

/* On a CPU there is one kernel to a row of ops, and its time is the row's. */
static json_t *kernels(const Profiler *p)
{
    if (p->device) return names(&p->gpu.by_row, "row", row_number);
    json_t *list = json_array();
    for (int i = 0; i < p->rows.n; i++) {
        const OpRow *row = &p->rows.rows[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:n, s:i}", "name", row->kernel,
                                              "short", row->brief, "kind", "kernel", "time",
                                              stats(&row->host), "bytes", "row", i));
    }
    return list;
}

/* ---- the device and the operating system ---- */

/* "layer.3/attn/softmax softmax", for people; null: no node. */
static json_t *node_text(const Plan *plan, int node)
{
    if (node < 0) return json_null();
    return json_sprintf("%s %s %s", plan_phase_name(plan->nodes[node].phase),
                        plan->nodes[node].scope, plan_op_name(plan->nodes[node].op));
}

/* The stats of gaps, their 99th percentile, and what stands around the longest; takes both. */
static json_t *gaps_of(const RunningStats *t, json_t *after, json_t *before)
{
    json_t *gaps = stats(t);
    CLEANUP(json_text_free)
    json_t *more = json_pack("{s:o, s:o, s:o}", "longest_after", after, "longest_before", before,
                             "p99", json_text_real(running_stats_quantile(t, 0.99) * ns));
    json_object_update(gaps, more); /* nothing where there is no gap */
    return gaps;
}

json_t *profile_record_gaps(const HostGaps *g)
{
    return gaps_of(&g->seconds, json_pack("s?", g->after), json_pack("s?", g->before));
}

static json_t *gpu(const Profiler *p)
{
    const GpuStats *g = &p->gpu;
    const Plan *plan = p->binding->plan;
    if (!p->device) return json_null();
    json_t *gaps =
        gaps_of(&g->gaps, node_text(plan, g->longest_after), node_text(plan, g->longest_before));
    return json_pack("{s:f, s:f, s:f, s:o, s:o, s:I, s:f, s:I}", "compute", g->compute * ns,
                     "copies", g->copies * ns, "overhead", g->overhead * ns, "gaps", gaps,
                     "launch_latency", stats(&g->latency), "unattributed",
                     (json_int_t)g->unattributed, "unattributed_time", g->unattributed_seconds * ns,
                     "dropped", (json_int_t)p->dropped);
}

static json_t *os_usage(const Profiler *p)
{
    const OsUsage *sum = &p->os.sum;
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "voluntary_switches",
                     (json_int_t)sum->voluntary, "involuntary_switches",
                     (json_int_t)sum->involuntary, "minor_faults", (json_int_t)sum->minor_faults,
                     "major_faults", (json_int_t)sum->major_faults, "user",
                     json_text_real(sum->user * ns), "system", json_text_real(sum->system * ns),
                     "ran", json_text_real(sum->ran * ns), "waited",
                     json_text_real(sum->waited * ns), "blocked", stats(&p->os.blocked), "waiting",
                     stats(&p->os.waiting));
}

/* What each thread that is there at the end ran since the loop began. */
static json_t *threads(const Profiler *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->os.n_ended; i++) {
        OsThread t = p->os.ended[i];
        for (int j = 0; j < p->os.n_began; j++) {
            if (p->os.began[j].id != t.id) continue;
            t.ran -= p->os.began[j].ran;
            t.waited -= p->os.began[j].waited;
        }
        json_array_append_new(list, json_pack("{s:i, s:s%, s:o, s:o}", "id", i, "name", t.name,
                                              strnlen(t.name, sizeof t.name), "ran",
                                              json_text_real(t.ran * ns), "waited",
                                              json_text_real(t.waited * ns)));
    }
    return list;
}

Status profile_record_make(json_t **out, const Profiler *p, const TimeEstimate *estimate)
{
    const GpuStats *g = &p->gpu;
    *out = json_pack(
        "{s:I, s:I, s:I, s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:o, s:o}",
        "steps", (json_int_t)p->steps, "traced_steps",
        (json_int_t)i64_min(p->steps, p->trace_steps), "events_left_out",
        (json_int_t)p->log.left_out, "loop", (double)(p->loop_end - p->loop_begin), "step",
        stats(&p->step), "step_samples", samples(&p->step), "phases", phases(p), "ops", ops(p),
        "ranges", ranges(p), "kernels", kernels(p), "kernel_names", names(&g->by_name, NULL, NULL),
        "kernel_briefs", names(&g->by_brief, NULL, NULL), "phase_kernels",
        names(&g->by_phase, "phase", phase_word), "phase_ops",
        names(&g->by_op, "phase", phase_word), "host_gaps", profile_record_gaps(&g->call_gaps),
        "calls", names(&g->calls, NULL, NULL), "op_calls", names(&g->row_calls, "row", row_number),
        "gpu", gpu(p), "os", os_usage(p), "threads", threads(p), "threads_wall",
        (double)(p->os.ended_at - p->os.began_at), "limit_flops",
        json_text_real(estimate->peak_flops), "limit_bandwidth",
        json_text_real(estimate->bandwidth));
    return *out ? ST_OK : NO_MEMORY("for the profile as JSON");
}
