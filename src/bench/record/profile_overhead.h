/* What being watched cost a step, by the samples with and without the profiler. */
#pragma once

#include "base/text.h"
#include "bench/record/profile_view.h"

typedef struct ProfileOverhead {
    double percent;   /* by the table's statistic; NAN: not measured */
    double low, high; /* 95 % interval of the difference (base/rank_test.h); NAN: too few samples */
    bool sampled;     /* the record has the profiled samples; one of an older version has none */
} ProfileOverhead;

/* Of a phase; PHASE_COUNT: of the step. */
ProfileOverhead profile_overhead(const ProfileView *view, Phase phase);
/* The interval covers 0: the samples do not tell it from nothing. */
bool profile_overhead_is_noise(const ProfileOverhead *overhead);
/* Adds "within noise (-5.1 %, 95 % interval -9.8 to +2.0 %)", "+3.2 % (95 % interval ...)", or that
 * it cannot be told. */
void profile_overhead_text(const ProfileOverhead *overhead, Text *out);
