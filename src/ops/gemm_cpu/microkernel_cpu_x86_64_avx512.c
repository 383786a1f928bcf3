/* VFMADD231PS on 512 bits: a tile of 12 x 32 in 24 registers, two to a row; two more hold a row of b, one a
 * number of a in every place. A micro-panel of b can be more than the first-level cache keeps: both are
 * prefetched. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"
#include "ops/gemm_cpu/pack_cpu_x86_64_avx512.h"

enum { MR = 12, NR = 32, LANES = 16, VECTORS = NR / LANES, AHEAD_A = 128, AHEAD_B = 256 };

#define LOAD_ROW(y)           _mm512_loadu_ps(y)
#define EVERYWHERE(x)         _mm512_set1_ps(*(x))
#define ADD(sum, number, row) _mm512_fmadd_ps(number, row, sum)

MICROKERNEL_X86_64(PACK_AVX512_TARGET, 512, float, __m512)
PACK_AVX512(pack_a, MR, DT_F32)
PACK_AVX512(pack_b, NR, DT_F32)
const Microkernel microkernel_avx512 = {
    "avx512", PACK_AVX512_TARGET, DT_F32, MR, NR, 1, pack_a, pack_b, multiply,
    1024,     MICROKERNEL_UNIT};
