#include "cli/commands/bench_sweep.h"

#include "base/log.h"
#include "bench/cell/supported.h"
#include "bench/record/record_stat.h"
#include "bench/study/annotated_cell.h"
#include "cli/commands/bench_dry_run.h"
#include "cli/commands/bench_forecast.h"
#include "cli/commands/bench_output.h"
#include "cli/commands/resumed_rows.h"
#include "cli/device_price.h"
#include "cli/other_machine.h"
#include "cli/output.h"
#include "cli/rank_cells.h"
#include "report/records/baseline.h"

#include <stdio.h>
#include <string.h>

/* The first row with TFLOP/s but no MFU, for want of limits; NULL: none. */
static const Record *without_limits(const RecordSet *rows)
{
    for (size_t i = 0; i < record_set_size(rows); i++) {
        const Record *record = record_set_at(rows, i);
        double x;
        if (record_number(record, "tflops", &x) && !record_number(record, "mfu", &x)) return record;
    }
    return NULL;
}

/* Counts cells, not the rows of peers. */
static int cells_done(const RecordSet *rows)
{
    int n = 0;
    for (size_t i = 0; i < record_set_size(rows); i++) {
        if (!record_text(record_set_at(rows, i), "peer")) n++;
    }
    return n;
}

/* Limits of a CPU are stored per number of threads: name the one that the user chose or a rank has. */
static void advise_limits(const Sweep *sweep, const Record *row)
{
    const char *device = record_text(row, "device");
    const bool chosen = !sweep->varies[OPTION_THREADS] && device && strcmp(device, "cpu") == 0;
    int64_t threads = chosen ? sweep->configs[0].threads : 0, ranks = 1;
    if (chosen && threads == 0 && record_int(row, "ranks", &ranks) && ranks > 1)
        record_int(row, "threads", &threads);
    char option[40] = "";
    if (threads > 0) snprintf(option, sizeof option, " --threads %lld", (long long)threads);
    log_note(
        "for MFU and '%% of limit' run 'roofstep limits%s' once (about 20 s; on a busy machine "
        "with --keep)",
        option);
}

static void advise(const Settings *settings, const Sweep *sweep, const RunnerOutcome *outcome,
                   const RecordSet *rows)
{
    if (outcome->signal) {
        const bool json = settings->out && strncmp(settings->format, "json", 4) == 0;
        const char *kept = settings->out_json ? settings->out_json
                           : json             ? settings->out
                                              : settings->resume;
        const int done = cells_done(rows);
        if (done > 0 && kept) {
            log_note("interrupted: %d of %d cells are done; --resume %s runs the rest", done,
                     sweep->n, kept);
        } else {
            log_note("interrupted: %d of %d cells are done%s", done, sweep->n,
                     done > 0 ? "; with --out-json FILE, --resume FILE could run the rest" : "");
        }
    } else if (without_limits(rows)) {
        advise_limits(sweep, without_limits(rows));
    }
}

/* Rows from a resumed file, too: the price of now counts. */
static Status put_price(const Settings *settings, const RecordSet *rows)
{
    double price;
    TRY(device_price_read(settings, &price));
    for (size_t i = 0; price > 0 && i < record_set_size(rows); i++)
        TRY(record_stat_put_price(record_set_at(rows, i), price));
    return ST_OK;
}

/* Prints what was measured after a failure, too. */
static Status show(BenchOutput *output, const RecordSet *rows, const RecordSet *known, Status ran)
{
    TRY(put_price(output->settings, rows));
    if (ran == ST_OK) TRY(bench_output_finish(output, rows, known));
    if (record_set_size(rows) == 0) return ran;
    if (ran == ST_OK) TRY(supported_rows(rows));
    if (!output->settings->out || ran != ST_OK) (void)bench_output_print(output, rows);
    return ran;
}

static PeerChoice peer_of(const Settings *settings)
{
    return (PeerChoice){settings->peer, settings->peer_variants, (int)settings->peer_rounds};
}

