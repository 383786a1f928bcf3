/* The formulas of the gate, for the references of the ops that compute it. */
#pragma once

#include "ops/element.h"

/* Where h3 is absent, h1 is twice as wide and holds both; so too dh3 and dh1. The gradient needs no g. */
void swiglu_reference(Operand g, Operand h1, Operand h3);
void swiglu_reference_grad(Operand dh1, Operand dh3, Operand g, Operand dg, Operand h1, Operand h3);
