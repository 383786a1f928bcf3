#include "cli/help.h"

#include "backend/backend.h"
#include "ops/blas_cpu.h"
#include "report/page.h"
#include "report/report.h"
#include "version.h"

#include <jansson.h>

void help_program(Text *out)
{
    text_puts(
        out,
        "usage: roofstep COMMAND [options]\n\n"
        "Runs a real training step of a Transformer language model and says where every\n"
        "millisecond and every megabyte went, and how far each is from the machine's roof.\n\n");
    for (int i = 0; command_list[i]; i++)
        text_printf(out, "  %-10s %s\n", command_list[i]->name, command_list[i]->summary);
    text_puts(
        out,
        "\n"
        "  roofstep COMMAND --help      the command's options\n"
        "  roofstep --version           version, commit, compiler, libraries\n\n"
        "Start with: roofstep bench --size tiny --steps 5\n\n"
        "Exit codes: 0 done, 1 failed, 2 bad usage, 3 compare found a regression, 4 a cell of a\n"
        "sweep ran out of memory or time, was killed or failed, 130 after Ctrl-C.\n");
}

void help_command(Text *out, const Command *command)
{
    const char *args = command->options.args;
    text_printf(out, "usage: roofstep %s%s%s [options]\n\n%s\n", command->name, args ? " " : "",
                args ? args : "", command->summary);
    if (command->help) text_printf(out, "\n%s", command->help);
    option_help(out, &command->options);
}

void help_version(Text *out)
{
    text_printf(out, "roofstep %s\ncommit    %s\ncompiler  %s, %s\nbackends ", ROOFSTEP_VERSION,
                ROOFSTEP_COMMIT, ROOFSTEP_COMPILER, ROOFSTEP_FLAGS);
    for (int id = 0; id < BACKEND_COUNT; id++)
        text_printf(out, " %s", backend_api((BackendId)id)->name);
    text_printf(out, "\nreports   %s%s\n", report_formats, page_is_built() ? "html" : "(no html)");
    text_printf(out, "libraries %s, jansson %s\n", blas_cpu_name(), JANSSON_VERSION);
}
