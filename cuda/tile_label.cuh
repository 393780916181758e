/* cudaccl - CUDA backend: the tile algorithm, inside of a tile
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A block reads its tile once, as bits; from there on there are no pixels. Runs are numbered
 * densely, by a scan over the numbers of runs that start in each word of 32 pixels, so that the run
 * under a pixel is the number before its word and a population count away. Union-find over runs,
 * the numbering of the roots and the sums of their features stay in shared memory; what goes out is
 * a record for each component of the tile, and its border. */

#ifndef CCL_CUDA_TILE_LABEL_CUH
#define CCL_CUDA_TILE_LABEL_CUH

#include "cuda/tile_runs.cuh"

/* Bytes of shared memory, for each row of the tile, that are shared out between runs and the sums
 * of components: as many components at a time as there is room for. Six blocks of the highest tiles
 * fit in a multiprocessor with 228 KiB. */
#define BYTES_PER_ROW 1040

/* Sums of a component over the pixels of the tile, with coordinates in it: 32 bits suffice. */
struct TileSums
{
  uint32_t *area_y; /* area in the lower AREA_BITS, sum of y above */
  uint32_t *sum_x;
  uint32_t *min_x, *max_x, *max_y;
  uint32_t *sum_xx, *sum_yy, *sum_xy; /* only with moments */
};

#define AREA_BITS 14
#define N_SUMS 5
#define N_MOMENTS 3

/* What a block keeps in shared memory. */
struct Shared : TileRuns
{
  TileSums sums;        /* [pass] each */
  CclTilePixel *firsts; /* [pass] */
  uint32_t pass;        /* components at a time */
};

/* Bytes of it. */
static inline size_t
tile_label_size (uint32_t height)
{
  return tile_runs_size (height) + (size_t) height * BYTES_PER_ROW;
}

/* Shares out what @runs leave. */
static __device__ inline void
shared_layout_sums (Shared *s, uint32_t height, uint32_t runs, bool moments)
{
  uint32_t each = 4 * (N_SUMS + (moments ? N_MOMENTS : 0)) + sizeof (CclTilePixel);

  s->pass = (height * BYTES_PER_ROW - 4 * runs) / each;
  s->sums.area_y = s->parents + runs;
  s->sums.sum_x = s->sums.area_y + s->pass;
  s->sums.min_x = s->sums.sum_x + s->pass;
  s->sums.max_x = s->sums.min_x + s->pass;
  s->sums.max_y = s->sums.max_x + s->pass;
  s->sums.sum_xx = s->sums.max_y + s->pass;
  s->sums.sum_yy = s->sums.sum_xx + s->pass;
  s->sums.sum_xy = s->sums.sum_yy + s->pass;
  s->firsts = (CclTilePixel *) (moments ? s->sums.sum_xy + s->pass : s->sums.sum_xx);
}

/* Pixels of one row of a tile and one component, summed up. */
struct Piece
{
  uint32_t component;
  uint32_t area, sum_x, sum_xx, min_x, max_x;
};

/* Takes the component of the first pixels that are left of this thread's word, as far as it goes.
 */
static __device__ inline Piece
take_piece (const CclCudaFrame &f, const Shared &s, uint32_t *rest, uint32_t first, uint32_t count)
{
  uint32_t i = threadIdx.x, y = i / TILE_WORDS, x = i % TILE_WORDS * WARP_LANES;
  Piece piece = { CCL_NO_LABEL };

  while (*rest) {
    uint32_t start = __ffs (*rest) - 1, gap = ~(*rest >> start);
    uint32_t end = gap ? min (start + __ffs (gap) - 1, 32u) : 32;
    uint32_t run = s.before[i] + starts_to (s.starts[i], (int) start) - 1;
    uint32_t component = s.parents[run] - first, area = end - start;

    if (component < count) {
      if (piece.component == CCL_NO_LABEL) {
        piece.component = component;
        piece.min_x = x + start;
      } else if (component != piece.component) {
        break;
      }
      if (s.starts[i] >> start & 1 && s.roots[run / WARP_LANES] >> run % WARP_LANES & 1)
        s.firsts[component] = (CclTilePixel) (y * TILE_WIDTH + x + start);
      piece.area += area;
      piece.sum_x += area * (2 * x + start + end - 1) / 2;
      if (f.moments)
        piece.sum_xx += (uint32_t) ccl_run_sum_xx (x + start, x + end);
      piece.max_x = x + end - 1;
    }
    *rest &= end < 32 ? ~0u << end : 0;
  }
  return piece;
}

