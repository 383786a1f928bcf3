#include "report/findings/findings.h"

#include "base/human.h"
#include "base/json_text.h"
#include "prof/part.h"
#include "report/records/growth_report.h"
#include "report/records/precision_gain.h"

#include <math.h>
#include <string.h>

/* ---- warm-up ---- */

static void put_setting(Text *out, const char *begin, const WarmupSetting *setting)
{
    if (setting->warmup == 0)
        text_printf(out, "%swithout it", begin);
    else
        text_printf(out, "%swith %lld", begin, (long long)setting->warmup);
}

void findings_warmup(Text *out, const WarmupStudy *s)
{
    if (s->n < 2) return;
    const WarmupSetting *least = &s->settings[0], *most = &s->settings[s->n - 1];
    put_setting(out, "Warm-up: ", least);
    text_printf(out, " a run reports a mean step of %s (std %s)",
                human_seconds(least->mean / 1e3).s, human_seconds(least->std / 1e3).s);
    text_printf(out, ", with %lld warm-ups %s (std %s).", (long long)most->warmup,
                human_seconds(most->mean / 1e3).s, human_seconds(most->std / 1e3).s);
    for (int i = 0; i < s->n - 1; i++) {
        put_setting(out, i ? ", " : " Error of the mean: ", &s->settings[i]);
        text_printf(out, " %+.1f %%", 100 * (s->settings[i].mean / most->mean - 1));
    }
    text_puts(out, ".");
    if (isfinite(s->cold.first) && isfinite(s->steady) && s->cold.first > s->steady)
        text_printf(out, " The first step of a process takes %s longer than a steady one.",
                    human_seconds((s->cold.first - s->steady) / 1e3).s);
}

/* ---- softmax ---- */

typedef struct Work {
    double flops, bytes, ns; /* of one step */
} Work;

static void add_work(Work *work, const ProfileView *v, const ViewOp *op)
{
    work->flops += op->flops;
    work->bytes += op->bytes;
    work->ns += op->time.total / (double)v->steps;
}

static bool is_part(const ViewOp *op, Part part)
{
    return op->part && strcmp(op->part, part_name(part)) == 0;
}

/* Where the time of softmax comes from, as far as the measured bandwidth tells. */
static void put_traffic(Text *out, const ProfileView *v, const Work *softmax)
{
    const double percent = 1e11 * softmax->bytes / v->limit_bandwidth / softmax->ns;
    if (!isfinite(percent)) return;
    if (percent > 100)
        text_puts(out,
                  " It runs from caches: main memory at its measured bandwidth would be slower.");
    else if (percent >= 50)
        text_printf(out,
                    " It is memory-bound: its traffic alone takes %.0f %% of its time at the "
                    "measured bandwidth.",
                    percent);
    else
        text_printf(out,
                    " At the measured bandwidth its traffic takes %.0f %% of its time; the rest is "
                    "arithmetic and %s overhead.",
                    percent, v->gpu ? "launch" : "per-op");
}

void findings_softmax(Text *out, const ProfileView *v)
{
    Work softmax = {0}, matmuls = {0};
    for (int i = 0; i < v->n_ops; i++) {
        const ViewOp *op = &v->ops[i];
        if (op->phase != PHASE_FORWARD) continue;
        if (is_part(op, PART_SOFTMAX)) add_work(&softmax, v, op);
        const bool inside = is_part(op, PART_SCORES) || is_part(op, PART_VALUES);
        if (inside && op->category == CATEGORY_matmul) add_work(&matmuls, v, op);
    }
    if (!(softmax.ns > 0 && softmax.flops > 0 && matmuls.ns > 0 && matmuls.flops > 0)) return;
    const double flops = 100 * softmax.flops / matmuls.flops;
    const double time = 100 * softmax.ns / matmuls.ns;
    text_printf(
        out,
        "Softmax has %s %% of the FLOPs of attention's two matrix multiplications and takes "
        "%s %% of their time (forward): it moves %s bytes per FLOP, they %s.",
        human_number(flops, 2).s, human_number(time, time < 100 ? 2 : 3).s,
        human_number(softmax.bytes / softmax.flops, 2).s,
        human_number(matmuls.bytes / matmuls.flops, 2).s);
    put_traffic(out, v, &softmax);
}

/* ---- lines ---- */

void findings_enough(Text *out, const WarmupStudy *s)
{
    if (s->undecided && !s->noisy) return;
    if (s->noisy)
        text_printf(out,
                    " Steady steps vary by %.0f %%: too much to tell how many warm-ups are enough.",
                    100 * s->noise);
    else if (s->enough < 0)
        text_printf(out, " Even %lld warm-ups are too few here.",
                    (long long)s->settings[s->n - 1].warmup);
    else if (s->enough == 0)
        text_puts(out, " No warm-up is needed here.");
    else
        text_printf(out, " %lld warm-up%s enough here.", (long long)s->enough,
                    s->enough == 1 ? " is" : "s are");
}

