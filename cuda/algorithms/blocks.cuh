/* cudaccl - CUDA backend: blocks of 2 x 2 pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* With 8-connectivity all foreground pixels of a block belong to one component. Each thread handles
 * one block, each warp 32 blocks side by side. */

#ifndef CCL_CUDA_BLOCKS_CUH
#define CCL_CUDA_BLOCKS_CUH

#include "cuda/stages/stages.h"
#include "cuda/device/foreground.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/device/unionfind.cuh"
#include "cuda/tables/label_image.h"

#define BLOCKS_WIDE 32 /* of a thread block */
#define BLOCKS_HIGH 8

/* The pixels that the neighbours of a block have in the 4 x 4 square around it, as bits 4 * row +
 * column (Allegretti 2020, figure 7): P, Q, R above, S to the left, E to the right, T, U, V
 * below. */
enum
{
  SQUARE_P = 0x0001,
  SQUARE_Q = 0x0006,
  SQUARE_R = 0x0008,
  SQUARE_S = 0x0110,
  SQUARE_E = 0x0880,
  SQUARE_T = 0x1000,
  SQUARE_U = 0x6000,
  SQUARE_V = 0x8000,
};

struct Block
{
  uint32_t x, y; /* in blocks */
  bool inside;   /* whether it is in the frame */
  uint32_t label;
};

/* The number of rows of blocks in a frame. */
static __host__ __device__ inline uint32_t
block_rows (const CclCudaFrame &f)
{
  return f.height / 2 + f.height % 2;
}

/* Returns the block of this thread. Thread blocks are numbered row by row, since a frame can have
 * more rows than a grid. */
static __device__ inline Block
get_block (const CclCudaFrame &f, const CclLabelImage &image)
{
  uint32_t columns = (image.block_pitch - 1) / BLOCKS_WIDE + 1, row = blockIdx.x / columns;
  Block b;

  b.x = (blockIdx.x - row * columns) * BLOCKS_WIDE + threadIdx.x;
  b.y = row * BLOCKS_HIGH + threadIdx.y;
  b.inside = b.x < image.block_pitch && b.y < block_rows (f);
  b.label = b.y * image.block_pitch + b.x;
  return b;
}

static inline dim3
block_threads (void)
{
  return dim3 (BLOCKS_WIDE, BLOCKS_HIGH);
}

static inline unsigned
block_grid (const CclCudaWork *work)
{
  return ((ccl_cuda_label_image (work)->block_pitch - 1) / BLOCKS_WIDE + 1) *
         ((block_rows (work->frame) - 1) / BLOCKS_HIGH + 1);
}

/* Compresses the paths of all blocks' labels. */
static inline cudaError_t
compress_blocks (const CclCudaWork *work, bool in_line, cudaStream_t stream)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);

  return ccl_cuda_compress (image->blocks, image->n_blocks, in_line, stream);
}

static inline cudaError_t
compress_blocks_shallow (const CclCudaWork *work, bool in_line, cudaStream_t stream)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);

  return ccl_cuda_compress_shallow (image->blocks, image->n_blocks, in_line, stream);
}

/* Pixels @x and @x + 1 of a row as two bits; @x is even. */
static __device__ inline uint32_t
foreground2 (const CclCudaFrame &f, const uint8_t *row, uint32_t x)
{
  uint32_t both;

  if (f.bits)
    return mask_word (f, row, x & ~31u) >> (x & 31) & 3;
  if (x + 1 >= f.width || ((uintptr_t) (row + x) & 1))
    return foreground (f, row, x) | (uint32_t) foreground (f, row, x + 1) << 1;
  both = foreground4 (f, __ldg ((const uint16_t *) (row + x)));
  return (f.invert ? ~both : both) & 3;
}

/* Loads the first @rows rows of the square around @b; the block's own rows are the second and the
 * third. */
static __device__ inline uint32_t
load_square (const CclCudaFrame &f, const Block &b, uint32_t rows)
{
  uint32_t square = 0;

#pragma unroll
  for (uint32_t i = 0; i < rows; i++) {
    uint32_t y = 2 * b.y + i - 1; /* UINT32_MAX above the frame */

    if (b.inside)
      square |= foreground_around (f, 2 * b.x, y, 1) << 4 * i;
  }
  return square;
}

/* The block's own pixels, in raster order. */
static __device__ inline uint32_t
load_block (const CclCudaFrame &f, const Block &b)
{
  const uint8_t *row = row_pixels (f, 2 * b.y);
  uint32_t pixels = foreground2 (f, row, 2 * b.x);

  if (2 * b.y + 1 < f.height)
    pixels |= foreground2 (f, row + f.pitch, 2 * b.x) << 2;
  return pixels;
}

/* The pixels of a square that touch a foreground pixel of the block in its middle; BS in the paper.
 * 0x777 is the neighbourhood of the block's first pixel. */
static __device__ inline uint32_t
touching_block (uint32_t square)
{
  return square & (0x0777 * (square >> 5 & 1) | 0x0eee * (square >> 6 & 1) |
                   0x7770 * (square >> 9 & 1) | 0xeee0 * (square >> 10 & 1));
}

/* The neighbours P to S that a block must be united with, as bits of the square: those that touch
 * it, except those that also touch one of the others and are united through it. If P and Q touch,
 * for example, Q unites with P as its own neighbour S. Only the later of two blocks sees the
 * earlier one, so skipped unions never form a cycle. */
static __device__ inline uint32_t
needed_unions (uint32_t square)
{
  uint32_t touching = touching_block (square);

  /* Pixels 0 and 1, or 0 and 4, 1 and 4, 2 and 3. */
  if (square & 0x12)
    touching &= ~SQUARE_P;
  if ((touching & SQUARE_Q) && (square & 0x12) == 0x12)
    touching &= ~SQUARE_S;
  if (square & 4)
    touching &= ~SQUARE_R;
  return touching;
}

/* The block's own pixels in a square. */
static __device__ inline uint32_t
own_pixels (uint32_t square)
{
  return (square >> 5 & 3) | (square >> 9 & 3) << 2;
}

/* FinalLabeling: gives the label of a block to its foreground @pixels. */
static __device__ inline void
label_pixels (const CclCudaFrame &f, const CclLabelImage &image, const Block &b, uint32_t pixels,
              uint32_t label)
{
  uint32_t pitch = image.pitch;
  uint2 *to = (uint2 *) &image.pixels[(size_t) 2 * b.y * pitch + 2 * b.x];

  *to = make_uint2 (pixels & 1 ? label : CCL_NO_LABEL, pixels & 2 ? label : CCL_NO_LABEL);
  if (2 * b.y + 1 < f.height)
    to[pitch / 2] =
        make_uint2 (pixels & 4 ? label : CCL_NO_LABEL, pixels & 8 ? label : CCL_NO_LABEL);
}

/* Does the same for this thread's block, and reads its pixels again. */
static __device__ inline void
label_block (const CclCudaFrame &f, const CclLabelImage &image)
{
  Block b = get_block (f, image);

  if (b.inside)
    label_pixels (f, image, b, load_block (f, b), image.blocks[b.label]);
}

#endif
