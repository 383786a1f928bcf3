/* How the backward pass of flash attention on a GPU cuts heads of a width: it decides how much
 * scratch dq takes, and dk and dv where heads share them. The kernels (attention_flash_*_cuda.cu)
 * are held to it while they are compiled. */
#pragma once

enum { FLASH_TILES_HALF, FLASH_TILES_TF32, FLASH_TILES_F32, FLASH_TILES_KINDS };
enum { FLASH_TILES_WIDTHS = 5, FLASH_TILES_MOST_WIDTH = 512 };

typedef struct FlashTiles {
    int width;   /* the widest heads it takes */
    int slice;   /* columns of dq, dk and dv that one block makes */
    int queries; /* rows of a tile */
    int keys;    /* of a block */
} FlashTiles;

#ifdef __cplusplus
constexpr
#else
static const
#endif
    FlashTiles flash_tiles[FLASH_TILES_KINDS][FLASH_TILES_WIDTHS] = {
        /* HALF */
        {{32, 32, 64, 128},
         {64, 64, 64, 128},
         {128, 128, 64, 128},
         {256, 128, 32, 128},
         {512, 128, 16, 64}},
        /* TF32 */
        {{32, 32, 64, 128},
         {64, 64, 64, 128},
         {128, 128, 32, 128},
         {256, 128, 16, 64},
         {512, 128, 16, 32}},
        /* F32 */
        {{32, 32, 64, 64},
         {64, 64, 64, 64},
         {128, 128, 32, 128},
         {256, 128, 16, 64},
         {512, 128, 16, 32}}};
