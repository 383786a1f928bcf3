/* Arguments kept in a file: only options that a suite itself writes are accepted, whoever wrote the file. */
#pragma once

#include "config/sweep.h"

/* What every command of a suite may get, and what those that run cells may. */
#define SUITE_OPTIONS_DEVICE OPTION_DEVICE, OPTION_THREADS
#define SUITE_OPTIONS_CELLS  OPTION_MEMORY_LIMIT, OPTION_TIMEOUT

/* Appends "--device cpu --threads 4": those of `options` that were given, a blank between. */
void suite_arguments_put(Text *out, const OptionId *options, const Settings *settings,
                         const Config *config);

/* Copies the arguments to `to`, which has `size` bytes. ST_USAGE: they are too long. */
Status suite_arguments_keep(const Text *args, char *to, size_t size);
/* Copies what suite_arguments_put() appends. */
Status suite_arguments_keep_given(char *to, size_t size, const OptionId *options,
                                  const Settings *settings, const Config *config);

/* Do these arguments name the option? */
bool suite_arguments_name(const char *args, OptionId id);
/* As sweep_parse(), of arguments with blanks between. The texts of `settings` are not kept. */
Status suite_arguments_parse(const char *args, const OptionSet *set, Settings *settings,
                             Sweep *sweep);
/* Accepts `allowed` options with good values. ST_USAGE names the file, the field and the argument. */
Status suite_arguments_check(const char *args, const OptionSet *set, const OptionId *allowed,
                             const char *file, const char *field);
/* Accepts "small,medium,": names of sizes, a comma after each. */
Status suite_arguments_check_sizes(const char *sizes, const char *file);
