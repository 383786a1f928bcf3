/* Whether the cells of a suite fit into the memory there is, by their plans. No device is opened: those who run
 * the cells will, in processes of their own. */
#ifndef BENCH_ESTIMATE_SUITE_MEMORY_H
#define BENCH_ESTIMATE_SUITE_MEMORY_H

#include "config/config.h"

#include <stddef.h>

/* Bytes that can be taken now, of the CPU or the first GPU; SIZE_MAX where nobody tells. */
size_t suite_memory_room(bool gpu);

/* The whole of what each cell asks for, in `room` or its own --memory-limit. A cell without a plan takes
 * nothing: its row says why. */
bool suite_memory_fits(const Config *configs, int n, size_t room);

#endif
