/* For the definitions of ops that quantize what they make (ops/fp8/quantize.c). */
#pragma once

#include "ops/element.h"
#include "ops/fp8/quantize.h"

/* The place's operands fit a matrix of rows x cols; at least one pair is there. */
Status quantize_place_check(const Plan *plan, const Node *node, const QuantizePlace *place,
                            int64_t rows, int64_t cols);
/* Quantizes x to the place's outputs. */
void quantize_place_reference(const OpCall *call, const QuantizePlace *place, Operand x);
