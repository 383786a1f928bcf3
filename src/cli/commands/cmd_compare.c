/* roofstep compare: two result files, cell by cell. */
#include "base/human.h"
#include "base/log.h"
#include "bench/record/comparison_gate.h"
#include "bench/record/key_difference.h"
#include "cli/command.h"
#include "cli/commands/compare_input.h"
#include "cli/commands/compare_live.h"
#include "cli/output.h"
#include "report/study/comparison_worst.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
static int judge(const Settings *settings, const ComparisonReport *report)
{
    const Comparison *comparison = report->comparison;
    const ComparisonGate gate = comparison_gate_make(comparison, settings->fail_above);
    const size_t lost = comparison->n_only_a + (size_t)gate.lost;
    CLEANUP(text_free) Text worst = {0};
    if (isinf(settings->fail_above) && !settings->fail_unsure) return 0;
    if (lost > 0)
        log_warning("%s what was measured in A but not in B: %d %s, %zu whole %s",
                    settings->fail_unsure ? "unsure:" : "--fail-above does not count", gate.lost,
                    gate.lost == 1 ? "phase" : "phases", comparison->n_only_a,
                    comparison->n_only_a == 1 ? "cell" : "cells");
    if (gate.slower > 0)
        log_warning("%d %s slower by more than %g %%", gate.slower,
                    gate.slower == 1 ? "phase is" : "phases are", 100 * settings->fail_above);
    comparison_worst_put(&worst, report);
    if (worst.n > 0) log_note("%s", text_str(&worst));
    if (gate.slower > 0) return EXIT_REGRESSION;
    if (!settings->fail_unsure || gate.unsure + (int)lost == 0) return 0;
    if (gate.unsure > 0)
        log_warning("%d %s unsure: measure more --steps, or several runs a side", gate.unsure,
                    gate.unsure == 1 ? "phase is" : "phases are");
    return EXIT_UNSURE;
}

/* Says which options keep the cells apart. */
static Status nothing_in_common(const CompareInput *a, const CompareInput *b)
{
    const Record *of_a, *of_b;
    CLEANUP(text_free) Text differ = {0};
    if (!key_difference_nearest(&a->rows, &b->rows, &of_a, &of_b))
        return FAIL(ST_USAGE, "%s and %s have no cell in common: one of them has no cell", a->path,
                    b->path);
    key_difference_put(&differ, record_key(of_a), record_key(of_b));
    return FAIL(ST_USAGE,
                "%s and %s have no cell in common; the nearest two differ in %s: compare runs of "
                "the same cells",
                a->path, b->path, text_str(&differ));
}

static Status compare(const Settings *settings, const CompareInput *a, const CompareInput *b,
                      int *exit_code)
{
    CLEANUP(text_free) Text text = {0};
    CLEANUP(comparison_free) Comparison comparison = {0};
    const ComparisonReport report = {&comparison, &a->rows, &b->rows, a->path, b->path};
    TRY(comparison_make(&comparison, &a->rows, &b->rows));
    if (comparison.n_cells == 0) return nothing_in_common(a, b);
    if (settings->phase) TRY(comparison_gate_select(&comparison, settings->phase));
    TRY(comparison_report_write(&text, settings->format, &report));
    TRY(print(settings, &text));
    *exit_code = judge(settings, &report);
    return ST_OK;
}

/* "A B", or "A1 A2 -- B1 B2". */
static Status find_sides(const Settings *settings, int *n_a)
{
    const int n = settings->n_args, dashes = settings->dashes;
    *n_a = dashes > 0 ? dashes : 1;
    for (int i = dashes; dashes >= 0 && i < n; i++) {
        if (strncmp(settings->args[i], "--", 2) == 0)
            return FAIL(ST_USAGE, "%s stands behind --, where files are: options come before it",
                        human_plain(settings->args[i]).s);
    }
    if (dashes > 0 && dashes < n) return ST_OK;
    if (n == 2) return ST_OK;
    return FAIL(
        ST_USAGE,
        "needs two result files or folders, not %d: roofstep compare A.json B.json; several "
        "files a side have -- between: compare A1.json A2.json -- B1.json B2.json",
        n);
}

