#include "model/rope_frequency.h"

#include <math.h>

static const double full_turn = 6.283185307179586476925;

static double scale_by_wavelength(const Rope *rope, double frequency)
{
    const double length = full_turn / frequency, positions = (double)rope->original_positions;
    if (length < positions / rope->high_factor) return frequency;
    if (length > positions / rope->low_factor) return frequency / rope->factor;
    const double kept =
        (positions / length - rope->low_factor) / (rope->high_factor - rope->low_factor);
    return (1 - kept) * frequency / rope->factor + kept * frequency;
}

double rope_frequency(const ModelSpec *spec, int64_t i)
{
    const double rotary = (double)model_spec_rotary_dim(spec);
    const double frequency = pow(spec->rope.theta, -2.0 * (double)i / rotary);
    switch (spec->rope.scaling) {
    case ROPE_SCALING_LINEAR:
        return frequency / spec->rope.factor;
    case ROPE_SCALING_LLAMA3:
        return scale_by_wavelength(&spec->rope, frequency);
    case ROPE_SCALING_NONE:
    case ROPE_SCALING_COUNT:
        break;
    }
    return frequency;
}
