#include "cli/rank_cells.h"

#include "bench/measure/rank_launch.h"

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
