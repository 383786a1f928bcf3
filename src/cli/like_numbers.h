/* What the study of precision says beside a write-up: sums and dtypes. No step is run for them. */
#ifndef CLI_LIKE_NUMBERS_H
#define CLI_LIKE_NUMBERS_H

#include "base/text.h"
#include "config/config.h"

/* Appends one of
 *
 *   sum WAY            of bench/accumulation.c: a thousand times 0.01, which the write-ups add up
 *   dtype COMPONENT    of bench/component_dtypes.def, in the plan of `config`
 *
 * and "-" where there is no such thing. */
void like_numbers_put(Text *text, const Config *config, const char *what);

#endif
