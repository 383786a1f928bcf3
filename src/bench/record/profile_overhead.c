#include "bench/record/profile_overhead.h"

#include "base/rank_test.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 1024 }; /* samples: more tell nothing new */

typedef struct Samples {
    double x[MOST];
    int n;
} Samples;

/* The numbers above 0, sorted, each multiplied by `unit`. */
static void read_samples(const json_t *list, double unit, Samples *samples)
{
    size_t i;
    const json_t *item;
    samples->n = 0;
    json_array_foreach(list, i, item)
    {
        const double x = json_number_value(item) * unit;
        if (samples->n < MOST && isfinite(x) && x > 0) samples->x[samples->n++] = x;
    }
    stats_sort(samples->x, samples->n);
}

static const char *name_of(Phase phase)
{
    return phase == PHASE_COUNT ? "step" : plan_phase_name(phase);
}

static const json_t *profiled_samples(const ProfileView *view, Phase phase)
{
    size_t i;
    json_t *item;
    const json_t *profile = json_object_get(view->record, "profile");
    if (phase == PHASE_COUNT) return json_object_get(profile, "step_samples");
    json_array_foreach(json_object_get(profile, "phases"), i, item)
    {
        const char *name = json_string_value(json_object_get(item, "phase"));
        if (name && strcmp(name, plan_phase_name(phase)) == 0)
            return json_object_get(item, "samples");
    }
    return NULL;
}

ProfileOverhead profile_overhead(const ProfileView *view, Phase phase)
{
    static Samples before, after;
    char path[64];
    const ViewStats *stats = phase == PHASE_COUNT ? &view->step : &view->phases[phase].wall;
    const double unprofiled = profile_view_unprofiled(view, name_of(phase));
    snprintf(path, sizeof path, "%s.samples_ms", name_of(phase));
    read_samples(record_value(view->record, path), 1e6, &before);
    read_samples(profiled_samples(view, phase), 1, &after);
    const RankRatio ratio = rank_test_ratio(before.x, before.n, after.x, after.n);
    return (ProfileOverhead){100 * (profile_view_middle(view, stats) / unprofiled - 1),
                             100 * (ratio.low - 1), 100 * (ratio.high - 1), after.n > 0};
}

bool profile_overhead_is_noise(const ProfileOverhead *overhead)
{
    return overhead->low <= 0 && overhead->high >= 0;
}

void profile_overhead_text(const ProfileOverhead *o, Text *out)
{
    if (isnan(o->percent)) {
        text_puts(out, "not measured");
    } else if (!o->sampled) {
        text_printf(out, "%+.1f %%", o->percent);
    } else if (isnan(o->low)) {
        text_printf(out, "%+.1f %%, with too few samples to tell it from noise", o->percent);
    } else {
        text_printf(out,
                    profile_overhead_is_noise(o) ? "within noise (%+.1f %%, 95 %% interval "
                                                 : "%+.1f %% (95 %% interval ",
                    o->percent);
        text_printf(out, "%+.1f to %+.1f %%)", o->low, o->high);
    }
}
