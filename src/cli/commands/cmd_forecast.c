/* roofstep forecast: how long a step takes on a device that is not here. */
#include "base/array.h"
#include "base/log.h"
#include "bench/cell/supported.h"
#include "bench/forecast/efficiency_fit.h"
#include "bench/forecast/efficiency_json.h"
#include "bench/forecast/host_fit.h"
#include "bench/limits/datasheet.h"
#include "bench/limits/limits_cache.h"
#include "bench/limits/limits_json.h"
#include "bench/record/record_file.h"
#include "cli/command.h"
#include "cli/device_price.h"
#include "cli/forecast/forecast_check_output.h"
#include "cli/forecast/forecast_output.h"
#include "cli/output.h"
#include "cli/published/published_forecast.h"
#include "report/records/report.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEVICES = 40 };

/* ---- what it goes by ---- */

static Status read_efficiency(const Settings *settings, Efficiency *e)
{
    if (!settings->efficiency) return efficiency_json_bundled(e);
    const Status status = efficiency_json_read_file(e, settings->efficiency);
    if (status != ST_OK) status_context("--efficiency");
    return status;
}

static Status read_limits(const Settings *settings, Limits *limits)
{
    const Status status = limits_json_read_file(limits, settings->limits);
    if (status != ST_OK) status_context("--limits");
    return status;
}

static Status read_rows(const Settings *settings, RecordSet *rows)
{
    TRY(record_set_init(rows, NULL));
    for (int i = 0; i < settings->n_args; i++) {
        bool torn = false;
        TRY(record_file_read(rows, settings->args[i], &torn));
        if (torn) log_warning("%s: ignoring its truncated last line", settings->args[i]);
    }
    return ST_OK;
}

static Status read_program(const Settings *settings, EfficiencyProgram *program)
{
    const char *as = settings->as ? settings->as : "roofstep";
    *program = strcmp(as, "torch-eager") == 0 ? EFFICIENCY_TORCH : EFFICIENCY_ROOFSTEP;
    if (*program == EFFICIENCY_ROOFSTEP && strcmp(as, "roofstep") != 0)
        return FAIL(ST_USAGE, "--as '%s': there are roofstep and torch-eager", as);
    if (*program == EFFICIENCY_TORCH && settings->given[OPTION_EXEC])
        return FAIL(ST_USAGE, "--as torch-eager is --exec eager: leave --exec out");
    return ST_OK;
}

/* ---- forecasts ---- */

/* Once, however often it is named. */
static void add_device(ForecastOutput *all, const Datasheet *sheet)
{
    Limits *limits = &all->devices[all->n_devices].limits;
    datasheet_limits(sheet, limits);
    for (int d = 0; d < all->n_devices; d++) {
        if (strcmp(all->devices[d].limits.key.gpu, limits->key.gpu) == 0) return;
    }
    all->n_devices++;
}

static Status add_named(ForecastOutput *all, const char *list)
{
    while (*list) {
        const Datasheet *sheet;
        char name[64];
        const size_t n = strcspn(list, ",");
        if (n >= sizeof name || all->n_devices == MOST_DEVICES)
            return FAIL(ST_USAGE, "--gpu: at most %d names of data sheets", MOST_DEVICES);
        memcpy(name, list, n);
        name[n] = '\0';
        TRY(datasheet_named(name, &sheet));
        add_device(all, sheet);
        list += n + (list[n] != 0);
    }
    return ST_OK;
}

/* --gpu, --limits, or the limits that were measured here. */
static Status find_devices(ForecastOutput *all, const Settings *settings)
{
    Limits *own = &all->devices[0].limits;
    if (settings->gpu) TRY(add_named(all, settings->gpu));
    if (settings->limits) TRY(read_limits(settings, &all->devices[all->n_devices++].limits));
    if (all->n_devices > 0) return ST_OK;
    if (limits_cache_find(&all->sweep->configs[0], own)) {
        all->n_devices = 1;
        return ST_OK;
    }
    return FAIL(ST_USAGE, "which device? --gpu NAME (--gpu list shows them) or --limits FILE, as "
                          "'roofstep limits --format json' writes it");
}

