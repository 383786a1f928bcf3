/* Words of a file that become options again: a suite's own and no others, whoever wrote the file. */
#ifndef CLI_SUITE_SUITE_ARGUMENTS_H
#define CLI_SUITE_SUITE_ARGUMENTS_H

#include "config/option.h"

/* What every command of a suite may get, and what those that run cells may. */
#define SUITE_OPTIONS_DEVICE (OPTION_BIT(DEVICE) | OPTION_BIT(THREADS))
#define SUITE_OPTIONS_CELLS  (OPTION_BIT(MEMORY_LIMIT) | OPTION_BIT(TIMEOUT))

/* The options that these words name, each of which the command takes. */
OptionBits suite_arguments_options(const char *words, const OptionSet *set);
/* Each word is one of the `allowed` options or its value, and the values are good. ST_USAGE names the file, which part of
 * it, and the word. */
Status suite_arguments_check(const char *words, const OptionSet *set, OptionBits allowed,
                             const char *file, const char *part);
/* "small,medium,": sizes that there are, a comma after each. */
Status suite_arguments_check_sizes(const char *sizes, const char *file);

#endif
