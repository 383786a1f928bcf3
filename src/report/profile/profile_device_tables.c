#include "base/human.h"
#include "prof/part.h"
#include "report/profile/profile_cells.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A device that runs for more than this share of the time is what the step waits for. */
static const double busy_enough = 0.9;

static HumanText mean_text(const ViewStats *stats)
{
    return human_seconds(stats->n ? stats->avg * 1e-9 : NAN);
}

static void fact_share(Table *table, const char *what, double part, double whole)
{
    table_fact(table, what, "%s a step, %.1f %%", human_seconds(part * 1e-9).s, 100 * part / whole);
}

/* ---- the GPU ---- */

/* Of all phases, a step, in ns. */
typedef struct Busy {
    double wall, span, busy;
} Busy;

static Busy busy_of(const ProfileView *v)
{
    Busy sum = {0};
    for (int p = PHASE_FORWARD; p < PHASE_COUNT; p++) {
        if (!v->phases[p].there) continue;
        sum.wall += v->phases[p].wall.total / (double)v->steps;
        sum.span += v->phases[p].span.total / (double)v->steps;
        sum.busy += v->phases[p].busy / (double)v->steps;
    }
    return sum;
}

/* Host-bound or device-bound, in a sentence. */
static void put_verdict(Text *text, const ProfileView *v)
{
    const Busy b = busy_of(v);
    if (b.busy >= busy_enough * b.wall) {
        text_printf(text, "device-bound: the GPU works %.1f %% of the time", 100 * b.busy / b.wall);
    } else {
        text_printf(text, "host-bound: the GPU waits %.1f %% of the time for launches and the host",
                    100 * (1 - b.busy / b.wall));
    }
}

static void call_rows(Table *table, const ProfileView *v)
{
    double time = 0, calls = 0;
    for (int i = 0; i < v->n_calls; i++) {
        time += v->calls[i].time.total;
        calls += (double)v->calls[i].time.n;
    }
    table_fact(table, "CUDA calls, a step", "%s in %s",
               human_mean_count(calls / (double)v->steps).s,
               human_seconds(time * 1e-9 / (double)v->steps).s);
}

static void gpu(Table *table, const ProfileView *v)
{
    if (!v->gpu) return;
    const ViewGpu *g = &v->device;
    const Busy b = busy_of(v);
    const double steps = (double)v->steps;
    Text verdict = {0};
    table->title = "What the GPU did";
    TABLE_COLUMNS(table, 2, "GPU", "");
    fact_share(table, "busy", b.busy, b.wall);
    fact_share(table, "idle between kernels", b.span - b.busy, b.wall);
    fact_share(table, "idle before the first and after the last kernel of a phase", b.wall - b.span,
               b.wall);
    fact_share(table, "kernels", g->compute / steps, (g->compute + g->copies) / steps);
    fact_share(table, "copies and memsets", g->copies / steps, (g->compute + g->copies) / steps);
    profile_cells_gaps(table, &g->gaps, "kernels", steps);
    table_fact(table, "launch latency, median", "%s",
               human_seconds(g->latency.n ? g->latency.med * 1e-9 : NAN).s);
    call_rows(table, v);
    if (v->host_gaps.time.n > 0) profile_cells_gaps(table, &v->host_gaps, "CUDA calls", steps);
    table_fact(table, "attributed to no op", "%lld, %.3f %% of the kernels' time",
               (long long)g->unattributed, 100 * g->unattributed_time / (g->compute + g->copies));
    table_fact(table, "records dropped", "%s", human_count(g->dropped).s);
    put_verdict(&verdict, v);
    table_note_text(table, &verdict);
    table_note(table,
               "launch latency: from the begin of a launch to that of its kernel; of a graph, of "
               "its first; gaps between kernels: of one phase; between calls: of one step");
}

/* ---- scopes ---- */

enum { MOST_SCOPES = 64 };

/* Ranges of one name in every layer, together. */
typedef struct Scope {
    Phase phase;
    char name[PLAN_SCOPE];
    int64_t n, launched; /* times it ran; times its nodes were run one by one */
    double host, wall, span, device;
    int64_t kernels;
} Scope;

/* "attn" of "layer.3/attn"; NULL: not a scope of this table. */
static const char *scope_name(const ViewRange *range)
{
    const bool layer = strncmp(range->name, "layer.", 6) == 0;
    if (range->level != (layer ? 1 : 0)) return NULL;
    return layer ? strchr(range->name, '/') + 1 : range->name;
}

