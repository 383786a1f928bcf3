/* Words of a file that become options again: a suite's own and no others, whoever wrote the file. */
#ifndef CLI_SUITE_SUITE_ARGUMENTS_H
#define CLI_SUITE_SUITE_ARGUMENTS_H

#include "config/option.h"

/* What every command of a suite may get, and what those that run cells may. */
#define SUITE_OPTIONS_DEVICE OPTION_DEVICE, OPTION_THREADS
#define SUITE_OPTIONS_CELLS  OPTION_MEMORY_LIMIT, OPTION_TIMEOUT

/* Do these words name the option? */
bool suite_arguments_name(const char *words, OptionId id);
/* Each word is one of the `allowed` options or its value, and the values are good. ST_USAGE names the file, which part of
 * it, and the word. */
Status suite_arguments_check(const char *words, const OptionSet *set, const OptionId *allowed,
                             const char *file, const char *part);
/* "small,medium,": sizes that there are, a comma after each. */
Status suite_arguments_check_sizes(const char *sizes, const char *file);

#endif
