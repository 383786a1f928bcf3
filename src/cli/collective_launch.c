#include "cli/collective_launch.h"

#include "cli/command.h"

RankLaunch collective_launch(const Settings *settings)
{
    return (RankLaunch){.command = cmd_collective.name,
                        .options = &cmd_collective.options,
                        .launcher = settings->launcher,
                        .hosts = settings->hosts};
}
