/* One word of the command line: `roofstep NAME [options]`.
 *
 * cli/cmd_NAME.c defines `const Command cmd_NAME`; cli/commands.def has one line for it. */
#pragma once

#include "bench/measure/rank_process.h"
#include "config/option.h"
#include "config/settings.h"
#include "config/sweep.h"

enum {
#define EXIT_CODE(name, number, meaning) EXIT_##name = number,
#include "cli/exit_codes.def"
};

typedef struct Command {
    const char *name;
    const char *summary; /* one line, for `roofstep --help` */
    const char *help;    /* what it prints and examples, for `roofstep NAME --help`; ends in \n */
    OptionSet options;
    /* Options are parsed, every cell is checked. *exit_code is 0 on entry and counts when ST_OK comes
     * back. */
    Status (*run)(const Settings *settings, const Sweep *sweep, int *exit_code);
    /* What a rank of one of its cells runs (bench/measure/rank_launch.h); NULL: its cells have no ranks. */
    RankCell *rank_cell;
} Command;

#define COMMAND(name) extern const Command cmd_##name;
#include "cli/commands.def"

extern const Command *const command_list[]; /* ended by NULL */
/* The end of the line that tells of it, once for each model of a command; in all parts of a suite, too. */
extern const char command_dropout[];
/* ST_USAGE names the nearest one. */
Status command_find(const char *name, const Command **out);
