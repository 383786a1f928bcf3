/* The request of `suite --like NAME`, as DIR/suite.json keeps it. */
#pragma once

#include "cli/published/published_list.h"

#include <limits.h>

enum { PUBLISHED_ARGS_SIZE = 256 };

typedef struct PublishedPlan {
    int writeup;
    char folder[PATH_MAX];
    double budget;                    /* seconds; INFINITY with --full, NAN: the device's default */
    char device[PUBLISHED_ARGS_SIZE]; /* arguments of every cell: device, threads, limits */
    char sizes[PUBLISHED_ARGS_SIZE];  /* "small,medium,"; empty: all */
    bool done;                        /* every chosen row is measured or has a reason */
    bool whole;                       /* only the budget or the memory cut rows short */
    PublishedCells cells;
} PublishedPlan;

/* From the command line, or from the folder of --resume. A folder with a suite of the same write-up is
 * continued either way. ST_USAGE: the folder holds another suite, or --resume comes with options that the
 * suite was not started with. The caller frees it, after a failure too. */
Status published_plan_open(PublishedPlan *plan, const Settings *settings, const Sweep *sweep);
void published_plan_free(PublishedPlan *plan);
/* Is the suite in this folder one of --like? */
bool published_plan_is_in(const char *folder);

/* Accepts what a suite of --like writes. ST_USAGE names the file and the argument. */
Status published_plan_check_arguments(const char *device, const char *sizes, const char *file);

/* Atomic. */
Status published_plan_write(const PublishedPlan *plan);
