/* Starts the ranks of a cell, in the process of the cell: it becomes the parent of the launcher,
 * passes on what rank 0 tells, and when a rank fails, dies or is late it ends all of them and
 * says which one it was. */
#pragma once

#include "bench/measure/cell_link.h"
#include "comm/launcher.h"
#include "config/option.h"

/* The argument after the program's name with which a rank is started: the command's name and its
 * options follow. */
#define RANK_LAUNCH_WORD "internal-rank"

typedef struct RankLaunch {
    const char *command;          /* whose cells these are */
    const OptionSet *options;     /* that it takes */
    const char *launcher, *hosts; /* as in comm/launcher.h */
    bool share_gpu;               /* --share-gpu of its ranks */
    const char *model;            /* what --model was given, a list; NULL: nothing */
    const char *const
        *words; /* of its ranks, after the cell's options; ended by NULL; NULL: none */
} RankLaunch;

/* Checks that ranks can be started here, and keeps `launch`, which must outlive all cells, for
 * rank_launch_run() in the processes that are forked from this one. ST_UNSUPPORTED says what to
 * install. */
Status rank_launch_prepare(const RankLaunch *launch);
/* Whether ranks can be started here, and with what: "Open MPI v4.1.4", or what is missing. */
bool rank_launch_describe(char *text, size_t size);
/* After the last cell: removes what the launchers left. */
void rank_launch_finish(void);
/* A RunnerCell (bench/cell/runner.h). */
Status rank_launch_run(const Config *config, CellLink *link);

/* The cell as its ranks run it: each with its share of the threads where all are on one machine. */
Config rank_launch_settle(const RankLaunch *launch, const Config *config);
/* Options that make the cell from the command's defaults, each word with the zero byte that ends it. `model`
 * is what --model was given. */
void rank_launch_options(Text *words, const OptionSet *options, const Config *config,
                         const char *model);
