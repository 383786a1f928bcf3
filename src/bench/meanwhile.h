/* Who had the processors meanwhile: this process, other programs, other virtual machines. */
#ifndef BENCH_MEANWHILE_H
#define BENCH_MEANWHILE_H

#include "backend/cpu_info.h"

typedef struct Meanwhile {
    CpuTicks ticks;
    double own; /* processor seconds of this process */
} Meanwhile;

/* Shares of all the processors' time, 0..1; 0 where the kernel does not tell. */
typedef struct MeanwhileShares {
    double steal, others;
    double seconds; /* of all processors together */
} MeanwhileShares;

/* Percent from which on a reader should know. */
enum { MEANWHILE_MUCH_OTHERS = 3, MEANWHILE_MUCH_STOLEN = 1 };

Meanwhile meanwhile_now(void);
MeanwhileShares meanwhile_since(const Meanwhile *then);

#endif
