/* What matmul and bmm have in common. */
#pragma once

#include "ops/element.h"

enum { MATMUL_IN_C = 3 }; /* the input that is the output, where a product accumulates */

/* c = scale op(a) op(b) in double, where op transposes and accumulates as `attr` says. */
void matmul_multiply(Operand c, Operand a, Operand b, const NodeAttr *attr, double scale);
/* The gradient of such a product is two more. */
void matmul_grad(Builder *b, const Node *node);
