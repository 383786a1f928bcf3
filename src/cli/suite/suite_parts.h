/* The parts of a suite: the command and the files of each, and the workloads it may run. */
#pragma once

#include "cli/command.h"

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
    Text text; /* the arguments, a zero byte after each */
    char *argv[SUITE_MAX_ARGS + 1];
    int n;
} SuiteCommand;

/* The caller frees command->text, after a failure too. */
Status suite_parts_command(SuiteCommand *command, SuitePartId id, const char *args,
                           const char *folder);
/* Appends it as a shell would read it. */
void suite_parts_put_command(Text *out, const SuiteCommand *command);
