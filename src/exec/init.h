/* Initial values: the same seed gives the same values on every device, with any number of threads and
 * in every precision. */
#pragma once

#include "exec/session.h"
#include "model/model.h"

/* Uploads parameters, tokens, targets, RoPE tables and the step state, or q, k, v and dout of attention
 * alone (normal, cut at 3); clears Adam's moments and runs the setup phase. */
Status init_session(Session *s, const Model *model);
/* Tokens and targets of another batch: number 0 is the one of init_session(). */
Status init_batch(Session *s, const Model *model, int number);
/* Elements [first, first + n) of a parameter as init_session() makes them, without a session. */
void init_param_values(const Model *model, int param, int64_t first, int64_t n, float *values);
/* Other values for elements [first, first + n) of a parameter, in fp32. The setup phase must run again
 * after the last. */
Status init_param(Session *s, const Model *model, int param, int64_t first, int64_t n,
                  const float *values);
extern const int init_line; /* source line of init_session(), like OpDef.line */
