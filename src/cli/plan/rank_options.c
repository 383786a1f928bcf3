#include "cli/plan/rank_options.h"

#include "base/parse.h"
#include "bench/limits/limits_links.h"
#include "bench/record/record_file.h"
#include "cli/collective_launch.h"

#include <string.h>

static bool has_ranks(const Sweep *sweep)
{
    for (int i = 0; i < sweep->n; i++) {
        if (sweep->configs[i].ranks > 1) return true;
    }
    return false;
}

static Status read_link(OptionId id, const char *s, CommLink *link)
{
    const Status status = comm_link_parse(s, link);
    if (status != ST_OK) status_context("--%s", option_table[id].name);
    return status;
}

/* A time, or the file that has it. */
static Status read_step(RankOptions *out, const char *s)
{
    Status status = parse_seconds(s, &out->step);
    if (status == ST_OK) {
        if (!(out->step > 0)) status = FAIL(ST_USAGE, "a step takes more than no time");
    } else {
        out->has_rows = true;
        out->step = 0;
        TRY(record_set_init(&out->rows, NULL));
        status = record_file_read(&out->rows, s, NULL);
    }
    if (status == ST_USAGE) status_context("--step");
    return status;
}

/* ---- links that nobody gave ---- */

/* Ranks of a GPU are not connected as those of this CPU are. */
static bool on_cpu(const Sweep *sweep)
{
    const char *device = sweep->configs[0].device;
    return strcmp(device, "cpu") == 0 ||
           (strcmp(device, "auto") == 0 && backend_api(BACKEND_cuda)->absent);
}

/* Without MPI there are none, and the forecast says what to give. */
static Status find_links(RankOptions *out, const Settings *settings, const Sweep *sweep,
                         const Limits *machine)
{
    const RankLaunch launch = collective_launch(settings);
    Limits links;
    if (machine) {
        out->has_links = comm_link_of_limits(machine, &out->links);
        return ST_OK;
    }
    if (!on_cpu(sweep)) return ST_OK;
    const Status status = limits_links_get(&launch, false, false, &links);
    if (status == ST_INTERRUPTED) return status;
    out->has_links = status == ST_OK && comm_link_of_limits(&links, &out->links);
    return ST_OK;
}

static Status read_links(RankOptions *out, const Settings *settings, const Sweep *sweep,
                         const Limits *machine)
{
    CommLink link;
    if (settings->link) {
        TRY(read_link(OPTION_LINK, settings->link, &link));
        comm_link_set_all(&out->links, link);
        out->has_links = true;
    } else {
        TRY(find_links(out, settings, sweep, machine));
    }
    out->links.ranks_per_node = settings->ranks_per_node;
    return settings->node_link
               ? read_link(OPTION_NODE_LINK, settings->node_link, &out->links.between)
               : ST_OK;
}

/* ---- all of them ---- */

Status rank_options_read(RankOptions *out, const Settings *settings, const Sweep *sweep,
                         const Limits *machine)
{
    static const OptionId of_ranks[] = {OPTION_LINK, OPTION_NODE_LINK, OPTION_RANKS_PER_NODE,
                                        OPTION_STEP, OPTION_END};
    *out = (RankOptions){.asked = has_ranks(sweep)};
    if (!out->asked && option_given(settings, of_ranks))
        return FAIL(ST_USAGE, "--link, --node-link, --ranks-per-node and --step forecast the step "
                              "of several ranks: give --ranks too");
    if (settings->node_link && settings->ranks_per_node == 0)
        return FAIL(ST_USAGE, "--node-link needs --ranks-per-node");
    if (!out->asked) return ST_OK;
    if (settings->step) TRY(read_step(out, settings->step));
    return read_links(out, settings, sweep, machine);
}

void rank_options_free(RankOptions *options)
{
    if (options->has_rows) record_set_free(&options->rows);
    *options = (RankOptions){0};
}

void rank_options_put(const RankOptions *options, PlanRoom *room)
{
    room->forecast = options->asked;
    room->links = options->has_links ? &options->links : NULL;
    room->step = options->step;
    room->rows = options->has_rows ? &options->rows : NULL;
}
