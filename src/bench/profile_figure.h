/* One figure of a profile by a few words, for tables that name what they want. */
#ifndef BENCH_PROFILE_FIGURE_H
#define BENCH_PROFILE_FIGURE_H

#include "bench/profile_view.h"

/* Means of one step. `what` is one of
 *
 *   wall PHASE, std PHASE      ms by the host's clock
 *   launches PHASE             kernels; on a CPU ops
 *   part NAME                  ms of forward; NAME of prof/parts.def
 *   attention                  ms of forward: all parts but the residual
 *   device                     ms of all kernels or ops
 *   category NAME PHASE        % of that phase
 *   share NAME [PHASE]         % of the step
 *
 * NAN: this profile has no such thing. */
double profile_figure(const ProfileView *view, const char *what);

#endif
