#include "cli/suite/suite_run.h"

#include "backend/cpu_places.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/human.h"
#include "base/log.h"
#include "bench/cell/progress.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/limits_json.h"
#include "bench/measure/child.h"
#include "bench/measure/interrupt.h"
#include "cli/suite/suite_cells.h"
#include "cli/suite/suite_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double usual_limits = 25; /* seconds that measuring them takes */
/* A part that takes longer than this on top of three times what is expected at the pace of the parts before it
 * is given up. */
static const double patience = 60;
static const size_t most_bytes = (size_t)1 << 20;

typedef struct Run {
    Suite *suite;
    SuitePartId id;
    Progress progress;
    double before;  /* expected seconds of the parts that are over, */
    double took;    /* and what they took */
    double started; /* the current one */
    char line[96];  /* the last it printed */
} Run;

/* ---- how long is left ---- */

static double expected(const Suite *suite, int id)
{
    return id == SUITE_LIMITS ? usual_limits : suite->parts[id].expected;
}

/* Of what is still to be run from this part on. Before the limits are known nothing is planned but the budget. */
static double left_from(const Suite *suite, int id)
{
    double seconds = 0;
    for (int i = id; i < SUITE_PARTS; i++) {
        if (suite->parts[i].state != SUITE_DONE) seconds += expected(suite, i);
    }
    return suite->planned || isinf(suite->budget) ? seconds : fmax(seconds, suite->budget);
}

/* How many times as long as expected the parts so far took, 1 at least: the limits may have been measured on a
 * quiet machine and the rest not. */
static double pace(const Suite *suite)
{
    double took = 0, wanted = 0;
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) {
        if (suite->parts[id].state == SUITE_WAITING) continue;
        took += suite->parts[id].seconds;
        wanted += suite->parts[id].expected;
    }
    return wanted > 0 ? fmax(1, took / wanted) : 1;
}

/* As the parts so far compare with what was expected of them, the current one included. */
static void move_bar(Run *run, double now)
{
    const double most = 0.95 * expected(run->suite, (int)run->id);
    const double elapsed = now - run->started;
    Progress *p = &run->progress;
    p->finished = run->before + fmin(elapsed, most);
    p->finished_for = run->took + elapsed;
    snprintf(p->label, sizeof p->label, "%s%s%s", suite_part_info[run->id].name,
             *run->line ? " | " : "", run->line);
}

static void tick(void *self)
{
    Run *run = self;
    const double now = clock_seconds();
    move_bar(run, now);
    progress_draw(&run->progress, NULL, now);
}

static void printed(void *self, const char *line)
{
    Run *run = self;
    Text text = {0};
    text_printf(&text, "  %s", line);
    if (text_status(&text) == ST_OK) progress_line(&run->progress, text_str(&text));
    text_free(&text);
    snprintf(run->line, sizeof run->line, "%s", line);
}

static void announce(Run *run, const SuiteArgs *args)
{
    Text text = {0};
    text_printf(&text, "[%d/%d] ", (int)run->id + 1, SUITE_PARTS);
    suite_args_show(&text, args);
    text_printf(&text, "  (%s; %s left)", human_eta(expected(run->suite, (int)run->id)).s,
                human_eta(left_from(run->suite, (int)run->id)).s);
    if (text_status(&text) == ST_OK) progress_line(&run->progress, text_str(&text));
    text_free(&text);
}

/* ---- one part ---- */

static int become(void *arg, int out)
{
    char **argv = arg;
    (void)out;
    cpu_places_unbind();
    execv("/proc/self/exe", argv);
    log_note("cannot start /proc/self/exe: %s; is /proc mounted?", strerror(errno));
    return EXIT_FAILED;
}

/* As much of it as there is room for. */
static void put_message(SuitePart *part, const char *text)
{
    snprintf(part->message, sizeof part->message, "%s", text);
    escape_trim(part->message);
}

/* Some of its cells were not measured. Those that by the plan do not fit are a result; others were cut short. */
static void settle_cells(const Suite *suite, SuitePartId id, SuitePart *part)
{
    char path[PATH_MAX];
    ResultInput file;
    SuiteCells cells = {0};
    Text text = {0};
    if (suite_path(suite, suite_part_info[id].result, path) != ST_OK) return;
    const Status status = result_input_read(&file, path);
    if (status == ST_OK) suite_cells_add(&cells, &file);
    result_input_free(&file);
    part->cut = cells.cut;
    part->state = status != ST_OK ? SUITE_FAILED : cells.cut > 0 ? SUITE_INCOMPLETE : SUITE_DONE;
    if (status != ST_OK) text_puts(&text, status_message());
    if (cells.cut > 0) suite_cells_tell(&text, &cells);
    put_message(part, text_str(&text));
    text_free(&text);
}

/* What it printed last is for people; how it ended decides. */
static void settle(const Suite *suite, SuitePartId id, SuitePart *part, const ChildResult *end)
{
    const bool whole = end->end == CHILD_RETURNED && end->code == 0;
    part->state = whole ? SUITE_DONE : end->end == CHILD_TIMED_OUT ? SUITE_TIMED_OUT : SUITE_FAILED;
    part->cut = 0;
    put_message(part, end->text);
    if (end->end == CHILD_TIMED_OUT)
        snprintf(part->message, sizeof part->message,
                 "%.200s, three times what --budget has for it and a minute more", end->text);
    if (end->end == CHILD_RETURNED && end->code == EXIT_CELLS) settle_cells(suite, id, part);
}

