/* roofstep warmup: what omitting warm-up does. */
#include "base/array.h"
#include "base/log.h"
#include "base/rng.h"
#include "bench/cell/cell.h"
#include "cli/commands/study.h"
#include "cli/rank_cells.h"
#include "report/study/warmup_report.h"

#include <stdlib.h>

/* The default of --warmup: for the cells, and for --help. */
#define USUAL_LIST(LIST) LIST(0, 1, 2, 5, 10)
#define NUMBERS(...) \
    {                \
        __VA_ARGS__  \
    }
#define IN_WORDS(...) #__VA_ARGS__
static const int64_t usual[] = USUAL_LIST(NUMBERS);
static const OptionWords words[] = {
    {.id = OPTION_WARMUP, .by_default = "each of " USUAL_LIST(IN_WORDS)}};

/* Fisher and Yates; the same seed gives the same order. */
static void shuffle(Config *cells, int n, int round)
{
    for (int i = n - 1; i > 0; i--) {
        const int64_t j = rng_below((uint64_t)cells[0].seed, (uint64_t)round, (uint64_t)i, i + 1);
        const Config other = cells[j];
        cells[j] = cells[i];
        cells[i] = other;
    }
}

/* Every round has every setting once, in its own random order. */
static void fill_rounds(Config *cells, const Settings *settings, const Sweep *sweep, int n)
{
    const bool asked = settings->given[OPTION_WARMUP];
    for (int round = 0; round < settings->rounds; round++) {
        Config *at = cells + (ptrdiff_t)round * n;
        for (int i = 0; i < n; i++) {
            at[i] = sweep->configs[asked ? i : 0];
            if (!asked) at[i].warmup = usual[i];
        }
        shuffle(at, n, round);
    }
}

static Status report(Text *out, const Settings *settings, const RecordSet *rows)
{
    WarmupStudy study;
    const Status status = warmup_study_make(&study, rows);
    if (status != ST_OK && status != ST_FAILED) return status;
    if (status == ST_FAILED)
        log_warning("%s", status_message()); /* the exit code is that of any sweep */
    return warmup_report_write(out, settings->format, status == ST_OK ? &study : NULL, rows);
}

static Status run_cell(const Config *config, CellLink *link)
{
    return config->ranks > 1 ? rank_cells_run(config, link, NULL) : cell_run(config, link);
}

static Status run_study(const Settings *settings, const RunnerTask *task, int *exit_code)
{
    if (task->configs[0].ranks <= 1) return study_run(settings, task, report, exit_code);
    TRY(rank_cells_prepare(&cmd_warmup, settings));
    const Status status = study_run(settings, task, report, exit_code);
    rank_cells_finish();
    return status;
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    const bool asked = settings->given[OPTION_WARMUP];
    const int n = asked ? sweep->n : (int)(sizeof usual / sizeof *usual);
    const int all = n * (int)settings->rounds;
    const bool varies[OPTION_COUNT] = {[OPTION_WARMUP] = true};
    if (n > WARMUP_STUDY_MAX)
        return FAIL(ST_USAGE, "--warmup: at most %d settings", WARMUP_STUDY_MAX);
    CLEANUP(array_free) Config *cells = malloc((size_t)all * sizeof *cells);
    if (!cells) return NO_MEMORY("for %d cells", all);
    fill_rounds(cells, settings, sweep, n);
    const RunnerTask task = {.configs = cells, .n = all, .varies = varies, .cell = run_cell};
    return run_study(settings, &task, exit_code);
}

static const char help[] =
    "Runs the step with each number of warm-up steps in a fresh process, --rounds times, in\n"
    "random order. Prints mean, standard deviation, first and second sample of each, how many\n"
    "warm-up steps are enough here, and what the first step pays for. Unlike bench, without\n"
    "warm-up the first step of the process is a sample.\n"
    "\n"
    "  roofstep warmup\n"
    "  roofstep warmup --size small --warmup 0,1,2,5,10 --steps 10 --rounds 5\n"
    "  roofstep warmup --ranks 2                          (of several processes)\n"
    "  roofstep warmup --device cuda --exec graph --out warmup.json\n";

const Command cmd_warmup = {
    .name = "warmup",
    .summary = "what leaving out warm-up steps does, and how many are enough",
    .help = help,
    .options = {.taken =
                    OPTION_LIST(OPTIONS_STEP, OPTIONS_RANKS, OPTION_WARMUP, OPTION_STEPS,
                                OPTION_ROUNDS, OPTION_MEMORY_LIMIT, OPTION_TIMEOUT, OPTIONS_OUTPUT),
                .lists = OPTION_LIST(OPTION_WARMUP),
                .formats = REPORT_STUDY_FORMATS,
                .defaults = config_warmup_defaults,
                .words = words,
                .n_words = 1},
    .run = run,
    .rank_cell = cell_run_as_rank,
};
