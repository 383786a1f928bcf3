#include "backend/cpu_features.h"
#include "ops/simd_cpu/rows_cpu.h"

#include <stdatomic.h>

/* Asked once: rows are many, and whatever the answer, the bits are the same. */
static bool has_bf16(void)
{
    static atomic_int known; /* 0: not asked yet */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer == 0) {
        answer = cpu_features_has("bf16") ? 1 : -1;
        atomic_store_explicit(&known, answer, memory_order_relaxed);
    }
    return answer > 0;
}

/* bfcvtn v2.4h, v0.4s and bfcvtn2 v2.8h, v1.4s; then v4, v5 to v6. Numbers, as in
 * microkernel_cpu_aarch64_bfmmla.c. */
int64_t rows_cpu_narrow_bf16(uint16_t *restrict dst, const float *restrict src, int64_t n)
{
    enum { AT_A_TIME = 16 };
    const int64_t whole = has_bf16() ? n / AT_A_TIME : 0;
    for (int64_t i = 0; i < whole; i++, src += AT_A_TIME, dst += AT_A_TIME) {
        __asm__ volatile("ldp q0, q1, [%[src]]\n"
                         "ldp q4, q5, [%[src], #32]\n"
                         ".inst 0x0ea16802\n"
                         ".inst 0x4ea16822\n"
                         ".inst 0x0ea16886\n"
                         ".inst 0x4ea168a6\n"
                         "stp q2, q6, [%[dst]]\n"
                         :
                         : [src] "r"(src), [dst] "r"(dst)
                         : "memory", "v0", "v1", "v2", "v4", "v5", "v6");
    }
    return whole * AT_A_TIME;
}