/* PyTorch's eager mode runs the ops of --exec eager. */
static Status make_configs(ForecastOutput *all)
{
    all->configs = calloc((size_t)all->sweep->n, sizeof *all->configs);
    if (!all->configs) return NO_MEMORY("for %d cells", all->sweep->n);
    for (int i = 0; i < all->sweep->n; i++) {
        all->configs[i] = all->sweep->configs[i];
        if (all->program == EFFICIENCY_TORCH) all->configs[i].exec = EXEC_EAGER;
    }
    return ST_OK;
}

static Status make_cells(ForecastOutput *all)
{
    int n = 0;
    for (int d = 0; d < all->n_devices; d++) {
        ForecastDevice *device = &all->devices[d];
        device->cells = calloc((size_t)all->sweep->n, sizeof *device->cells);
        if (!device->cells) return NO_MEMORY("for %d cells", all->sweep->n);
        for (int i = 0; i < all->sweep->n; i++) {
            TRY(step_forecast_make(&device->cells[i], all->efficiency, &all->configs[i],
                                   all->program, &device->limits));
            n += !*device->cells[i].why;
        }
    }
    return n > 0 ? ST_OK
                 : supported_none(all->n_devices * all->sweep->n, all->devices[0].cells[0].why);
}

static Status forecast(const Settings *settings, const Sweep *sweep, const Efficiency *e)
{
    Text text = {0};
    CLEANUP(array_free)
    ForecastDevice *devices = calloc(MOST_DEVICES + 1, sizeof *devices);
    ForecastOutput all = {.sweep = sweep, .efficiency = e, .devices = devices};
    if (!devices) return NO_MEMORY("for devices");
    if (settings->n_args > 0)
        return FAIL(ST_USAGE, "files go with --fit or --check: %s", settings->args[0]);
    TRY(device_price_read(settings, &all.price));
    TRY(read_program(settings, &all.program));
    TRY(find_devices(&all, settings));
    Status status = make_configs(&all);
    if (status == ST_OK) status = make_cells(&all);
    if (status == ST_OK) status = forecast_output_write(&text, settings->format, &all);
    for (int d = 0; d < all.n_devices; d++) free(devices[d].cells);
    free(all.configs);
    return output_finish(settings, &text, status);
}

/* ---- --fit and --check ---- */

static Status fit(const Settings *settings, Efficiency *e)
{
    Limits limits;
    Text text = {0};
    CLEANUP(record_set_free) RecordSet rows = {0};
    if (settings->given[OPTION_FORMAT] && strcmp(settings->format, "json") != 0)
        return FAIL(ST_USAGE, "--fit writes JSON: --format json");
    if (!settings->limits)
        return FAIL(ST_USAGE, "--fit needs --limits FILE of the device that the profiles ran on");
    TRY(read_limits(settings, &limits));
    TRY(read_rows(settings, &rows));
    TRY(efficiency_fit(e, &rows, &limits));
    TRY(host_fit(e, &rows, &limits));
    return output_finish(settings, &text, efficiency_json_write(&text, e));
}

/* That the files ran on; `limits` is untouched where neither option is given. */
static Status read_machine(const Settings *settings, Limits *limits, bool *given)
{
    const Datasheet *sheet;
    *given = settings->limits || settings->gpu;
    if (settings->limits && settings->gpu)
        return FAIL(ST_USAGE, "--check: --gpu and --limits both name a machine: give one of them");
    if (settings->limits) return read_limits(settings, limits);
    if (!settings->gpu) return ST_OK;
    TRY(datasheet_named(settings->gpu, &sheet));
    datasheet_limits(sheet, limits);
    return ST_OK;
}

static Status check_published(ForecastChecks *checks, const Settings *settings, const char *name,
                              const Efficiency *e, EfficiencyProgram program, const Limits *machine)
{
    checks->title = "Forecasts beside what was published";
    checks->published = true;
    if (settings->n_args > 1)
        return FAIL(ST_USAGE, "--check published:%s is alone: it takes no files beside", name);
    if (program != EFFICIENCY_TORCH)
        return FAIL(ST_USAGE, "--check published:%s: its figures are of PyTorch: --as torch-eager",
                    name);
    return published_forecast_checks(checks, name, e, program, machine);
}

