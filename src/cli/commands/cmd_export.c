/* roofstep export: one deterministic run, for another framework to check. */
#include "base/clock.h"
#include "base/log.h"
#include "bench/cell/cell_ranks.h"
#include "bench/cell/rank_device.h"
#include "bench/cell/runner.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/rank_cells.h"
#include "report/export/export_step.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "Writes a safetensors file: tokens, targets, logits, loss, param.NAME (before), grad.NAME\n"
    "(first step) and updated.NAME (after --steps AdamW steps on the same batch). The same\n"
    "command writes the same bytes. tools/verify_torch.py FILE recomputes it in PyTorch.\n"
    "\n"
    "With --model the parameters are those of the safetensors files in the model's folder, where\n"
    "there are any, and random otherwise; a folder with weights in other files is refused. Names\n"
    "are as in those files, and tools/verify_hf.py FILE FOLDER recomputes the step with\n"
    "transformers.\n"
    "\n"
    "  roofstep export --size tiny --steps 3 --out step.safetensors\n"
    "  roofstep export --d-model 96 --d-ff 200 --num-layers 2 --num-heads 3 \\\n"
    "      --vocab 101 --ctx 13 --batch 3 --precision bf16 --out odd.safetensors\n"
    "  roofstep export --model FOLDER --ctx 64 --steps 3 --out step.safetensors\n";

static const char default_path[] = "roofstep.safetensors";

static const char *path_of(const Settings *settings)
{
    const char *path = settings->out ? settings->out : default_path;
    return strcmp(path, "-") == 0 ? "/dev/stdout" : path;
}

static void tell(const char *path, const ExportSummary *summary)
{
    char skipped[80] = "";
    if (summary->skipped_steps) {
        snprintf(skipped, sizeof skipped, ", %" PRId64 " steps skipped (a gradient overflowed)",
                 summary->skipped_steps);
    }
    log_note("%s: %" PRId64 " parameters%s, loss %.9g, %zu bytes of tensors%s", path,
             summary->parameters, summary->weights ? " from the model's files" : " (random)",
             summary->loss, summary->bytes, skipped);
    if (*summary->fp8_left)
        log_warning("%s stay in bf16: fp8 takes sizes that are multiples of 16, and no experts",
                    summary->fp8_left);
}

/* ---- several ranks ---- */

static Status run_as_rank(const Settings *settings, const Config *config, CellLink *link)
{
    Comm *comm = NULL;
    Config own;
    ExportSummary summary;
    Sample sample = sample_empty();
    const double begun = clock_seconds();
    TRY(comm_open(&comm));
    TRY(cell_ranks_config(comm, config, &own));
    const char *path = comm_rank(comm) == 0 ? path_of(settings) : "/dev/null";
    TRY(rank_device_find(comm, &own));
    TRY(export_step(&own, settings->model, path, comm, &summary));
    if (comm_rank(comm) == 0) tell(path, &summary);
    comm_close(comm);
    sample.seconds[SAMPLE_STEP] = (clock_seconds() - begun) / (double)config->steps;
    TRY(cell_link_sample(link, &sample));
    return cell_link_end(link, RECORD_OK, NULL);
}

static char out_word[PATH_MAX + 8]; /* for the process of the cell */

static Status run_cell(const Config *config, CellLink *link)
{
    return rank_cells_run(config, link, (const char *const[]){out_word, NULL});
}

static Status run_ranks(const Settings *settings, const Sweep *sweep)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    RunnerOutcome outcome;
    const RunnerTask task = {.configs = sweep->configs, .n = 1, .cell = run_cell};
    snprintf(out_word, sizeof out_word, "--out=%s", path_of(settings));
    if (strcmp(path_of(settings), "/dev/stdout") == 0)
        return FAIL(ST_UNSUPPORTED, "--ranks writes a file: say --out FILE");
    TRY(output_rows_init(&rows, settings));
    TRY(rank_cells_prepare(&cmd_export, settings));
    const Status status = runner_run(&task, &rows, &outcome);
    rank_cells_finish();
    TRY(status);
    if (outcome.signal) return FAIL(ST_INTERRUPTED, "interrupted");
    const Record *row = record_set_at(&rows, 0);
    if (record_status(row) == RECORD_OK) return ST_OK;
    /* The row's own line has told why. */
    return FAIL(record_status(row) == RECORD_UNSUPPORTED ? ST_UNSUPPORTED : ST_FAILED,
                "%s is not written: %s", path_of(settings), record_status_word(record_status(row)));
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)exit_code;
    ExportSummary summary;
    if (sweep->configs[0].ranks > 1) return run_ranks(settings, sweep);
    TRY(export_step(&sweep->configs[0], settings->model, path_of(settings), NULL, &summary));
    tell(path_of(settings), &summary);
    return ST_OK;
}

const Command cmd_export = {
    .name = "export",
    .summary = "one deterministic step as safetensors, to check against another framework",
    .help = help,
    .options = {.taken = OPTION_LIST(OPTIONS_STEP, OPTION_STEPS, OPTION_MEMORY_LIMIT, OPTION_OUT,
                                     OPTIONS_RANKS, OPTION_TIMEOUT),
                .out = default_path},
    .run = run,
    .rank_cell = run_as_rank,
};
