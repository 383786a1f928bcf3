/* VDPBF16PS: two products of bf16 added to each fp32. A tile of 12 x 32 as in AVX-512's fp32, on
 * pairs along k: two registers hold 32 pairs of b, one a pair of a in every place.
 *
 * The instruction's own rounding: to nearest after each product, and denormal numbers count as
 * zero. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64.h"
#include "ops/gemm_cpu/pack_cpu_x86_64_avx512.h"

enum { MR = 12, NR = 32, KR = 2, LANES = 16, VECTORS = NR / LANES, AHEAD_A = 128, AHEAD_B = 256 };

#define LOAD_ROW(y)           (__m512bh) _mm512_loadu_si512(y)
#define EVERYWHERE(x)         (__m512bh) _mm512_set1_epi32(*(x))
#define ADD(sum, number, row) _mm512_dpbf16_ps(sum, number, row)

MICROKERNEL_X86_64(PACK_AVX512_TARGET ",avx512bf16", 512, int32_t, __m512bh)

#define NEEDS PACK_AVX512_TARGET ",avx512_bf16"
PACK_AVX512(pack_a, MR, DT_BF16)
PACK_AVX512(pack_b, NR, DT_BF16)
const Microkernel microkernel_avx512_bf16 = {
    "avx512_bf16", NEEDS, DT_BF16, MR, NR, KR, pack_a, pack_b, multiply, 1024, MICROKERNEL_UNIT};