/* Features of a component, or of part of one, in the coordinates of the tile. */
struct PieceSums
{
  uint32_t area_y, sum_x, min_x, max_x, max_y;
  uint32_t sum_xx, sum_yy, sum_xy;
};

/* Adds them to the component @c. Extents are looked at first: most are known already. */
static __device__ inline void
add_to_sums (const CclCudaFrame &f, const TileSums &sums, uint32_t c, const PieceSums &p)
{
  atomicAdd (&sums.area_y[c], p.area_y);
  atomicAdd (&sums.sum_x[c], p.sum_x);
  if (((volatile uint32_t *) sums.min_x)[c] > p.min_x)
    atomicMin (&sums.min_x[c], p.min_x);
  if (((volatile uint32_t *) sums.max_x)[c] < p.max_x)
    atomicMax (&sums.max_x[c], p.max_x);
  if (((volatile uint32_t *) sums.max_y)[c] < p.max_y)
    atomicMax (&sums.max_y[c], p.max_y);
  if (f.moments) {
    atomicAdd (&sums.sum_xx[c], p.sum_xx);
    atomicAdd (&sums.sum_yy[c], p.sum_yy);
    atomicAdd (&sums.sum_xy[c], p.sum_xy);
  }
}

/* The sum over the lanes of @mask, which all call this. */
static __device__ inline PieceSums
reduce_parts (const CclCudaFrame &f, uint32_t mask, PieceSums p)
{
#if __CUDA_ARCH__ >= 800
  p.area_y = __reduce_add_sync (mask, p.area_y);
  p.sum_x = __reduce_add_sync (mask, p.sum_x);
  p.min_x = __reduce_min_sync (mask, p.min_x);
  p.max_x = __reduce_max_sync (mask, p.max_x);
  p.max_y = __reduce_max_sync (mask, p.max_y);
  if (f.moments) {
    p.sum_xx = __reduce_add_sync (mask, p.sum_xx);
    p.sum_yy = __reduce_add_sync (mask, p.sum_yy);
    p.sum_xy = __reduce_add_sync (mask, p.sum_xy);
  }
#endif
  return p;
}

/* Whether reduce_parts() works. */
static __device__ inline bool
can_reduce (void)
{
#if __CUDA_ARCH__ >= 800
  return true;
#else
  return false;
#endif
}

#define REDUCE_LANES 8 /* so many with one component are worth a reduction */

/* Adds the lanes' pieces to their components. Where many lanes have that of the first one, they are
 * summed up before: same addresses serialize. */
static __device__ inline void
store_pieces (const CclCudaFrame &f, const TileSums &sums, const Piece &piece)
{
  uint32_t y = threadIdx.x / TILE_WORDS, c = piece.component;
  uint32_t lanes = __ballot_sync (ALL_LANES, c != CCL_NO_LABEL), leader = __ffs (lanes) - 1, same;
  PieceSums p = { piece.area | (piece.area * y) << AREA_BITS,
                  piece.sum_x,
                  piece.min_x,
                  piece.max_x,
                  y,
                  piece.sum_xx,
                  piece.area * y * y,
                  piece.sum_x * y };

  if (!lanes)
    return;
  same = __ballot_sync (ALL_LANES, c == __shfl_sync (ALL_LANES, c, leader));
  if (c == CCL_NO_LABEL)
    return;
  if (can_reduce () && __popc (same) >= REDUCE_LANES && same >> lane_id () & 1) {
    p = reduce_parts (f, same, p);
    if (lane_id () != leader)
      return;
  }
  add_to_sums (f, sums, c, p);
}

