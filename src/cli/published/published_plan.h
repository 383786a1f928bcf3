/* What `suite --like NAME` was asked for: what DIR/suite.json keeps of it. */
#ifndef CLI_PUBLISHED_PUBLISHED_PLAN_H
#define CLI_PUBLISHED_PUBLISHED_PLAN_H

#include "cli/published/published_cells.h"

#include <limits.h>

enum { PUBLISHED_ARGS_SIZE = 256 };

typedef struct PublishedPlan {
    int writeup;
    char folder[PATH_MAX];
    double budget; /* seconds; INFINITY with --full, NAN: as the device has it */
    char device
        [PUBLISHED_ARGS_SIZE]; /* words that every cell gets: device, threads, memory, time-out */
    char sizes[PUBLISHED_ARGS_SIZE]; /* "small,medium,"; empty: all */
    bool done;  /* every row that was asked for is measured or has its reason */
    bool whole; /* nothing but the budget and the memory cut a row short */
    PublishedCells cells;
} PublishedPlan;

/* Of the command line, or of the folder that --resume names. A folder that holds a suite of the same write-up is gone
 * on with either way. ST_USAGE: it holds another, or --resume stands beside words that the suite was not begun with.
 * The caller frees it, after a failure too. */
Status published_plan_open(PublishedPlan *plan, const Settings *settings, const Sweep *sweep);
void published_plan_free(PublishedPlan *plan);
/* Is the suite in this folder one of --like? */
bool published_plan_is_in(const char *folder);

/* Both are what a suite of --like writes. ST_USAGE names the file and the word. */
Status published_plan_check_words(const char *device, const char *sizes, const char *file);

/* Whole or not at all. */
Status published_plan_write(const PublishedPlan *plan);
/* folder/name */
Status published_plan_path(const PublishedPlan *plan, const char *name, char path[PATH_MAX]);

#endif