/* Before anything runs. */
static Status check_peer(const Settings *settings, const Sweep *sweep)
{
    const PeerChoice choice = peer_of(settings);
    Peer peers[PEER_MAX];
    int n = 0;
    if (!choice.name && (choice.variants || settings->given[OPTION_PEER_ROUNDS]))
        return FAIL(ST_USAGE, "--peer-variant and --peer-rounds need --peer torch");
    if (settings->given[OPTION_ROUNDS] && !settings->interleave)
        return FAIL(ST_USAGE, "--rounds needs --interleave");
    if (choice.name && settings->given[OPTION_ROUNDS])
        return FAIL(ST_USAGE, "--rounds: with --peer use --peer-rounds");
    return peer_list(&choice, &sweep->configs[0], peers, &n);
}

static Status run_cell(const Config *config, CellLink *link)
{
    return config->ranks > 1 ? rank_cells_run(config, link, NULL) : cell_run(config, link);
}

/* What a row needs before it is kept. */
typedef struct Finish {
    BenchOutput *output;
    const Settings *settings;
    const Sweep *sweep;
    const RecordSet *rows, *known;
} Finish;

static const Config *config_of(const Sweep *sweep, const Record *record)
{
    const char *own = record_key(record);
    for (int i = 0; own && i < sweep->n; i++) {
        char key[RECORD_KEY_SIZE];
        record_key_of_config(&sweep->configs[i], key);
        if (sweep->configs[i].ranks > 1 && strcmp(key, own) == 0) return &sweep->configs[i];
    }
    return NULL;
}

static Status finish_row(void *self, Record *record)
{
    const Finish *finish = self;
    const Config *config = config_of(finish->sweep, record);
    if (config)
        TRY(bench_forecast_add(record, config, finish->settings, finish->rows, finish->known));
    double price;
    TRY(device_price_read(finish->settings, &price));
    if (price > 0) TRY(record_stat_put_price(record, price));
    return bench_output_add(finish->output, record);
}

static Status run_sweep(const Settings *settings, const Sweep *sweep, const RecordSet *known,
                        int *exit_code)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    CLEANUP(bench_output_close) BenchOutput output = {0};
    RunnerOutcome outcome;
    Finish finish = {&output, settings, sweep, &rows, known};
    const RunnerTask task = {.configs = sweep->configs,
                             .n = sweep->n,
                             .varies = sweep->varies,
                             .cell = settings->annotate_mha ? annotated_cell_run_parts
                                     : settings->nvtx       ? annotated_cell_run
                                                            : run_cell,
                             .resumed = known,
                             .peer = peer_of(settings),
                             .rounds = settings->interleave ? (int)settings->rounds : 0,
                             .self = &finish,
                             .finished = finish_row};
    TRY(record_set_init(&rows, json_array_get(known->environments, 0)));
    TRY(bench_output_open(&output, settings, known));
    TRY(show(&output, &rows, known, runner_run(&task, &rows, &outcome)));
    advise(settings, sweep, &outcome, &rows);
    *exit_code = outcome.signal ? EXIT_INTERRUPTED : outcome.bad ? EXIT_CELLS : 0;
    return ST_OK;
}

static Status run_or_plan(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    CLEANUP(record_set_free) RecordSet known = {0};
    TRY(output_rows_init(&known, settings));
    TRY(resumed_rows_read(&known, settings));
    if (settings->dry_run) return bench_dry_run(settings, sweep, &known);
    TRY(supported_any(&(RunnerTask){.configs = sweep->configs, .n = sweep->n, .resumed = &known}));
    return run_sweep(settings, sweep, &known, exit_code);
}

Status bench_sweep_run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    double price;
    TRY(device_price_read(settings, &price));
    TRY(check_peer(settings, sweep));
    TRY(bench_output_check(settings));
    TRY(other_machine_check(settings, settings->dry_run, "--dry-run"));
    TRY(output_check_nvtx(settings));
    if (settings->baseline) TRY(baseline_check(sweep->configs, sweep->n, settings->baseline));
    return run_or_plan(settings, sweep, exit_code);
}
