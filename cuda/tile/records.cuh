/* cudaccl - CUDA backend: the tile algorithm, inside of a tile
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A block reads its tile once, as bits; from there on there are no pixels. Union-find over pieces
 * (tile_pieces.cuh), the numbering of the roots and the sums of their features stay in shared
 * memory; what goes out is a record for each component of the tile, and its border. */

#ifndef CCL_CUDA_TILE_RECORDS_CUH
#define CCL_CUDA_TILE_RECORDS_CUH

#include "cuda/tile/pieces.cuh"

/* Bytes of shared memory, for each row of the tile, that are shared out between pieces and the sums
 * of components: as many components at a time as there is room for. Ten blocks of the highest tiles
 * fit in a multiprocessor with 228 KiB. */
#define BYTES_PER_ROW 626

/* Bytes of shared memory that a block needs. */
static inline size_t
tile_label_size (uint32_t height)
{
  return tile_pieces_size (0) + (size_t) height * BYTES_PER_ROW;
}

/* Features of a component, or of part of one, in the coordinates of the tile: 32 bits suffice. */
struct PieceSums
{
  uint32_t area_y; /* area in the lower AREA_BITS, sum of y above */
  uint32_t sum_x;
  uint32_t min_x, max_x, max_y;
  uint32_t sum_xx, sum_yy, sum_xy; /* only with moments */
};

#define AREA_BITS 14
#define N_SUMS 5
#define N_MOMENTS 3

/* The same of several components. */
struct TileSums
{
  uint32_t first, pass; /* the first of them, and their number at most */
  uint32_t from,
      to; /* their roots are among these pieces; others of theirs come up to the last one */
  uint32_t *area_y, *sum_x;
  uint32_t *min_x, *max_x, *max_y;
  uint32_t *sum_xx, *sum_yy, *sum_xy;
};

/* Shares out what @p leaves. */
static __device__ inline TileSums
sums_layout (const CclCudaFrame &f, const Pieces &p)
{
  uint32_t room = f.tiles.height * BYTES_PER_ROW / 4 - p.n;
  TileSums sums;

  sums.first = 0;
  sums.from = 0;
  sums.to = p.n;
  sums.pass = f.moments ? room / (N_SUMS + N_MOMENTS) : room / N_SUMS;
  sums.area_y = p.links + p.n;
  sums.sum_x = sums.area_y + sums.pass;
  sums.min_x = sums.sum_x + sums.pass;
  sums.max_x = sums.min_x + sums.pass;
  sums.max_y = sums.max_x + sums.pass;
  sums.sum_xx = sums.max_y + sums.pass;
  sums.sum_yy = sums.sum_xx + sums.pass;
  sums.sum_xy = sums.sum_yy + sums.pass;
  return sums;
}

/* The features of a piece, of all the rows that repeat it. */
static __device__ inline PieceSums
sums_of_piece (const CclCudaFrame &f, const TilePieces *s, uint32_t first)
{
  uint32_t x = first % TILE_WIDTH, y = first / TILE_WIDTH, column = x / WORD_PIXELS;
  uint64_t gap = ~(s->words[column][y] >> x % WORD_PIXELS);
  uint32_t width = (uint32_t) __clzll ((long long) __brevll (gap));
  uint32_t height = 1 + (uint32_t) __clz ((int) __brev (~(s->repeats[column] >> y >> 1)));
  uint32_t row_x = width * (2 * x + width - 1) / 2, column_y = height * (2 * y + height - 1) / 2;
  PieceSums p = { width * height | (width * column_y) << AREA_BITS,
                  row_x * height,
                  x,
                  x + width - 1,
                  y + height - 1,
                  0,
                  0,
                  0 };

  if (f.moments) {
    p.sum_xx = height * (uint32_t) ccl_run_sum_xx (x, x + width);
    p.sum_yy = width * (uint32_t) ccl_run_sum_xx (y, y + height);
    p.sum_xy = row_x * column_y;
  }
  return p;
}

