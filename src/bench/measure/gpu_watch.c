#include "bench/measure/gpu_watch.h"

#include "backend/gpu_libraries.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "bench/measure/energy.h"

static const double look_every = 0.1;  /* seconds */
static const double meter_every = 0.1; /* the energy counter moves some ten times a second */

void gpu_watch_open(GpuWatch *watch, int device)
{
    char bus_id[GPU_LIBRARIES_TEXT];
    *watch = (GpuWatch){0};
    if (gpu_libraries_bus_id(device, bus_id)) watch->gpu = nvml_info_open(bus_id);
}

void gpu_watch_close(GpuWatch *watch)
{
    nvml_info_close(watch->gpu);
    *watch = (GpuWatch){0};
}

void gpu_watch_start(GpuWatch *watch)
{
    if (!watch->gpu) return;
    watch->metered = nvml_info_energy(watch->gpu, &watch->joules);
    watch->started = watch->looked_at = clock_seconds();
    watch->steps = 0;
    watch->looks = watch->slow_looks = 0;
    watch->reasons = 0;
}

static void look(GpuWatch *watch, double now)
{
    const uint64_t reasons = nvml_info_throttled(watch->gpu);
    watch->looked_at = now;
    watch->looks++;
    if (reasons) watch->slow_looks++;
    watch->reasons |= reasons;
}

void gpu_watch_step(GpuWatch *watch)
{
    if (!watch->gpu) return;
    watch->steps++;
    const double now = clock_seconds();
    if (watch->looks == 0 || now - watch->looked_at >= look_every) look(watch, now);
}

static Status put_energy(const GpuWatch *watch, Record *r, double tokens_per_step)
{
    double joules = 0;
    const double seconds = clock_seconds() - watch->started;
    if (!watch->metered || !nvml_info_energy(watch->gpu, &joules)) return ST_OK;
    const EnergyWindow window = {joules - watch->joules, seconds, meter_every, watch->steps};
    return energy_put(r, &window, tokens_per_step);
}

/* "power limit, heat (driver)" */
static Status put_reasons(const GpuWatch *watch, Record *r, Text *text)
{
    json_t *list = json_array();
    uint64_t left = watch->reasons;
    const char *reason;
    while ((reason = nvml_info_next_reason(&left))) {
        text_printf(text, "%s%s", text->n ? ", " : "", reason);
        if (json_array_append_new(list, json_string(reason)) != 0) break;
    }
    return json_object_set_new(r, "throttled", list) == 0 ? text_status(text)
                                                          : NO_MEMORY("to watch the GPU");
}

Status gpu_watch_tell(GpuWatch *watch, CellLink *link, double tokens_per_step)
{
    if (!watch->gpu) return ST_OK;
    CLEANUP(text_free) Text text = {0};
    CLEANUP(json_text_free) Record *facts = json_object();
    TRY(put_energy(watch, facts, tokens_per_step));
    TRY(put_reasons(watch, facts, &text));
    TRY(cell_link_facts(link, facts));
    if (watch->slow_looks == 0) return ST_OK;
    return cell_link_warning(
        link,
        "the GPU was throttled in %d of %d readings (%s): the samples are kept; "
        "compare them only with runs in the same state",
        watch->slow_looks, watch->looks, text_str(&text));
}
