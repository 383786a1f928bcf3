/* FMLA by element: a tile of 8 x 12 in v8 to v31, three to a row; v0 and v1 hold a column of a, v2 to v4 (of
 * the next step v5 to v7) a row of b. In assembly, with the loads where they are and with macros of the
 * assembler, all for the same reasons as BFMMLA's: 24 products take 6.2 cycles of the 6 they must. */
#include "ops/gemm_cpu/microkernel_cpu_aarch64.h"

enum { MR = 8, NR = 12 };

/* clang-format off */
#define DEFINE_MACROS ".macro fm c,b,a,i\nfmla v\\c\\().4s,v\\b\\().4s,v\\a\\().s[\\i]\n.endm\n"
#define FORGET_MACROS ".purgem fm\n"
#define FM(c, b, a, lane) "fm " #c "," #b "," #a "," #lane "\n"
/* Four numbers of b times half a column of a: two of the four, the other two. */
#define FIRST(b, a, c0, c1) FM(c0, b, a, 0) FM(c1, b, a, 1)
#define LAST(b, a, c2, c3) FM(c2, b, a, 2) FM(c3, b, a, 3)
#define LOAD_A(reg, at) "ldr q" #reg ", [%[a], #" #at "]\n"
#define LOAD_B(reg, at) "ldr q" #reg ", [%[b], #" #at "]\n"
#define EVEN_STEP                                                           \
    LOAD_B(4, 32) LOAD_B(3, 16) LOAD_A(0, 0) LOAD_B(2, 0)                   \
    FIRST(2, 0, 8, 11) LAST(2, 0, 14, 17) FIRST(3, 0, 9, 12)                \
    LOAD_A(1, 16)                                                           \
    LAST(3, 0, 15, 18) FIRST(4, 0, 10, 13) LAST(4, 0, 16, 19)               \
    FIRST(2, 1, 20, 23) LAST(2, 1, 26, 29) FIRST(3, 1, 21, 24)              \
    LAST(3, 1, 27, 30) FIRST(4, 1, 22, 25) LAST(4, 1, 28, 31)
#define ODD_STEP                                                            \
    LOAD_A(0, 32) LOAD_B(6, 64) LOAD_B(5, 48)                               \
    FIRST(5, 0, 8, 11) FM(14, 5, 0, 2)                                      \
    LOAD_B(7, 80)                                                           \
    FM(17, 5, 0, 3) FIRST(6, 0, 9, 12) FM(15, 6, 0, 2)                      \
    LOAD_A(1, 48)                                                           \
    FM(18, 6, 0, 3) FIRST(7, 0, 10, 13) LAST(7, 0, 16, 19)                  \
    FIRST(5, 1, 20, 23) LAST(5, 1, 26, 29) FIRST(6, 1, 21, 24)              \
    "subs %[groups], %[groups], #1\n"                                       \
    LAST(6, 1, 27, 30) FIRST(7, 1, 22, 25) LAST(7, 1, 28, 31)
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

MICROKERNEL_AARCH64(DEFINE_MACROS, EVERY_ROW(LOAD_ROW), EVERY_ROW(ZERO_ROW), EVEN_STEP, ODD_STEP,
                    EVERY_ROW(STORE_ROW), FORGET_MACROS, "", 32, 48)
/* clang-format on */

PACK_CPU(pack_a, MR, 1, DT_F32)
PACK_CPU(pack_b, NR, 1, DT_F32)

const Microkernel microkernel_neon = {"neon", "asimd", DT_F32,   MR,   NR, 1,
                                      pack_a, pack_b,  multiply, 2048, 0,  2 * MICROKERNEL_UNIT};
