/* From a head's width to a kernel of that width, and the launch. Tiles<WIDTH> says how a width is cut. */
#pragma once

#include "ops/attention_cuda/attention_backward_cuda.cuh"
#include "ops/attention_cuda/attention_forward_cuda.cuh"
#include "ops/flash_tiles.h"

#include <tuple>
#include <utility>

enum { FLASH_DELTA_WARPS = 8 };

/* The tiles of heads up to WIDTH. */
template <int WIDTH, class For32, class For64, class For128, class For256, class For512>
using FlashByWidth = std::tuple_element_t<WIDTH == 32    ? 0
                                          : WIDTH == 64  ? 1
                                          : WIDTH == 128 ? 2
                                          : WIDTH == 256 ? 3
                                                         : 4,
                                          std::tuple<For32, For64, For128, For256, For512>>;

/* launch() with the tiles of the least width that holds heads of D. */
template <template <int> class Tiles, typename Launch>
static Status flash_by_width(int D, const Launch &launch)
{
    if (D <= 32) return launch(Tiles<32>());
    if (D <= 64) return launch(Tiles<64>());
    if (D <= 128) return launch(Tiles<128>());
    if (D <= 256) return launch(Tiles<256>());
    return launch(Tiles<512>());
}

static inline Status flash_allow_shared(const Backend *be, const void *kernel, int bytes, int width)
{
    int most = 0;
    TRY_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, be->device));
    if (bytes > most) {
        return FAIL(ST_UNSUPPORTED,
                    "flash attention of heads up to %d wide needs %d KiB of shared memory and this "
                    "GPU has %d: use --attention fused",
                    width, bytes / 1024, most / 1024);
    }
    return CUDA_STATUS(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
}

/* 4 x 16 causal heads of 512 tokens, 64 wide, on an H200: forward 21 instead of 17 TFLOP/s in fp32,
 * 58 instead of 50 in tf32, 104 instead of 85 in bf16; backward 20 instead of 19, 43 instead of 38,
 * 66 instead of 67. */
static inline bool flash_few(const Backend *be, int blocks)
{
    enum { FEW = 8 };
    return blocks <= FEW * be->sms;
}

template <class C> static Status flash_launch_forward(const Backend *be, FlashForward f)
{
    const int blocks = f.shape.count * C::SLICES * flash_blocks(f.shape.T, C::QUERIES);
    f.shape.level = flash_few(be, blocks);
    flash_forward_kernel<C><<<blocks, C::THREADS, C::BYTES, be->stream>>>(f);
    return LAUNCH_STATUS();
}

template <template <int> class Tiles>
static Status flash_forward(const Backend *be, const FlashForward &f, bool prepare)
{
    return flash_by_width<Tiles>(f.shape.D, [&](auto tiles) {
        using C = decltype(tiles);
        if (!prepare) return flash_launch_forward<C>(be, f);
        return flash_allow_shared(be, (const void *)flash_forward_kernel<C>, C::BYTES, C::WIDTH);
    });
}

/* ---- backward: dq_sum, group_sum, then delta, then flags, in the workspace ---- */
template <class C> static int64_t flash_flags(const FlashShape &s)
{
    return (int64_t)s.count * C::SLICES * flash_blocks(s.T, C::QUERIES);
}

template <class C> static int64_t flash_sum_floats(const FlashShape &s)
{
    return flash_flags<C>(s) * C::QUERIES * C::SLICE;
}

/* Blocks of keys that several heads share. */
template <class C> static int64_t flash_group_flags(const FlashShape &s)
{
    if (!C::general || s.group == 1) return 0;
    return (int64_t)s.count / s.group * C::SLICES * flash_blocks(s.T, C::KEYS);
}

/* What the kernel was compiled for decides, which need not be the GPU it runs on. */
template <class C> static Status flash_backward_bytes(int *bytes)
{
    cudaFuncAttributes kernel;
    TRY_CUDA(cudaFuncGetAttributes(&kernel, (const void *)flash_backward_kernel<C>));
    *bytes = flash_lags<C>(kernel.ptxVersion) ? C::LAG_BYTES : C::BYTES;
    return ST_OK;
}

template <class C>
static Status flash_launch_backward(const Backend *be, FlashBackward f, void *workspace, int bytes)
{
    const int64_t rows = (int64_t)f.shape.count * f.shape.T, tiles = flash_flags<C>(f.shape);
    const int64_t shared = flash_group_flags<C>(f.shape), flags = tiles + shared;
    const int blocks = f.shape.count * C::SLICES * flash_blocks(f.shape.T, C::KEYS);
    f.shape.level = flash_few(be, blocks);
    f.dq_sum = static_cast<float *>(workspace);
    f.group_sum = f.dq_sum + flash_sum_floats<C>(f.shape);
    f.delta = f.group_sum + shared * (2 * C::KEYS * C::SLICE);
    f.done = reinterpret_cast<int *>(f.delta + rows);
    f.group_done = f.done + tiles;
    f.ticket = f.done + flags;
    flash_delta_kernel<typename C::Element, FLASH_DELTA_WARPS>
        <<<grid_blocks(blocks_for(rows, FLASH_DELTA_WARPS)), 32 * FLASH_DELTA_WARPS, 0,
           be->stream>>>(f, flags);
    TRY(LAUNCH_STATUS());
    flash_backward_kernel<C><<<blocks, C::THREADS, bytes, be->stream>>>(f);
    return LAUNCH_STATUS();
}

/* gpu_support_attention.c takes a kernel's workspace from that table. */
template <template <int> class Tiles, int PRECISION, int... I>
constexpr bool flash_tiles_are_known(std::integer_sequence<int, I...>)
{
    constexpr auto &known = flash_tiles[PRECISION];
    return ((Tiles<known[I].width>::SLICE == known[I].slice &&
             Tiles<known[I].width>::QUERIES == known[I].queries &&
             Tiles<known[I].width>::KEYS == known[I].keys) &&
            ...);
}

template <template <int> class Tiles, int PRECISION>
static Status flash_backward(const Backend *be, const FlashBackward &f, void *workspace,
                             bool prepare)
{
    static_assert(flash_tiles_are_known<Tiles, PRECISION>(
                      std::make_integer_sequence<int, FLASH_TILES_WIDTHS>()),
                  "ops/flash_tiles.h has other tiles");
    return flash_by_width<Tiles>(f.shape.D, [&](auto tiles) {
        using C = decltype(tiles);
        int bytes = 0;
        TRY(flash_backward_bytes<C>(&bytes));
        if (!prepare) return flash_launch_backward<C>(be, f, workspace, bytes);
        return flash_allow_shared(be, (const void *)flash_backward_kernel<C>, bytes, C::WIDTH);
    });
}
