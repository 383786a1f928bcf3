/* The options of `plan` that say how ranks are connected and what one of them takes. */
#pragma once

#include "bench/estimate/plan_cell.h"
#include "cli/command.h"

typedef struct RankOptions {
    CommLinks links;
    bool has_links;
    RecordSet rows; /* of --step FILE */
    bool has_rows;
    double step; /* seconds of --step TIME; 0: not given */
    bool asked;  /* some cell has ranks */
} RankOptions;

/* Reads --link, --node-link, --ranks-per-node and --step; without --link takes the links of `machine`, or
 * those of this one, which it measures once where they are not stored: call it before a device is opened.
 * The caller frees it, after a failure too. */
Status rank_options_read(RankOptions *out, const Settings *settings, const Sweep *sweep,
                         const Limits *machine);
void rank_options_free(RankOptions *options);
/* What they say, for the cells. */
void rank_options_put(const RankOptions *options, PlanRoom *room);
