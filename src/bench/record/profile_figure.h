/* One figure of a profile by a few words, for tables that name what they want. */
#pragma once

#include "bench/record/profile_view.h"

/* `what` is MEASURE THING, as in "ms forward" or "share kernel 2 matmul backward". Measures are
 *
 *   ms, std                    mean and standard deviation over the steps
 *   total                      ms of all steps
 *   share                      % of what it is a part of
 *   calls, all_calls           kernels, on a CPU ops: of one step, of all
 *   us, us_med, us_min, us_max, us_std
 *                              of one call, or of one attention; the median is that of its ops' medians
 *
 * and things
 *
 *   PHASE, step                by the host's clock
 *   own PHASE                  of it what is in no op and, on a GPU, not between its first and last kernel
 *   attention                  forward, all parts but the residual; share of forward
 *   part NAME                  of prof/parts.def, forward; share of attention
 *   linear, misc               of attention: its projections together; what is in none of the parts by name
 *   beside                     forward without attention; share of forward
 *   device [PHASE]             all kernels or ops
 *   category NAME [PHASE]      share of the step; `other`: none of matmul, elementwise, optimizer, softmax,
 *                              reduction
 *   of PHASE CATEGORY          share of the kernels or ops of that phase,
 *   in PHASE CATEGORY          and of the phase by the host's clock
 *   kernel N [CATEGORY] [PHASE]   the one of rank N by its time, all ops under one short name together; share
 *                              of that phase, or the step
 *   one NAME                   scope of attention in one layer, forward, by the clock: scores, softmax,
 *                              values, or attention for all three
 *   inside                     the kernels or ops of these three in one layer
 *   inside NAME                those of that part
 *   compute, copies            of the GPU; share of both
 *   uploads                    copies from host to device; share of copies
 *   gap                        between two kernels of a phase
 *   api_gap                    between two calls of CUDA in a step; on a CPU between two ops of a phase
 *
 * NAN: this profile has no such thing. */
double profile_figure(const ProfileView *view, const char *what);

/* The short name of a `kernel`; NULL: there is none. */
const char *profile_figure_kernel(const ProfileView *view, const char *thing);
