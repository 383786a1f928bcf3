/* What a cell tells of itself beside its samples: the fields of its record. */
#pragma once

#include "bench/estimate/fit.h"
#include "bench/measure/cell_link.h"
#include "bench/measure/gpu_memory.h"
#include "bench/measure/rss.h"
#include "exec/session.h"

/* A cell with its plan, and from the first step on its memory. */
typedef struct CellOpen {
    const Config *config;
    CellLink *link;
    const Placement *placement;
    const Fit *fit;
    Session *session;
} CellOpen;

/* What was taken before the cell took anything. */
typedef struct CellBaseline {
    Rss rss;
    GpuMemory gpu; /* none of a cell on the CPU */
} CellBaseline;

/* Before the run: where, what, how much; phases that do not fit are settled here. */
Status cell_facts_planned(const CellOpen *cell);
/* After the run, with the session still open: loss and skipped steps; memory, which the last cell of a
 * process gives back. */
Status cell_facts_trained(const CellOpen *cell);
Status cell_facts_measured(const CellOpen *cell, const CellBaseline *before, bool last);
