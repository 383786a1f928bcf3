/* Processors that the user gave to OpenMP's threads (OMP_PROC_BIND, OMP_PLACES,
 * GOMP_CPU_AFFINITY), where the BLAS library brings OpenMP (backend/openmp_library.h). libgomp
 * binds the first thread to the first place before main() begins, and a program started from
 * there would take that one for all there are. */
#pragma once

#include "backend/proc_text.h"

/* How many, and which; 0: the user said nothing (clang's library: all of them then). */
int cpu_places(bool in[PROC_TEXT_CPUS]);

/* Binds the calling thread, number `thread` of `threads`, to its place, as cpu_places_own() or
 * OMP_PROC_BIND says. */
void cpu_places_bind(int thread, int threads);

/* This process has these processors for itself: each thread of a team of as many has one of them. */
void cpu_places_own(const bool own[PROC_TEXT_CPUS]);

/* The calling thread may run on every place again: before it starts another program. */
void cpu_places_unbind(void);
