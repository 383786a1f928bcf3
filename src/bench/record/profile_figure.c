#include "bench/record/profile_figure.h"

#include "bench/record/op_filter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Times in ns, of all steps together. */
typedef struct Thing {
    double total; /* NAN: it is not there */
    double whole; /* of which it is a share; NAN: of nothing */
    double std;   /* from step to step */
    double calls;
    double times;   /* how often it came: in every step, unless it is an attention or a gap */
    ViewStats call; /* one of them */
} Thing;

static Thing nothing(const ProfileView *view)
{
    return (Thing){
        .total = NAN,
        .whole = NAN,
        .std = NAN,
        .calls = NAN,
        .times = (double)view->steps,
        .call = {.avg = NAN, .med = NAN, .min = NAN, .max = NAN, .std = NAN},
    };
}

/* ---- rows of ops ---- */

static const unsigned any = ~0U; /* category or part */

static Thing of_ops(const ProfileView *view, OpFilter some, OpFilter all)
{
    Thing thing = nothing(view);
    thing.total = op_filter_time(view, &some);
    thing.whole = op_filter_time(view, &all);
    thing.calls = op_filter_calls(view, &some);
    return thing;
}

/* Parts of the forward pass, of which others are the whole. */
static Thing of_parts(const ProfileView *view, unsigned parts, unsigned whole)
{
    return of_ops(view, (OpFilter){any, parts, PHASE_FORWARD},
                  (OpFilter){any, whole, PHASE_FORWARD});
}

/* ---- phases ---- */

static double phase_calls(const ProfileView *view, Phase phase)
{
    const OpFilter all = {any, any, phase};
    return view->gpu ? (double)view->phases[phase].kernels : op_filter_calls(view, &all);
}

static Thing of_phase(const ProfileView *view, const char *name)
{
    const Phase phase = profile_view_phase(name);
    Thing thing = nothing(view);
    if (phase == PHASE_COUNT || !view->phases[phase].there) return thing;
    thing.total = view->phases[phase].wall.avg * (double)view->steps;
    thing.whole = view->step.total;
    thing.std = view->phases[phase].wall.std;
    thing.calls = phase_calls(view, phase);
    return thing;
}

static Thing of_step(const ProfileView *view)
{
    Thing thing = nothing(view);
    thing.total = view->step.total;
    thing.std = view->step.std;
    return thing;
}

static Thing of_own(const ProfileView *view, const char *name)
{
    const Phase phase = profile_view_phase(name);
    Thing thing = of_phase(view, name);
    if (isnan(thing.total)) return thing;
    const ViewPhase *at = &view->phases[phase];
    thing.whole = thing.total;
    thing.total = fmax(0, thing.total - fmax(at->nodes, at->span.total));
    thing.std = thing.calls = NAN;
    return thing;
}

/* ---- attention, categories ---- */

static Thing of_part(const ProfileView *view, const char *name)
{
    return of_parts(view, op_filter_part(name), OP_FILTER_ATTENTION);
}

/* Nothing left over is a figure too. */
static Thing of_misc(const ProfileView *view)
{
    Thing thing = of_parts(view, OP_FILTER_MISC, OP_FILTER_ATTENTION);
    if (isnan(thing.total) && !isnan(thing.whole)) thing.total = 0;
    return thing;
}

static Thing of_device(const ProfileView *view, const char *name)
{
    const Phase phase = profile_view_phase(name);
    if (*name && phase == PHASE_COUNT) return nothing(view);
    return of_ops(view, (OpFilter){any, any, phase}, (OpFilter){any, any, PHASE_COUNT});
}

/* The first words of a text; "" behind the last. */
typedef struct Words {
    char list[3][32];
    int n;
} Words;

static Words split(const char *text)
{
    Words words = {0};
    words.n = sscanf(text, "%31s %31s %31s", words.list[0], words.list[1], words.list[2]);
    return words;
}

static Thing of_category(const ProfileView *view, const char *rest)
{
    const Words words = split(rest);
    const OpFilter some = {op_filter_categories(words.list[0]), any,
                           profile_view_phase(words.list[1])};
    return of_ops(view, some, (OpFilter){any, any, PHASE_COUNT});
}

static Thing of_of(const ProfileView *view, const char *rest)
{
    const Words words = split(rest);
    const Phase phase = profile_view_phase(words.list[0]);
    const OpFilter some = {op_filter_categories(words.list[1]), any, phase};
    return phase != PHASE_COUNT ? of_ops(view, some, (OpFilter){any, any, phase}) : nothing(view);
}

static Thing of_in(const ProfileView *view, const char *rest)
{
    Thing thing = of_of(view, rest);
    thing.whole = of_phase(view, split(rest).list[0]).total;
    return thing;
}

/* ---- kernels ---- */

/* The short name, by N [CATEGORY] [PHASE]. */
static const char *find_kernel(const ProfileView *view, const char *rest, OpFilter *filter)
{
    const Words words = split(rest);
    *filter = (OpFilter){any, any, PHASE_COUNT};
    for (int i = 1; i < words.n; i++) {
        const Phase phase = profile_view_phase(words.list[i]);
        if (phase == PHASE_COUNT)
            filter->categories = op_filter_categories(words.list[i]);
        else
            filter->phase = phase;
    }
    return op_filter_kernel_name(view, filter, atoi(words.list[0]));
}

static Thing of_kernel(const ProfileView *view, const char *rest)
{
    OpFilter filter;
    const char *brief = find_kernel(view, rest, &filter);
    Thing thing = nothing(view);
    if (!brief) return thing;
    thing.call = op_filter_kernel_stats(view, &filter, brief);
    thing.total = thing.call.total;
    thing.calls = (double)thing.call.n;
    thing.whole = op_filter_time(view, &(OpFilter){any, any, filter.phase});
    return thing;
}

