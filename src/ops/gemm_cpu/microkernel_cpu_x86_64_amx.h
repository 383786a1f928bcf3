/* What microkernels on AMX share: a tile of 32 x 32 sums is four of 16 x 16, in tmm0 to tmm3; tmm4
 * and tmm5 are for 16 rows of a each, tmm6 and tmm7 for 16 columns of b as pairs along k. Only
 * microkernel_cpu_x86_64_amx*.c include it. */
#ifndef OPS_GEMM_CPU_MICROKERNEL_CPU_X86_64_AMX_H
#define OPS_GEMM_CPU_MICROKERNEL_CPU_X86_64_AMX_H

#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"

#include <immintrin.h>

enum { AMX_HALF = 16, AMX_BYTES = 64 /* of a tile's row */ };

#define AMX        __attribute__((target("amx-tile,amx-bf16")))
#define AMX_INLINE static inline __attribute__((always_inline)) AMX

/* Before a thread's first instruction on tiles. */
void microkernel_amx_configure(void);

AMX_INLINE void amx_load_sums(const MicrokernelTile *tile)
{
    const float *from = tile->from, *below = from + AMX_HALF * tile->ld_from;
    const long step = (long)(tile->ld_from * (int64_t)sizeof *from);
    _tile_loadd(0, from, step);
    _tile_loadd(1, from + AMX_HALF, step);
    _tile_loadd(2, below, step);
    _tile_loadd(3, below + AMX_HALF, step);
}

AMX_INLINE void amx_begin_sums(void)
{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
}

AMX_INLINE void amx_store_sums(const MicrokernelTile *tile)
{
    float *to = tile->to, *below = to + AMX_HALF * tile->ld_to;
    const long step = (long)(tile->ld_to * (int64_t)sizeof *to);
    _tile_stored(0, to, step);
    _tile_stored(1, to + AMX_HALF, step);
    _tile_stored(2, below, step);
    _tile_stored(3, below + AMX_HALF, step);
}

#endif
