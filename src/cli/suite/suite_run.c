#include "backend/cpu_places.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/human.h"
#include "base/log.h"
#include "bench/cell/progress.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/limits_json.h"
#include "bench/limits/limits_links.h"
#include "bench/limits/placement.h"
#include "bench/measure/child.h"
#include "bench/measure/interrupt.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/suite/suite.h"
#include "cli/suite/suite_arguments.h"
#include "cli/suite/suite_output.h"
#include "cli/suite/suite_ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double usual_limits = 25; /* seconds that measuring them takes */
/* A part times out after this many seconds plus three times its expected time at the pace of the parts
 * before it. */
static const double grace_seconds = 60;

typedef struct Run {
    Suite *suite;
    SuitePartId id;
    Progress progress;
    double before;  /* expected seconds of the finished parts, */
    double took;    /* and the seconds they took */
    double started; /* the current part */
    char line[96];  /* that it printed last */
    Text told;      /* lines of parts that are not repeated */
} Run;

/* ---- how long is left ---- */

static double expected(const Suite *suite, int id)
{
    return id == SUITE_LIMITS ? usual_limits : suite->parts[id].expected;
}

/* Expected seconds of the parts still to run, from this one on; the budget before anything is planned. */
static double left_from(const Suite *suite, int id)
{
    double seconds = 0;
    for (int i = id; i < SUITE_PARTS; i++) {
        if (!suite_part_is_over(&suite->parts[i])) seconds += expected(suite, i);
    }
    return suite->planned || isinf(suite->budget) ? seconds : fmax(seconds, suite->budget);
}

/* How much longer than expected the parts so far took, at least 1: the limits may have been measured on
 * an idle machine and the rest not. */
static double slowdown(const Suite *suite)
{
    double took = 0, wanted = 0;
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) {
        if (suite->parts[id].state == SUITE_WAITING || suite->parts[id].state == SUITE_SKIPPED)
            continue;
        took += suite->parts[id].seconds;
        wanted += suite->parts[id].expected;
    }
    return wanted > 0 ? fmax(1, took / wanted) : 1;
}

/* Progress counts expected seconds; the current part stops at 95 % of its own. */
static void update_progress(Run *run, double now)
{
    const double most = 0.95 * expected(run->suite, (int)run->id);
    const double elapsed = now - run->started;
    Progress *p = &run->progress;
    p->finished = run->before + fmin(elapsed, most);
    p->finished_for = run->took + elapsed;
    snprintf(p->label, sizeof p->label, "%s%s%s", suite_parts_info[run->id].name,
             *run->line ? " | " : "", run->line);
}

static void tick(void *self)
{
    Run *run = self;
    const double now = clock_seconds();
    update_progress(run, now);
    progress_draw(&run->progress, NULL, now);
}

/* Every part has the same model. */
static bool is_repeated(Run *run, const char *line)
{
    if (!strstr(line, command_dropout)) return false;
    if (run->told.n > 0 && strstr(text_str(&run->told), line)) return true;
    text_printf(&run->told, "%s\n", line);
    return false;
}

static void printed(void *self, const char *line)
{
    Run *run = self;
    if (is_repeated(run, line)) return;
    CLEANUP(text_free) Text text = {0};
    text_printf(&text, "  %s", line);
    if (text_status(&text) == ST_OK) progress_line(&run->progress, text_str(&text));
    snprintf(run->line, sizeof run->line, "%s", line);
}

static void announce(Run *run, const SuiteCommand *command)
{
    CLEANUP(text_free) Text text = {0};
    if (run->progress.quiet) return;
    text_printf(&text, "[%d/%d] ", (int)run->id + 1, SUITE_PARTS);
    suite_parts_put_command(&text, command);
    text_printf(&text, "  (about %s; %s left)", human_eta(expected(run->suite, (int)run->id)).s,
                human_eta(left_from(run->suite, (int)run->id)).s);
    if (text_status(&text) == ST_OK) progress_line(&run->progress, text_str(&text));
}

/* ---- one part ---- */

static int exec_part(void *arg, int out)
{
    char **argv = arg;
    (void)out;
    cpu_places_unbind();
    log_set_mode(LOG_PART);
    execv("/proc/self/exe", argv);
    log_error("cannot start /proc/self/exe: %s; is /proc mounted?", strerror(errno));
    return EXIT_FAILED;
}

