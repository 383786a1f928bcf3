/* What results say about how a step behaves, as sentences with figures: what warm-up changes,
 * why softmax takes its time, where another precision gains, how times and memory grow. */
#pragma once

#include "bench/record/profile_view.h"
#include "bench/study/warmup_study.h"
#include "report/findings/result_input.h"

/* Each appends one paragraph without a line break, or nothing where the data does not tell. */

/* What a run with the fewest warm-ups reports, against one with the most. */
void findings_warmup(Text *out, const WarmupStudy *study);
/* " 5 warm-ups are enough here."; nothing where there were too few runs to tell. */
void findings_enough(Text *out, const WarmupStudy *study);
/* Softmax of the forward pass against attention's two matrix multiplications, where they are ops
 * of their own. */
void findings_softmax(Text *out, const ProfileView *view);
/* The same of the first row that has such a profile. */
Status findings_softmax_first(Text *out, const RecordSet *rows);

/* Appends the lines of all files, as summary_add() does. */
Status findings_add(json_t *lines, const ResultInput *files, int n);
