#include "ops/gemm_cpu/panels_cpu.h"

enum { ALIGN = 64 };

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

static int64_t operand_size(const Microkernel *kernel)
{
    return (int64_t)plan_dtype_size(kernel->operand);
}

static int64_t bytes(const Microkernel *kernel, int64_t lines, int64_t k)
{
    return round_up(lines * round_up(k, kernel->depth) * operand_size(kernel), ALIGN);
}

int64_t panels_cpu_rows_bytes(const Microkernel *kernel, int64_t lines, int64_t k)
{
    return bytes(kernel, round_up(lines, kernel->rows), k);
}

int64_t panels_cpu_columns_bytes(const Microkernel *kernel, int64_t lines, int64_t k)
{
    return bytes(kernel, round_up(lines, kernel->columns), k);
}

int64_t panels_cpu_ld(const Microkernel *kernel, int64_t n)
{
    return round_up(n, kernel->columns);
}

int64_t panels_cpu_result_bytes(const Microkernel *kernel, int64_t m, int64_t n)
{
    const int64_t floats = round_up(m, kernel->rows) * panels_cpu_ld(kernel, n);
    return round_up(floats * (int64_t)sizeof(float), ALIGN);
}

static Panels pack(const Microkernel *kernel, PackPanel *packer, int panel, const PackSource *src,
                   int64_t lines, int64_t k, char *to)
{
    const int64_t length = round_up(k, kernel->depth);
    for (int64_t i = 0; i < lines; i += panel) {
        packer(to + i * length * operand_size(kernel), src, i,
               lines - i < panel ? lines - i : panel, 0, k);
    }
    return (Panels){to, length};
}

Panels panels_cpu_rows(const Microkernel *kernel, const PackSource *src, int64_t lines, int64_t k,
                       void *to)
{
    return pack(kernel, kernel->pack_a, kernel->rows, src, lines, k, to);
}

Panels panels_cpu_columns(const Microkernel *kernel, const PackSource *src, int64_t lines,
                          int64_t k, void *to)
{
    return pack(kernel, kernel->pack_b, kernel->columns, src, lines, k, to);
}

void panels_cpu_multiply(const Microkernel *kernel, Panels a, Panels b, int64_t m, int64_t n,
                         int64_t k, float *c, int64_t ldc, bool add)
{
    const int64_t size = operand_size(kernel), piece = kernel->piece / size;
    const int64_t all = round_up(k, kernel->depth);
    for (int64_t at = 0; at < all; at += piece) {
        const int64_t groups = (all - at < piece ? all - at : piece) / kernel->depth;
        for (int64_t j = 0; j < n; j += kernel->columns) {
            const char *y = b.data + (j * b.k + at * kernel->columns) * size;
            for (int64_t i = 0; i < m; i += kernel->rows) {
                const char *x = a.data + (i * a.k + at * kernel->rows) * size;
                float *to = c + i * ldc + j;
                const MicrokernelTile tile = {add || at > 0 ? to : NULL, ldc, to, ldc};
                kernel->multiply(groups, x, y, &tile);
            }
        }
    }
}
