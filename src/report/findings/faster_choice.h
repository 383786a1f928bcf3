/* Which other --precision or --exec makes a step shorter, as far as the samples show it. */
#pragma once

#include "bench/record/record_set.h"

typedef struct FasterChoice {
    const char *field; /* in which the two rows differ */
    const RecordSet *rows;
    size_t from, to;
    double saved; /* share of the step of `from` */
} FasterChoice;

typedef struct FasterChoices {
    FasterChoice *at; /* the largest saving of a row comes before its others */
    size_t n;
} FasterChoices;

/* A row of ours that was timed: others are no choice. */
bool faster_choice_step(const Record *record, double *ms);
/* Appends the choices of these rows. A choice counts where it saves 1 % or more, and `compare` would call it
 * faster; fewer samples than an interval needs must all be below those of the other row. */
Status faster_choice_add(FasterChoices *choices, const RecordSet *rows);
/* The largest saving; NULL: none. */
const FasterChoice *faster_choice_best(const FasterChoices *choices);
void faster_choice_free(FasterChoices *choices);
