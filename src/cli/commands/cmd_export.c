/* roofstep export: one deterministic run, for another framework to check. */
#include "base/log.h"
#include "cli/command.h"
#include "report/export/export_step.h"

#include <inttypes.h>
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
    "  roofstep export --d-model 96 --d-ff 200 --num-layers 2 --num-heads 3 --vocab 101 --ctx 13 "
    "\\\n"
    "                  --batch 3 --precision bf16 --out odd.safetensors\n"
    "  roofstep export --model FOLDER --ctx 64 --steps 3 --out step.safetensors\n";

static const char default_path[] = "roofstep.safetensors";

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)exit_code;
    const char *path = settings->out ? settings->out : default_path;
    if (strcmp(path, "-") == 0) path = "/dev/stdout";
    ExportSummary summary;
    TRY(export_step(&sweep->configs[0], settings->model, path, &summary));
    char skipped[80] = "";
    if (summary.skipped_steps) {
        snprintf(skipped, sizeof skipped, ", %" PRId64 " steps skipped (a gradient overflowed)",
                 summary.skipped_steps);
    }
    log_note("%s: %" PRId64 " parameters%s, loss %.9g, %zu bytes of tensors%s", path,
             summary.parameters, summary.weights ? " from the model's files" : " (random)",
             summary.loss, summary.bytes, skipped);
    return ST_OK;
}

const Command cmd_export = {
    .name = "export",
    .summary = "one deterministic step as safetensors, to check against another framework",
    .help = help,
    .options = {.taken = OPTION_LIST(OPTIONS_STEP, OPTION_STEPS, OPTION_MEMORY_LIMIT, OPTION_OUT),
                .out = default_path},
    .run = run,
};
