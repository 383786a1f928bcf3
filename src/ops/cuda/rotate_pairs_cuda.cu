#include "ops/cuda/elementwise_cuda.cuh"
#include "ops/rotation.h"

static_assert(FLAT_WIDTH % 2 == 0, "a vector holds whole pairs");

/* Pairs that fill the row. y may be x. The number of elements is even, so a short last vector holds
 * whole pairs too. */
template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS) rotate_pairs_kernel(Y y, X x, int64_t n, float sign)
{
    float v[FLAT_VECTORS][FLAT_WIDTH];
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) read_vector(v[p], x, vector_start(p), n);
#pragma unroll
    for (int p = 0; p < FLAT_VECTORS; p++) {
#pragma unroll
        for (int k = 0; k < FLAT_WIDTH; k += 2) {
            const float x0 = v[p][k], x1 = v[p][k + 1];
            v[p][k] = sign * x1;
            v[p][k + 1] = -sign * x0;
        }
        write_vector(y, vector_start(p), n, v[p]);
    }
}

struct HeadsArgs {
    Rotation r;
    int64_t rows, W;
    float sign;
};

/* One row a block at a time; a thread takes a vector of a first half and its partner. y may be x. */
template <typename Y, typename X>
__global__ void __launch_bounds__(FLAT_THREADS)
    rotate_halves_kernel(VectorOperand<Y> y, VectorOperand<X> x, const HeadsArgs f)
{
    const int half = (int)f.r.half, D = (int)f.r.head_dim, each = half / FLAT_WIDTH;
    const Rotation in_vectors = {f.r.heads, D / FLAT_WIDTH, each, true};
    const int vectors = (int)f.r.heads * each;
    const int resting = (int)rotation_resting(&in_vectors, f.W / FLAT_WIDTH);
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        Y *to = y.data + row * y.ld;
        const X *from = x.data + row * x.ld;
        for (int v = (int)threadIdx.x; v < vectors; v += blockDim.x) {
            const int head = v / each, j = head * D + (v - head * each) * FLAT_WIDTH;
            float a[FLAT_WIDTH], b[FLAT_WIDTH];
            load_vector(a, from + j);
            load_vector(b, from + j + half);
#pragma unroll
            for (int k = 0; k < FLAT_WIDTH; k++) {
                const float x0 = a[k];
                a[k] = f.sign * b[k];
                b[k] = -f.sign * x0;
            }
            store_vector(to + j, a);
            store_vector(to + j + half, b);
        }
        for (int n = (int)threadIdx.x; n < resting; n += blockDim.x) {
            const float zeros[FLAT_WIDTH] = {};
            store_vector(to + rotation_resting_column(&in_vectors, n) * FLAT_WIDTH, zeros);
        }
    }
}

/* Heads of any width, on neighbours or halves. */
__global__ void __launch_bounds__(FLAT_THREADS)
    rotate_heads_kernel(ScalarOperand y, ScalarOperand x, const HeadsArgs f)
{
    const int64_t pairs = f.r.heads * f.r.half, distance = rotation_distance(&f.r);
    for (int64_t row = blockIdx.x; row < f.rows; row += gridDim.x) {
        for (int64_t p = threadIdx.x; p < pairs; p += blockDim.x) {
            const int64_t j = rotation_column(&f.r, p / f.r.half, p % f.r.half);
            const float x0 = x.get(row * x.ld + j), x1 = x.get(row * x.ld + j + distance);
            y.set(row * y.ld + j, f.sign * x1);
            y.set(row * y.ld + j + distance, -f.sign * x0);
        }
        for (int64_t n = threadIdx.x; n < rotation_resting(&f.r, f.W); n += blockDim.x) {
            y.set(row * y.ld + rotation_resting_column(&f.r, n), 0.0F);
        }
    }
}

static Status rotate_heads(const OpCall *call, const HeadsArgs &f)
{
    const TensorRef refs[] = {out_ref(call, 0), in_ref(call, 0)};
    const bool whole = f.r.half % FLAT_WIDTH == 0 && f.r.head_dim % FLAT_WIDTH == 0;
    const unsigned blocks = grid_blocks(f.rows);
    const cudaStream_t stream = call->backend->stream;
    if (!f.r.halves || !whole || f.W > INT32_MAX || !takes_vectors(refs, 2)) {
        rotate_heads_kernel<<<blocks, block_threads(f.W / 2 + 1, FLAT_THREADS), 0, stream>>>(
            scalar_operand(refs[0]), scalar_operand(refs[1]), f);
        return LAUNCH_STATUS();
    }
    const int threads = block_threads(f.W / (2 * FLAT_WIDTH) + 1, FLAT_THREADS);
    const auto launch = [=](auto y, auto x) {
        rotate_halves_kernel<<<blocks, threads, 0, stream>>>(y, x, f);
    };
    return launch_typed<2>(call, launch, refs);
}

Status rotate_pairs_cuda_run(const OpCall *call)
{
    const Tensor *x = op_in_shape(call, 0);
    const NodeAttr *attr = &call->node->attr;
    const int64_t n = plan_elements(x);
    const float sign = attr->inverse ? 1.0F : -1.0F;
    if (attr->head_dim) {
        const int64_t W = plan_width(x);
        return rotate_heads(call, {rotation_of_row(attr, W), plan_rows(x), W, sign});
    }
    const auto launch = [=](auto y, auto operand) {
        rotate_pairs_kernel<<<elementwise_grid(n), FLAT_THREADS, 0, call->backend->stream>>>(
            y, operand, n, sign);
    };
    return elementwise_launch(call, launch, out_ref(call, 0), in_ref(call, 0));
}
