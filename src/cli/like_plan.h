/* What `suite --like NAME` was asked for: what DIR/suite.json keeps of it. */
#ifndef CLI_LIKE_PLAN_H
#define CLI_LIKE_PLAN_H

#include "cli/like_cells.h"

#include <limits.h>

enum { LIKE_PLAN_WORDS = 256 };

typedef struct LikePlan {
    int writeup;
    char folder[PATH_MAX];
    double budget; /* seconds; INFINITY with --full, NAN: as the device has it */
    char
        device[LIKE_PLAN_WORDS]; /* words that every cell gets: device, threads, memory, time-out */
    char sizes[LIKE_PLAN_WORDS]; /* "small,medium,"; empty: all */
    bool done;                   /* every row that was asked for is measured or has its reason */
    bool whole;                  /* nothing but the budget and the memory cut a row short */
    LikeCells cells;
} LikePlan;

/* Of the command line, or of the folder that --resume names. A folder that holds a suite of the same write-up is gone
 * on with either way. ST_USAGE: it holds another, or --resume stands beside words that the suite was not begun with.
 * The caller frees it, after a failure too. */
Status like_plan_open(LikePlan *plan, const Settings *settings, const Sweep *sweep);
void like_plan_free(LikePlan *plan);
/* Is the suite in this folder one of --like? */
bool like_plan_is_in(const char *folder);

/* Both are what a suite of --like writes. ST_USAGE names the file and the word. */
Status like_plan_check_words(const char *device, const char *sizes, const char *file);

/* Whole or not at all. */
Status like_plan_write(const LikePlan *plan);
/* folder/name */
Status like_plan_path(const LikePlan *plan, const char *name, char path[PATH_MAX]);

#endif
