/* cudaccl - CUDA backend: the tile algorithm, from the canonical result to the label map
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pieces and their components never left shared memory, so a tile finds them again: that is less
 * than to keep them for all those who want no label map. */

#include "cuda/device/label_map.cuh"
#include "cuda/tile/pieces.cuh"

#define QUAD 4 /* pixels that a lane paints at a time */

/* Makes the link of each piece the label of its component in the result. */
static __device__ inline void
look_up_numbers (const CclCudaFrame &f, const TilePieces *s, const Pieces &p, const Tile &tile)
{
  for (uint32_t piece = threadIdx.x; piece < p.n; piece += blockDim.x) {
    if (piece_is_root (s, piece))
      p.links[piece] = number_of (f, tile_label (f, tile, link_first (p.links[piece])));
  }
  __syncthreads ();
  for (uint32_t piece = threadIdx.x; piece < p.n; piece += blockDim.x) {
    if (!piece_is_root (s, piece))
      p.links[piece] = p.links[link_parent (p.links[piece])];
  }
}

/* The numbers of four pixels from @shift on of a word, before which there are @before pieces. */
static __device__ inline uint4
numbers_of_quad (const uint32_t *numbers, uint64_t pixels, uint32_t before, uint32_t shift)
{
  uint32_t quad = (uint32_t) (pixels >> shift) & 15, n[QUAD];

  if (quad == 0)
    return make_uint4 (0, 0, 0, 0);
#pragma unroll
  for (uint32_t i = 0; i < QUAD; i++) {
    if (i > 0 && quad == 15)
      n[i] = n[0];
    else
      n[i] = quad >> i & 1 ? numbers[piece_at (before, pixels, 1ull << (shift + i))] : 0;
  }
  return make_uint4 (n[0], n[1], n[2], n[3]);
}

static __device__ inline void
paint_quad (const CclCudaFrame &f, uint32_t x, uint32_t y, const uint4 &n)
{
  if (f.width % QUAD == 0) {
    *(uint4 *) &f.map[(size_t) y * f.width + x] = n;
    return;
  }
  paint_pixel (f, x, y, n.x);
  paint_pixel (f, x + 1, y, n.y);
  paint_pixel (f, x + 2, y, n.z);
  paint_pixel (f, x + 3, y, n.w);
}

/* A warp paints its rows one by one. */
static __device__ inline void
paint_rows (const CclCudaFrame &f, const TilePieces *s, const uint32_t *numbers, const Tile &tile)
{
  uint32_t rows = min (f.tiles.height, f.height - tile.y);

  for (uint32_t y = threadIdx.x / WARP_LANES; y < rows; y += blockDim.x / WARP_LANES) {
    for (uint32_t i = QUAD * lane_id (); i < TILE_WIDTH; i += QUAD * WARP_LANES) {
      uint32_t column = i / WORD_PIXELS;
      uint4 n = make_uint4 (0, 0, 0, 0);

      if (tile.x + i >= f.width)
        break;
      if (numbers)
        n = numbers_of_quad (numbers, s->words[column][y], s->before[column][y], i % WORD_PIXELS);
      paint_quad (f, tile.x + i, tile.y + y, n);
    }
  }
}

static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT) paint_tiles (CclCudaFrame f)
{
  extern __shared__ uint32_t memory[];
  Tile tile = tile_number (f.tiles, blockIdx.x);
  TilePieces *s = (TilePieces *) memory;
  uint32_t *numbers = NULL;

  if (f.tiles.n[tile.index] > 0) {
    Pieces p;

    load_pixels (f, s, tile);
    __syncthreads ();
    p = find_pieces (f, s);
    look_up_numbers (f, s, p, tile);
    numbers = p.links;
    __syncthreads ();
  }
  paint_rows (f, s, numbers, tile);
}

extern "C" cudaError_t
ccl_cuda_tile_paint (const CclCudaFrame *f, cudaStream_t stream)
{
  const CclTiles *tiles = &f->tiles;
  size_t size = tile_pieces_size (tiles->height * TILE_WORDS * WORD_PIECES);

  paint_tiles<<<tiles->columns * tiles->strips, tiles->height * TILE_WORDS, size, stream>>> (*f);
  return cudaGetLastError ();
}
