/* FMLA by element: a tile of 8 x 12 in v8 to v31, three to a row; v0 and v1 hold a column of a, v2 to v4 a
 * row of b. In assembly for the same reasons as BFMMLA's. */
#include "ops/microkernel_cpu_aarch64.h"

enum { ROWS = 8, COLUMNS = 12 };

/* clang-format off */
#define FMLA(c, b, a, lane) "fmla v" #c ".4s, v" #b ".4s, v" #a ".s[" #lane "]\n"
#define ROW(c0, c1, c2, a, lane) FMLA(c0, 2, a, lane) FMLA(c1, 3, a, lane) FMLA(c2, 4, a, lane)
#define ZERO_ROW(c0, c1, c2) \
    "movi v" #c0 ".4s, #0\n" "movi v" #c1 ".4s, #0\n" "movi v" #c2 ".4s, #0\n"
#define MOVE_ROW(op, c0, c1, c2) \
    #op " q" #c0 ", [%[c]]\n" #op " q" #c1 ", [%[c], #16]\n" #op " q" #c2 ", [%[c], #32]\n" \
    "add %[c], %[c], %[step]\n"
#define LOAD_ROW(c0, c1, c2) MOVE_ROW(ldr, c0, c1, c2)
#define STORE_ROW(c0, c1, c2) MOVE_ROW(str, c0, c1, c2)
#define EVERY_ROW(what)                                                      \
    what(8, 9, 10) what(11, 12, 13) what(14, 15, 16) what(17, 18, 19)        \
    what(20, 21, 22) what(23, 24, 25) what(26, 27, 28) what(29, 30, 31)

static void multiply(int64_t groups, const void *a, const void *b, float *c, int64_t ldc, bool add)
{
    const int64_t step = ldc * (int64_t)sizeof *c;
    float *first = c;
    __asm__ volatile(
        "cbz %w[add], 1f\n"
        EVERY_ROW(LOAD_ROW)
        "b 2f\n"
        "1:\n"
        EVERY_ROW(ZERO_ROW)
        "2:\n"
        "ldr q0, [%[a]]\n"
        "ldr q2, [%[b]]\n"
        "ldr q3, [%[b], #16]\n"
        "ldr q4, [%[b], #32]\n"
        ROW(8, 9, 10, 0, 0)
        ROW(11, 12, 13, 0, 1)
        "ldr q1, [%[a], #16]\n"
        ROW(14, 15, 16, 0, 2)
        ROW(17, 18, 19, 0, 3)
        "add %[a], %[a], #32\n"
        "prfm pldl1keep, [%[a], #512]\n"
        ROW(20, 21, 22, 1, 0)
        "add %[b], %[b], #48\n"
        ROW(23, 24, 25, 1, 1)
        "subs %[groups], %[groups], #1\n"
        ROW(26, 27, 28, 1, 2)
        ROW(29, 30, 31, 1, 3)
        "b.ne 2b\n"
        "mov %[c], %[first]\n"
        EVERY_ROW(STORE_ROW)
        : [a] "+&r"(a), [b] "+&r"(b), [c] "+&r"(c), [groups] "+&r"(groups)
        : [first] "r"(first), [step] "r"(step), [add] "r"((int)add)
        : "cc", "memory", "v0", "v1", "v2", "v3", "v4", "v8", "v9", "v10", "v11", "v12", "v13",
          "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25",
          "v26", "v27", "v28", "v29", "v30", "v31");
}
/* clang-format on */

PACK_CPU(pack_a, ROWS, 1, DT_F32)
PACK_CPU(pack_b, COLUMNS, 1, DT_F32)

const Microkernel microkernel_neon = {"neon", "asimd", DT_F32, ROWS,    COLUMNS,
                                      1,      pack_a,  pack_b, multiply};
