/* Interference: CPU time that other programs and other virtual machines took while we measured. */
#pragma once

#include "backend/cpu_info.h"

typedef struct Interference {
    CpuTicks ticks;
    double own; /* CPU seconds of this process */
} Interference;

/* Shares of the time of all CPUs, 0..1; 0 where the kernel does not tell. */
typedef struct InterferenceShares {
    double steal, others;
    double seconds; /* of all CPUs together */
} InterferenceShares;

/* Percent from which on a record warns. */
enum { INTERFERENCE_MUCH_OTHERS = 3, INTERFERENCE_MUCH_STOLEN = 1 };

Interference interference_now(void);
InterferenceShares interference_between(const Interference *then, const Interference *now);
InterferenceShares interference_since(const Interference *then);