/* Said at once: the page, which says it too, may be minutes away. */
static void tell_failure(Run *run)
{
    const SuitePart *part = &run->suite->parts[run->id];
    Text text = {0};
    if (part->state != SUITE_FAILED && part->state != SUITE_TIMED_OUT) return;
    text_printf(&text, "  %s %s: %s; the suite goes on without it", suite_part_info[run->id].name,
                part->state == SUITE_FAILED ? "failed" : "is given up", part->message);
    if (text_status(&text) == ST_OK) progress_line(&run->progress, text_str(&text));
    text_free(&text);
}

/* Stored limits take no time: that says nothing about the other parts. */
static void account(Run *run, double seconds)
{
    if (run->id == SUITE_LIMITS) {
        run->progress.total -= usual_limits;
        return;
    }
    run->before += expected(run->suite, (int)run->id);
    run->took += seconds;
}

static Status run_args(Run *run, SuiteArgs *args)
{
    SuitePart *part = &run->suite->parts[run->id];
    ChildResult end;
    const double usual = pace(run->suite) * expected(run->suite, (int)run->id);
    const bool bounded = !isinf(run->suite->budget);
    const ChildTask task = {.body = become,
                            .arg = args->argv,
                            .timeout = bounded ? patience + 3 * usual : 0,
                            .self = run,
                            .printed = printed,
                            .tick = tick};
    announce(run, args);
    run->started = clock_seconds();
    run->line[0] = '\0';
    TRY(child_run(&task, &end));
    part->seconds = clock_seconds() - run->started;
    account(run, part->seconds);
    if (end.end != CHILD_RETURNED) suite_remove_temporaries(run->suite->folder);
    if (end.end == CHILD_INTERRUPTED) return ST_OK;
    settle(run->suite, run->id, part, &end);
    tell_failure(run);
    return suite_write(run->suite);
}

static Status run_part(Run *run)
{
    SuiteArgs args;
    Status status = suite_args_make(&args, run->suite, run->id);
    if (status == ST_OK) status = run_args(run, &args);
    suite_args_free(&args);
    return status;
}

/* ---- all of them ---- */

static bool read_limits(const Suite *suite, Limits *limits)
{
    char path[PATH_MAX];
    Text text = {0};
    bool read = suite_path(suite, "limits.json", path) == ST_OK &&
                text_read_file(&text, path, most_bytes) == ST_OK &&
                limits_json_read(limits, text_str(&text), text.n) == ST_OK;
    text_free(&text);
    return read;
}

/* Limits of a busy machine are not kept for later, but the rows of this suite are held against them: they were
 * measured under the same load. */
static void lend_limits(const Suite *suite)
{
    Limits limits, stored;
    char folder[PATH_MAX], path[PATH_MAX + 8];
    if (!read_limits(suite, &limits) || limits_cache_load(&limits.key, &stored)) return;
    if (!realpath(suite->folder, folder)) return;
    snprintf(path, sizeof path, "%s/cache", folder);
    if (setenv("XDG_CACHE_HOME", path, 1) != 0) return;
    if (limits_cache_load(&limits.key, &stored)) return; /* resumed */
    if (limits_cache_store(&limits) != ST_OK)
        log_warning("cannot store the limits: %s; '%% of limit' will be missing", status_message());
}

Status suite_run_plan(Suite *suite)
{
    Limits limits;
    const bool known = read_limits(suite, &limits);
    const TimeEstimateRates rates = time_estimate_rates(known ? &limits : NULL);
    return suite_plan(suite, &rates, suite->budget - suite->parts[SUITE_LIMITS].seconds);
}

/* Those that the part would find, for the device and the threads of its own command line. */
static bool stored_limits(const Suite *suite, Limits *limits)
{
    const Command *command = suite_part_info[SUITE_LIMITS].command;
    SuiteArgs args;
    Settings settings;
    Sweep sweep;
    bool found = false;
    Status status = suite_args_make(&args, suite, SUITE_LIMITS);
    if (status == ST_OK)
        status = sweep_parse(&command->options, args.n - 2, args.argv + 2, &settings, &sweep);
    if (status == ST_OK) {
        found = limits_cache_find(&sweep.configs[0], limits);
        sweep_free(&sweep);
    }
    suite_args_free(&args);
    return found;
}

Status suite_run_preview(Suite *suite, bool *known)
{
    Limits limits;
    *known = read_limits(suite, &limits) || stored_limits(suite, &limits);
    if (suite->planned) return ST_OK;
    const TimeEstimateRates rates = time_estimate_rates(*known ? &limits : NULL);
    const double before = *known ? suite->parts[SUITE_LIMITS].seconds : usual_limits;
    return suite_plan(suite, &rates, suite->budget - before);
}

double suite_run_expected(const Suite *suite, SuitePartId id, bool stored)
{
    return id == SUITE_LIMITS && stored ? 0 : expected(suite, (int)id);
}

static Status run_parts(Run *run)
{
    Suite *suite = run->suite;
    for (int id = 0; id < SUITE_PARTS && !interrupt_signal(); id++) {
        if (id > SUITE_LIMITS && !suite->planned) {
            TRY(suite_run_plan(suite));
            TRY(suite_write(suite));
            run->progress.total = left_from(suite, id);
            progress_trust_weights(&run->progress);
        }
        if (id == SUITE_LIMITS + 1) lend_limits(suite);
        run->id = (SuitePartId)id;
        run->progress.index = id + 1;
        if (suite->parts[id].state != SUITE_DONE) TRY(run_part(run));
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
    return status;
}