/* Keeps as much of it as fits. */
static void put_message(SuitePart *part, const char *text)
{
    snprintf(part->message, sizeof part->message, "%s", text);
    escape_trim(part->message);
}

/* Some cells were not measured: the part is done if all of them do not fit by their plan. */
static void judge_cells(const Suite *suite, SuitePartId id, SuitePart *part)
{
    char path[PATH_MAX];
    ResultInput file;
    SuiteCells cells = {0};
    CLEANUP(text_free) Text text = {0};
    if (output_path(suite->folder, suite_parts_info[id].result, path) != ST_OK) return;
    const Status status = result_input_read(&file, path);
    if (status == ST_OK) suite_output_count(&cells, &file);
    result_input_free(&file);
    part->cut = cells.cut;
    part->state = status != ST_OK ? SUITE_FAILED : cells.cut > 0 ? SUITE_INCOMPLETE : SUITE_DONE;
    if (status != ST_OK) text_puts(&text, status_message());
    if (cells.cut > 0) suite_output_put_cut(&text, &cells);
    put_message(part, text_str(&text));
}

/* The exit status decides; the last line it printed is the message. */
static void judge(const Suite *suite, SuitePartId id, SuitePart *part, const ChildResult *end)
{
    const bool whole = end->end == CHILD_RETURNED && end->code == 0;
    part->state = whole ? SUITE_DONE : end->end == CHILD_TIMED_OUT ? SUITE_TIMED_OUT : SUITE_FAILED;
    part->cut = 0;
    put_message(part, end->text);
    if (end->end == CHILD_TIMED_OUT)
        snprintf(part->message, sizeof part->message,
                 "%.200s: more than three times its share of --budget plus a minute", end->text);
    if (end->end == CHILD_RETURNED && end->code == EXIT_CELLS) judge_cells(suite, id, part);
}

/* Says it at once: the page may be minutes away. */
static void report_failure(Run *run)
{
    const SuitePart *part = &run->suite->parts[run->id];
    CLEANUP(text_free) Text text = {0};
    if (part->state != SUITE_FAILED && part->state != SUITE_TIMED_OUT) return;
    text_printf(&text, "  %s %s: %s; continuing with the next part", suite_parts_info[run->id].name,
                part->state == SUITE_FAILED ? "failed" : "timed out", part->message);
    if (text_status(&text) == ST_OK) progress_line(&run->progress, text_str(&text));
}

/* Limits may be stored already and take no time: they say nothing about the pace of the other parts. */
static void account(Run *run, double seconds)
{
    if (run->id == SUITE_LIMITS) {
        run->progress.total -= usual_limits;
        return;
    }
    run->before += expected(run->suite, (int)run->id);
    run->took += seconds;
}

static Status run_part(Run *run)
{
    SuitePart *part = &run->suite->parts[run->id];
    CLEANUP(text_free) Text text = {0};
    SuiteCommand command;
    ChildResult end;
    TRY(suite_parts_command(&command, &text, run->id, part->args, run->suite->folder));
    const double usual = slowdown(run->suite) * expected(run->suite, (int)run->id);
    const bool bounded = !isinf(run->suite->budget);
    const ChildTask task = {.body = exec_part,
                            .arg = command.argv,
                            .timeout = bounded ? grace_seconds + 3 * usual : 0,
                            .self = run,
                            .printed = printed,
                            .tick = tick};
    announce(run, &command);
    run->started = clock_seconds();
    run->line[0] = '\0';
    TRY(child_run(&task, &end));
    part->seconds = clock_seconds() - run->started;
    account(run, part->seconds);
    if (end.end != CHILD_RETURNED) suite_remove_temporaries(run->suite->folder);
    if (end.end == CHILD_INTERRUPTED) return ST_OK;
    judge(run->suite, run->id, part, &end);
    report_failure(run);
    return suite_write(run->suite);
}

/* ---- all of them ---- */

static bool read_limits(const Suite *suite, Limits *limits)
{
    char path[PATH_MAX];
    return output_path(suite->folder, "limits.json", path) == ST_OK &&
           limits_json_read_file(limits, path) == ST_OK;
}

static bool limits_are_stored(const Limits *limits)
{
    Limits stored;
    LimitsKey key = limits->key;
    *key.mpi = '\0'; /* links are stored apart */
    return limits_cache_load(&key, &stored);
}

/* Limits of a busy machine are not stored for later, but this suite's rows are measured under the same
 * load: the parts find them in a cache in the folder. */