static void tell_starts(const char *name, const CompareInput *input)
{
    if (input->starts > 1)
        log_note("%s: %d files; each of up to %d starts of a cell counts as one sample, its median",
                 name, input->files, input->starts);
}

static Status refuse_live_options(const Settings *settings)
{
    static const OptionId live_only[] = {OPTION_BUDGET, OPTION_STAT};
    for (size_t i = 0; i < sizeof live_only / sizeof *live_only; i++) {
        if (settings->given[live_only[i]])
            return FAIL(ST_USAGE, "--%s is for compare --live: files have their samples",
                        option_table[live_only[i]].name);
    }
    return ST_OK;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    int n_a;
    if (settings->live) return compare_live(settings, sweep, exit_code);
    TRY(refuse_live_options(settings));
    CLEANUP(compare_input_free) CompareInput a = {0};
    CLEANUP(compare_input_free) CompareInput b = {0};
    TRY(find_sides(settings, &n_a));
    TRY(compare_input_read(&a, settings->args, n_a));
    TRY(compare_input_read(&b, settings->args + n_a, settings->n_args - n_a));
    tell_starts("A", &a);
    tell_starts("B", &b);
    return compare(settings, &a, &b, exit_code);
}

static const char help[] =
    "Compares the cells that both result files have (json or jsonl, also .gz; of a folder all\n"
    "its result files; several files a side with -- between). Where a side has several starts\n"
    "of a cell, each start counts as one sample: its median. Prints for each phase both\n"
    "medians, the change from A to B in %, its 95 % interval (Hodges-Lehmann), the p-value\n"
    "(Mann-Whitney) and a verdict:\n"
    "  faster, slower  p is at most 0.05 and the change is 1 % or more\n"
    "  same            the interval is within 1 %, or the samples are the same ones\n"
    "  unsure          neither: measure with more --steps\n"
    "Differences between the machines, builds, libraries and threads come first.\n"
    "\n"
    "  roofstep compare before.json after.json\n"
    "  roofstep compare before.json after.json --fail-above 3%\n"
    "  roofstep compare before.json after.json --out changes.csv\n"
    "  roofstep compare before after --phase step --fail-unsure  (folders)\n"
    "  roofstep compare old1.json old2.json -- new1.json new2.json\n"
    "\n"
    "--live starts two programs in turn, in random order, with the command after --, or two\n"
    "commands, until the verdict is sure or --budget is over. Looking after every pair of\n"
    "starts is accounted for. same: within --fail-above, or 3 %. Exits with 3 when NEW is\n"
    "slower (by more than --fail-above), 5 when it is not sure. Keep starts short.\n"
    "\n"
    "  roofstep compare --live old/roofstep new/roofstep -- bench --size tiny\n"
    "  roofstep compare --live 'roofstep bench --size tiny --exec eager' \\\n"
    "      'roofstep bench --size tiny' --budget 1m\n";

/* Other programs make steps longer, never shorter. */
static void defaults(Config *config)
{
    config_defaults(config);
    config->stat = STAT_MIN;
}

static const OptionWords words[] = {
    {.id = OPTION_STAT, .help = "of the steps of a start, with --live"},
    {.id = OPTION_BUDGET, .help = "how long --live may take, as 20s; 3m by default"},
};

const Command cmd_compare = {
    .name = "compare",
    .summary =
        "two result files, or two programs live: change, interval, verdict, exit 3 on a regression",
    .help = help,
    .options = {.taken = OPTION_LIST(OPTION_LIVE, OPTION_BUDGET, OPTION_STAT, OPTION_FAIL_ABOVE,
                                     OPTION_FAIL_UNSURE, OPTION_PHASE, OPTIONS_OUTPUT),
                .args = "A B | --live OLD NEW -- COMMAND",
                .defaults = defaults,
                .words = words,
                .n_words = sizeof words / sizeof *words,
                .formats = REPORT_STUDY_FORMATS},
    .run = run,
};
