#ifndef MODEL_XFORM_OVERLAP_H
#define MODEL_XFORM_OVERLAP_H

#include "model/model.h"

/* Lets the products that make weight gradients run aside: nothing but the optimizer waits for them,
 * and they fill the device where norms, SwiGLU and attention leave it half empty. At most two are
 * under way at once, so that their operands do not pile up. */
void xform_overlap(Plan *plan);

#endif