static Status add_warmup(json_t *lines, Text *text, const RecordSet *rows)
{
    WarmupStudy study;
    if (record_set_size(rows) == 0 || warmup_study_make(&study, rows) != ST_OK)
        return ST_OK; /* none is ok */
    findings_warmup(text, &study);
    findings_enough(text, &study);
    return json_text_append(lines, text);
}

Status findings_softmax_first(Text *out, const RecordSet *rows)
{
    const size_t before = out->n;
    for (size_t i = 0; i < record_set_size(rows) && out->n == before; i++) {
        ProfileView view;
        if (!json_is_object(record_value(record_set_at(rows, i), "profile"))) continue;
        TRY(profile_view_make(&view, record_set_at(rows, i)));
        findings_softmax(out, &view);
        profile_view_free(&view);
    }
    return ST_OK;
}

/* Of steps that were timed for their own sake, or else of the study of precisions. */
static Status add_precision(json_t *lines, Text *text, const ResultInput *files, int n)
{
    static const ResultKind kinds[] = {RESULT_MODEL, RESULT_PRECISION};
    const size_t before = json_array_size(lines);
    for (int k = 0; k < 2 && json_array_size(lines) == before; k++) {
        for (int f = 0; f < n; f++) {
            precision_gain_rows(text, &files[f].kind[kinds[k]]);
            TRY(json_text_append(lines, text));
        }
    }
    for (int f = 0; f < n; f++) {
        precision_gain_ops(text, &files[f].kind[RESULT_PROFILE]);
        TRY(json_text_append(lines, text));
    }
    return ST_OK;
}

/* ---- growth ---- */

static bool has_exponent(const GrowthSweep *sweep)
{
    for (int i = 0; i < sweep->n_laws; i++) {
        const GrowthLaw *law = &sweep->laws[i];
        if (law->figure->kind == GROWTH_TIME && law->fit.verdict == GROWTH_LAW) return true;
    }
    return false;
}

/* "ctx flash"; false: no implementation is named. */
static bool what_it_tells(Text *name, const GrowthSweep *sweep)
{
    const char *attention = record_text(sweep->first, "attention");
    text_clear(name);
    text_printf(name, "%s %s", sweep->axis, attention ? attention : "");
    return attention != NULL;
}

/* Of the sweeps with an exponent that tell of one implementation over one axis, the first of
 * those with most points, by what_it_tells(). NULL: no memory. */
static json_t *best_sweeps(const Growth *growth, Text *name)
{
    json_t *best = json_object();
    int failed = 0;
    for (int s = 0; s < growth->n; s++) {
        const GrowthSweep *own = &growth->sweeps[s];
        if (!has_exponent(own) || !what_it_tells(name, own)) continue;
        const json_t *other = json_object_get(best, text_str(name));
        if (other && growth->sweeps[json_integer_value(other)].points >= own->points) continue;
        failed |= json_object_set_new(best, text_str(name), json_integer(s));
    }
    if (failed) json_decref(best);
    return failed ? NULL : best;
}

/* Another one tells the same, by as many points. */
static bool is_told(const Growth *growth, const json_t *best, Text *name, int s)
{
    if (!what_it_tells(name, &growth->sweeps[s])) return false;
    return json_integer_value(json_object_get(best, text_str(name))) != s;
}

static Status add_growth(json_t *lines, Text *text, const RecordSet *rows)
{
    CLEANUP(growth_free) Growth growth = {0};
    CLEANUP(text_free) Text name = {0};
    const ColumnSet names = column_distinct(rows);
    TRY(growth_make(&growth, rows));
    CLEANUP(json_text_free) json_t *best = best_sweeps(&growth, &name);
    if (!best) return NO_MEMORY("for a summary");
    for (int s = 0; s < growth.n; s++) {
        if (!has_exponent(&growth.sweeps[s]) || is_told(&growth, best, &name, s)) continue;
        text_puts(text, "Scaling: ");
        growth_report_sentence(text, &names, &growth.sweeps[s]);
        TRY(json_text_append(lines, text));
    }
    return ST_OK;
}

Status findings_add(json_t *lines, const ResultInput *files, int n)
{
    CLEANUP(text_free) Text text = {0};
    for (int f = 0; f < n; f++) {
        TRY(add_growth(lines, &text, &files[f].kind[RESULT_MODEL]));
        TRY(add_growth(lines, &text, &files[f].kind[RESULT_ATTENTION]));
        TRY(add_warmup(lines, &text, &files[f].kind[RESULT_WARMUP]));
        TRY(findings_softmax_first(&text, &files[f].kind[RESULT_PROFILE]));
        TRY(json_text_append(lines, &text));
    }
    return add_precision(lines, &text, files, n);
}
