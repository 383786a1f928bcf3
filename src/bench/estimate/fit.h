/* Does it fit? Settled from the plan before anything is allocated: the mode that was asked for, or
 * the largest one below it whose memory is there. */
#ifndef BENCH_ESTIMATE_FIT_H
#define BENCH_ESTIMATE_FIT_H

#include "bench/limits/placement.h"
#include "exec/binding.h"
#include "model/model.h"

typedef struct Fit {
    bool fits;
    Mode mode;    /* the largest that fits; MODE_FWD when none does */
    Model *model; /* of that mode; owned; there even if it does not fit */
    Binding binding;
    size_t need[MODE_COUNT]; /* bytes the process would hold; 0: a mode that was not looked at */
    size_t available;        /* bytes it may hold */
    /* Attention alone: q, k, v, the result and what is saved, when backward begins, whether it fits or
     * not; 0 in mode fwd. */
    size_t before_backward;
} Fit;

/* What this process holds now, rounded up so that the same cell says the same in every command. */
Status fit_held(size_t *held);
/* Where nobody says how much memory there is. ST_USAGE: --recompute auto goes by it. */
Status fit_check_recompute(const Config *config);
/* Bytes a process may hold on that device: what there is and what it has already (`held`), and no more
 * than config->memory_limit. */
Status fit_available(const Config *config, const Placement *placement, size_t held,
                     size_t *available);
/* What a step takes beside its plan: the libraries' buffers and stacks of that many threads. */
size_t fit_allowance(const Placement *placement);

Status fit_make(Fit *fit, const Config *config, const Placement *placement, size_t held,
                size_t available);
void fit_free(Fit *fit);
/* Bytes that recomputation saves of what the plan takes. */
Status fit_saved(const Fit *fit, const Placement *placement, size_t *saved);

typedef struct FitText {
    char s[160];
} FitText;
/* "needs 12.30 GiB, 7.90 GiB available, short by 4.40 GiB" */
FitText fit_shortage(const Fit *fit, Mode mode);

#endif
