#include "bench/study/annotated_cell.h"

#include "prof/ranges_nvtx.h"

#include <string.h>

typedef struct Annotation {
    bool parts, looping;
    RangesNvtx *ranges;
} Annotation;

static Status opened(void *self, const CellOpen *cell)
{
    Annotation *a = self;
    TRY(ranges_nvtx_open(&a->ranges, &cell->fit->binding, a->parts));
    return session_observe(cell->session, ranges_nvtx_observer(a->ranges));
}

static Status stage(void *self, const char *what, int64_t done)
{
    Annotation *a = self;
    if (a->looping || done != 1 || strcmp(what, "step") != 0) return ST_OK;
    a->looping = true;
    ranges_nvtx_push("measure_loop");
    return ST_OK;
}

static Status measured(void *self, const CellOpen *cell)
{
    (void)cell;
    const Annotation *a = self;
    if (a->looping) ranges_nvtx_pop();
    return ST_OK;
}

static Status run(const Config *config, CellLink *link, bool parts)
{
    Annotation a = {.parts = parts};
    const CellHooks more = {.self = &a, .opened = opened, .stage = stage, .measured = measured};
    const Status status = cell_run_with_hooks(config, link, &more);
    ranges_nvtx_close(a.ranges);
    return status;
}

Status annotated_cell_run(const Config *config, CellLink *link)
{
    return run(config, link, false);
}

Status annotated_cell_run_parts(const Config *config, CellLink *link)
{
    return run(config, link, true);
}
