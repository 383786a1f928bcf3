/* What is told beside a write-up without a run: sums and dtypes as `precision` has them, and memory as `memory` plans it. */
#ifndef CLI_PUBLISHED_PUBLISHED_NUMBERS_H
#define CLI_PUBLISHED_PUBLISHED_NUMBERS_H

#include "base/text.h"
#include "config/config.h"

/* Appends one of
 *
 *   sum WAY            of bench/study/accumulation.c: a thousand times 0.01, which the write-ups add up
 *   dtype COMPONENT    of bench/record/component_dtypes.def, in the plan of `config`
 *   gb MOMENT          memory in use, in 10^9 bytes, in the plan of `config`: `begin` before the first step, `forward` at
 *                      most in its forward pass, `optimizer` at most in the optimizer of a later one
 *
 * and "-" where there is no such thing. */
void published_numbers_put(Text *text, const Config *config, const char *what);

#endif
