/* How fast each pair of RoPE turns. */
#pragma once

#include "config/model_spec.h"

/* Radians from one token to the next of pair i of a head, 0 <= i < model_spec_rotary_dim() / 2:
 *
 *     f = theta^(-2i/R)        R: the elements of a head that turn
 *
 * LINEAR divides it by `factor`. LLAMA3 leaves it where the wavelength 2 pi / f is below
 * original_positions / high_factor, divides it where it is above original_positions / low_factor,
 * and between them goes from one to the other with original_positions / wavelength. */
double rope_frequency(const ModelSpec *spec, int64_t i);
