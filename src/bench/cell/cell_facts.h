/* What a cell tells of itself beside its samples: the fields of its record. */
#pragma once

#include "bench/estimate/fit.h"
#include "bench/measure/cell_link.h"
#include "bench/measure/gpu_memory.h"
#include "bench/measure/interference.h"
#include "bench/measure/rss.h"
#include "exec/session.h"

#include <sys/resource.h>

/* What was taken before the cell took anything. */
typedef struct CellBaseline {
    Rss rss;
    GpuMemory gpu; /* none of a cell on the CPU */
} CellBaseline;

/* Before the run: where, what, how much; phases that do not fit are settled here. */
Status cell_facts_planned(CellLink *link, const Config *config, const Placement *placement,
                          const Fit *fit);
/* What came before the first step, in seconds: finding the device (which starts its libraries) and
 * planning; opening it, of which choosing algorithms. */
typedef struct CellStart {
    double plan, open, prepare;
} CellStart;
Status cell_facts_started(CellLink *link, const CellStart *start);
/* The first step, what the process had used before it, and how much of it was the capture of graphs. */
Status cell_facts_first_step(CellLink *link, double seconds, const struct rusage *before,
                             double capture_seconds);
/* What the machine's owner, and on a CPU other programs, had of the processors since `before`. */
Status cell_facts_interference(CellLink *link, const Placement *placement,
                               const Interference *before);
/* After the run, with the session still open: loss, skipped steps, memory, which the last cell of a
 * process gives back. */
Status cell_facts_measured(CellLink *link, Session *session, const Placement *placement,
                           const Fit *fit, const CellBaseline *before, bool last);
/* ok, or oom when the mode that was asked for does not fit. */
Status cell_facts_end(CellLink *link, Mode asked, const Fit *fit);