static Status check_files(ForecastChecks *checks, const Settings *settings, const Efficiency *e,
                          EfficiencyProgram program, const Limits *machine)
{
    CLEANUP(record_set_free) RecordSet rows = {0};
    checks->title = "Forecasts beside what was measured";
    if (!machine)
        return FAIL(
            ST_USAGE,
            "--check needs --limits FILE or --gpu NAME of the device that the files ran on");
    TRY(read_rows(settings, &rows));
    return forecast_check_records(checks, &rows, e, program, machine);
}

static Status check(const Settings *settings, const Efficiency *e)
{
    Limits limits;
    bool given = false;
    Text text = {0};
    EfficiencyProgram program;
    ForecastChecks checks = {0};
    const char *name = settings->n_args > 0 ? published_forecast_name(settings->args[0]) : NULL;
    TRY(read_program(settings, &program));
    TRY(read_machine(settings, &limits, &given));
    const Limits *machine = given ? &limits : NULL;
    Status status = name ? check_published(&checks, settings, name, e, program, machine)
                         : check_files(&checks, settings, e, program, machine);
    if (status == ST_OK) status = forecast_check_output_write(&text, settings->format, &checks);
    forecast_check_free(&checks);
    return output_finish(settings, &text, status);
}

static Status run(const Settings *settings, const Sweep *sweep, int *exit_code)
{
    (void)exit_code;
    CLEANUP(array_free) Efficiency *e = malloc(sizeof *e);
    if (!e) return NO_MEMORY("for efficiencies");
    if (settings->fit && settings->check)
        return FAIL(ST_USAGE, "--fit and --check: one after the other");
    if (settings->fit) return fit(settings, e);
    TRY(read_efficiency(settings, e));
    return settings->check ? check(settings, e) : forecast(settings, sweep, e);
}

/* On a GPU a step that is captured as a graph: what keeps its host busy was not measured. */
static void defaults(Config *config)
{
    config_defaults(config);
    config->exec = EXEC_GRAPH;
    config->precision = PRECISION_BF16;
    config->ctx = 512;
}

static const char help[] =
    "Says how long a step takes on a GPU that is not here: every op of its plan by what such ops\n"
    "reached of the limits where they were measured, on the limits of the other device: those of\n"
    "its data sheet (--gpu; list shows them) or measured ones (--limits). No device is needed.\n"
    "For a single cell also the phases, and what would change first.\n"
    "\n"
    "--as torch-eager forecasts PyTorch's eager mode: its ops one by one, each submitted by a "
    "host\n"
    "as fast as the one that the efficiencies were fitted to.\n"
    "--check FILE... forecasts the steps that result files measured, and shows the errors; "
    "published:NAME those of a\n"
    "write-up, on its GPU.\n"
    "--fit FILE... measures anew what ops reach, from results of 'profile --format json', and "
    "what\n"
    "hosts take, from results of 'bench --exec eager,fused' and of PyTorch's eager mode.\n"
    "\n"
    "  roofstep forecast --gpu rtx4090 --size medium\n"
    "  roofstep forecast --gpu h100-sxm,b200 --size medium,xl --price 2.49/h\n"
    "  roofstep forecast --gpu a100-80 --model llama-3.2-1b --ctx 2048 --batch 4\n"
    "  roofstep forecast --gpu rtx5090 --size medium --ctx 128 --as torch-eager\n"
    "  roofstep forecast --check results.json --limits my-gpu.json\n"
    "  roofstep forecast --check published:rtx5090 --as torch-eager\n"
    "  roofstep forecast --fit small.json --limits my-gpu.json --out my-ops.json\n";

const Command cmd_forecast = {
    .name = "forecast",
    .summary = "how long a step takes on a GPU that is not here, and what it costs",
    .help = help,
    .options = {.taken = OPTION_LIST(OPTIONS_PLAN, OPTIONS_OUTPUT, OPTION_GPU, OPTION_LIMITS,
                                     OPTION_EFFICIENCY, OPTION_PRICE, OPTION_AS, OPTION_FIT,
                                     OPTION_CHECK),
                .lists = OPTION_LIST(OPTIONS_PLAN),
                .args = "[FILE...]",
                .formats = report_formats,
                .defaults = defaults},
    .run = run,
};
