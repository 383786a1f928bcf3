/* Who had the processors meanwhile: this process, other programs, other virtual machines. */
#ifndef BENCH_MEASURE_INTERFERENCE_H
#define BENCH_MEASURE_INTERFERENCE_H

#include "backend/cpu_info.h"

typedef struct Interference {
    CpuTicks ticks;
    double own; /* processor seconds of this process */
} Interference;

/* Shares of all the processors' time, 0..1; 0 where the kernel does not tell. */
typedef struct InterferenceShares {
    double steal, others;
    double seconds; /* of all processors together */
} InterferenceShares;

/* Percent from which on a reader should know. */
enum { INTERFERENCE_MUCH_OTHERS = 3, INTERFERENCE_MUCH_STOLEN = 1 };

Interference interference_now(void);
InterferenceShares interference_since(const Interference *then);

#endif