const char *profile_figure_kernel(const ProfileView *view, const char *thing)
{
    OpFilter filter;
    return strncmp(thing, "kernel ", 7) == 0 ? find_kernel(view, thing + 7, &filter) : NULL;
}

/* ---- one attention ---- */

/* The thing comes once in every layer, in every micro-batch. */
static Thing in_each_layer(const ProfileView *view, Thing thing)
{
    int64_t layers = 0, micro_batches = 1;
    record_int(view->record, "num_layers", &layers);
    record_int(view->record, "accumulate", &micro_batches);
    thing.times *= layers > 0 ? (double)(layers * micro_batches) : NAN;
    thing.call.avg = thing.total / thing.times;
    return thing;
}

/* Is the range "layer.3/attn/softmax", when the name is "softmax", or "attention" for any of the four? */
static bool is_core(const ViewRange *range, const char *name)
{
    static const char *const core[] = {"scores", "softmax", "values", "attention"};
    const bool all = strcmp(name, "attention") == 0;
    const char *slash = strrchr(range->name, '/');
    if (range->phase != PHASE_FORWARD || range->level != 2 || !slash) return false;
    for (size_t i = 0; i < sizeof core / sizeof *core; i++) {
        if (strcmp(slash + 1, core[i]) == 0) return all || strcmp(name, core[i]) == 0;
    }
    return false;
}

static Thing of_one(const ProfileView *view, const char *name)
{
    Thing thing = nothing(view);
    for (int i = 0; i < view->n_ranges; i++) {
        const ViewRange *range = &view->ranges[i];
        if (!is_core(range, name)) continue;
        const double time = view->gpu ? range->wall.total : range->host.total;
        thing.total = isnan(thing.total) ? time : thing.total + time;
    }
    return in_each_layer(view, thing);
}

static Thing of_inside(const ProfileView *view, const char *name)
{
    const unsigned parts = OP_FILTER_CORE & (*name ? op_filter_part(name) : any);
    return in_each_layer(view, of_parts(view, parts, OP_FILTER_ATTENTION));
}

/* ---- the GPU ---- */

static Thing of_gpu(const ProfileView *view, double total)
{
    Thing thing = nothing(view);
    if (!view->gpu) return thing;
    thing.total = total;
    thing.whole = view->device.compute + view->device.copies;
    return thing;
}

static Thing of_uploads(const ProfileView *view)
{
    double sum = 0;
    for (int i = 0; i < view->n_names; i++) {
        const bool copy = strcmp(view->names[i].kind, "copy") == 0;
        if (copy && strstr(view->names[i].name, "Host-to-Device")) sum += view->names[i].time.total;
    }
    Thing thing = of_gpu(view, sum);
    thing.whole = view->device.copies > 0 ? view->device.copies : NAN;
    return thing;
}

static Thing of_gaps(const ProfileView *view, const ViewGaps *gaps)
{
    Thing thing = nothing(view);
    if (gaps->time.n == 0) return thing;
    thing.call = gaps->time;
    thing.total = thing.call.total;
    thing.calls = (double)thing.call.n;
    return thing;
}

/* ---- words ---- */

static Thing of_word(const ProfileView *view, const char *word)
{
    const struct {
        const char *word;
        Thing thing;
    } things[] = {
        {"step", of_step(view)},
        {"attention", of_parts(view, OP_FILTER_ATTENTION, any)},
        {"linear", of_parts(view, OP_FILTER_LINEAR, OP_FILTER_ATTENTION)},
        {"misc", of_misc(view)},
        {"beside", of_parts(view, OP_FILTER_BESIDE, any)},
        {"compute", of_gpu(view, view->device.compute)},
        {"copies", of_gpu(view, view->device.copies)},
        {"uploads", of_uploads(view)},
        {"gap", view->gpu ? of_gaps(view, &view->device.gaps) : nothing(view)},
        {"api_gap", of_gaps(view, &view->host_gaps)},
    };
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        if (strcmp(word, things[i].word) == 0) return things[i].thing;
    }
    return of_phase(view, word);
}

/* Things that other words follow. */
static const struct {
    const char *word;
    Thing (*find)(const ProfileView *view, const char *rest);
} things_of[] = {
    {"own", of_own},           {"part", of_part}, {"device", of_device},
    {"category", of_category}, {"of", of_of},     {"in", of_in},
    {"kernel", of_kernel},     {"one", of_one},   {"inside", of_inside},
};

static bool starts(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(text, word, n) == 0;
}

static Thing find(const ProfileView *view, const char *thing)
{
    const size_t n = strcspn(thing, " ");
    for (size_t i = 0; i < sizeof things_of / sizeof *things_of; i++) {
        if (starts(thing, n, things_of[i].word))
            return things_of[i].find(view, thing[n] ? thing + n + 1 : "");
    }
    return of_word(view, thing);
}

double profile_figure(const ProfileView *view, const char *what)
{
    const size_t n = strcspn(what, " ");
    const Thing x = find(view, what[n] ? what + n + 1 : "");
    const struct {
        const char *word;
        double value;
    } measures[] = {
        {"ms", x.total / x.times * 1e-6}, {"std", x.std * 1e-6},
        {"total", x.total * 1e-6},        {"share", 100 * x.total / x.whole},
        {"calls", x.calls / x.times},     {"all_calls", x.calls},
        {"us", x.call.avg * 1e-3},        {"us_med", x.call.med * 1e-3},
        {"us_min", x.call.min * 1e-3},    {"us_max", x.call.max * 1e-3},
        {"us_std", x.call.std * 1e-3},
    };
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++) {
        if (starts(what, n, measures[i].word)) return measures[i].value;
    }
    return NAN;
}
