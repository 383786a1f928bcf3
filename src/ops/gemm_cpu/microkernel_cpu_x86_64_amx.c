/* TDPBF16PS: 16 x 32 of bf16 times 32 x 16, added to 16 x 16 of fp32.
 *
 * Micro-panels of a come from the second-level cache every time: they are loaded with the hint that
 * they will not be needed again (TILELOADDT1), or they would evict the micro-panel of b from the
 * first level.
 *
 * The instruction's own rounding: even and odd numbers of k are summed apart, their sums added to
 * the tile once in 32; denormal numbers count as zero. */
#include "ops/gemm_cpu/microkernel_cpu_x86_64_amx.h"

#include "ops/gemm_cpu/pack_cpu_x86_64_avx512.h"

#include <pthread.h>

enum { MR = 32, NR = 32, KR = 32, PAIR = 2, HALF = AMX_HALF, BYTES = AMX_BYTES };

/* As LDTILECFG reads it: eight tiles of 16 rows of 64 bytes. */
typedef struct TileConfig {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
} TileConfig;

static const TileConfig tiles = {
    .palette = 1,
    .row_bytes = {BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES, BYTES},
    .rows = {HALF, HALF, HALF, HALF, HALF, HALF, HALF, HALF}};

/* Loading it takes as long as a twelfth of a multiply: once for each thread. A child process is not sure to
 * inherit it. */
static _Thread_local bool configured;

static void forget(void)
{
    configured = false;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, forget);
}

AMX void microkernel_amx_configure(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (configured) return;
    pthread_once(&once, watch_forks);
    _tile_loadconfig(&tiles);
    configured = true;
}

AMX static void multiply(int64_t groups, const void *a, const void *b, const MicrokernelTile *tile)
{
    const char *x = a, *y = b;
    microkernel_amx_configure();
    if (tile->from) {
        amx_load_sums(tile);
    } else {
        amx_begin_sums();
    }
    for (int64_t k = 0; k < groups; k++, x += MR * BYTES, y += NR * BYTES) {
        _tile_loadd(6, y, 2 * BYTES);
        _tile_stream_loadd(4, x, BYTES);
        _tile_dpbf16ps(0, 4, 6);
        _tile_loadd(7, y + BYTES, 2 * BYTES);
        _tile_dpbf16ps(1, 4, 7);
        _tile_stream_loadd(5, x + HALF * BYTES, BYTES);
        _tile_dpbf16ps(2, 5, 6);
        _tile_dpbf16ps(3, 5, 7);
    }
    amx_store_sums(tile);
}
/* 16 lines (those beyond `lines` are zeros) of 32 numbers of k each. */
PACK_AVX512_INLINE void pack_square(uint16_t *restrict dst, const uint16_t *restrict src,
                                    int64_t k_step, int64_t lines)
{
    __m512i row[HALF];
#pragma GCC unroll 16
    for (int i = 0; i < HALF; i++, src += 2 * k_step) {
        row[i] = pack_avx512_pairs(src, src + k_step, pack_avx512_mask(lines));
    }
    pack_avx512_transpose(row);
#pragma GCC unroll 16
    for (int i = 0; i < HALF; i++) _mm512_storeu_si512(dst + i * KR, row[i]);
}

/* Whole KR of lines that lie together: pairs of 16 numbers of k, transposed. The rest is for pack_cpu.h,
 * which copies 64 bytes of a line at a time. */
__attribute__((target(PACK_AVX512_TARGET))) static void pack_a(void *restrict dst,
                                                               const PackSource *src, int64_t line,
                                                               int64_t lines, int64_t first_k,
                                                               int64_t k)
{
    const int64_t done = src->k_step == 1 ? 0 : k / KR * KR;
    const uint16_t *from = (const uint16_t *)src->data + line + first_k * src->k_step;
    for (int64_t i = 0; i < done; i += KR) {
        for (int r = 0; r < MR; r += HALF) {
            pack_square((uint16_t *)dst + i * MR + r * KR, from + i * src->k_step + r, src->k_step,
                        lines - r);
        }
    }
    pack_cpu_panel((uint16_t *)dst + done * MR, src, line, lines, first_k + done, k - done, MR, KR,
                   DT_BF16);
}

PACK_AVX512(pack_pairs, NR, DT_BF16)

/* Pairs that fill up a whole KR are zeros too. */
static void pack_b(void *restrict dst, const PackSource *src, int64_t line, int64_t lines,
                   int64_t first_k, int64_t k)
{
    const int64_t there = i64_ceil_div(k, PAIR), all = i64_round_up(k, KR) / PAIR;
    pack_pairs(dst, src, line, lines, first_k, k);
    memset((uint16_t *)dst + there * NR * PAIR, 0,
           (size_t)((all - there) * NR * PAIR) * sizeof(uint16_t));
}
const Microkernel microkernel_amx = {"amx",
                                     PACK_AVX512_TARGET ",amx_tile,amx_bf16",
                                     DT_BF16,
                                     MR,
                                     NR,
                                     KR,
                                     pack_a,
                                     pack_b,
                                     multiply,
                                     1024,
                                     2 * MICROKERNEL_UNIT};