static int collect(const ProfileView *v, Scope *scopes)
{
    int n = 0;
    for (int i = 0; i < v->n_ranges; i++) {
        const ViewRange *range = &v->ranges[i];
        const char *name = scope_name(range);
        if (!name) continue;
        int at = 0;
        while (at < n && (scopes[at].phase != range->phase || strcmp(scopes[at].name, name) != 0))
            at++;
        if (at == MOST_SCOPES) continue;
        if (at == n) {
            scopes[n] = (Scope){.phase = range->phase};
            snprintf(scopes[n++].name, PLAN_SCOPE, "%s", name);
        }
        scopes[at].n += v->gpu ? range->span.n : range->host.n;
        scopes[at].launched += range->host.n;
        scopes[at].host += range->host.total;
        scopes[at].wall += v->gpu ? range->wall.total : range->host.total;
        scopes[at].span += range->span.total;
        scopes[at].device += v->gpu ? range->device : 0;
        scopes[at].kernels += range->kernels;
    }
    return n;
}

static void scopes(Table *table, const ProfileView *v)
{
    static Scope list[MOST_SCOPES];
    const int n = collect(v, list);
    table->title = "Time of each part of the model";
    TABLE_COLUMNS(table, 2, "in", "scope", "times a step", "wall (us)", "host (us)");
    if (v->gpu) TABLE_COLUMNS(table, 0, "device (us)", "idle (us)", "kernels");
    for (int i = 0; i < n; i++) {
        const Scope *s = &list[i];
        const double times = (double)s->n;
        if (s->n == 0) continue; /* of the communication queue */
        TABLE_CELLS(table, profile_cells_phase(s->phase), s->name,
                    human_mean_count(times / (double)v->steps).s, human_us(s->wall / times).s,
                    human_us(s->host / (double)s->launched).s);
        if (v->gpu)
            TABLE_CELLS(table, human_us(s->device / times).s,
                        human_us(fmax(0, s->span - s->device) / times).s,
                        human_mean_count((double)s->kernels / fmax(times, 1)).s);
    }
    table_note(
        table,
        v->gpu ? "means of one instance; host: launching it; device: its kernels; idle: between "
                 "its first and last kernel; wall: from the first begin to the last end of both"
               : "means of one instance");
}

/* ---- the operating system and threads ---- */

static void imbalance(Table *table, const ProfileView *v)
{
    double most = 0, sum = 0;
    int n = 0;
    for (int i = 0; i < v->n_threads; i++) {
        const double ran = v->threads[i].ran;
        if (!(ran > 0.01 * v->threads_wall)) continue; /* not one that computes */
        most = fmax(most, ran);
        sum += ran;
        n++;
    }
    if (n == 0) return;
    table_fact(table, "threads that computed", "%d, on a processor %.1f %% of the loop on average",
               n, 100 * sum / n / v->threads_wall);
    table_fact(table, "imbalance of threads",
               "%.1f %% (busiest against the mean; waiting in a loop counts as busy)",
               100 * (most * n / sum - 1));
}

static void os_usage(Table *table, const ProfileView *v)
{
    const ViewOs *os = &v->os;
    const double steps = (double)v->steps;
    table->title = "What the operating system did";
    TABLE_COLUMNS(table, 2, v->gpu ? "operating system" : "processor and operating system", "");
    table_fact(table, "the stepping thread blocked, a step", "%s", mean_text(&os->blocked).s);
    table_fact(table, "waiting for a CPU, a step", "%s", mean_text(&os->waiting).s);
    table_fact(table, "processor time, all threads, a step", "%s user, %s system",
               human_seconds(os->user * 1e-9 / steps).s,
               human_seconds(os->system * 1e-9 / steps).s);
    table_fact(table, "context switches, a step", "%s voluntary, %s involuntary",
               human_number((double)os->voluntary / steps, 3).s,
               human_number((double)os->involuntary / steps, 3).s);
    table_fact(table, "page faults, a step", "%s minor, %s major",
               human_number((double)os->minor / steps, 3).s,
               human_number((double)os->major / steps, 3).s);
    if (!v->gpu) imbalance(table, v);
    if (!v->gpu && v->host_gaps.time.n > 0) {
        profile_cells_gaps(table, &v->host_gaps, "ops", steps);
        table_note(table, "gaps between ops: of one phase, without what watching takes");
    }
    if (v->events_left_out > 0)
        table_fact(table, "events left out of the trace", "%s", human_count(v->events_left_out).s);
}

Status profile_device_tables_write(Text *out, const ProfileTables *how, const ProfileView *view)
{
    Table table = {0};
    gpu(&table, view);
    TRY(table_write_next(out, how->format, &table));
    scopes(&table, view);
    TRY(table_write_next(out, how->format, &table));
    os_usage(&table, view);
    return table_write_next(out, how->format, &table);
}
