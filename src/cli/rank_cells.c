#include "cli/rank_cells.h"

#include "backend/cpu_threads.h"
#include "base/i64.h"
#include "base/log.h"
#include "bench/measure/rank_launch.h"

#include <string.h>

static RankLaunch launch; /* outlives the cells: rank_launch_prepare() */

bool rank_cells_any(const Sweep *sweep)
{
    for (int i = 0; i < sweep->n; i++) {
        if (sweep->configs[i].ranks > 1) return true;
    }
    return false;
}

/* What other programs hook into has one rank. */
Status rank_cells_check(const Settings *settings)
{
    if (settings->peer && settings->hosts)
        return FAIL(ST_UNSUPPORTED, "--peer %s runs on one machine: leave out --hosts",
                    settings->peer);
    if (settings->nvtx || settings->annotate_mha)
        return FAIL(ST_UNSUPPORTED, "--nvtx and --annotate-mha have one rank");
    return ST_OK;
}

void rank_cells_warn_shared(const Settings *settings, const Sweep *sweep)
{
    const int processors = cpu_threads_processors();
    int64_t most = 0;
    for (int i = 0; i < sweep->n; i++) {
        if (strncmp(sweep->configs[i].device, "cuda", 4) != 0)
            most = i64_max(most, sweep->configs[i].ranks);
    }
    if (settings->hosts || most <= processors) return;
    log_warning(
        "%lld ranks share %d %s and wait for each other: their times say little of ranks that "
        "do not",
        (long long)most, processors, processors == 1 ? "processor" : "processors");
}

Status rank_cells_prepare(const Command *command, const Settings *settings)
{
    launch = (RankLaunch){.command = command->name,
                          .options = &command->options,
                          .launcher = settings->launcher,
                          .hosts = settings->hosts,
                          .share_gpu = settings->share_gpu,
                          .model = settings->model};
    return rank_launch_prepare(&launch);
}

void rank_cells_finish(void)
{
    rank_launch_finish();
}

Config rank_cells_settle(const Settings *settings, const Config *config)
{
    const RankLaunch how = {.launcher = settings->launcher, .hosts = settings->hosts};
    return config->ranks > 1 ? rank_launch_settle(&how, config) : *config;
}

Status rank_cells_run(const Config *config, CellLink *link, const char *const *words)
{
    launch.words = words;
    return rank_launch_run(config, link);
}
