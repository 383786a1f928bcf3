/* Every name in a phase of a result, as fields.def has those of the result itself.
 *
 * A macro and no .def, so that a column can be made of each pair of phase and field:
 * FIELD(phase, name, kind, need), with
 *   kind  NUMBERS (array of numbers >= 0)
 *   need  MEASURED (always when the phase's status is ok) */
#pragma once

#define PHASE_FIELDS(FIELD, phase)              \
    FIELD(phase, status, STATUS, ALWAYS)        \
    FIELD(phase, message, TEXT, MAYBE)          \
    FIELD(phase, mean_ms, NUMBER, MEASURED)     \
    FIELD(phase, std_ms, NUMBER, MAYBE)         \
    FIELD(phase, min_ms, NUMBER, MAYBE)         \
    FIELD(phase, max_ms, NUMBER, MAYBE)         \
    FIELD(phase, median_ms, NUMBER, MAYBE)      \
    FIELD(phase, median_low_ms, NUMBER, MAYBE)  \
    FIELD(phase, median_high_ms, NUMBER, MAYBE) \
    FIELD(phase, ci95_low_ms, REAL, MAYBE)      \
    FIELD(phase, ci95_high_ms, REAL, MAYBE)     \
    FIELD(phase, gpu_mean_ms, NUMBER, MAYBE)    \
    FIELD(phase, gpu_std_ms, NUMBER, MAYBE)     \
    FIELD(phase, samples_ms, NUMBERS, MAYBE)
