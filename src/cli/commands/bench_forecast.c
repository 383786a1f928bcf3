#include "cli/commands/bench_forecast.h"

#include "bench/estimate/comm_forecast.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/limits_links.h"
#include "bench/record/one_rank.h"
#include "cli/collective_launch.h"

#include <stdio.h>
#include <string.h>

/* The row's cell on the device and threads that it had. */
static bool settle(const Record *row, const Config *config, Config *used)
{
    const char *device = record_text(row, "device");
    int64_t threads = 0;
    *used = *config;
    if (!device || strcmp(device, "cpu") != 0 || !record_int(row, "threads", &threads))
        return false;
    snprintf(used->device, sizeof used->device, "%s", device);
    used->threads = threads;
    return config->recompute != CONFIG_RECOMPUTE_AUTO;
}

/* Once for all rows: links of a busy machine are not stored. */
static Status find_links(const Settings *settings, CommLinks *links, bool *known)
{
    static Limits limits;
    static bool looked, found;
    const RankLaunch launch = collective_launch(settings);
    const Status status = looked ? ST_OK : limits_links_get(&launch, false, false, &limits);
    if (!looked) found = status == ST_OK;
    looked = true;
    *known = found && comm_link_of_limits(&limits, links);
    return status == ST_INTERRUPTED ? status : ST_OK;
}

static Status forecast(Record *row, const Config *used, const Placement *placement,
                       const CommForecastInput *input)
{
    CLEANUP(model_free) Model model = {0};
    CLEANUP(binding_free) Binding binding = {0};
    CommForecast out;
    TRY(placement_plan(placement, used, used->mode, &model, &binding));
    TRY(comm_forecast_make(&out, used, placement, &binding, input));
    return *out.why ? ST_OK : record_put_number(row, "predicted_step_ms", 1e3 * out.times.step);
}

Status bench_forecast_add(Record *row, const Config *config, const Settings *settings,
                          const RecordSet *rows, const RecordSet *known)
{
    Config used;
    Placement placement;
    Limits limits;
    CommLinks links;
    bool has_links = false;
    double ms = 0, alone = 0;
    if (record_status(row) != RECORD_OK || settings->hosts || !settle(row, config, &used))
        return ST_OK;
    if (!one_rank_ms(rows, row, &ms) && !one_rank_ms(known, row, &ms)) return ST_OK;
    TRY(placement_of(&used, &placement));
    if (!limits_cache_of(&placement, &limits)) return ST_OK;
    TRY(find_links(settings, &links, &has_links));
    (void)record_number(row, "alone_ms", &alone);
    const CommForecastInput input = {
        .machine = &limits, .links = &links, .step = 1e-3 * ms, .alone = 1e-3 * alone};
    return has_links ? forecast(row, &used, &placement, &input) : ST_OK;
}
