/* A suite: its parts, their workloads, and their state as DIR/suite.json holds it. */
#pragma once

#include "bench/estimate/time_estimate.h"
#include "cli/command.h"

#include <jansson.h>

/* ---- the parts: the command and the files of each, and the workloads it may run ---- */

typedef enum SuitePartId {
#define PART(id, name, command, share, effort, result, outputs) SUITE_##id,
#include "cli/suite/suite_parts.def"
    SUITE_PARTS
} SuitePartId;

typedef struct SuitePartInfo {
    const char *name;
    const Command *command;
    double share, effort;
    const char *result;  /* the file in the folder that the page reads */
    const char *outputs; /* arguments; %s is the folder */
} SuitePartInfo;

/* A workload for some devices, as arguments; a user's model replaces `model`. */
typedef struct SuiteWorkload {
    SuitePartId part;
    enum { SUITE_ON_CPU = 1, SUITE_ON_GPU = 2, SUITE_ON_ANY = 3 } on;
    const char *model, *rest;
} SuiteWorkload;

extern const SuitePartInfo suite_parts_info[SUITE_PARTS];
extern const SuiteWorkload suite_parts_workloads[]; /* of each part the largest first */
extern const int suite_parts_n_workloads;

/* The options that the arguments of a part may use: those of its workloads, the model, device and limits. */
void suite_parts_options(SuitePartId part, OptionId list[OPTION_COUNT + 1]);

/* The command line of a part, including where its results go. */
enum { SUITE_MAX_ARGS = 128 };
typedef struct SuiteCommand {
    char *argv[SUITE_MAX_ARGS + 1];
    int n;
} SuiteCommand;

/* Puts the arguments into the empty text, a zero byte after each. */
Status suite_parts_command(SuiteCommand *command, Text *text, SuitePartId id, const char *args,
                           const char *folder);
/* Appends it as a shell would read it. */
void suite_parts_put_command(Text *out, const SuiteCommand *command);

/* ---- the state ---- */

/* --resume runs every part again that is neither DONE nor SKIPPED. INCOMPLETE: the part ended, but some of
 * its cells were cut short. TIMED_OUT: it took far more than its share of the budget. SKIPPED: this machine
 * cannot run it, which is no failure. */
typedef enum SuiteState {
    SUITE_WAITING,
    SUITE_DONE,
    SUITE_FAILED,
    SUITE_INCOMPLETE,
    SUITE_TIMED_OUT,
    SUITE_SKIPPED,
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
    ModelHash hash; /* of --model; "": none was given, or an older program kept none */
    char device[SUITE_TEXT_SIZE]; /* arguments of every part: device, threads */
    char cells[SUITE_TEXT_SIZE];  /* and of every part but limits: memory limit, time-out */
    bool planned;                 /* all parts have their arguments */
    SuitePart parts[SUITE_PARTS];
} Suite;

/* Makes a suite of the command line; nothing is planned yet. */
Status suite_make(Suite *suite, const Settings *settings, const Sweep *sweep, const char *folder);
/* ST_USAGE: the folder holds no suite, one that cannot be read, or one of a model that has changed. */
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

/* ---- choosing the workload of every part: as much as time and memory allow ---- */

/* What ranks have here (cli/suite/suite_ranks.h). */
typedef struct SuiteRanks {
    bool gpu;      /* one each */
    int threads;   /* of each on a CPU */
    char why[256]; /* they cannot run; "": they can */
} SuiteRanks;

/* Fills the arguments and the expected time of every part after limits, and skips those of ranks where they
 * cannot run; `seconds` are left of the budget. */
Status suite_plan(Suite *suite, const TimeEstimateRates *rates, const SuiteRanks *ranks,
                  double seconds);
/* The part cannot run here. Before suite_plan(), whose others then have its time. */
void suite_plan_skip(Suite *suite, SuitePartId id, const char *why);
/* Is there anything to run, now or before? */
bool suite_part_is_over(const SuitePart *part);

/* ---- running, each part in its own process: when one fails, the others still run ---- */

/* Runs the parts that are not done, in order, and writes suite.json after each. The plan is made after
 * limits. *signal is the signal that stopped it, or 0. */
Status suite_run(Suite *suite, int *signal);

/* Plans before the limits are measured: by stored limits, or else by guesses, and `*known` is false. This
 * process can run no part afterwards. */
Status suite_run_preview(Suite *suite, bool *known);
/* Expected seconds of the part; 0 for limits that are `stored`. */
double suite_run_expected(const Suite *suite, SuitePartId id, bool stored);

/* ---- what a finished suite leaves: one page, its tables, all results in one file, a summary ---- */

/* Uses the parts that have results and names the others. Appends to `summary`. *whole: only the suite's
 * own budget or the memory left anything out. */
Status suite_finish(const Suite *suite, const char *command_line, Text *summary, bool *whole);
