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

static Thing of_ops(const ProfileView *view, const OpFilter *some, const OpFilter *all)
{
    Thing thing = nothing(view);
    thing.total = op_filter_time(view, some);
    thing.whole = op_filter_time(view, all);
    thing.calls = op_filter_calls(view, some);
    return thing;
}

static const OpFilter everything = {.phase = PHASE_COUNT};
static const OpFilter forward = {.phase = PHASE_FORWARD};
static const OpFilter attention = {.phase = PHASE_FORWARD, .where = OP_WHERE_ATTENTION};
static const OpFilter linear = {.phase = PHASE_FORWARD, .where = OP_WHERE_LINEAR};
static const OpFilter beside = {.phase = PHASE_FORWARD, .where = OP_WHERE_BESIDE};

/* ---- phases ---- */

static double phase_calls(const ProfileView *view, Phase phase)
{
    const OpFilter all = {.phase = phase};
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

static Thing of_step(const ProfileView *view, const char *rest)
{
    Thing thing = nothing(view);
    (void)rest;
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
    const OpFilter part = {.part = name, .phase = PHASE_FORWARD};
    return of_ops(view, &part, &attention);
}

/* Nothing left over is a figure too. */
static Thing of_misc(const ProfileView *view, const char *rest)
{
    const OpFilter misc = {.phase = PHASE_FORWARD, .where = OP_WHERE_MISC};
    Thing thing = of_ops(view, &misc, &attention);
    (void)rest;
    if (isnan(thing.total) && !isnan(thing.whole)) thing.total = 0;
    return thing;
}

static Thing of_device(const ProfileView *view, const char *name)
{
    const OpFilter some = {.phase = profile_view_phase(name)};
    const bool known = !*name || some.phase != PHASE_COUNT;
    return known ? of_ops(view, &some, &everything) : nothing(view);
}

/* The words of a thing; the list points into the text. */
typedef struct Words {
    char text[96];
    char *list[4];
    int n;
} Words;

static void split(const char *rest, Words *words)
{
    char *next = NULL;
    *words = (Words){0};
    snprintf(words->text, sizeof words->text, "%s", rest);
    for (char *word = strtok_r(words->text, " ", &next); word && words->n < 4;
         word = strtok_r(NULL, " ", &next))
        words->list[words->n++] = word;
}

static Thing of_category(const ProfileView *view, const char *rest)
{
    Words words;
    split(rest, &words);
    if (words.n == 0) return nothing(view);
    const OpFilter some = {.categories = op_filter_categories(words.list[0]),
                           .phase = words.n > 1 ? profile_view_phase(words.list[1]) : PHASE_COUNT};
    return of_ops(view, &some, &everything);
}

static Thing of_of(const ProfileView *view, const char *rest)
{
    Words words;
    split(rest, &words);
    if (words.n < 2) return nothing(view);
    const OpFilter all = {.phase = profile_view_phase(words.list[0])};
    const OpFilter some = {.categories = op_filter_categories(words.list[1]), .phase = all.phase};
    return all.phase != PHASE_COUNT ? of_ops(view, &some, &all) : nothing(view);
}

static Thing of_in(const ProfileView *view, const char *rest)
{
    Words words;
    Thing thing = of_of(view, rest);
    split(rest, &words);
    if (words.n > 0) thing.whole = of_phase(view, words.list[0]).total;
    return thing;
}

/* ---- kernels ---- */

/* Of the words N [CATEGORY] [PHASE]. */
static OpFilter filter_of(const Words *words)
{
    OpFilter filter = everything;
    for (int i = 1; i < words->n; i++) {
        const Phase phase = profile_view_phase(words->list[i]);
        if (phase == PHASE_COUNT)
            filter.categories = op_filter_categories(words->list[i]);
        else
            filter.phase = phase;
    }
    return filter;
}

static int rank_of(const Words *words)
{
    return words->n > 0 ? atoi(words->list[0]) : 0;
}

static Thing of_kernel(const ProfileView *view, const char *rest)
{
    Words words;
    split(rest, &words);
    const OpFilter filter = filter_of(&words), all = {.phase = filter.phase};
    const char *brief = op_filter_kernel_name(view, &filter, rank_of(&words));
    Thing thing = nothing(view);
    if (!brief) return thing;
    thing.call = op_filter_kernel_stats(view, &filter, brief);
    thing.total = thing.call.total;
    thing.calls = (double)thing.call.n;
    thing.whole = op_filter_time(view, &all);
    return thing;
}

const char *profile_figure_kernel(const ProfileView *view, const char *thing)
{
    Words words;
    split(thing, &words);
    if (words.n < 2 || strcmp(words.list[0], "kernel") != 0) return NULL;
    words.n--;
    memmove(words.list, words.list + 1, (size_t)words.n * sizeof *words.list);
    const OpFilter filter = filter_of(&words);
    return op_filter_kernel_name(view, &filter, rank_of(&words));
}

/* ---- one attention ---- */

static double layers_of(const ProfileView *view)
{
    int64_t layers = 0;
    return record_int(view->record, "num_layers", &layers) && layers > 0 ? (double)layers : NAN;
}

/* "softmax" of "layer.3/attn/softmax"; NULL: another range. */
static const char *core_scope(const ViewRange *range)
{
    static const char *const core[] = {"scores", "softmax", "values", "attention"};
    const char *slash = strrchr(range->name, '/');
    if (range->phase != PHASE_FORWARD || range->level != 2 || !slash) return NULL;
    for (size_t i = 0; i < sizeof core / sizeof *core; i++) {
        if (strcmp(slash + 1, core[i]) == 0) return slash + 1;
    }
    return NULL;
}

static Thing once(Thing thing, double layers)
{
    thing.times *= layers;
    thing.call.avg = thing.total / thing.times;
    return thing;
}

static Thing of_one(const ProfileView *view, const char *name)
{
    const bool all = strcmp(name, "attention") == 0;
    Thing thing = nothing(view);
    for (int i = 0; i < view->n_ranges; i++) {
        const ViewRange *range = &view->ranges[i];
        const char *scope = core_scope(range);
        if (!scope || (!all && strcmp(scope, name) != 0)) continue;
        const double time = view->gpu ? range->wall.total : range->host.total;
        thing.total = isnan(thing.total) ? time : thing.total + time;
    }
    return once(thing, layers_of(view));
}

static Thing of_inside(const ProfileView *view, const char *name)
{
    const OpFilter some = {
        .part = *name ? name : NULL, .phase = PHASE_FORWARD, .where = OP_WHERE_CORE};
    return once(of_ops(view, &some, &attention), layers_of(view));
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

static Thing of_compute(const ProfileView *view, const char *rest)
{
    (void)rest;
    return of_gpu(view, view->device.compute);
}

static Thing of_copies(const ProfileView *view, const char *rest)
{
    (void)rest;
    return of_gpu(view, view->device.copies);
}

static Thing of_uploads(const ProfileView *view, const char *rest)
{
    double sum = 0;
    for (int i = 0; i < view->n_names; i++) {
        const bool copy = strcmp(view->names[i].kind, "copy") == 0;
        if (copy && strstr(view->names[i].name, "Host-to-Device")) sum += view->names[i].time.total;
    }
    Thing thing = of_gpu(view, sum);
    (void)rest;
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

static Thing of_gap(const ProfileView *view, const char *rest)
{
    (void)rest;
    return view->gpu ? of_gaps(view, &view->device.gaps) : nothing(view);
}

static Thing of_api_gap(const ProfileView *view, const char *rest)
{
    (void)rest;
    return of_gaps(view, &view->host_gaps);
}

/* ---- words ---- */

/* Things that are rows of ops. */
static const struct {
    const char *word;
    const OpFilter *ops, *whole;
} groups[] = {
    {"attention", &attention, &forward},
    {"linear", &linear, &attention},
    {"beside", &beside, &forward},
};

enum { ALONE, WORDS }; /* no word follows; words may follow */

static const struct {
    const char *word;
    int words;
    Thing (*find)(const ProfileView *view, const char *rest);
} things[] = {
    {"step", ALONE, of_step},     {"own", WORDS, of_own},
    {"part", WORDS, of_part},     {"misc", ALONE, of_misc},
    {"device", WORDS, of_device}, {"category", WORDS, of_category},
    {"of", WORDS, of_of},         {"in", WORDS, of_in},
    {"kernel", WORDS, of_kernel}, {"one", WORDS, of_one},
    {"inside", WORDS, of_inside}, {"compute", ALONE, of_compute},
    {"copies", ALONE, of_copies}, {"uploads", ALONE, of_uploads},
    {"gap", ALONE, of_gap},       {"api_gap", ALONE, of_api_gap},
};

static bool starts(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && strncmp(text, word, n) == 0;
}

static Thing find(const ProfileView *view, const char *thing)
{
    const size_t n = strcspn(thing, " ");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (strcmp(thing, groups[i].word) == 0) return of_ops(view, groups[i].ops, groups[i].whole);
    }
    for (size_t i = 0; i < sizeof things / sizeof *things; i++) {
        if (!starts(thing, n, things[i].word)) continue;
        if (thing[n] && things[i].words == ALONE) return nothing(view);
        return things[i].find(view, thing[n] ? thing + n + 1 : "");
    }
    return of_phase(view, thing);
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