/* Adds this thread's word to the sums of components @first to, without, @first + @count. */
static __device__ inline void
sum_word (const CclCudaFrame &f, const Shared &s, uint32_t first, uint32_t count)
{
  uint32_t rest = s.words[threadIdx.x];

  while (__any_sync (ALL_LANES, rest))
    store_pieces (f, s.sums, take_piece (f, s, &rest, first, count));
}

static __device__ inline void
clear_sums (const CclCudaFrame &f, const TileSums &sums, uint32_t count)
{
  for (uint32_t c = threadIdx.x; c < count; c += blockDim.x) {
    sums.area_y[c] = 0;
    sums.sum_x[c] = 0;
    sums.min_x[c] = UINT32_MAX;
    sums.max_x[c] = 0;
    sums.max_y[c] = 0;
    if (f.moments) {
      sums.sum_xx[c] = 0;
      sums.sum_yy[c] = 0;
      sums.sum_xy[c] = 0;
    }
  }
}

/* The features of a component in the coordinates of the frame. */
static __device__ inline Sums
sums_in_frame (const CclCudaFrame &f, const TileSums &sums, const Tile &tile, uint32_t c)
{
  uint64_t x = tile.x, y = tile.y;
  uint32_t area = sums.area_y[c] & ((1u << AREA_BITS) - 1), sum_y = sums.area_y[c] >> AREA_BITS;
  uint32_t sum_x = sums.sum_x[c];
  Sums s = { { area * x + sum_x, area * y + sum_y, area, tile.x + sums.min_x[c],
               tile.x + sums.max_x[c], tile.y + sums.max_y[c] },
             { 0, 0, 0 } };

  if (f.moments) {
    s.moments.sum_xx = area * x * x + 2 * x * sum_x + sums.sum_xx[c];
    s.moments.sum_yy = area * y * y + 2 * y * sum_y + sums.sum_yy[c];
    s.moments.sum_xy = area * x * y + x * sum_y + y * sum_x + sums.sum_xy[c];
  }
  return s;
}

/* Writes the records of components @first to, without, @first + @count. */
static __device__ inline void
store_components (const CclCudaFrame &f, const CclTiles &tiles, const Shared &s, const Tile &tile,
                  uint32_t first, uint32_t count)
{
  for (uint32_t c = threadIdx.x; c < count; c += blockDim.x) {
    uint32_t label = tile_label (f, tile, s.firsts[c]);

    f.labels[label] = label;
    features_set (f, label, sums_in_frame (f, s.sums, tile, c));
    tiles.firsts[(size_t) tile.index * tiles.capacity + first + c] = s.firsts[c];
  }
}

/* The first pixel of component @c of @n: in shared memory, if they all were there at once. */
static __device__ inline CclTilePixel
first_pixel (const CclTiles &tiles, const Shared &s, const Tile &tile, uint32_t n, uint32_t c)
{
  return n <= s.pass ? s.firsts[c] : tile_first (tiles, tile, c);
}

/* Writes the border of a tile of @n components, whose records are written. */
static __device__ inline void
store_border (const CclTiles &tiles, const Shared &s, const Tile &tile, uint32_t runs, uint32_t n)
{
  __shared__ uint32_t sides[2];
  CclTileBorder *border = &tiles.borders[tile.index];
  uint32_t i = threadIdx.x, y = i / TILE_WORDS, column = i % TILE_WORDS;
  uint32_t last_row = (tiles.height - 1) * TILE_WORDS, word = s.words[i];
  uint32_t top = s.before[TILE_WORDS], bottom = s.before[last_row];

  if (i < 2)
    sides[i] = 0;
  __syncthreads ();
  if (i < TILE_WORDS)
    border->top[i] = word;
  if (i >= last_row)
    border->bottom[i - last_row] = word;
  for (uint32_t run = i; run < top; run += blockDim.x)
    border->top_runs[run] = first_pixel (tiles, s, tile, n, s.parents[run]);
  for (uint32_t run = bottom + i; run < runs; run += blockDim.x)
    border->bottom_runs[run - bottom] = first_pixel (tiles, s, tile, n, s.parents[run]);
  if (column == 0 && word & 1) {
    atomicOr (&sides[0], 1u << y);
    border->left_pixels[y] = first_pixel (tiles, s, tile, n, s.parents[s.before[i]]);
  }
  if (column == TILE_WORDS - 1 && word >> 31) {
    uint32_t run = s.before[i] + __popc (s.starts[i]) - 1;

    atomicOr (&sides[1], 1u << y);
    border->right_pixels[y] = first_pixel (tiles, s, tile, n, s.parents[run]);
  }
  __syncthreads ();
  if (i == 0) {
    border->left = sides[0];
    border->right = sides[1];
    tiles.n[tile.index] = n;
  }
}

