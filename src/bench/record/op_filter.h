/* Selects rows of ops of a profile: their time, their calls, their kernels. */
#pragma once

#include "bench/record/profile_view.h"
#include "prof/part.h"

/* Rows of ops: those in one of the categories, in one of the parts and in the phase; PHASE_COUNT: in any. */
typedef struct OpFilter {
    unsigned categories; /* op_filter_categories() */
    unsigned parts;      /* op_filter_part() */
    Phase phase;
} OpFilter;

/* Parts of prof/parts.def, a bit each. An op of no part is outside attention, and so is the residual. */
#define OP_FILTER_PART(part) (1U << PART_##part)
#define OP_FILTER_BESIDE     (OP_FILTER_PART(COUNT) | OP_FILTER_PART(RESIDUAL))
#define OP_FILTER_ATTENTION  (~OP_FILTER_BESIDE)
#define OP_FILTER_LINEAR     (OP_FILTER_PART(QKV) | OP_FILTER_PART(OUTPUT))
#define OP_FILTER_ROPE       (OP_FILTER_PART(ROPE_Q) | OP_FILTER_PART(ROPE_K))
#define OP_FILTER_EAGER_CORE \
    (OP_FILTER_PART(SCORES) | OP_FILTER_PART(SOFTMAX) | OP_FILTER_PART(VALUES))
#define OP_FILTER_CORE (OP_FILTER_EAGER_CORE | OP_FILTER_PART(CORE))
/* In none of the parts that eager attention has. */
#define OP_FILTER_MISC \
    (OP_FILTER_ATTENTION & ~(OP_FILTER_LINEAR | OP_FILTER_ROPE | OP_FILTER_EAGER_CORE))

/* A bit for each category of the word; "other": all but matmul, elementwise, optimizer, softmax and
 * reduction. An unknown word gives a bit that no op has. */
unsigned op_filter_categories(const char *word);
/* The bit of the part of that name; NULL: of none. */
unsigned op_filter_part(const char *name);
/* ns of all steps; NAN: no row matches. */
double op_filter_time(const ProfileView *view, const OpFilter *filter);
/* Of all steps: kernels on a GPU, nodes on a CPU. */
double op_filter_calls(const ProfileView *view, const OpFilter *filter);

/* Kernels of these rows, all calls under one short name together. The name with the most time has
 * rank 1; NULL: fewer names than that. */
const char *op_filter_kernel_name(const ProfileView *view, const OpFilter *filter, int rank);
ViewStats op_filter_kernel_stats(const ProfileView *view, const OpFilter *filter, const char *name);
