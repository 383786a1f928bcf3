/* What matmul and bmm have in common. */
#pragma once

#include "ops/element.h"

/* c = scale op(a) op(b) in double, where op transposes as `attr` says. */
void matmul_multiply(Operand c, Operand a, Operand b, const NodeAttr *attr, double scale);
/* The gradient of such a product is two more. */
void matmul_grad(Builder *b, const Node *node);
