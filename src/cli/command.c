#include "cli/command.h"

#include "base/human.h"
#include "base/suggest.h"

#include <string.h>

const char command_dropout[] = "its file asks for dropout, which runs as 0";

const Command *const command_list[] = {
#define COMMAND(name) &cmd_##name,
#include "cli/commands.def"
    NULL,
};

Status command_find(const char *name, const Command **out)
{
    const char *names[sizeof command_list / sizeof *command_list];
    int n = 0;
    for (; command_list[n]; n++) {
        names[n] = command_list[n]->name;
        if (strcmp(name, names[n]) != 0) continue;
        *out = command_list[n];
        return ST_OK;
    }
    if (strcmp(name, "version") == 0 || strcmp(name, "-v") == 0 || strcmp(name, "-V") == 0)
        return FAIL(ST_USAGE, "unknown command %s: did you mean --version?", human_quote(name).s);
    const char *near = suggest_word(name, names, n);
    if (near)
        return FAIL(ST_USAGE, "unknown command %s: did you mean %s?", human_quote(name).s, near);
    return FAIL(ST_USAGE, "unknown command %s; roofstep --help lists them", human_quote(name).s);
}
