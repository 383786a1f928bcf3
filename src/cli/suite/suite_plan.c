#include "bench/estimate/fit.h"
#include "cli/suite/suite.h"
#include "cli/suite/suite_arguments.h"
#include "cli/suite/suite_ranks.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The time and memory that a part may take. */
typedef struct Room {
    const TimeEstimateRates *rates;
    const SuiteRanks *ranks;
    double seconds;
    size_t bytes;
} Room;

/* ---- arguments ---- */

/* A sweep takes every size and context that the user gave; a study takes the first. */
static const char *model_of(const Suite *suite, const SuiteWorkload *workload)
{
    const bool sweeps = workload->part == SUITE_BENCH || workload->part == SUITE_SIZES;
    if (workload->part == SUITE_ATTENTION || !*suite->model) return workload->model;
    return sweeps ? suite->model : suite->first;
}

enum { MOST_CONTEXTS = 32, LEAST_CONTEXT = 16 };

typedef struct Contexts {
    int64_t list[MOST_CONTEXTS]; /* ascending */
    int n;
} Contexts;

static void add_context(Contexts *c, int64_t ctx)
{
    int at = c->n;
    for (int i = 0; i < c->n; i++) {
        if (c->list[i] == ctx) return;
    }
    if (c->n == MOST_CONTEXTS) return;
    for (; at > 0 && c->list[at - 1] > ctx; at--) c->list[at] = c->list[at - 1];
    c->list[at] = ctx;
    c->n++;
}

static Contexts contexts_of(const Sweep *workload)
{
    Contexts all = {0};
    for (int i = 0; i < workload->n; i++) add_context(&all, workload->configs[i].ctx);
    return all;
}

/* Those of the workload within the model's positions. */
static Contexts within_positions(const Config *model, const Sweep *workload)
{
    const int64_t positions = model->model.positions;
    const Contexts all = contexts_of(workload);
    Contexts within = {0};
    for (int i = 0; i < all.n; i++) {
        if (positions == 0 || all.list[i] <= positions) add_context(&within, all.list[i]);
    }
    if (within.n == 0) add_context(&within, positions);
    return within;
}

/* Shorter ones in place of those beyond: an exponent wants as many. The model's own is one of them. */
static Contexts attention_contexts(const Config *model, const Sweep *workload)
{
    Contexts contexts = within_positions(model, workload);
    const int wanted = contexts_of(workload).n;
    while (contexts.n < wanted && contexts.list[0] >= 2 * LEAST_CONTEXT)
        add_context(&contexts, contexts.list[0] / 2);
    add_context(&contexts, model->ctx);
    return contexts;
}

static void put_contexts(Text *out, const Contexts *contexts)
{
    for (int i = 0; i < contexts->n; i++)
        text_printf(out, "%s%" PRId64, i > 0 ? "," : " --ctx ", contexts->list[i]);
}

/* Attention as most of the model's layers have it. */
static void put_heads(Text *out, const Config *c)
{
    const ModelSpec *m = &c->model;
    const int64_t kv_heads = model_spec_kv_heads(m);
    text_printf(out, "--d-head %" PRId64 " --heads %" PRId64, model_spec_head_dim(m), m->num_heads);
    if (kv_heads != m->num_heads) text_printf(out, " --kv-heads %" PRId64, kv_heads);
    if (m->window > 0 && 2 * m->window_from < m->num_layers)
        text_printf(out, " --window %" PRId64, m->window);
    text_printf(out, " --batch %" PRId64, c->batch);
}

static void put_attention(Text *out, const Config *model, const Sweep *workload)
{
    const Contexts contexts = attention_contexts(model, workload);
    put_heads(out, model);
    put_contexts(out, &contexts);
}

/* A model's name says neither: the workload does, so that there is a smaller one for a large model. */
static void put_step(Text *out, const Suite *suite, const Config *model, const Sweep *workload,
                     bool batch)
{
    const Contexts contexts = within_positions(model, workload);
    if (!suite_arguments_name(suite->first, OPTION_CTX)) put_contexts(out, &contexts);
    if (batch && !suite_arguments_name(suite->first, OPTION_BATCH))
        text_printf(out, " --batch %" PRId64, workload->configs->batch);
}

/* The model of a configuration file in place of the workload's. */
static Status put_model(Text *out, const Suite *suite, const SuiteWorkload *workload)
{
    const bool alone = workload->part == SUITE_ATTENTION;
    const Command *command = suite_parts_info[alone ? SUITE_ATTENTION : SUITE_BENCH].command;
    CLEANUP(sweep_free) Sweep model = {0}, cells = {0};
    Settings settings;
    TRY(suite_arguments_parse(suite->first, &suite_parts_info[SUITE_BENCH].command->options,
                              &settings, &model));
    TRY(suite_arguments_parse(workload->model, &command->options, &settings, &cells));
    if (alone) {
        put_attention(out, model.configs, &cells);
    } else {
        text_puts(out, model_of(suite, workload));
        put_step(out, suite, model.configs, &cells, settings.given[OPTION_BATCH]);
    }
    return ST_OK;
}

