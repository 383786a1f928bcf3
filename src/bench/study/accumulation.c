#include "bench/study/accumulation.h"

#include "ops/element.h"

const AccumulationWay accumulation_ways[] = {
    {"fp32 += fp32", DT_F32, DT_F32, false},       {"fp16 += fp16", DT_F16, DT_F16, false},
    {"fp32 += fp16", DT_F32, DT_F16, false},       {"fp32 += fp32(fp16)", DT_F32, DT_F16, true},
    {"bf16 += bf16", DT_BF16, DT_BF16, false},     {"fp32 += bf16", DT_F32, DT_BF16, false},
    {"fp32 += fp32(bf16)", DT_F32, DT_BF16, true}, {"e4m3 += e4m3", DT_E4M3, DT_E4M3, false},
    {"fp32 += e4m3", DT_F32, DT_E4M3, false},      {"e5m2 += e5m2", DT_E5M2, DT_E5M2, false},
    {"fp32 += e5m2", DT_F32, DT_E5M2, false},
};
const int accumulation_n_ways = (int)(sizeof accumulation_ways / sizeof *accumulation_ways);

const char *const accumulation_orders[ACCUMULATION_ORDERS] = {"plain", "Kahan", "pairwise"};

/* To nearest even. By way of fp32, which changes no sum of two numbers of 16 or 8 bits: it has more than
 * twice their digits. */
static double rounded(DType dtype, double x)
{
    double room = 0;
    element_set(&room, dtype, 0, x);
    return element_get(&room, dtype, 0);
}

static double plain(DType dtype, int64_t count, double x)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum = rounded(dtype, sum + x);
    return sum;
}

static double kahan(DType dtype, int64_t count, double x)
{
    double sum = 0, lost = 0;
    for (int64_t i = 0; i < count; i++) {
        const double term = rounded(dtype, x - lost);
        const double next = rounded(dtype, sum + term);
        lost = rounded(dtype, rounded(dtype, next - sum) - term);
        sum = next;
    }
    return sum;
}

static double pairwise(DType dtype, int64_t count, double x)
{
    if (count <= 1) return count == 1 ? rounded(dtype, x) : 0;
    return rounded(dtype, pairwise(dtype, count / 2, x) + pairwise(dtype, count - count / 2, x));
}

double accumulation_sum(const AccumulationWay *way, AccumulationOrder order, int64_t count,
                        double value)
{
    double term = rounded(way->term, value);
    if (way->cast_first) term = rounded(way->sum, term);
    switch (order) {
    case ACCUMULATION_KAHAN:
        return kahan(way->sum, count, term);
    case ACCUMULATION_PAIRWISE:
        return pairwise(way->sum, count, term);
    default:
        return plain(way->sum, count, term);
    }
}