static void store_limits_in_folder(const Suite *suite)
{
    Limits limits;
    char folder[PATH_MAX], path[PATH_MAX + 8];
    if (!read_limits(suite, &limits) || limits_are_stored(&limits)) return;
    if (!realpath(suite->folder, folder)) return;
    snprintf(path, sizeof path, "%s/cache", folder);
    if (setenv("XDG_CACHE_HOME", path, 1) != 0) return;
    if (limits_are_stored(&limits)) return; /* resumed */
    if (limits_links_store_both(&limits) != ST_OK)
        log_warning("cannot store the limits; '%% of limit' will be missing: %s", status_message());
}

/* A GPU may lack 8-bit products. */
static Status skip_fp8(Suite *suite)
{
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    Placement placement;
    TRY(suite_arguments_parse(suite->device, &cmd_bench.options, &settings, &sweep));
    Config c = sweep.configs[0];
    c.precision = PRECISION_FP8;
    c.fp8_recipe = FP8_RECIPE_DELAYED;
    const Status status = placement_of(&c, &placement);
    if (status == ST_UNSUPPORTED) suite_plan_skip(suite, SUITE_FP8, status_message());
    return status == ST_UNSUPPORTED ? ST_OK : status;
}

static Status plan_within(Suite *suite, const Limits *limits, double seconds)
{
    const TimeEstimateRates rates = time_estimate_rates(limits);
    SuiteRanks ranks;
    TRY(suite_ranks_find(&ranks, suite, rates.gpu));
    if (rates.gpu) TRY(skip_fp8(suite));
    return suite_plan(suite, &rates, &ranks, seconds);
}

static Status plan(Suite *suite)
{
    Limits limits;
    const bool known = read_limits(suite, &limits);
    return plan_within(suite, known ? &limits : NULL,
                       suite->budget - suite->parts[SUITE_LIMITS].seconds);
}

/* Finds the limits that the part would find, for the device and the threads of its own arguments. */
static bool stored_limits(const Suite *suite, Limits *limits)
{
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    return suite_arguments_parse(suite->parts[SUITE_LIMITS].args, &cmd_limits.options, &settings,
                                 &sweep) == ST_OK &&
           limits_cache_find(&sweep.configs[0], limits);
}

Status suite_run_preview(Suite *suite, bool *known)
{
    Limits limits;
    *known = read_limits(suite, &limits) || stored_limits(suite, &limits);
    if (suite->planned) return ST_OK;
    const double before = *known ? suite->parts[SUITE_LIMITS].seconds : usual_limits;
    return plan_within(suite, *known ? &limits : NULL, suite->budget - before);
}

double suite_run_expected(const Suite *suite, SuitePartId id, bool stored)
{
    return id == SUITE_LIMITS && stored ? 0 : expected(suite, (int)id);
}

static void tell_skipped(Run *run)
{
    CLEANUP(text_free) Text text = {0};
    if (run->progress.quiet) return;
    text_printf(&text, "[%d/%d] %s: skipped: %s", (int)run->id + 1, SUITE_PARTS,
                suite_parts_info[run->id].name, run->suite->parts[run->id].message);
    if (text_status(&text) == ST_OK) progress_line(&run->progress, text_str(&text));
}

static Status run_parts(Run *run)
{
    Suite *suite = run->suite;
    const bool resumed = suite->planned;
    for (int id = 0; id < SUITE_PARTS && !interrupt_signal(); id++) {
        if (id > SUITE_LIMITS && !suite->planned) {
            TRY(plan(suite));
            TRY(suite_write(suite));
            run->progress.total = left_from(suite, id);
            progress_trust_weights(&run->progress);
        }
        if (id == SUITE_LIMITS + 1) store_limits_in_folder(suite);
        run->id = (SuitePartId)id;
        run->progress.index = id + 1;
        if (suite->parts[id].state == SUITE_SKIPPED && !resumed) tell_skipped(run);
        if (!suite_part_is_over(&suite->parts[id])) TRY(run_part(run));
    }
    return ST_OK;
}

Status suite_run(Suite *suite, int *signal)
{
    Run run = {.suite = suite};
    progress_begin(&run.progress, SUITE_PARTS, left_from(suite, 0));
    progress_trust_weights(&run.progress);
    interrupt_begin();
    const Status status = run_parts(&run);
    *signal = interrupt_signal();
    interrupt_end();
    progress_end(&run.progress);
    text_free(&run.told);
    return status;
}
