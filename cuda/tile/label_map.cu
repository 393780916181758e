/* cudaccl - CUDA backend: the tile algorithm, from the result to the label map
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pieces and their components never leave shared memory, so each tile finds them again: storing
 * them would slow down every frame that needs no label map. */

#include "cuda/device/label_map.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/tile/pieces.cuh"

/* Replaces the link of each piece by the result label of its component. */
static __device__ inline void
look_up_labels (const CclComponentTable &t, const CclCudaResult &r, const TilePieces *s,
                const Pieces &p, const Tile &tile)
{
  uint32_t *links = p.forest.links;

  for (uint32_t piece = threadIdx.x; piece < p.n; piece += blockDim.x) {
    if (piece_is_root (s, piece))
      links[piece] = result_label (t, r, component_label (t, tile, link_first (links[piece])));
  }
  __syncthreads ();
  for (uint32_t piece = threadIdx.x; piece < p.n; piece += blockDim.x) {
    if (!piece_is_root (s, piece))
      links[piece] = links[link_parent (links[piece])];
  }
}

/* The labels of four pixels of a word, from bit @shift on. @before: the pieces before the word.
 * @classes: pixels have two bits each. */
template <bool classes>
static __device__ inline uint4
quad_labels (const uint32_t *labels, uint64_t pixels, uint32_t before, uint32_t shift)
{
  const uint32_t bits = classes ? 2 : 1, all = classes ? 127 : 15; /* of one pixel and of one run */
  uint32_t quad = (uint32_t) (pixels >> shift) & (classes ? 255 : 15), l[QUAD];

  if (quad == 0)
    return make_uint4 (0, 0, 0, 0);
#pragma unroll
  for (uint32_t i = 0; i < QUAD; i++) {
    if (i > 0 && (quad & all) == all)
      l[i] = l[0];
    else
      l[i] =
          quad >> i * bits & 1 ? labels[piece_at (before, pixels, 1ull << (shift + i * bits))] : 0;
  }
  return make_uint4 (l[0], l[1], l[2], l[3]);
}

/* Writes the tile's part of the label map; each warp writes one row at a time. @labels: of the
 * pieces; NULL: there are none. */
template <bool classes>
static __device__ inline void
store_rows (const CclCudaFrame &f, const CclTiles &tiles, const CclCudaResult &r,
            const TilePieces *s, const uint32_t *labels, const Tile &tile)
{
  const uint32_t bits = classes ? 2 : 1; /* of a pixel */
  uint32_t rows = min (tiles.height, f.height - tile.y), left = tile.x / bits;

  for (uint32_t y = threadIdx.x / WARP_LANES; y < rows; y += blockDim.x / WARP_LANES) {
    for (uint32_t i = QUAD * lane_id (); i < TILE_WIDTH / bits; i += QUAD * WARP_LANES) {
      uint32_t column = i * bits / WORD_PIXELS;
      uint4 quad = make_uint4 (0, 0, 0, 0);

      if (left + i >= f.width)
        break;
      if (labels)
        quad = quad_labels<classes> (labels, s->words[column][y], s->before[column][y],
                                     i * bits % WORD_PIXELS);
      store_quad (r, f.width, left + i, tile.y + y, quad);
    }
  }
}

/* A block for each tile. @classes: CclCudaWork.classes. */
template <bool classes>
static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT)
    tile_write_label_map (CclCudaFrame f, CclComponentTable t, CclTiles tiles, CclCudaResult r)
{
  extern __shared__ uint32_t memory[];
  Tile tile = tile_number (tiles, blockIdx.x);
  TilePieces *s = (TilePieces *) memory;
  uint32_t *labels = NULL;

  if (tiles.n[tile.index] > 0) {
    Pieces p;

    if (classes)
      load_classes (f, s, tile);
    else
      load_pixels (f, tiles, s, tile);
    __syncthreads ();
    p = find_pieces<classes> (f, tiles, s, tile);
    look_up_labels (t, r, s, p, tile);
    labels = p.forest.links;
    __syncthreads ();
  }
  store_rows<classes> (f, tiles, r, s, labels, tile);
}

cudaError_t
ccl_cuda_tile_write_label_map (const CclCudaWork *work, cudaStream_t stream)
{
  const CclTiles *tiles = &tile_tables (work)->tiles;
  size_t size = tile_pieces_size (tiles->height * TILE_WORDS * WORD_PIECES);

  return launch (work->classes ? tile_write_label_map<true> : tile_write_label_map<false>,
                 tiles->columns * tiles->rows, tiles->height * TILE_WORDS, size, stream,
                 work->frame, work->components, *tiles, work->result);
}