/* Writes record and border of a tile without any background: nothing has to be found out. */
static __device__ inline void
store_full_tile (const CclCudaFrame &f, const CclTiles &tiles, const Tile &tile)
{
  CclTileBorder *border = &tiles.borders[tile.index];
  uint32_t i = threadIdx.x, label = tile_label (f, tile, 0), height = tiles.height;

  if (i < TILE_WORDS)
    border->top[i] = border->bottom[i] = ~0u;
  if (i < height)
    border->left_pixels[i] = border->right_pixels[i] = 0;
  if (i == 0) {
    Sums s = sums_of_run (f, tile.x, tile.x + TILE_WIDTH, tile.y + height - 1);
    uint64_t sum_y = ccl_run_sum_x (tile.y, tile.y + height);

    s.moments.sum_xx *= height;
    s.moments.sum_xy = s.features.sum_x * sum_y;
    s.moments.sum_yy = TILE_WIDTH * ccl_run_sum_xx (tile.y, tile.y + height);
    s.features.sum_x *= height;
    s.features.sum_y = TILE_WIDTH * sum_y;
    s.features.area *= height;
    f.labels[label] = label;
    features_set (f, label, s);
    tiles.firsts[(size_t) tile.index * tiles.capacity] = 0;
    border->top_runs[0] = border->bottom_runs[0] = 0;
    border->left = border->right = ~0u >> (32 - height);
    tiles.n[tile.index] = 1;
  }
}

/* Writes the border of a tile without any foreground. */
static __device__ inline void
store_empty_tile (const CclTiles &tiles, const Tile &tile)
{
  CclTileBorder *border = &tiles.borders[tile.index];
  uint32_t i = threadIdx.x;

  if (i < TILE_WORDS)
    border->top[i] = border->bottom[i] = 0;
  if (i == 0) {
    border->left = border->right = 0;
    tiles.n[tile.index] = 0;
  }
}

/* Labels a tile, with one word of pixels a thread: writes its records and its border, and returns
 * the number of its components. @memory is the block's, tile_label_size() bytes; @firsts are the
 * components' first pixels, there or in the tables. */
static __device__ inline uint32_t
label_tile (const CclCudaFrame &f, const Tile &tile, uint32_t *memory, const CclTilePixel **firsts)
{
  const CclTiles &tiles = f.tiles;
  Shared s;
  uint32_t word = load_word (f, tile), runs, n;

  *firsts = tiles.firsts + (size_t) tile.index * tiles.capacity;
  if (!__syncthreads_or (word != 0)) {
    store_empty_tile (tiles, tile);
    return 0;
  }
  if (__syncthreads_and (word == ~0u)) {
    store_full_tile (f, tiles, tile);
    return 1;
  }
  (TileRuns &) s = tile_runs_layout (memory, tiles.height);
  n = find_components (f, s, word, &runs);
  shared_layout_sums (&s, tiles.height, runs, f.moments != NULL);
  for (uint32_t first = 0; first < n; first += s.pass) {
    uint32_t count = min (n - first, s.pass);

    clear_sums (f, s.sums, count);
    __syncthreads ();
    sum_word (f, s, first, count);
    __syncthreads ();
    store_components (f, tiles, s, tile, first, count);
    __syncthreads ();
  }
  store_border (tiles, s, tile, runs, n);
  if (n <= s.pass)
    *firsts = s.firsts;
  return n;
}

#endif
