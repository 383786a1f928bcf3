#include "bench/estimate/fit.h"
#include "cli/suite/suite.h"
#include "cli/suite/suite_arguments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The time and memory that a part may take. */
typedef struct Room {
    const TimeEstimateRates *rates;
    double seconds;
    size_t bytes;
} Room;

/* A sweep takes every size and context that the user gave; a study takes the first. */
static const char *model_of(const Suite *suite, const SuiteWorkload *workload)
{
    const bool sweeps = workload->part == SUITE_BENCH || workload->part == SUITE_SIZES;
    if (!*workload->model || !*suite->model) return workload->model;
    return sweeps ? suite->model : suite->first;
}

static Status write_args(const Suite *suite, const SuiteWorkload *workload,
                         const TimeEstimateRates *rates, char args[SUITE_ARGS_SIZE])
{
    const int n = snprintf(args, SUITE_ARGS_SIZE, "%s %s %s %s", model_of(suite, workload),
                           workload->rest, suite->device, suite->cells);
    for (char *at = args; !rates->bf16 && (at = strstr(at, "bf16"));) memcpy(at, "fp16", 4);
    return n < SUITE_ARGS_SIZE ? ST_OK : FAIL(ST_USAGE, "too many sizes for a suite");
}

/* precision runs every precision unless one is named; warmup runs every cell once a round. */
static double repetitions(SuitePartId id, const Settings *settings)
{
    const bool every = id == SUITE_PRECISION && !settings->given[OPTION_PRECISION];
    return every ? PRECISION_COUNT : id == SUITE_WARMUP ? (double)settings->rounds : 1;
}

/* attention shows how far each implementation gets, and sizes runs nothing. */
static bool must_fit(SuitePartId id)
{
    return id != SUITE_ATTENTION && id != SUITE_SIZES;
}

/* Estimates time and memory of the cells that the part's command makes of its arguments. */
static Status estimate(Suite *suite, SuitePartId id, const Room *room, bool *fits)
{
    const SuitePartInfo *info = &suite_parts_info[id];
    SuitePart *part = &suite->parts[id];
    Settings settings;
    CLEANUP(sweep_free) Sweep sweep = {0};
    TRY(suite_arguments_parse(part->args, &info->command->options, &settings, &sweep));
    part->expected = repetitions(id, &settings) * info->effort *
                     time_estimate_cells(sweep.configs, sweep.n, room->rates);
    *fits = part->expected <= room->seconds;
    if (*fits && must_fit(id)) *fits = fit_all(sweep.configs, sweep.n, room->bytes);
    return ST_OK;
}

/* Takes the largest workload that fits, or the smallest where none does. */
static Status plan_part(Suite *suite, SuitePartId id, const Room *room)
{
    const int here = room->rates->gpu ? SUITE_ON_GPU : SUITE_ON_CPU;
    bool fits = false;
    for (int i = 0; i < suite_parts_n_workloads && !fits; i++) {
        const SuiteWorkload *workload = &suite_parts_workloads[i];
        if (workload->part != id || !((int)workload->on & here)) continue;
        TRY(write_args(suite, workload, room->rates, suite->parts[id].args));
        TRY(estimate(suite, id, room, &fits));
    }
    return ST_OK;
}

/* Later parts get the time that a part leaves of its share. */
Status suite_plan(Suite *suite, const TimeEstimateRates *rates, double seconds)
{
    /* --full shows cells that do not fit, too */
    const size_t bytes = isinf(seconds) ? SIZE_MAX : fit_free_memory(rates->gpu);
    double shares = 0;
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) shares += suite_parts_info[id].share;
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) {
        const Room room = {rates, seconds * suite_parts_info[id].share / shares, bytes};
        TRY(plan_part(suite, (SuitePartId)id, &room));
        seconds = fmax(0, seconds - suite->parts[id].expected);
        shares -= suite_parts_info[id].share;
    }
    suite->planned = true;
    return ST_OK;
}
