/* A suite: its parts, what each runs, and how far they are. What DIR/suite.json holds. */
#ifndef CLI_SUITE_SUITE_H
#define CLI_SUITE_SUITE_H

#include "cli/command.h"

#include <jansson.h>
#include <limits.h>

typedef enum SuitePartId {
#define PART(id, name, command, share, effort, result, outputs) SUITE_##id,
#include "cli/suite/suite_parts.def"
#undef PART
    SUITE_PARTS
} SuitePartId;

typedef struct SuitePartInfo {
    const char *name;
    const Command *command;
    double share, effort;
    const char *result;  /* file in the folder that the page is made of */
    const char *outputs; /* words; %s is the folder */
} SuitePartInfo;

extern const SuitePartInfo suite_part_info[SUITE_PARTS];

/* Only DONE need not run again. INCOMPLETE: it ran to its end, but cells of it were cut short. GIVEN_UP: it took more of
 * the budget than the suite has for it. */
typedef enum SuiteState {
    SUITE_WAITING,
    SUITE_DONE,
    SUITE_FAILED,
    SUITE_INCOMPLETE,
    SUITE_TIMED_OUT,
    SUITE_STATES
} SuiteState;

enum { SUITE_ARGS_SIZE = 1024, SUITE_TEXT_SIZE = 512, SUITE_MAX_ARGS = 128 };

typedef struct SuitePart {
    char words[SUITE_ARGS_SIZE]; /* of its command line, blanks between; not where its results go */
    double expected;             /* seconds */
    double seconds;              /* it took */
    SuiteState state;
    int cut;                       /* cells that were cut short, in an INCOMPLETE one */
    char message[SUITE_TEXT_SIZE]; /* why it is not done */
} SuitePart;

typedef struct Suite {
    const char *folder;            /* borrowed */
    char command[SUITE_ARGS_SIZE]; /* that began it, for the page; "": it was too long */
    double budget;                 /* seconds; INFINITY with --full */
    /* The user's model for a sweep and for a study of one cell; empty: the suite's own choice. */
    char model[SUITE_TEXT_SIZE], first[SUITE_TEXT_SIZE];
    char device[SUITE_TEXT_SIZE]; /* words that every part gets: device, threads */
    char cells[SUITE_TEXT_SIZE];  /* and every part but limits: memory limit, time-out */
    bool planned;                 /* the words of all parts are settled */
    SuitePart parts[SUITE_PARTS];
} Suite;

/* What the command line asks for; nothing is planned yet. */
Status suite_make(Suite *suite, const Settings *settings, const Sweep *sweep, const char *folder);
/* ST_USAGE: no suite is there, or it cannot be read. */
Status suite_read(Suite *suite, const char *folder);
/* Whole or not at all: after a kill it is as it was before or after a part. */
Status suite_write(const Suite *suite);
/* folder/name */
Status suite_path(const Suite *suite, const char *name, char path[PATH_MAX]);

/* Removes the temporary files that a killed part left. */
void suite_remove_temporaries(const char *folder);

/* ST_USAGE: something in it leads to a file elsewhere, or is no file: whoever made the folder, a suite writes only there. */
Status suite_check_folder(const char *folder);

/* folder/suite.json of whatever kind of suite. The caller releases *root. ST_USAGE: none is there, or it cannot be
 * read. */
bool suite_is_in(const char *folder);
Status suite_read_state(const char *folder, json_t **root);
/* Whole or not at all; NULL is what no memory leaves of it. */
Status suite_write_state(const char *folder, const json_t *root);
/* The failure to understand it. */
Status suite_other_version(const char *folder);

/* The command line of a part, where its results go included. */
typedef struct SuiteArgs {
    Text text; /* the words, a zero byte after each */
    char *argv[SUITE_MAX_ARGS + 1];
    int n;
} SuiteArgs;

Status suite_args_make(SuiteArgs *args, const Suite *suite, SuitePartId id);
void suite_args_free(SuiteArgs *args);
/* For a shell. */
void suite_args_show(Text *out, const SuiteArgs *args);

#endif
