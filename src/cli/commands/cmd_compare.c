/* roofstep compare: two result files, cell by cell. */
#include "base/log.h"
#include "bench/record/record_file.h"
#include "cli/command.h"
#include "cli/output.h"
#include "report/study/comparison_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static Status read_file(RecordSet *set, const char *path)
{
    bool torn = false;
    TRY(record_set_init(set, NULL));
    TRY(record_file_read(set, path, &torn));
    if (torn) log_warning("%s: ignoring its truncated last line", path);
    return ST_OK;
}

/* Appends a line of the Markdown table; a verdict in its last cell is green (faster) or red (slower). */
static void put_coloured(Text *out, const char *line, size_t n)
{
    enum { LENGTH = sizeof "| faster" - 1 };
    size_t end = n;
    while (end > 0 && strchr("| \n", line[end - 1])) end--;
    const char *verdict = end >= LENGTH && line[0] == '|' ? line + end - LENGTH : "";
    const char *colour = strncmp(verdict, "| faster", LENGTH) == 0   ? "\033[32m"
                         : strncmp(verdict, "| slower", LENGTH) == 0 ? "\033[31m"
                                                                     : NULL;
    if (colour) {
        text_append(out, line, end - LENGTH + 2);
        text_printf(out, "%s%.*s\033[0m", colour, LENGTH - 2, verdict + 2);
        line += end;
        n -= end;
    }
    text_append(out, line, n);
}

static Status print(const Settings *settings, const Text *text)
{
    const bool plain = settings->out || strcmp(settings->format, "md") != 0;
    if (plain || !log_colour_on(STDOUT_FILENO)) return output_text(settings, text);
    CLEANUP(text_free) Text coloured = {0};
    for (const char *line = text_str(text); *line;) {
        const size_t n = strcspn(line, "\n") + 1;
        put_coloured(&coloured, line, line[n - 1] ? n : n - 1);
        line += line[n - 1] ? n : n - 1;
    }
    TRY(text_status(&coloured));
    fputs(text_str(&coloured), stdout); /* the table holds no other colours */
    return ST_OK;
}

/* Says what the exit code means. */
static int judge(const Comparison *comparison, double fail_above)
{
    const int slower = comparison_regressions(comparison, fail_above);
    const int lost = comparison_lost(comparison);
    if (isinf(fail_above)) return 0;
    if (lost + (int)comparison->n_only_a > 0)
        log_warning(
            "--fail-above does not count what was measured in A but not in B: %d %s, %zu whole %s",
            lost, lost == 1 ? "phase" : "phases", comparison->n_only_a,
            comparison->n_only_a == 1 ? "cell" : "cells");
    if (slower > 0)
        log_warning("%d %s slower by more than %g %%", slower,
                    slower == 1 ? "phase is" : "phases are", 100 * fail_above);
    return slower > 0 ? EXIT_REGRESSION : 0;
}

static Status compare(const Settings *settings, const RecordSet *a, const RecordSet *b,
                      int *exit_code)
{
    CLEANUP(text_free) Text text = {0};
    CLEANUP(comparison_free) Comparison comparison = {0};
    const ComparisonReport report = {&comparison, a, b, settings->args[0], settings->args[1]};
    TRY(comparison_make(&comparison, a, b));
    if (comparison.n_cells == 0)
        return FAIL(ST_USAGE,
                    "%s and %s have no cell in common: compare runs of the same cells with the "
                    "same --steps and --warmup",
                    settings->args[0], settings->args[1]);
    TRY(comparison_report_write(&text, settings->format, &report));
    TRY(print(settings, &text));
    *exit_code = judge(&comparison, settings->fail_above);
    return ST_OK;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)sweep;
    CLEANUP(record_set_free) RecordSet a = {0};
    CLEANUP(record_set_free) RecordSet b = {0};
    if (settings->n_args != 2)
        return FAIL(ST_USAGE, "needs two result files, not %d: roofstep compare A.json B.json",
                    settings->n_args);
    TRY(read_file(&a, settings->args[0]));
    TRY(read_file(&b, settings->args[1]));
    return compare(settings, &a, &b, exit_code);
}

static const char help[] =
    "Compares the cells that both result files have (json or jsonl, also .gz). Prints for each\n"
    "phase both medians, the change from A to B in %, its 95 % interval (Hodges-Lehmann), the\n"
    "p-value (Mann-Whitney) and a verdict:\n"
    "  faster, slower  p is at most 0.05 and the change is 1 % or more\n"
    "  same            the interval is within 1 %\n"
    "  unsure          neither: measure with more --steps\n"
    "Differences between the machines, builds, libraries and threads come first.\n"
    "\n"
    "  roofstep compare before.json after.json\n"
    "  roofstep compare before.json after.json --fail-above 3%\n"
    "  roofstep compare before.json after.json --out changes.csv\n";

const Command cmd_compare = {
    .name = "compare",
    .summary = "two result files: change, interval, verdict, exit 3 on a regression",
    .help = help,
    .options = {.taken = OPTION_LIST(OPTION_FAIL_ABOVE, OPTIONS_OUTPUT),
                .args = "A.json B.json",
                .formats = REPORT_STUDY_FORMATS},
    .run = run,
};
