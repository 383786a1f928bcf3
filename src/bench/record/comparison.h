/* Two runs of the same cells, phase by phase: what changed, how surely, and the verdict. */
#pragma once

#include "bench/record/record_set.h"

/* Smaller changes are not worth a word: a factor of 1.01 either way. */
#define COMPARISON_NOTICED 0.01
/* An accident of this probability counts as no difference. */
#define COMPARISON_SIGNIFICANT 0.05

enum { COMPARISON_PHASES = 4 };
extern const char *const comparison_phases[COMPARISON_PHASES]; /* "forward" ... "step" */

/* FASTER and SLOWER: by the rank test at 5 %, and the medians differ by 1 % or more. SAME: the whole
 * interval is within 1 %, or the samples are the same ones. UNSURE: neither; more samples decide. */
typedef enum ComparisonVerdict {
    COMPARISON_NONE, /* one of the two was not measured */
    COMPARISON_FASTER,
    COMPARISON_SLOWER,
    COMPARISON_SAME,
    COMPARISON_UNSURE
} ComparisonVerdict;

const char *comparison_verdict_word(ComparisonVerdict verdict); /* "faster"; "" for NONE */

/* One phase; what is not known is NAN. */
typedef struct ComparisonPhase {
    bool present;                    /* either record has it */
    bool other_mode;                 /* a step of another mode: less fitted in one of the two */
    RecordStatus status_a, status_b; /* of the phase, or of a record that has no such phase */
    int n_a, n_b;                    /* samples */
    double median_a, median_b;       /* ms */
    double min_a, max_a, min_b, max_b;
    double change;    /* of the median, B against A: 0.05 for 5 % slower */
    double low, high; /* 95 % interval of the change (rank_test.h) */
    double p;
    bool exact;        /* p: not approximated */
    bool same_samples; /* one measurement on both sides */
    ComparisonVerdict verdict;
} ComparisonPhase;

typedef struct ComparisonCell {
    const Record *a, *b;
    ComparisonPhase phases[COMPARISON_PHASES];
} ComparisonCell;

typedef struct Comparison {
    ComparisonCell *cells; /* in both files, in the order of A */
    size_t n_cells;
    const Record **only_a, **only_b; /* in one of them; borrowed from the sets */
    size_t n_only_a, n_only_b;
    /* Between the environments of the cells in both, and between the cells themselves where "auto" was
     * resolved differently: [{"field": "libraries.blas", "a": ..., "b": ...}]; null: unknown. What changes
     * from run to run (load, clocks, time, command) is not compared. */
    json_t *differences;
    /* Of the records compared, each text once: [{"warning": text, "a": [record_key()...], "b": [...]}]. */
    json_t *warnings;
    json_t *known; /* what those two hold, by its text; of differences it ends in a line break */
    /* Of the ratios B / A over the cells that have the phase in both; NAN without any. */
    double mean_ratio[COMPARISON_PHASES];
    int n_ratios[COMPARISON_PHASES];
} Comparison;

/* One of which nothing is known. */
ComparisonPhase comparison_no_phase(void);
/* One phase of two records, whatever their cells are. */
Status comparison_phase_make(ComparisonPhase *phase, const Record *a, const Record *b,
                             const char *name);
/* Cells are matched by record_key(); of several with one key the last counts, as for --resume. The sets
 * must outlive the comparison; the caller frees it, after a failure too. */
Status comparison_make(Comparison *out, const RecordSet *a, const RecordSet *b);
void comparison_free(Comparison *comparison);
