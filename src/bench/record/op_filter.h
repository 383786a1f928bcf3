/* Selects rows of ops of a profile: their time, their calls, their kernels. */
#pragma once

#include "bench/record/profile_view.h"

typedef enum OpWhere {
    OP_WHERE_ANY,
    OP_WHERE_ATTENTION, /* any part of it, the residual aside */
    OP_WHERE_BESIDE,    /* outside attention */
    OP_WHERE_LINEAR,    /* its projections */
    OP_WHERE_CORE,      /* scores, softmax and values */
    OP_WHERE_MISC       /* in none of the parts that eager attention has */
} OpWhere;

/* Selects rows of ops; NULL or PHASE_COUNT: any. */
typedef struct OpFilter {
    unsigned categories; /* op_filter_categories(); 0: all */
    const char *part;    /* of prof/parts.def */
    Phase phase;
    OpWhere where;
} OpFilter;

/* A bit for each category of the word; "other": all but matmul, elementwise, optimizer, softmax and
 * reduction. An unknown word gives a bit that no op has. */
unsigned op_filter_categories(const char *word);
bool op_filter_takes(const OpFilter *filter, const ViewOp *op);
/* ns of all steps; NAN: no row matches. */
double op_filter_time(const ProfileView *view, const OpFilter *filter);
/* Of all steps: kernels on a GPU, nodes on a CPU. */
double op_filter_calls(const ProfileView *view, const OpFilter *filter);

/* Kernels of these rows, all calls under one short name together. The name with the most time has
 * rank 1; NULL: fewer names than that. */
const char *op_filter_kernel_name(const ProfileView *view, const OpFilter *filter, int rank);
ViewStats op_filter_kernel_stats(const ProfileView *view, const OpFilter *filter, const char *name);
