/* What the program says about itself. */
#ifndef CLI_HELP_H
#define CLI_HELP_H

#include "cli/command.h"

void help_program(Text *out);
void help_command(Text *out, const Command *command);
void help_version(Text *out);
/* The manual page (man) or what a shell completes (bash, zsh); false: no such file. */
bool help_file(Text *out, const char *name);

#endif
