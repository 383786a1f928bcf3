#include "cli/collective_launch.h"

#include "cli/command.h"

#include <string.h>

/* Found by its name: the command uses this file, too. */
RankLaunch collective_launch(const Settings *settings)
{
    RankLaunch launch = {.launcher = settings->launcher, .hosts = settings->hosts};
    const Command *const *command = command_list;
    while (*command && strcmp((*command)->name, "collective") != 0) command++;
    launch.command = *command ? (*command)->name : "collective";
    launch.options = *command ? &(*command)->options : NULL;
    return launch;
}
