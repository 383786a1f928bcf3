/* Where a loss curve starts and what it is trained on, as a safetensors file for another program
 * (peers/torch_curve.py): the parameters and the tokens of every step. */
#pragma once

#include "bench/study/curve_text.h"
#include "config/config.h"

/* Its metadata has the sizes of the model, lr, clip, seed and steps, over how many of those the learning
 * rate rises (lr_warmup), how many at the end are compared (last), and the text as JSON. Tensors:
 * `param.NAME` as in exports, and tokens [steps * batch, ctx + 1]: the last of a row is no input.
 * ST_UNSUPPORTED: a model from a configuration file. */
Status export_curve(const Config *config, CurveText *text, const char *path);