/* The threads of one of several ranks, where the user did not say. */
static void put_threads(Text *out, const Suite *suite, SuitePartId id, const SuiteRanks *ranks)
{
    if (suite_ranks_has(id) && ranks->threads > 0 &&
        !suite_arguments_name(suite->device, OPTION_THREADS))
        text_printf(out, " --threads %d", ranks->threads);
}

static Status write_args(const Suite *suite, const SuiteWorkload *workload, const Room *room,
                         char args[SUITE_ARGS_SIZE])
{
    CLEANUP(text_free) Text text = {0};
    if (suite_arguments_name(suite->first, OPTION_MODEL))
        TRY(put_model(&text, suite, workload));
    else
        text_puts(&text, model_of(suite, workload));
    text_printf(&text, " %s %s %s", workload->rest, suite->device, suite->cells);
    put_threads(&text, suite, workload->part, room->ranks);
    TRY(text_status(&text));
    const int n = snprintf(args, SUITE_ARGS_SIZE, "%s", text_str(&text));
    for (char *at = args; !room->rates->bf16 && (at = strstr(at, "bf16"));) memcpy(at, "fp16", 4);
    return n < SUITE_ARGS_SIZE ? ST_OK : FAIL(ST_USAGE, "too many sizes for a suite");
}

/* ---- time and memory ---- */

/* precision runs every precision, fp8 with every recipe, unless one is named; warmup runs every cell once a
 * round. */
static double repetitions(SuitePartId id, const Settings *settings)
{
    const bool every = id == SUITE_PRECISION && !settings->given[OPTION_PRECISION];
    return every                ? PRECISION_COUNT - 1 + FP8_RECIPE_COUNT
           : id == SUITE_WARMUP ? (double)settings->rounds
                                : 1;
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
    const size_t bytes = suite_ranks_has(id) ? room->bytes / SUITE_RANKS_CPU : room->bytes;
    if (*fits && must_fit(id)) *fits = fit_all(sweep.configs, sweep.n, bytes);
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
        TRY(write_args(suite, workload, room, suite->parts[id].args));
        TRY(estimate(suite, id, room, &fits));
    }
    return ST_OK;
}

/* ---- parts that cannot run here ---- */

static bool has_workload(SuitePartId id, int here)
{
    for (int i = 0; i < suite_parts_n_workloads; i++) {
        const SuiteWorkload *workload = &suite_parts_workloads[i];
        if (workload->part == id && ((int)workload->on & here)) return true;
    }
    return false;
}

void suite_plan_skip(Suite *suite, SuitePartId id, const char *why)
{
    SuitePart *part = &suite->parts[id];
    part->state = SUITE_SKIPPED;
    snprintf(part->message, sizeof part->message, "%s", why);
}

static void skip_parts(Suite *suite, const TimeEstimateRates *rates, const SuiteRanks *ranks)
{
    const int here = rates->gpu ? SUITE_ON_GPU : SUITE_ON_CPU;
    for (int i = SUITE_LIMITS + 1; i < SUITE_PARTS; i++) {
        const SuitePartId id = (SuitePartId)i;
        if (suite_ranks_has(id) && *ranks->why)
            suite_plan_skip(suite, id, ranks->why);
        else if (!has_workload(id, here))
            suite_plan_skip(suite, id,
                            suite_ranks_has(id) ? "of ranks on GPUs there is bench alone"
                                                : "on a CPU fp8 is emulated, and has no time");
    }
}

/* ---- all parts ---- */

/* Later parts get the time that a part leaves of its share. */
Status suite_plan(Suite *suite, const TimeEstimateRates *rates, const SuiteRanks *ranks,
                  double seconds)
{
    /* --full shows cells that do not fit, too */
    const size_t bytes = isinf(seconds) ? SIZE_MAX : fit_free_memory(rates->gpu);
    double shares = 0;
    skip_parts(suite, rates, ranks);
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) {
        if (suite->parts[id].state != SUITE_SKIPPED) shares += suite_parts_info[id].share;
    }
    for (int id = SUITE_LIMITS + 1; id < SUITE_PARTS; id++) {
        if (suite->parts[id].state == SUITE_SKIPPED) continue;
        const Room room = {rates, ranks, seconds * suite_parts_info[id].share / shares, bytes};
        TRY(plan_part(suite, (SuitePartId)id, &room));
        seconds = fmax(0, seconds - suite->parts[id].expected);
        shares -= suite_parts_info[id].share;
    }
    suite->planned = true;
    return ST_OK;
}
