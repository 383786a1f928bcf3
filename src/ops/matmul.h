/* What matmul and bmm have in common. */
#pragma once

#include "ops/element.h"

/* Optional inputs: the bias, and the output itself where a product accumulates. */
enum { MATMUL_IN_BIAS = 2, MATMUL_IN_C = 3 };

/* c = scale op(a) op(b) + bias in double, where op transposes and accumulates as `attr` says; `bias`
 * may have no data. */
void matmul_multiply(Operand c, Operand a, Operand b, Operand bias, const NodeAttr *attr,
                     double scale);
/* Shapes, whether it accumulates (then its last input is c: number `c`), and 31 bits a side. */
Status matmul_check(const Plan *plan, const Node *node, int bias, int c);
OpCost matmul_cost(const Plan *plan, const Node *node);
/* The gradient of such a product is two more. */
void matmul_grad(Builder *b, const Node *node);
