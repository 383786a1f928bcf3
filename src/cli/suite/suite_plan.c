#include "cli/suite/suite_plan.h"

#include "bench/estimate/fit.h"
#include "cli/suite/suite_arguments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum On { ON_CPU = 1, ON_GPU = 2, ON_ANY = 3 } On;

typedef struct SuiteWorkload {
    SuitePartId part;
    On on;
    const char *model, *rest;
} SuiteWorkload;

static const SuiteWorkload workloads[] = {
#define WORKLOAD(part, on, model, rest) {SUITE_##part, ON_##on, model, rest},
#include "cli/suite/suite_workloads.def"
#undef WORKLOAD
};
enum { N_WORKLOADS = sizeof workloads / sizeof *workloads };

/* What a part may take. */
typedef struct Room {
    const TimeEstimateRates *rates;
    double seconds;
    size_t bytes;
} Room;

/* Studies look at one cell; sweeps take every size and context that was asked for. */
static const char *model_of(const Suite *suite, const SuiteWorkload *workload)
{
    const bool sweeps = workload->part == SUITE_BENCH || workload->part == SUITE_SIZES;
    if (!*workload->model || !*suite->model) return workload->model;
    return sweeps ? suite->model : suite->first;
}

/* 16 bits where there is no bf16. */
static void use_fp16(char *words)
{
    for (char *at = words; (at = strstr(at, "bf16"));) memcpy(at, "fp16", 4);
}

static Status write_words(const Suite *suite, const SuiteWorkload *workload,
                          const TimeEstimateRates *rates, char words[SUITE_ARGS_SIZE])
{
    const int n = snprintf(words, SUITE_ARGS_SIZE, "%s %s %s %s", model_of(suite, workload),
                           workload->rest, suite->device, suite->cells);
    if (!rates->bf16) use_fp16(words);
    return n < SUITE_ARGS_SIZE ? ST_OK : FAIL(ST_USAGE, "too many sizes for a suite");
}

static bool is_written(SuitePartId part, int id)
{
    if (option_in(OPTION_LIST(SUITE_OPTIONS_DEVICE), id)) return true;
    if (part == SUITE_LIMITS) return false;
    if (option_in(OPTION_LIST(SUITE_OPTIONS_CELLS), id)) return true;
    for (int i = 0; i < N_WORKLOADS; i++) {
        if (workloads[i].part != part) continue;
        if (suite_arguments_name(workloads[i].rest, (OptionId)id)) return true;
        if (*workloads[i].model && option_in(OPTION_LIST(OPTIONS_DIMS), id)) return true;
    }
    return false;
}

void suite_plan_options(SuitePartId part, OptionId list[OPTION_COUNT + 1])
{
    int n = 0;
    for (int id = 0; id < OPTION_COUNT; id++) {
        if (option_in(suite_part_info[part].command->options.taken, id) && is_written(part, id))
            list[n++] = (OptionId)id;
    }
    list[n] = OPTION_END;
}

/* precision runs all of them where none is named; warmup every cell once a round. */
static double times(SuitePartId id, const Settings *settings)
{
    const bool every = id == SUITE_PRECISION && !settings->given[OPTION_PRECISION];
    return every ? PRECISION_COUNT : id == SUITE_WARMUP ? (double)settings->rounds : 1;
}

/* Attention shows how far each implementation gets, and sizes are not run. */
static bool must_fit(SuitePartId id)
{
    return id != SUITE_ATTENTION && id != SUITE_SIZES;
}

/* The time and the memory of the cells that the part's own command makes of its words. */
static Status weigh(Suite *suite, SuitePartId id, const Room *room, bool *fits)
{
    const SuitePartInfo *kind = &suite_part_info[id];
    SuitePart *part = &suite->parts[id];
    SuiteArgs args;
    Settings settings;
    Sweep sweep;
    Status status = suite_args_make(&args, suite, id);
    if (status == ST_OK)
        status = sweep_parse(&kind->command->options, args.n - 2, args.argv + 2, &settings, &sweep);
    if (status == ST_OK) {
        part->expected = times(id, &settings) * kind->effort *
                         time_estimate_cells(sweep.configs, sweep.n, room->rates);
        *fits = part->expected <= room->seconds;
        if (*fits && must_fit(id)) *fits = fit_all(sweep.configs, sweep.n, room->bytes);
        sweep_free(&sweep);
    }
    suite_args_free(&args);
    return status;
}

/* The richest workload that fits; the leanest where none does. */
static Status plan_part(Suite *suite, SuitePartId id, const Room *room)
{
    const On here = room->rates->gpu ? ON_GPU : ON_CPU;
    bool fits = false;
    for (int i = 0; i < N_WORKLOADS && !fits; i++) {
        if (workloads[i].part != id || !(workloads[i].on & here)) continue;
        TRY(write_words(suite, &workloads[i], room->rates, suite->parts[id].words));
        TRY(weigh(suite, id, room, &fits));
    }
    return ST_OK;
}

/* What a part leaves of its share goes to those after it. */
Status suite_plan(Suite *suite, const TimeEstimateRates *rates, double seconds)
{
    /* --full shows what does not fit, too */
    const size_t bytes = isinf(seconds) ? SIZE_MAX : fit_free_memory(rates->gpu);
    double shares = 0;
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) shares += suite_part_info[id].share;
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) {
        const Room room = {rates, seconds * suite_part_info[id].share / shares, bytes};
        TRY(plan_part(suite, (SuitePartId)id, &room));
        seconds = fmax(0, seconds - suite->parts[id].expected);
        shares -= suite_part_info[id].share;
    }
    suite->planned = true;
    return ST_OK;
}
