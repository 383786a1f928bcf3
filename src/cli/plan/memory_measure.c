#include "cli/plan/memory_measure.h"

#include "base/array.h"
#include "bench/cell/runner.h"
#include "bench/study/memory_run.h"
#include "cli/command.h"

#include <stdlib.h>
#include <string.h>

/* With several cells each is followed by its forward pass. */
static int list_configs(Config *configs, const Sweep *sweep)
{
    int n = 0;
    for (int i = 0; i < sweep->n; i++) {
        configs[n++] = sweep->configs[i];
        if (sweep->n == 1 || sweep->configs[i].mode == MODE_FWD) continue;
        configs[n] = sweep->configs[i];
        configs[n++].mode = MODE_FWD;
    }
    return n;
}

static const Record *find(const RecordSet *rows, const Config *config, Mode mode)
{
    Config c = *config;
    c.mode = mode;
    return record_set_find_config(rows, &c);
}

static Status run_all(const Config *configs, int n, const Sweep *sweep, RecordSet *rows,
                      int *exit_code)
{
    RunnerOutcome outcome;
    bool varies[OPTION_COUNT];
    memcpy(varies, sweep->varies, sizeof varies);
    varies[OPTION_MODE] = varies[OPTION_MODE] || n > sweep->n;
    const RunnerTask task = {.configs = configs, .n = n, .varies = varies, .cell = memory_run_cell};
    TRY(runner_run(&task, rows, &outcome));
    *exit_code = outcome.signal ? EXIT_INTERRUPTED : outcome.bad ? EXIT_CELLS : 0;
    return ST_OK;
}

Status memory_measure(MemoryCell *cells, const Sweep *sweep, RecordSet *rows, int *exit_code)
{
    CLEANUP(array_free) Config *configs = malloc(2 * (size_t)sweep->n * sizeof *configs);
    if (!configs) return NO_MEMORY("for %d cells", sweep->n);
    const Status status = run_all(configs, list_configs(configs, sweep), sweep, rows, exit_code);
    TRY(status);
    for (int i = 0; i < sweep->n; i++) {
        cells[i].measured = find(rows, cells[i].config, cells[i].config->mode);
        cells[i].measured_forward = find(rows, cells[i].config, MODE_FWD);
    }
    return ST_OK;
}
