/* What compare --live found, in every format. */
#pragma once

#include "cli/live/live.h"

/* md, latex and typst: what differs between the two, what the machine was like beside each, and a row
 * for every cell and phase with its verdict. json and csv: the same for programs. */
Status live_report_write(Text *out, const char *format, const Live *live);
/* Appends "slower: small, ctx 128: step +3.1 % (+1.9 .. +4.2 %), 14 pairs in 18 s": the worst phase
 * or, of one that is neither slower nor faster, the first. */
void live_report_put_summary(Text *out, const Live *live);
