/* roofstep validate: whether files are whole and consistent. */
#include "base/human.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/validate.h"

#include <string.h>

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)sweep;
    Text text = {0};
    if (settings->n_args == 0) return FAIL(ST_USAGE, "needs a file: roofstep validate FILE...");
    for (int i = 0; i < settings->n_args; i++) {
        ValidateNote note;
        const bool whole = validate_file(settings->args[i], &note) == ST_OK;
        if (!whole) *exit_code = EXIT_FAILED;
        text_printf(&text, "%s: %s%s\n", human_plain(settings->args[i]).s,
                    whole ? "ok: " : "bad: ", whole ? note.s : status_message());
    }
    const Status status = output_text(settings, &text);
    text_free(&text);
    return status;
}

static const char help[] =
    "Reads each file again and checks it: of a result file its fields, and of profiles in it that\n"
    "children add up to their parents; of a trace that slices nest, that calls and kernels pair "
    "and\n"
    "that arrows land; of a CSV of profile its header and its sums. Prints one line per file and "
    "exits\n"
    "with 1 when one is bad.\n\n"
    "  roofstep validate prof/*\n";

const Command cmd_validate = {
    .name = "validate",
    .summary = "whether traces, CSVs and result files are whole and consistent",
    .help = help,
    .options = {.taken = OPTION_BIT(OUT), .args = "FILE...", .formats = "md"},
    .run = run,
};
