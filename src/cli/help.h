/* What the program says about itself: --help, --version, the manual page, shell completion. */
#pragma once

#include "cli/command.h"

/* In lines that fit the terminal, from 80 columns on. */
void help_program(Text *out);
void help_command(Text *out, const Command *command);
void help_version(Text *out);
/* Appends the manual page (man) or the completion of a shell (bash, zsh); false: no such file. */
bool help_file(Text *out, const char *name);

/* Each is made from the tables that parse. */
void manual_write(Text *out);
void completion_bash(Text *out);
void completion_zsh(Text *out);
