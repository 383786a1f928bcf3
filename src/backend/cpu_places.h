/* Processors that the user gave to OpenMP's threads (OMP_PROC_BIND, OMP_PLACES, GOMP_CPU_AFFINITY). Before main() begins
 * libgomp binds the first thread to the first of them, and a program that is started from there would take that one for
 * all there are. */
#pragma once

#include "backend/proc_text.h"

/* How many, and which; 0: the user said nothing (clang's library: all of them then). */
int cpu_places(bool in[PROC_TEXT_CPUS]);

/* This thread may run on each of them, as any other: before it becomes another program. */
void cpu_places_unbind(void);