/* Adds @p to the component @c of those that are summed up. */
static __device__ inline void
add_to_sums (const CclCudaFrame &f, const TileSums &sums, uint32_t c, const PieceSums &p)
{
  atomicAdd (&sums.area_y[c], p.area_y);
  atomicAdd (&sums.sum_x[c], p.sum_x);
  atomicMin (&sums.min_x[c], p.min_x);
  atomicMax (&sums.max_x[c], p.max_x);
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

/* Begins the sums of a component with those of its root. */
static __device__ inline void
set_sums (const CclCudaFrame &f, const TileSums &sums, uint32_t c, const PieceSums &p)
{
  sums.area_y[c] = p.area_y;
  sums.sum_x[c] = p.sum_x;
  sums.min_x[c] = p.min_x;
  sums.max_x[c] = p.max_x;
  sums.max_y[c] = p.max_y;
  if (f.moments) {
    sums.sum_xx[c] = p.sum_xx;
    sums.sum_yy[c] = p.sum_yy;
    sums.sum_xy[c] = p.sum_xy;
  }
}

/* The first piece that this warp looks at, where the block begins with the group of @piece. */
static __device__ inline uint32_t
warp_base (uint32_t piece)
{
  return piece / WARP_LANES * WARP_LANES + threadIdx.x - lane_id ();
}

/* Numbers the roots, and begins the sums of those whose turn it is. Leaves the first one that
 * there is no room for in s->next. */
static __device__ inline void
begin_sums (const CclCudaFrame &f, TilePieces *s, const Pieces &p, const RootCounts &r,
            const TileSums &sums)
{
  for (uint32_t base = warp_base (sums.from); base < p.n; base += blockDim.x) {
    uint32_t group = base / WARP_LANES, roots = s->roots[group], piece = base + lane_id ();
    uint32_t number = roots_before (r, group) + __popc (roots & bits_below (lane_id ()));
    uint32_t c = number - sums.first;
    CclTilePixel first;

    if (!(roots >> lane_id () & 1))
      continue;
    first = link_first (p.links[piece]);
    p.links[piece] = make_link (IS_ROOT | number, first);
    if (c < sums.pass)
      set_sums (f, sums, c, sums_of_piece (f, s, first));
    else if (c == sums.pass)
      s->next = piece;
  }
}

/* Adds the pieces that are no roots to their components. Where many lanes have that of the first
 * one, they are summed up before: same addresses serialize. */
static __device__ inline void
add_pieces (const CclCudaFrame &f, const TilePieces *s, const Pieces &p, const TileSums &sums)
{
  for (uint32_t base = warp_base (sums.from); base < p.n; base += blockDim.x) {
    uint32_t piece = base + lane_id (), c = CCL_NO_LABEL, link, lanes, leader, same;
    PieceSums part;

    link = piece < p.n ? p.links[piece] : make_link (IS_ROOT, 0);
    if (!link_is_root (link))
      c = link_number (p.links[link_parent (link)]) - sums.first;
    if (c >= sums.pass)
      c = CCL_NO_LABEL;
    lanes = __ballot_sync (ALL_LANES, c != CCL_NO_LABEL);
    if (!lanes)
      continue;
    leader = __ffs (lanes) - 1;
    same = __ballot_sync (ALL_LANES, c == __shfl_sync (ALL_LANES, c, leader));
    if (c == CCL_NO_LABEL)
      continue;
    part = sums_of_piece (f, s, link_first (link));
    if (can_reduce () && __popc (same) >= REDUCE_LANES && same >> lane_id () & 1) {
      part = reduce_parts (f, same, part);
      if (lane_id () != leader)
        continue;
    }
    add_to_sums (f, sums, c, part);
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

/* Whether a component touches no border of its tile. */
static __device__ inline bool
is_inside (const CclTiles &tiles, const TileSums &sums, uint32_t c, CclTilePixel first)
{
  return first >= TILE_WIDTH && sums.min_x[c] > 0 && sums.max_x[c] < TILE_WIDTH - 1 &&
         sums.max_y[c] < tiles.height - 1;
}

/* Writes the records of the components that are summed up. Those inside are not looked up in the
 * forest, unless to paint a label map. */
static __device__ inline void
store_components (const CclCudaFrame &f, const Pieces &p, const TileSums &sums, const Tile &tile)
{
  for (uint32_t base = warp_base (sums.from); base < sums.to; base += blockDim.x) {
    uint32_t piece = base + lane_id (), link = piece < sums.to ? p.links[piece] : 0;
    uint32_t c = link_number (link) - sums.first, label = CCL_NO_LABEL;
    Sums s = sums_of_nothing ();

    if (link_is_root (link) && c < sums.pass) {
      CclTilePixel first = link_first (link);
      bool inside = is_inside (f.tiles, sums, c, first);

      label = tile_label (f, tile, first);
      s = sums_in_frame (f, sums, tile, c);
      if (!inside || f.map)
        f.labels[label] = label;
      tile_firsts (f.tiles, tile)[sums.first + c] = first | (inside ? FIRST_IS_INSIDE : 0);
    }
    features_set_warp (f, label, s);
  }
}

/* A warp writes the first and the last row of a tile: four lanes for each word. */
static __device__ inline void
store_border_rows (CclTileBorder *border, const TilePieces *s, const Pieces &p, uint32_t bottom)
{
  uint32_t lane = lane_id (), column = lane % TILE_WORDS, y = lane & TILE_WORDS ? bottom : 0;
  uint64_t pixels = s->words[column][y];
  uint32_t before = s->before[column][y], n = __popcll (piece_starts (pixels));
  CclTilePixel *runs = (y == 0 ? border->top_runs : border->bottom_runs) + column * WORD_PIECES;

  if (lane < 2 * TILE_WORDS)
    (y == 0 ? border->top : border->bottom)[column] = pixels;
  for (uint32_t i = lane / (2 * TILE_WORDS); i < n; i += WARP_LANES / (2 * TILE_WORDS))
    runs[i] = first_of_component (p, before + i);
}

/* A warp writes the first and the last column of a tile: a lane for each row. */
static __device__ inline void
store_border_columns (CclTileBorder *border, const TilePieces *s, const Pieces &p, uint32_t height)
{
  const uint32_t last = TILE_WORDS - 1;
  uint32_t y = lane_id (), lefts, rights;
  uint64_t left = y < height ? s->words[0][y] : 0, right = y < height ? s->words[last][y] : 0;

  lefts = __ballot_sync (ALL_LANES, left & 1);
  rights = __ballot_sync (ALL_LANES, right >> 63);
  if (left & 1)
    border->left_pixels[y] = first_of_component (p, s->before[0][y]);
  if (right >> 63)
    border->right_pixels[y] =
        first_of_component (p, piece_at (s->before[last][y], right, 1ull << 63));
  if (y == 0) {
    border->left = lefts;
    border->right = rights;
  }
}

/* Writes the border of a tile. Its last warps do: the first ones have the pieces where there are
 * few. */
static __device__ inline void
store_border (const CclTiles &tiles, const TilePieces *s, const Pieces &p, const Tile &tile)
{
  CclTileBorder *border = &tiles.borders[tile.index];
  uint32_t warps_behind = (blockDim.x - 1 - threadIdx.x) / WARP_LANES;

  if (warps_behind == 0)
    store_border_columns (border, s, p, tiles.height);
  else if (warps_behind == 1)
    store_border_rows (border, s, p, tiles.height - 1);
}

/* Writes record and border of a tile without any background: nothing has to be found out. */
static __device__ inline void
store_full_tile (const CclCudaFrame &f, const CclTiles &tiles, const Tile &tile)
{
  CclTileBorder *border = &tiles.borders[tile.index];
  uint32_t i = threadIdx.x, label = tile_label (f, tile, 0), height = tiles.height;

  if (i < TILE_WORDS) {
    border->top[i] = border->bottom[i] = ~0ull;
    border->top_runs[i * WORD_PIECES] = border->bottom_runs[i * WORD_PIECES] = 0;
  }
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
    tile_firsts (tiles, tile)[0] = 0;
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

/* Labels a tile, with as many threads as it has words: writes its records and its border. @memory
 * is the block's, tile_label_size() bytes. */
static __device__ inline void
label_tile (const CclCudaFrame &f, const Tile &tile, uint32_t *memory)
{
  const CclTiles &tiles = f.tiles;
  TilePieces *s = (TilePieces *) memory;
  uint64_t pixels = load_pixels (f, s, tile);
  uint32_t i = threadIdx.x;
  RootCounts r = { 0, 0 };
  TileSums sums;
  Pieces p;
  bool once;

  if (!__syncthreads_or (pixels + 1 > 1)) { /* each thread has read all or nothing */
    uint32_t full = __syncthreads_count (pixels != 0);

    if (full == 0) {
      store_empty_tile (tiles, tile);
      return;
    }
    if (full == blockDim.x) {
      store_full_tile (f, tiles, tile);
      return;
    }
  }
  p = find_pieces (f, s);
  sums = sums_layout (f, p);
  once = p.n <= sums.pass;
  if (!once || i - lane_id () < p.n)
    r = count_roots (s, &p);
  if (i == 0)
    tiles.n[tile.index] = p.components;
  for (;;) {
    begin_sums (f, s, p, r, sums);
    __syncthreads ();
    if (!once && p.components - sums.first > sums.pass)
      sums.to = s->next;
    if (sums.first == 0)
      store_border (tiles, s, p, tile);
    add_pieces (f, s, p, sums);
    __syncthreads ();
    store_components (f, p, sums, tile);
    if (sums.to == p.n)
      break;
    __syncthreads ();
    sums.first += sums.pass;
    sums.from = sums.to;
    sums.to = p.n;
  }
}

#endif
