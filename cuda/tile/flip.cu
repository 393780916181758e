/* cudaccl - CUDA backend: the tile algorithm, flipping pixels of components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* As for label maps (label_map.cu), each tile finds its pieces again. */

#include "cuda/device/launch.cuh"
#include "cuda/tile/flip.cuh"
#include "cuda/tile/pieces.cuh"

/* Replaces the link of each piece by a flag: whether its component is flipped. */
static __device__ inline void
look_up_flipped (const CclCudaFrame &f, const CclComponentTable &t, const CclFlipPass &pass,
                 const TilePieces *s, const Pieces &p, const Tile &tile)
{
  uint32_t *links = p.forest.links;

  for (uint32_t piece = threadIdx.x; piece < p.n; piece += blockDim.x) {
    if (piece_is_root (s, piece)) {
      uint32_t root = t.parents[component_label (t, tile, link_first (links[piece]))];

      links[piece] = flips_component (f, pass, t.features[root], root >= t.slots);
    }
  }
  __syncthreads ();
  for (uint32_t piece = threadIdx.x; piece < p.n; piece += blockDim.x) {
    if (!piece_is_root (s, piece))
      links[piece] = links[link_parent (links[piece])];
  }
}

/* Returns the pixels of a word that are not flipped. @flipped: a flag for each piece; NULL: there
 * are no pieces. */
static __device__ inline uint64_t
without_flipped (const uint32_t *flipped, uint64_t word, uint32_t before)
{
  uint64_t kept = word;

  for (uint64_t starts = flipped ? piece_starts (word) : 0; starts;
       starts &= starts - 1, before++) {
    if (flipped[before])
      kept &= word + (starts & -starts); /* carries through the piece */
  }
  return kept;
}

/* A block for each tile. */
static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT)
    tile_flip (CclCudaFrame f, CclComponentTable t, CclTiles tiles, CclFlipPass pass)
{
  extern __shared__ uint32_t memory[];
  Tile tile = tile_number (tiles, blockIdx.x);
  TilePieces *s = (TilePieces *) memory;
  uint32_t column = threadIdx.x % TILE_WORDS, row = threadIdx.x / TILE_WORDS;
  uint32_t x = tile.x + column * WORD_PIXELS, y = tile.y + row;
  uint32_t *links = NULL;

  load_pixels (f, tiles, s, tile);
  __syncthreads ();
  if (tiles.n[tile.index] > 0) {
    Pieces p = find_pieces<false> (f, tiles, s, tile);

    look_up_flipped (f, t, pass, s, p, tile);
    links = p.forest.links;
    __syncthreads ();
  }
  if (x < f.width && y < f.height)
    pass.to[y * pass.pitch + x / WORD_PIXELS] = flipped_word (
        f, pass, without_flipped (links, s->words[column][row], links ? s->before[column][row] : 0),
        x);
}

static cudaError_t
flip_tiles (const CclCudaWork *work, const CclFlipPass *pass, cudaStream_t stream)
{
  const CclTiles *tiles = &tile_tables (work)->tiles;
  size_t size = tile_pieces_size (tiles->height * TILE_WORDS * WORD_PIECES);
  cudaError_t error = ccl_cuda_tile_find_components (work, true, stream);

  if (error != cudaSuccess)
    return error;
  return launch (tile_flip, tiles->columns * tiles->rows, tiles->height * TILE_WORDS, size, stream,
                 work->frame, work->components, *tiles, *pass);
}

cudaError_t
ccl_cuda_tile_flip (const CclCudaWork *work, const CclFlipPass *pass, cudaStream_t stream)
{
  if (tile_tables (work)->strips.n > 0) {
    cudaError_t error = ccl_cuda_strips_flip (work, pass, stream);

    if (error != cudaErrorCooperativeLaunchTooLarge)
      return error;
    ccl_cuda_api.cudaGetLastError (); /* as in ccl_cuda_tile_enqueue() */
  }
  return flip_tiles (work, pass, stream);
}
