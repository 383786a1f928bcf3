/* The values of parameters and of their gradients on the host, in fp32 and row after row, whatever a session
 * keeps of them: 16 bits, two halves, or a shard. */
#pragma once

#include "exec/session.h"
#include "model/model.h"

/* Elements [first, first + n) become `values`, as far as this rank keeps them, in all that it keeps of them.
 * `scratch` has 8 bytes for each. 16-bit copies that are no halves follow in the setup phase. */
Status param_values_write(Session *s, const Model *model, int param, int64_t first, int64_t n,
                          const float *values, void *scratch);

/* n values to memory of the device, as this dtype; `upper`: the upper halves of parameters in two halves
 * (base/float16.h). */
Status param_values_upload(Session *s, void *to, DType dtype, bool upper, const float *values,
                           int64_t n, void *scratch);

/* What is read: the parameter, or the gradient that backward left, loss scale included. */
typedef enum ParamValues { PARAM_VALUES, PARAM_GRADIENT } ParamValues;

/* The whole of it. All ranks call it, and all get it. `scratch` has 8 bytes for each element. */
Status param_values_read(Session *s, const Model *model, int param, ParamValues what, float *values,
                         void *scratch);

/* Elements of a parameter. */
int64_t param_values_count(const Model *model, int param);
