#include "bench/study/profile_record.h"

#include "prof/kernel_name.h"

#include <math.h>
#include <string.h>

static const double ns = 1e9;

/* null where there is nothing to say. */
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return text ? json_string(text) : json_null();
}

json_t *profile_record_stats(const RunningStats *t, double unit)
{
    if (t->n == 0) return json_null();
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f}", "n", (json_int_t)t->n, "total",
                     t->sum * unit, "avg", t->mean * unit, "med",
                     running_stats_quantile(t, 0.5) * unit, "min", t->min * unit, "max",
                     t->max * unit, "std", running_stats_std(t) * unit);
}

/* The durations a stats kept, in ns: all of them up to RUNNING_STATS_RESERVOIR. */
static json_t *samples(const RunningStats *t)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < t->n && i < RUNNING_STATS_RESERVOIR; i++)
        json_array_append_new(list, json_real(t->kept[i] * ns));
    return list;
}

/* ---- phases ---- */

static json_t *gpu_phase(const Profiler *p, int phase)
{
    const GpuPhase *at = &p->gpu.phases[phase];
    if (!p->device) return json_null();
    return json_pack("{s:o, s:f, s:f, s:I}", "span", profile_record_stats(&at->span, ns), "busy",
                     at->busy * ns, "work", at->work * ns, "kernels", (json_int_t)at->kernels);
}

static json_t *phases(const Profiler *p)
{
    json_t *list = json_array();
    for (int phase = PHASE_FORWARD; phase < PHASE_COUNT; phase++) {
        if (p->phases[phase].n == 0) continue;
        json_array_append_new(
            list, json_pack("{s:s, s:o, s:o, s:o, s:o}", "phase", plan_phase_name((Phase)phase),
                            "wall", profile_record_stats(&p->phases[phase], ns), "samples",
                            samples(&p->phases[phase]), "nodes",
                            number(p->node_seconds[phase] * ns), "gpu", gpu_phase(p, phase)));
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
            list,
            json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:i, s:s, s:i, s:f, s:f, s:f, s:o, "
                      "s:o}",
                      "phase", plan_phase_name(row->phase), "scope", row->scope, "op",
                      plan_op_name(row->op), "impl", row->impl, "by", row->by, "category",
                      plan_category_name(row->category), "part", text_or_null(part_name(row->part)),
                      "source", source.file, "line", source.line, "shape", row->shape, "nodes",
                      row->nodes, "flops", row->flops, "bytes", row->bytes, "allocated",
                      row->allocated, "host", profile_record_stats(&row->host, ns), "device",
                      profile_record_stats(&row->device, ns)));
    }
    return list;
}

static json_t *ranges(const Profiler *p)
{
    json_t *list = json_array();
    for (int i = 0; i < p->ranges.n; i++) {
        const Range *range = &p->ranges.ranges[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:i, s:o, s:o, s:o, s:o, s:I}", "phase",
                                              plan_phase_name(range->phase), "name", range->name,
                                              "level", range->level, "host",
                                              profile_record_stats(&range->host, ns), "span",
                                              profile_record_stats(&range->span, ns), "wall",
                                              profile_record_stats(&range->wall, ns), "device",
                                              p->device ? number(range->device * ns) : json_null(),
                                              "kernels", (json_int_t)range->kernels));
    }
    return list;
}

static const char *kind_word(TraceKind kind)
{
    return kind == TRACE_MEMCPY ? "copy" : kind == TRACE_MEMSET ? "memset" : "kernel";
}

static json_t *named(const NameStats *name)
{
    char brief[128];
    kernel_name_short(name->name, brief, sizeof brief);
    return json_pack("{s:s, s:s, s:s, s:o, s:o}", "name", name->name, "short", brief, "kind",
                     kind_word(name->kind), "time", profile_record_stats(&name->seconds, ns),
                     "bytes", profile_record_stats(&name->bytes, 1));
}

/* On a CPU there is one kernel to a row of ops, and its time is the row's. */
static json_t *cpu_kernel(const OpRow *row)
{
    json_t *kernel =
        json_pack("{s:s, s:s, s:s, s:o, s:n}", "name", row->kernel, "short", row->brief, "kind",
                  "kernel", "time", profile_record_stats(&row->host, ns), "bytes");
    return kernel;
}

/* Each names the row of `ops` it belongs to; null: none. */
static json_t *names_of_rows(const NameStatsTable *list)
{
    json_t *array = json_array();
    for (int i = 0; i < list->n; i++) {
        const NameStats *name = &list->list[i];
        json_t *item = named(name);
        json_object_set_new(item, "row", name->row >= 0 ? json_integer(name->row) : json_null());
        json_array_append_new(array, item);
    }
    return array;
}

static json_t *kernels(const Profiler *p)
{
    if (p->device) return names_of_rows(&p->gpu.by_row);
    json_t *list = json_array();
    for (int i = 0; i < p->rows.n; i++) {
        json_t *kernel = cpu_kernel(&p->rows.rows[i]);
        json_object_set_new(kernel, "row", json_integer(i));
        json_array_append_new(list, kernel);
    }
    return list;
}

