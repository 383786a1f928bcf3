/* The kernels of a profile by their time, all calls under one short name together. */
#ifndef BENCH_RECORD_KERNEL_RANK_H
#define BENCH_RECORD_KERNEL_RANK_H

#include "bench/record/op_filter.h"

/* The short name with most time is of rank 1, in the rows that `filter` takes; NULL: there are not so many. */
const char *kernel_rank_name(const ProfileView *view, const OpFilter *filter, int rank);
/* All its calls there. The median is that of its ops' medians: single calls are not kept. */
ViewStats kernel_rank_stats(const ProfileView *view, const OpFilter *filter, const char *brief);

#endif
