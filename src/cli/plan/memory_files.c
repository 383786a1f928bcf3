#include "cli/plan/memory_files.h"

#include "base/atomic_file.h"
#include "bench/record/cell_label.h"
#include "cli/plan/config_json.h"
#include "config/cell_field.h"
#include "report/memory/memory_snapshot.h"
#include "report/memory/memory_svg.h"

#include <time.h>

enum { STEPS = 2 };

/* What cannot be written is known before the work. */
static Status check_path(const char *path)
{
    AtomicFile file;
    if (!path) return ST_OK;
    TRY(atomic_file_open(&file, path));
    atomic_file_abandon(&file);
    return ST_OK;
}

Status memory_files_check(const Settings *settings, const Sweep *sweep)
{
    if ((settings->snapshot || settings->svg) && sweep->n > 1)
        return FAIL(ST_USAGE,
                    "--%s is of one cell, and there are %d: give one value of each option",
                    settings->snapshot ? "snapshot" : "svg", sweep->n);
    TRY(check_path(settings->snapshot));
    return check_path(settings->svg);
}

/* The times of one step, of a run whose plan this is; NULL: there are none. */
static const json_t *step_times(const MemoryCell *cell, int step)
{
    const json_t *trace = cell->measured ? json_object_get(cell->measured, "memory_trace") : NULL;
    const json_t *times = json_object_get(json_array_get(trace, (size_t)step), "start_us");
    return json_array_size(times) == (size_t)cell->model.plan.n_nodes ? times : NULL;
}

/* Nodes of the setup ran before the first step. */
static double start_us(const void *self, int step, int node)
{
    const MemoryCell *cell = self;
    return json_number_value(json_array_get(step_times(cell, step), (size_t)node));
}

static Status write_snapshot(const char *path, const MemoryCell *cell)
{
    MemorySnapshot snapshot = {.profile = &cell->profile, .steps = STEPS};
    if (step_times(cell, 0) && step_times(cell, 1)) {
        snapshot.start_us = start_us;
        snapshot.self = cell;
        snapshot.epoch_us = (int64_t)time(NULL) * 1000000;
    }
    return memory_snapshot_write(&snapshot, path);
}

static Status write_svg(const char *path, const MemoryCell *cell)
{
    const Config used = config_json_used(cell->config, &cell->placement, cell->attention);
    bool shown[OPTION_COUNT] = {0};
    CLEANUP(text_free) Text svg = {0};
    for (int id = 0; id < CELL_FIELD_COUNT; id++) shown[id] = cell_field_is_work(id);
    TRY(memory_svg(&svg, &cell->profile, cell_label(&used, shown).s));
    return text_write_file(path, text_str(&svg), svg.n);
}

Status memory_files_write(const Settings *settings, const MemoryCell *cell)
{
    if (cell->unsupported) return ST_OK;
    if (settings->snapshot) TRY(write_snapshot(settings->snapshot, cell));
    return settings->svg ? write_svg(settings->svg, cell) : ST_OK;
}
