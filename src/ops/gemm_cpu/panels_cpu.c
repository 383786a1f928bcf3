#include "ops/gemm_cpu/panels_cpu.h"

enum { CACHE_LINE = 64 };

static int64_t operand_size(const Microkernel *kernel)
{
    return (int64_t)plan_dtype_size(kernel->operand);
}

static int panel_lines(const Microkernel *kernel, PanelSide side)
{
    return side == PANELS_A ? kernel->mr : kernel->nr;
}

int64_t panels_cpu_bytes(const Microkernel *kernel, PanelSide side, int64_t lines, int64_t k)
{
    const int64_t numbers =
        i64_round_up(lines, panel_lines(kernel, side)) * i64_round_up(k, kernel->kr);
    return i64_round_up(numbers * operand_size(kernel), CACHE_LINE);
}

int64_t panels_cpu_ld(const Microkernel *kernel, int64_t n)
{
    return i64_round_up(n, kernel->nr);
}

int64_t panels_cpu_result_bytes(const Microkernel *kernel, int64_t m, int64_t n)
{
    const int64_t floats = i64_round_up(m, kernel->mr) * panels_cpu_ld(kernel, n);
    return i64_round_up(floats * (int64_t)sizeof(float), CACHE_LINE);
}

Panels panels_cpu_pack(const Microkernel *kernel, PanelSide side, PackSource src, int64_t lines,
                       int64_t k, char *to)
{
    PackPanel *pack = side == PANELS_A ? kernel->pack_a : kernel->pack_b;
    const int panel = panel_lines(kernel, side);
    const int64_t length = i64_round_up(k, kernel->kr);
    for (int64_t i = 0; i < lines; i += panel) {
        pack(to + i * length * operand_size(kernel), &src, i, i64_min(panel, lines - i), 0, k);
    }
    return (Panels){to, length};
}

void panels_cpu_multiply(const Microkernel *kernel, Panels a, Panels b, int64_t m, int64_t n,
                         int64_t k, float *c, int64_t ldc, bool add)
{
    const int64_t size = operand_size(kernel), kc = kernel->kc_bytes / size;
    const int64_t all = i64_round_up(k, kernel->kr);
    for (int64_t at = 0; at < all; at += kc) {
        const int64_t groups = i64_min(kc, all - at) / kernel->kr;
        for (int64_t j = 0; j < n; j += kernel->nr) {
            const char *y = b.data + (j * b.k + at * kernel->nr) * size;
            for (int64_t i = 0; i < m; i += kernel->mr) {
                const char *x = a.data + (i * a.k + at * kernel->mr) * size;
                float *to = c + i * ldc + j;
                const MicrokernelTile tile = {add || at > 0 ? to : NULL, ldc, to, ldc};
                kernel->multiply(groups, x, y, &tile);
            }
        }
    }
}
