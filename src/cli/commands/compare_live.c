#include "cli/commands/compare_live.h"

#include "base/log.h"
#include "bench/record/comparison_gate.h"
#include "cli/command.h"
#include "cli/live/live_conditions.h"
#include "cli/live/live_judge.h"
#include "cli/live/live_report.h"
#include "cli/live/live_run.h"
#include "cli/live/live_start.h"
#include "cli/output.h"

#include <math.h>
#include <stdlib.h>

/* What is no more is the same unless --fail-above says otherwise. */
static const double usual_margin = 0.03;

static Status read_task(LiveTask *task, const Settings *settings, const Sweep *sweep)
{
    const bool limited = !isinf(settings->fail_above);
    *task = (LiveTask){.phase_list = settings->phase ? settings->phase : "step",
                       .stat = sweep->configs[0].stat,
                       .margin =
                           limited ? fmax(settings->fail_above, COMPARISON_NOTICED) : usual_margin,
                       .fail_above = limited ? settings->fail_above : 0,
                       .budget = settings->budget};
    return comparison_gate_read_phases(task->phase_list, task->wanted);
}

static Status read_sides(Live *live, const Settings *settings)
{
    const int n = settings->n_args, named = settings->dashes >= 0 ? settings->dashes : n;
    if (named != LIVE_SIDES)
        return FAIL(
            ST_USAGE,
            "--live needs two programs or commands, not %d: roofstep compare --live OLD NEW "
            "-- bench --size tiny",
            named);
    for (int side = 0; side < LIVE_SIDES; side++)
        TRY(live_start_init(&live->sides[side], live_side_names[side], settings->args[side],
                            settings->args + LIVE_SIDES, n - LIVE_SIDES));
    return ST_OK;
}

static void free_live(Live **live)
{
    if (!*live) return;
    live_run_free(*live);
    free(*live);
}

static int exit_code_of(const Live *live)
{
    if (live->signal) return EXIT_INTERRUPTED;
    const ComparisonVerdict verdict = live_judge_verdict(live);
    if (verdict == COMPARISON_UNSURE) return EXIT_UNSURE;
    size_t cell;
    int phase;
    const bool changed = live_judge_worst(live, &cell, &phase);
    return changed && live->cells[cell].phases[phase].regression ? EXIT_REGRESSION : EXIT_DONE;
}

/* Why it may be unsure. */
static void tell_busy(const Live *live)
{
    const RecordSet *rows = &live->sides[LIVE_OLD].rows;
    const json_t *environment = record_set_environment(rows, record_set_at(rows, 0));
    const double load = live_conditions_median(&live->sides[LIVE_OLD], LIVE_LOAD);
    int64_t processors;
    if (live_judge_verdict(live) != COMPARISON_UNSURE) return;
    if (!record_int(environment, "usable_processors", &processors)) return;
    if (load > (double)processors)
        log_note("the load average was %.1f on %d %s: beside fewer other programs it is sure "
                 "sooner",
                 load, (int)processors, processors == 1 ? "processor" : "processors");
}

Status compare_live(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    CLEANUP(text_free) Text text = {0};
    CLEANUP(text_free) Text summary = {0};
    CLEANUP(free_live) Live *live = calloc(1, sizeof *live);
    if (!live) return NO_MEMORY("for a comparison");
    TRY(read_task(&live->task, settings, sweep));
    TRY(read_sides(live, settings));
    TRY(output_check_file(settings));
    TRY(live_run(live));
    TRY(live_report_write(&text, settings->format, live));
    TRY(output_text(settings, &text));
    live_report_put_summary(&summary, live);
    tell_busy(live);
    log_note("%s", text_str(&summary));
    *exit_code = exit_code_of(live);
    return ST_OK;
}
