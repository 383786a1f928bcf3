#include "base/escape.h"
#include "cli/suite/suite.h"
#include "cli/suite/suite_arguments.h"

#include <string.h>

const SuitePartInfo suite_parts_info[SUITE_PARTS] = {
#define PART(id, name, command, share, effort, result, outputs) \
    {name, &cmd_##command, share, effort, result, outputs},
#include "cli/suite/suite_parts.def"
};

const SuiteWorkload suite_parts_workloads[] = {
#define WORKLOAD(part, on, model, rest) {SUITE_##part, SUITE_ON_##on, model, rest},
#include "cli/suite/suite_workloads.def"
};
const int suite_parts_n_workloads = sizeof suite_parts_workloads / sizeof *suite_parts_workloads;

#define ATTENTION_HEADS OPTION_D_HEAD, OPTION_HEADS, OPTION_KV_HEADS, OPTION_WINDOW

static bool may_use(SuitePartId part, int id)
{
    if (option_in(OPTION_LIST(SUITE_OPTIONS_DEVICE), id)) return true;
    if (part == SUITE_LIMITS) return false;
    if (option_in(OPTION_LIST(SUITE_OPTIONS_CELLS), id)) return true;
    if (part == SUITE_ATTENTION && option_in(OPTION_LIST(ATTENTION_HEADS), id)) return true;
    for (int i = 0; i < suite_parts_n_workloads; i++) {
        const SuiteWorkload *workload = &suite_parts_workloads[i];
        if (workload->part != part) continue;
        if (suite_arguments_name(workload->rest, (OptionId)id)) return true;
        if (*workload->model && option_in(OPTION_LIST(OPTIONS_DIMS), id)) return true;
    }
    return false;
}

void suite_parts_options(SuitePartId part, OptionId list[OPTION_COUNT + 1])
{
    int n = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_in(suite_parts_info[part].command->options.taken, id) && may_use(part, id))
            list[n++] = (OptionId)id;
    }
    list[n] = OPTION_END;
}

/* An argument that starts with %s starts with the folder. */
static void put_args(SuiteCommand *command, Text *text, const char *args, const char *folder)
{
    for (; *(args += strspn(args, " ")) && command->n < SUITE_MAX_ARGS; command->n++) {
        const size_t n = strcspn(args, " "), skip = strncmp(args, "%s", 2) == 0 ? 2 : 0;
        if (skip) text_puts(text, folder);
        text_append(text, args + skip, n - skip);
        text_append(text, "", 1);
        args += n;
    }
}

Status suite_parts_command(SuiteCommand *command, Text *text, SuitePartId id, const char *args,
                           const char *folder)
{
    *command = (SuiteCommand){0};
    put_args(command, text, "roofstep", folder);
    put_args(command, text, suite_parts_info[id].command->name, folder);
    put_args(command, text, args, folder);
    put_args(command, text, suite_parts_info[id].outputs, folder);
    TRY(text_status(text));
    char *at = text->data;
    for (int i = 0; i < command->n; i++, at += strlen(at) + 1) command->argv[i] = at;
    return ST_OK;
}

void suite_parts_put_command(Text *out, const SuiteCommand *command)
{
    for (int i = 0; i < command->n; i++) {
        if (i > 0) text_puts(out, " ");
        escape_shell(out, command->argv[i]);
    }
}
