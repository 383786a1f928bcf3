/* A suite and the state of its parts, as DIR/suite.json holds them. */
#pragma once

#include "cli/suite/suite_parts.h"

#include <jansson.h>
#include <limits.h>

/* --resume runs every part again that is not DONE. INCOMPLETE: the part ended, but some of its cells were
 * cut short. TIMED_OUT: it took far more than its share of the budget. */
typedef enum SuiteState {
    SUITE_WAITING,
    SUITE_DONE,
    SUITE_FAILED,
    SUITE_INCOMPLETE,
    SUITE_TIMED_OUT,
    SUITE_STATES
} SuiteState;

enum { SUITE_ARGS_SIZE = 1024, SUITE_TEXT_SIZE = 512 };

typedef struct SuitePart {
    char args[SUITE_ARGS_SIZE]; /* blanks between; without the names of its result files */
    double expected;            /* seconds */
    double seconds;             /* it took */
    SuiteState state;
    int cut;                       /* cells that were cut short, in an INCOMPLETE one */
    char message[SUITE_TEXT_SIZE]; /* why it is not done */
} SuitePart;

typedef struct Suite {
    const char *folder;            /* borrowed */
    char command[SUITE_ARGS_SIZE]; /* that started it, for the page; "": too long */
    double budget;                 /* seconds; INFINITY with --full */
    /* The user's model for a sweep and for a study of one cell; empty: the suite's own choice. */
    char model[SUITE_TEXT_SIZE], first[SUITE_TEXT_SIZE];
    char device[SUITE_TEXT_SIZE]; /* arguments of every part: device, threads */
    char cells[SUITE_TEXT_SIZE];  /* and of every part but limits: memory limit, time-out */
    bool planned;                 /* all parts have their arguments */
    SuitePart parts[SUITE_PARTS];
} Suite;

/* Makes a suite of the command line; nothing is planned yet. */
Status suite_make(Suite *suite, const Settings *settings, const Sweep *sweep, const char *folder);
/* ST_USAGE: the folder holds no suite, or one that cannot be read. */
Status suite_read(Suite *suite, const char *folder);
/* Atomic: after a kill the file holds the state before or after a part. */
Status suite_write(const Suite *suite);
/* Removes temporary files that a killed part left. */
void suite_remove_temporaries(const char *folder);

/* ST_USAGE: the folder holds a link to elsewhere, or something that is no file. A suite writes only in
 * its folder. */
Status suite_check_folder(const char *folder);

/* folder/suite.json of either kind of suite. The caller releases *root. ST_USAGE: missing or unreadable. */
bool suite_is_in(const char *folder);
Status suite_read_state(const char *folder, json_t **root);
/* Atomic. `root` may be NULL: out of memory. */
Status suite_write_state(const char *folder, const json_t *root);
/* ST_USAGE: the file is of another version. */
Status suite_other_version(const char *folder);
