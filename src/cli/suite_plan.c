#include "cli/suite_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum On { ON_CPU = 1, ON_GPU = 2, ON_ANY = 3 } On;

typedef struct Rung {
    SuitePartId part;
    On on;
    const char *model, *rest;
} Rung;

static const Rung rungs[] = {
#define RUNG(part, on, model, rest) {SUITE_##part, ON_##on, model, rest},
#include "cli/suite_rungs.def"
#undef RUNG
};
enum { RUNGS = sizeof rungs / sizeof *rungs };

/* Studies look at one cell; sweeps take every size and context that was asked for. */
static const char *model_of(const Suite *suite, const Rung *rung)
{
    const bool sweeps = rung->part == SUITE_BENCH || rung->part == SUITE_SIZES;
    if (!*rung->model || !*suite->model) return rung->model;
    return sweeps ? suite->model : suite->first;
}

/* 16 bits where there is no bf16. */
static void use_fp16(char *words)
{
    for (char *at = words; (at = strstr(at, "bf16"));) memcpy(at, "fp16", 4);
}

static Status write_words(const Suite *suite, const Rung *rung, const SuiteRates *rates,
                          char words[SUITE_WORDS])
{
    const int n = snprintf(words, SUITE_WORDS, "%s %s %s %s", model_of(suite, rung), rung->rest,
                           suite->device, suite->cells);
    if (!rates->bf16) use_fp16(words);
    return n < SUITE_WORDS ? ST_OK : FAIL(ST_USAGE, "too many sizes for a suite");
}

/* The cells that the part's own command makes of these words. */
static Status weigh(const Suite *suite, SuitePartId id, const SuiteRates *rates, double *seconds)
{
    SuiteArgs args;
    Settings settings;
    Sweep sweep;
    Status status = suite_args_make(&args, suite, id);
    if (status == ST_OK)
        status = sweep_parse(&suite_kinds[id].command->options, args.n - 2, args.argv + 2,
                             &settings, &sweep);
    if (status == ST_OK) {
        /* precision runs all of them where none is named */
        const bool every = id == SUITE_PRECISION && !(settings.given & OPTION_BIT(PRECISION));
        const double times = every                ? PRECISION_COUNT
                             : id == SUITE_WARMUP ? (double)settings.rounds
                                                  : 1;
        *seconds = times * suite_kinds[id].effort * suite_cost_cells(sweep.configs, sweep.n, rates);
        sweep_free(&sweep);
    }
    suite_args_free(&args);
    return status;
}

static Status plan_part(Suite *suite, SuitePartId id, const SuiteRates *rates, double most)
{
    const On here = rates->gpu ? ON_GPU : ON_CPU;
    SuitePart *part = &suite->parts[id];
    double seconds[RUNGS];
    const Rung *fits[RUNGS];
    int n = 0;
    for (int i = 0; i < RUNGS; i++) {
        if (rungs[i].part != id || !(rungs[i].on & here)) continue;
        TRY(write_words(suite, &rungs[i], rates, part->words));
        TRY(weigh(suite, id, rates, &seconds[n]));
        fits[n++] = &rungs[i];
    }
    const int chosen = suite_cost_choose(seconds, n, most);
    part->expected = seconds[chosen];
    return write_words(suite, fits[chosen], rates, part->words);
}

/* What a part leaves of its share goes to those after it. */
Status suite_plan(Suite *suite, const SuiteRates *rates, double seconds)
{
    double shares = 0;
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) shares += suite_kinds[id].share;
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) {
        TRY(plan_part(suite, (SuitePartId)id, rates, seconds * suite_kinds[id].share / shares));
        seconds = fmax(0, seconds - suite->parts[id].expected);
        shares -= suite_kinds[id].share;
    }
    suite->planned = true;
    return ST_OK;
}
