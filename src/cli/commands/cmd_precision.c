/* roofstep precision: what each precision does to the numbers, and what it buys. */
#include "bench/study/precision_cell.h"
#include "cli/commands/precision_curves.h"
#include "cli/commands/study.h"
#include "report/study/precision_report.h"

enum { MOST_CELLS = PRECISION_COUNT * FP8_RECIPE_COUNT };

static bool is_new(const Config *cells, int n, const Config *c)
{
    for (int i = 0; i < n; i++) {
        if (cells[i].precision == c->precision && cells[i].fp8_recipe == c->fp8_recipe)
            return false;
    }
    return true;
}

/* Recipes and sets of layers are of fp8 alone. */
static void add_recipes(const Settings *settings, Config c, Config cells[MOST_CELLS], int *n)
{
    const bool all = c.precision == PRECISION_FP8 && !settings->given[OPTION_FP8_RECIPE];
    if (c.precision != PRECISION_FP8) {
        c.fp8_recipe = FP8_RECIPE_CURRENT;
        c.fp8_layers = CONFIG_LINEARS_ALL;
    }
    for (int r = 0; r < (all ? FP8_RECIPE_COUNT : 1); r++) {
        if (all) c.fp8_recipe = (Fp8Recipe)r;
        if (is_new(cells, *n, &c)) cells[(*n)++] = c;
    }
}

/* All precisions, and fp8 with all recipes, unless some were asked for. */
static int make_cells(const Settings *settings, const Sweep *sweep, Config cells[MOST_CELLS])
{
    const bool all = !settings->given[OPTION_PRECISION];
    int n = 0;
    for (int i = 0; i < sweep->n; i++) {
        Config c = sweep->configs[i];
        for (int p = 0; p < (all ? PRECISION_COUNT : 1); p++) {
            if (all) c.precision = (Precision)p;
            add_recipes(settings, c, cells, &n);
        }
    }
    return n;
}

static Status report(Text *out, const Settings *settings, const RecordSet *rows)
{
    const PrecisionReport study = {rows, settings->count, settings->value};
    return precision_report_write(out, settings->format, &study);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    const bool is_curve = sweep->configs[0].curve > 0;
    Config cells[MOST_CELLS + 1]; /* curves have one more */
    const bool varies[OPTION_COUNT] = {
        [OPTION_PRECISION] = true, [OPTION_FP8_RECIPE] = true, [OPTION_LOSS_SCALE] = is_curve};
    const int n = make_cells(settings, sweep, cells);
    if (is_curve) return precision_curves_run(settings, cells, n, varies, exit_code);
    TRY(precision_curves_refuse(settings));
    const RunnerTask task = {
        .configs = cells, .n = n, .varies = varies, .cell = precision_cell_run};
    return study_run(settings, &task, report, exit_code);
}

static const char help[] =
    "Prints six tables: --count times --value summed in narrow and wide formats; the dtype of\n"
    "every component of the step in each precision; the error of loss, logits and every\n"
    "gradient against float64 on the CPU, by layer; what 16-bit gradients lose to underflow and\n"
    "overflow (fp16 with and without loss scaling); what 8-bit operands lose, with scales and\n"
    "without; and the time and memory of each precision. fp8 runs with each --fp8-recipe; on a\n"
    "CPU it is emulated, and has no time.\n"
    "\n"
    "With --curve N it trains N steps on text instead (--data; without it licence texts of this\n"
    "system) from the same start on the same batches in each precision, and prints the loss,\n"
    "what differs from fp32, and where a curve diverges. The bytes are the tokens; the learning\n"
    "rate rises to --lr over the first tenth of the steps. With --peer torch PyTorch follows the\n"
    "same curve from the same start on the same batches, in each precision it trains in.\n"
    "\n"
    "  roofstep precision\n"
    "  roofstep precision --size small --precision bf16,fp16 --out precision.json\n"
    "  roofstep precision --count 100000 --value 0.001\n"
    "  roofstep precision --curve 500 --size tiny --data book.txt --out curves.json\n"
    "                                                 (killed? --resume curves.json)\n"
    "  roofstep precision --curve 500 --size tiny --precision fp32,bf16 --peer torch\n"
    "  roofstep precision --device cuda --format csv  (one row per tensor)\n";

static const OptionWords words[] = {{.id = OPTION_PRECISION, .by_default = "all of them"},
                                    {.id = OPTION_FP8_RECIPE, .by_default = "all of them"}};

const Command cmd_precision = {
    .name = "precision",
    .summary = "what fp32, tf32, bf16, fp16 and fp8 do to the numbers, and what they buy",
    .help = help,
    .options = {.taken = OPTION_LIST(
                    OPTIONS_DIMS, OPTION_DEVICE, OPTION_PRECISION, OPTION_FP8_RECIPE,
                    OPTION_FP8_LAYERS, OPTION_ATTENTION, OPTION_EXEC, OPTION_THREADS, OPTION_WARMUP,
                    OPTION_STEPS, OPTION_SAMPLE_TIME, OPTION_SEED, OPTION_STAT, OPTION_LOSS_SCALE,
                    OPTION_MEMORY_LIMIT, OPTION_TIMEOUT, OPTION_TERMS, OPTION_TERM, OPTION_CURVE,
                    OPTION_DATA, OPTION_LR, OPTION_CLIP, OPTION_RESUME, OPTION_PEER,
                    OPTION_PEER_VARIANT, OPTIONS_OUTPUT),
                .lists = OPTION_LIST(OPTION_PRECISION, OPTION_FP8_RECIPE),
                .formats = REPORT_STUDY_FORMATS,
                .defaults = config_precision_defaults,
                .words = words,
                .n_words = 2},
    .run = run,
};