static json_t *names(const NameStatsTable *list)
{
    json_t *array = json_array();
    for (int i = 0; i < list->n; i++) json_array_append_new(array, named(&list->list[i]));
    return array;
}

static json_t *phase_word(int phase)
{
    if (phase == NAME_STATS_ANY_ROW) return json_string("step");
    return phase < 0 ? json_null() : json_string(plan_phase_name((Phase)phase));
}

/* Those whose `row` is a phase: null for none, "step" for all of them together. */
static json_t *names_of_phases(const NameStatsTable *list)
{
    json_t *array = json_array();
    for (int i = 0; i < list->n; i++) {
        json_t *item = named(&list->list[i]);
        json_object_set_new(item, "phase", phase_word(list->list[i].row));
        json_array_append_new(array, item);
    }
    return array;
}

/* ---- the device and the operating system ---- */

/* "layer.3/attn/softmax softmax", for people; null: no node. */
static json_t *node_text(const Plan *plan, int node)
{
    if (node < 0) return json_null();
    return json_sprintf("%s %s %s", plan_phase_name(plan->nodes[node].phase),
                        plan->nodes[node].scope, plan_op_name(plan->nodes[node].op));
}

/* A stats, its 99th percentile, and what stands around the longest; takes both. */
static json_t *gaps_of(const RunningStats *t, json_t *after, json_t *before)
{
    json_t *gaps = profile_record_stats(t, ns);
    if (json_is_object(gaps)) {
        json_object_set(gaps, "longest_after", after);
        json_object_set(gaps, "longest_before", before);
        json_object_set_new(gaps, "p99", number(running_stats_quantile(t, 0.99) * ns));
    }
    json_decref(after);
    json_decref(before);
    return gaps;
}

json_t *profile_record_gaps(const HostGaps *g)
{
    return gaps_of(&g->seconds, text_or_null(g->after), text_or_null(g->before));
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
                     "launch_latency", profile_record_stats(&g->latency, ns), "unattributed",
                     (json_int_t)g->unattributed, "unattributed_time", g->unattributed_seconds * ns,
                     "dropped", (json_int_t)p->dropped);
}

static json_t *os_usage(const Profiler *p)
{
    const OsUsage *sum = &p->os.sum;
    return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "voluntary_switches",
                     (json_int_t)sum->voluntary, "involuntary_switches",
                     (json_int_t)sum->involuntary, "minor_faults", (json_int_t)sum->minor_faults,
                     "major_faults", (json_int_t)sum->major_faults, "user", number(sum->user * ns),
                     "system", number(sum->system * ns), "ran", number(sum->ran * ns), "waited",
                     number(sum->waited * ns), "blocked", profile_record_stats(&p->os.blocked, ns),
                     "waiting", profile_record_stats(&p->os.waiting, ns));
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
                                              number(t.ran * ns), "waited", number(t.waited * ns)));
    }
    return list;
}

Status profile_record_make(json_t **out, const Profiler *p, const TimeEstimate *estimate)
{
    json_t *r = json_object();
    int failed = 0;
    failed |= json_object_set_new(r, "steps", json_integer(p->steps));
    failed |= json_object_set_new(
        r, "traced_steps", json_integer(p->steps < p->trace_steps ? p->steps : p->trace_steps));
    failed |= json_object_set_new(r, "events_left_out", json_integer((json_int_t)p->log.left_out));
    failed |= json_object_set_new(r, "loop", number((double)(p->loop_end - p->loop_begin)));
    failed |= json_object_set_new(r, "step", profile_record_stats(&p->step, ns));
    failed |= json_object_set_new(r, "step_samples", samples(&p->step));
    failed |= json_object_set_new(r, "phases", phases(p));
    failed |= json_object_set_new(r, "ops", ops(p));
    failed |= json_object_set_new(r, "ranges", ranges(p));
    failed |= json_object_set_new(r, "kernels", kernels(p));
    failed |= json_object_set_new(r, "kernel_names", names(&p->gpu.by_name));
    failed |= json_object_set_new(r, "kernel_briefs", names(&p->gpu.by_brief));
    failed |= json_object_set_new(r, "phase_kernels", names_of_phases(&p->gpu.by_phase));
    failed |= json_object_set_new(r, "phase_ops", names_of_phases(&p->gpu.by_op));
    failed |= json_object_set_new(r, "host_gaps", profile_record_gaps(&p->gpu.call_gaps));
    failed |= json_object_set_new(r, "calls", names(&p->gpu.calls));
    failed |= json_object_set_new(r, "op_calls", names_of_rows(&p->gpu.row_calls));
    failed |= json_object_set_new(r, "gpu", gpu(p));
    failed |= json_object_set_new(r, "os", os_usage(p));
    failed |= json_object_set_new(r, "threads", threads(p));
    failed |=
        json_object_set_new(r, "threads_wall", number((double)(p->os.ended_at - p->os.began_at)));
    failed |= json_object_set_new(r, "limit_flops", number(estimate->peak_flops));
    failed |= json_object_set_new(r, "limit_bandwidth", number(estimate->bandwidth));
    *out = r;
    return failed ? NO_MEMORY("for the profile as JSON") : ST_OK;
}
