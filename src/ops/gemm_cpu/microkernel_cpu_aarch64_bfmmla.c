/* BFMMLA: a 2 x 4 block of bf16 times a 4 x 2 block, added to a 2 x 2 block of fp32. A tile of 8 x
 * 12 is 4 x 6 such blocks in v8 to v31; v0 to v3 hold pairs of rows, v4 to v7 pairs of columns in
 * turn.
 *
 * In assembly, because compilers spill some of the 24 sums (gcc 12: half the speed), with single
 * loads, because pairs (ldp) take the slots the products need, and in the order in which 24
 * products take closest to the 6 cycles they must: the best of 13,000 that were tried on a Neoverse
 * V1, each a few instructions away from the best one before it. With rows from the second-level
 * cache it takes 6.8, where the products in turn with the loads before them take 6.9, and random
 * orders up to 8. (A `nop` moves what follows to other slots; a loop that begins 16 bytes behind a
 * multiple of 32 costs a step 2.5 %.) Asking for panels ahead (prfm) takes such slots too, and the
 * processor does it itself.
 *
 * The instruction's own rounding: to odd within a pair of products, and denormal numbers count as
 * zero (unless the processor has FEAT_EBF16). */
#include "ops/gemm_cpu/microkernel_cpu_aarch64.h"

enum { MR = 8, NR = 12, KR = 4 };

/* Macros of the assembler, because clang warns of literals beyond 4095 characters. mm: bfmmla v`c`.4s,
 * v`a`.8h, v`b`.8h as a number, because clang 14 knows no way to allow it here alone. zip: both halves. */
/* clang-format off */
#define DEFINE_MACROS                                       \
    ".macro mm c,a,b\n"                                     \
    ".inst 0x6e40ec00+(\\b<<16)+(\\a<<5)+\\c\n"             \
    ".endm\n"                                               \
    ".macro zip to0,to1,x,y\n"                              \
    "zip1 v\\to0\\().2d,v\\x\\().2d,v\\y\\().2d\n"          \
    "zip2 v\\to1\\().2d,v\\x\\().2d,v\\y\\().2d\n"          \
    ".endm\n"
#define FORGET_MACROS ".purgem mm\n.purgem zip\n"
/* clang-format on */
#define MM(c, a, b)     "mm " #c "," #a "," #b "\n"
#define NOP             "nop\n"
#define LOAD_A(reg, at) "ldr q" #reg ", [%[a], #" #at "]\n"
#define LOAD_B(reg, at) "ldr q" #reg ", [%[b], #" #at "]\n"
#define ZERO(c)         "movi v" #c ".4s,#0\n"

/* clang-format off */
/* Two rows of the tile, q0 q1 q2 and q3 q4 q5, and their six blocks of 2 x 2. */
#define EACH_LINE(op)                                                     \
    #op " q0, [%[c]]\n" #op " q1, [%[c], #16]\n" #op " q2, [%[c], #32]\n" \
    "add %[c], %[c], %[step]\n"                                           \
    #op " q3, [%[c]]\n" #op " q4, [%[c], #16]\n" #op " q5, [%[c], #32]\n" \
    "add %[c], %[c], %[step]\n"
/* clang-format on */
#define ZIP(to0, to1, from0, from1) "zip " #to0 "," #to1 "," #from0 "," #from1 "\n"
#define LOAD_ROWS(c0, c1, c2, c3, c4, c5) \
    EACH_LINE(ldr) ZIP(c0, c1, 0, 3) ZIP(c2, c3, 1, 4) ZIP(c4, c5, 2, 5)
#define STORE_ROWS(c0, c1, c2, c3, c4, c5) \
    ZIP(0, 3, c0, c1) ZIP(1, 4, c2, c3) ZIP(2, 5, c4, c5) EACH_LINE(str)
#define ZERO_ROWS(c0, c1, c2, c3, c4, c5) ZERO(c0) ZERO(c1) ZERO(c2) ZERO(c3) ZERO(c4) ZERO(c5)
#define EVERY_ROW(what)                                                                  \
    what(8, 9, 10, 11, 12, 13) what(14, 15, 16, 17, 18, 19) what(20, 21, 22, 23, 24, 25) \
        what(26, 27, 28, 29, 30, 31)

/* clang-format off */
#define EVEN_GROUP                                                          \
    LOAD_B(5, 16) NOP LOAD_A(3, 48) LOAD_A(0, 0) NOP LOAD_A(2, 32)          \
    LOAD_B(4, 0) LOAD_A(1, 16) MM(14, 1, 4) MM(26, 3, 4) LOAD_B(6, 32)      \
    MM(20, 2, 4) MM(15, 1, 5) MM(27, 3, 5) MM(21, 2, 5) LOAD_B(7, 48)       \
    MM(9, 0, 5) LOAD_B(5, 80) MM(8, 0, 4) MM(10, 0, 6) MM(16, 1, 6)         \
    MM(22, 2, 6) LOAD_B(4, 64) MM(28, 3, 6) MM(11, 0, 7) MM(17, 1, 7)       \
    MM(29, 3, 7) MM(23, 2, 7) MM(12, 0, 4) MM(13, 0, 5) MM(19, 1, 5)        \
    MM(18, 1, 4) MM(30, 3, 4) MM(24, 2, 4) MM(25, 2, 5) NOP MM(31, 3, 5)
#define ODD_GROUP                                                           \
    LOAD_A(0, 64) LOAD_B(4, 96) LOAD_A(1, 80) LOAD_B(5, 112) MM(8, 0, 4)    \
    MM(15, 1, 5) LOAD_A(2, 96) LOAD_B(6, 128) MM(20, 2, 4) MM(16, 1, 6)     \
    LOAD_B(7, 144) LOAD_A(3, 112) MM(26, 3, 4) NOP MM(21, 2, 5)             \
    MM(9, 0, 5) MM(27, 3, 5) MM(14, 1, 4) MM(23, 2, 7) LOAD_B(5, 176)       \
    MM(28, 3, 6) LOAD_B(4, 160) MM(29, 3, 7) MM(11, 0, 7) MM(19, 1, 5)      \
    "subs %[groups], %[groups], #1\n" MM(17, 1, 7) MM(10, 0, 6)             \
    MM(18, 1, 4) MM(12, 0, 4) MM(31, 3, 5) MM(13, 0, 5) MM(24, 2, 4)        \
    MM(22, 2, 6) MM(25, 2, 5) MM(30, 3, 4)
/* clang-format on */

MICROKERNEL_AARCH64(DEFINE_MACROS, EVERY_ROW(LOAD_ROWS), EVERY_ROW(ZERO_ROWS), EVEN_GROUP,
                    ODD_GROUP, EVERY_ROW(STORE_ROWS), FORGET_MACROS, ".p2align 5\n", 64, 96)

PACK_CPU(pack_a, MR, KR, DT_BF16)
PACK_CPU(pack_b, NR, KR, DT_BF16)

const Microkernel microkernel_bfmmla = {"bfmmla", "bf16", DT_BF16,  MR,   NR, KR,
                                        pack_a,   pack_b, multiply, 1536, 0,  2 * MICROKERNEL_UNIT};
