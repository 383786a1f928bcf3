/* Panels of every microkernel that runs here, against float64: ragged sizes, a part of k, sums that go on. */
#include "backend/cpu_features.h"
#include "ops/element.h"
#include "ops/gemm_cpu/panels_cpu.h"
#include "with_cmocka.h"

#include <math.h>
#include <stdlib.h>

enum { M = 53, N = 61, LONGEST = 805 }; /* beyond a piece of k, and no multiple of anything */

/* Small integers: every sum is exact in any order, in bf16 too. */
static double number(int64_t i, int64_t seed)
{
    return (double)((i * 7 + seed) % 9 - 4);
}

static void *matrix(int64_t rows, int64_t columns, DType dtype, int64_t seed)
{
    void *data = malloc((size_t)(rows * columns) * plan_dtype_size(dtype));
    assert_non_null(data);
    for (int64_t i = 0; i < rows * columns; i++) element_set(data, dtype, i, number(i, seed));
    return data;
}

static void *room(int64_t bytes)
{
    assert_int_equal(bytes % 64, 0);
    void *at = aligned_alloc(64, (size_t)bytes);
    assert_non_null(at);
    return at;
}

static void check(const Microkernel *kernel, const float *c, int64_t k, int64_t length, int times)
{
    const int64_t ld = panels_cpu_ld(kernel, N);
    for (int64_t i = 0; i < M; i++) {
        for (int64_t j = 0; j < N; j++) {
            double sum = 0;
            for (int64_t q = 0; q < k; q++) sum += number(i * length + q, 1) * number(q * N + j, 5);
            if ((double)c[i * ld + j] == times * sum) continue;
            fail_msg("%s, k %lld of %lld, %d times: %g instead of %g", kernel->name, (long long)k,
                     (long long)length, times, (double)c[i * ld + j], times * sum);
        }
    }
}

/* a has rows as lines, b columns. */
static void multiply(const Microkernel *kernel, int64_t length)
{
    void *x = matrix(M, length, kernel->operand, 1), *y = matrix(length, N, kernel->operand, 5);
    const PackSource rows = {x, kernel->operand, length, 1}, columns = {y, kernel->operand, 1, N};
    void *a_room = room(panels_cpu_bytes(kernel, PANELS_A, M, length));
    void *b_room = room(panels_cpu_bytes(kernel, PANELS_B, N, length));
    float *c = room(panels_cpu_result_bytes(kernel, M, N));
    const Panels a = panels_cpu_pack(kernel, PANELS_A, rows, M, length, a_room);
    const Panels b = panels_cpu_pack(kernel, PANELS_B, columns, N, length, b_room);
    const int64_t part = length / 2 / kernel->kr * kernel->kr, ld = panels_cpu_ld(kernel, N);
    panels_cpu_multiply(kernel, a, b, M, N, length, c, ld, false);
    check(kernel, c, length, length, 1);
    panels_cpu_multiply(kernel, a, b, M, N, length, c, ld, true);
    check(kernel, c, length, length, 2);
    if (part > 0) {
        panels_cpu_multiply(kernel, a, b, M, N, part, c, ld, false);
        check(kernel, c, part, length, 1);
    }
    free(x);
    free(y);
    free(a_room);
    free(b_room);
    free(c);
}

static void test_every_kernel(void **state)
{
    (void)state;
    static const int64_t lengths[] = {1, 2, 3, 64, 97, LONGEST};
    for (const Microkernel *const *kernel = microkernel_list; *kernel; kernel++) {
        if ((*kernel)->needs && !cpu_features_has((*kernel)->needs)) continue;
        if ((*kernel)->fallback) continue; /* only gemm_cpu.c turns to another */
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) multiply(*kernel, lengths[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
