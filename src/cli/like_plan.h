/* What `suite --like NAME` was asked for and which rows it runs: what DIR/suite.json keeps of it. */
#ifndef CLI_LIKE_PLAN_H
#define CLI_LIKE_PLAN_H

#include "bench/suite_cost.h"
#include "cli/like_cells.h"

#include <limits.h>

enum { LIKE_PLAN_WORDS = 256 };

/* Cells that run one after the other into one file of the folder. */
typedef struct LikeBatch {
    const char *file;
    Config *list;
    int n;
    bool done;
} LikeBatch;

typedef struct LikePlan {
    int writeup;
    char folder[PATH_MAX];
    double budget; /* seconds; INFINITY with --full */
    char
        device[LIKE_PLAN_WORDS]; /* words that every cell gets: device, threads, memory, time-out */
    bool settled;                /* which rows are run, */
    SuiteRates rates;            /* by these; read from a file only `flops` are there */
    LikeCells cells;
    LikeBatch bench, profile;
} LikePlan;

/* Of the command line, or of the folder that --resume names. A folder that holds the same suite, begun with the
 * same words, is gone on with either way. ST_USAGE: it holds another, or --resume stands beside words that the suite
 * was not begun with. The caller frees it, after a failure too. */
Status like_plan_open(LikePlan *plan, const Settings *settings, const Config *config);
void like_plan_free(LikePlan *plan);
/* Is the suite in this folder one of --like? */
bool like_plan_is_in(const char *folder);

/* From the cheapest row on, as many as the budget allows, unless they are settled. With `guess` nothing is measured:
 * by stored limits or guesses. */
Status like_plan_settle(LikePlan *plan, bool guess);
/* Whole or not at all. */
Status like_plan_write(const LikePlan *plan);
/* folder/name */
Status like_plan_path(const LikePlan *plan, const char *name, char path[PATH_MAX]);

#endif
