/* Does a step fit in memory? Decided from plans, before anything is allocated. */
#pragma once

#include "bench/limits/placement.h"
#include "exec/binding.h"
#include "model/model.h"

/* ---- what a process holds and may hold ---- */

/* Bytes resident in this process, rounded up so that the same cell says the same in every command. */
Status fit_resident(size_t *bytes);
/* MiB of another machine's GPU that no plan has: its context, the code of kernels, the libraries. The median
 * of library_mib in 275 rows measured on an H200, from 530 to 563 (docs/results/h200-*.json). */
enum { FIT_CONTEXT_MIB = 536 };
/* Bytes a process may hold: its share of what the device has free, which all ranks on a CPU have
 * together, or those that share a GPU, and `resident`, or on another machine (NULL: this one) all its
 * memory, of a GPU less FIT_CONTEXT_MIB; at most config->memory_limit. 0: not known. */
Status fit_available(const Config *config, const Placement *placement, const Limits *machine,
                     size_t resident, size_t *available);
/* Bytes beside the plan: the libraries' buffers and the stacks of the threads. */
size_t fit_allowance(const Placement *placement);
/* Bytes of the plan of this mode: regions and arena. */
Status fit_planned_bytes(const Config *config, const Placement *placement, Mode mode,
                         size_t *bytes);

/* Settles `--recompute auto`: `out` recomputes nothing where the process then holds at most `limit`
 * bytes, otherwise the fewest blocks for which it does, and all of them where even those are not
 * enough. ST_USAGE: the limit is 0, not known. */
Status fit_settle_recompute(const Config *config, const Placement *placement, Mode mode,
                            size_t resident, size_t limit, Config *out);

/* ---- one cell ---- */

/* The mode that was asked for, or the largest one below it that fits. */
typedef struct Fit {
    bool fits;
    Mode mode;   /* the largest that fits; MODE_FWD when none does */
    Model model; /* of that mode; there even if it does not fit */
    Binding binding;
    size_t need[MODE_COUNT]; /* bytes the process would hold; 0: a mode that was not planned */
    size_t available;        /* bytes it may hold */
    /* Attention alone: q, k, v, the result and what is saved, when backward begins, whether it fits or
     * not; 0 in mode fwd. */
    size_t before_backward;
} Fit;

Status fit_make(Fit *fit, const Config *config, const Placement *placement, size_t resident,
                size_t available);
/* With what is resident in this process and available on the machine; everything fits where that is
 * not known. */
Status fit_make_on(Fit *fit, const Config *config, const Placement *placement,
                   const Limits *machine);
void fit_free(Fit *fit);
/* Bytes that recomputation takes off the plan. */
Status fit_recompute_saves(const Fit *fit, const Placement *placement, size_t *saved);

typedef struct FitText {
    char s[160];
} FitText;
/* "needs 12.30 GiB, 7.90 GiB available, short by 4.40 GiB" */
FitText fit_shortage(const Fit *fit, Mode mode);

/* ---- many cells ---- */

/* Bytes free now, of the CPU or the first GPU, without opening a device; SIZE_MAX: not known. */
size_t fit_free_memory(bool gpu);
/* Each cell fits into `room` and its own --memory-limit. A cell without a plan counts as fitting:
 * its row says why. */
bool fit_all(const Config *configs, int n, size_t room);
