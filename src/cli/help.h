/* What the program says about itself: --help, --version, the manual page, shell completion. */
#pragma once

#include "cli/command.h"

/* Of the terminal that stdout is, between 80 and 100; elsewhere 100. */
size_t help_columns(void);
/* In lines of at most `columns`. */
void help_program(Text *out, size_t columns);
void help_command(Text *out, const Command *command, size_t columns);
void help_version(Text *out);
/* Appends the manual page (man) or the completion of a shell (bash, zsh); false: no such file. */
bool help_file(Text *out, const char *name);

/* Each is made from the tables that parse. */
void manual_write(Text *out);
void completion_bash(Text *out);
void completion_zsh(Text *out);
