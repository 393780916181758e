/* cudaccl - CUDA backend: the tile algorithm, the components of a tile
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is united are pieces: the pixels of a word of 32 that touch each other. A word that equals
 * the one above it has the same pieces: all that is done for them is done once, however many rows
 * repeat. Pieces are numbered densely, row by row and from left to right, so that the piece under a
 * pixel is the number of those before its word and a population count away, and the first piece of
 * a component, which is its root, has the component's first pixel. */

#ifndef CCL_CUDA_TILE_PIECES_CUH
#define CCL_CUDA_TILE_PIECES_CUH

#include "cuda/rows.cuh"
#include "cuda/tile.cuh"
#include "cuda/unionfind.cuh"

#define WORD_PIECES 16
#define TILE_PIECES (TILE_MAX_HEIGHT * TILE_WORDS * WORD_PIECES)
#define PIECE_GROUPS (TILE_PIECES / WARP_LANES) /* a warp looks at one after the other */
#define WORDS_PITCH (TILE_MAX_HEIGHT + 4)       /* rows and columns both without bank conflicts */

/* What a block keeps in shared memory of its tile; the pieces follow it. Words are in columns. */
struct TilePieces
{
  uint32_t words[TILE_WORDS][WORDS_PITCH];
  uint16_t before[TILE_WORDS][WORDS_PITCH]; /* pieces before those of a word, or before those of the
                                             * one that it repeats */
  uint32_t repeats[TILE_WORDS];             /* of a column: the words that equal the one above */
  uint2 counts[TILE_MAX_HEIGHT]; /* of a row: the pieces of each word, a byte each; none where it
                                  * repeats */
  uint32_t roots[PIECE_GROUPS];  /* which pieces are roots, bit by bit */
  uint32_t root_counts[PIECE_GROUPS / 4]; /* of each group of pieces, a byte each */
};

/* One word of a tile, as its thread sees it. */
struct TileWord
{
  uint32_t column, y;
  uint32_t pixels, above;        /* the word, and the one above it */
  uint32_t before, before_above; /* TilePieces.before of the two */
  uint32_t todo;                 /* where it touches the word above, and that is to be united */
};

/* The pieces of a tile. */
struct Pieces
{
  uint32_t n;
  uint32_t *parents;    /* [n] union-find; a root has IS_ROOT and the number of its component */
  CclTilePixel *firsts; /* [n] first pixels */
  uint32_t components;
};

#define IS_ROOT 0x80000000u

/* Bytes of shared memory for so many pieces. */
static __host__ __device__ inline size_t
tile_pieces_size (uint32_t n)
{
  return sizeof (TilePieces) + n * (sizeof (uint32_t) + sizeof (CclTilePixel));
}

/* The first pixels of the pieces of a word. */
static __device__ inline uint32_t
piece_starts (uint32_t word)
{
  return word & ~(word << 1);
}

/* The piece that covers the pixel @bit of a word, or else the one to its left; @before: those
 * before the word. */
static __device__ inline uint32_t
piece_at (uint32_t before, uint32_t word, uint32_t bit)
{
  return before + __popc (piece_starts (word) & (bit | (bit - 1))) - 1;
}

/* Reads this thread's word of the tile's pixels, puts it into shared memory and returns it. */
static __device__ inline uint32_t
load_word (const CclCudaFrame &f, TilePieces *s, const Tile &tile)
{
  uint32_t column = threadIdx.x % TILE_WORDS, row = threadIdx.x / TILE_WORDS;
  uint32_t x = tile.x + column * WARP_LANES, y = tile.y + row;
  uint32_t word = x < f.width && y < f.height ? foreground32 (f, row_pixels (f, y), x) : 0;

  s->words[column][row] = word;
  return word;
}

/* Takes over the words of the tile. A thread's @word is the one that it has loaded; for what
 * follows it has another one: its warp's words are one above the other. */
static __device__ inline TileWord
take_word (const CclTiles &tiles, const TilePieces *s)
{
  uint32_t i = threadIdx.x;
  TileWord w;

  w.y = i & (tiles.height - 1);
  w.column = i >> (31 - __clz (tiles.height));
  w.pixels = s->words[w.column][w.y];
  w.above = __shfl_up_sync (ALL_LANES, w.pixels, 1);
  if (w.y == 0)
    w.above = 0;
  return w;
}

/* Counts the pieces before each word. Returns the number of all. */
static __device__ inline uint32_t
count_pieces (const CclTiles &tiles, TilePieces *s, TileWord *w)
{
  bool repeats = w->y > 0 && w->pixels == w->above;
  uint32_t column = lane_id () - w->y; /* the lane of its first row */
  uint32_t rows = __ballot_sync (ALL_LANES, repeats) >> column;
  uint32_t own = __popc (piece_starts (w->pixels)), top, sum, all;
  uint2 counts;

  if (tiles.height < WARP_LANES)
    rows &= bits_below (tiles.height);
  if (w->y == 0)
    s->repeats[w->column] = rows;
  ((uint8_t *) &s->counts[w->y])[w->column] = (uint8_t) (repeats ? 0 : own);
  __syncthreads ();
  counts = s->counts[w->y];
  all = __dp4a (counts.x, 0x01010101u, __dp4a (counts.y, 0x01010101u, 0u));
  sum = all;
  for (uint32_t distance = 1; distance < tiles.height; distance *= 2) {
    uint32_t other = __shfl_up_sync (ALL_LANES, sum, distance);

    if (w->y >= distance)
      sum += other;
  }
  w->before = sum - all;
  if (w->column >= 4) {
    w->before = __dp4a (counts.x, 0x01010101u, w->before);
    counts.x = counts.y;
  }
  w->before = __dp4a (counts.x & bits_below (w->column % 4 * 8), 0x01010101u, w->before);
  top = 31 - __clz (~rows & (uint32_t) ((2ull << w->y) - 1));
  w->before = __shfl_sync (ALL_LANES, w->before, column + top);
  w->before_above = __shfl_up_sync (ALL_LANES, w->before, 1);
  s->before[w->column][w->y] = (uint16_t) w->before;
  return __shfl_sync (ALL_LANES, sum, column + tiles.height - 1);
}

/* Makes the pieces of a word ready. Each has the first one that it touches in the word above for
 * its parent; the other pairs are left to be united. */
static __device__ inline void
link_pieces (const CclCudaFrame &f, const Pieces &p, TileWord *w)
{
  Rows r = { w->pixels, w->above, false, false };
  uint32_t piece = w->before, rest = piece_starts (w->pixels);

  w->todo = 0;
  if (w->y > 0 && w->pixels == w->above)
    return;
  w->todo = (uint32_t) touching (f, r);
  for (; rest; rest &= rest - 1, piece++) {
    uint32_t start = rest & -rest, pixels = w->pixels & ~(w->pixels + start);
    uint32_t pairs = w->todo & (pixels | pixels << 1), first = pairs & -pairs;

    w->todo ^= first;
    p.parents[piece] = first ? piece_at (w->before_above, w->above, first) : piece;
    p.firsts[piece] =
        (CclTilePixel) (w->y * TILE_WIDTH + w->column * WARP_LANES + __ffs (start) - 1);
  }
}

/* Looks for a pair of pieces at the left edge of a word. */
static __device__ inline bool
touches_left (const CclCudaFrame &f, const TilePieces *s, const TileWord &w, uint32_t *piece1,
              uint32_t *piece2)
{
  uint32_t left, left_above, y, row;
  Rows r;

  if (w.column == 0)
    return false;
  left = s->words[w.column - 1][w.y];
  left_above = w.y > 0 ? s->words[w.column - 1][w.y - 1] : 0;
  /* Two rows of columns side by side. */
  r = { (w.pixels & 1) << 1 | (w.above & 1), left >> 31 << 1 | left_above >> 31, false, false };
  if (!(touching (f, r) & 2))
    return false;
  row = w.pixels & 1 ? w.y : w.y - 1;
  y = left >> 31 ? w.y : w.y - 1;
  *piece1 = s->before[w.column][row];
  *piece2 = piece_at (s->before[w.column - 1][y], left >> 31 ? left : left_above, 1u << 31);
  return true;
}

/* Unites the pieces of this thread's word with those that they touch, above and to the left. */
static __device__ inline void
unite_pieces (const CclCudaFrame &f, const TilePieces *s, const Pieces &p, const TileWord &w)
{
  uint32_t todo = w.todo, piece1, piece2;
  bool side = touches_left (f, s, w, &piece1, &piece2);

  while (side || todo) {
    if (!side) {
      uint32_t bit = todo & -todo;

      todo ^= bit;
      piece1 = piece_at (w.before, w.pixels, bit);
      piece2 = piece_at (w.before_above, w.above, bit);
    }
    side = false;
    merge_shared (p.parents, piece1, piece2);
  }
}

/* Makes parents roots, and marks the roots. */
static __device__ inline void
find_roots (TilePieces *s, const Pieces &p)
{
  uint32_t n = (p.n + 4 * WARP_LANES - 1) / (4 * WARP_LANES) * (4 * WARP_LANES);

  for (uint32_t piece = threadIdx.x; piece < n; piece += blockDim.x) {
    bool inside = piece < p.n;
    uint32_t roots = __ballot_sync (ALL_LANES, inside && p.parents[piece] == piece);

    if (inside)
      compress_shared (p.parents, piece);
    if (lane_id () == 0) {
      s->roots[piece / WARP_LANES] = roots;
      ((uint8_t *) s->root_counts)[piece / WARP_LANES] = (uint8_t) __popc (roots);
    }
  }
}

/* The numbers of roots before each group of pieces, as a warp knows them: each lane of four groups
 * side by side. */
struct RootCounts
{
  uint32_t before; /* those of the four */
  uint32_t counts; /* of the four, a byte each */
};

static __device__ inline RootCounts
count_roots (const TilePieces *s, Pieces *p)
{
  uint32_t lane = lane_id (), fours = (p->n + 4 * WARP_LANES - 1) / (4 * WARP_LANES), sum, all;
  RootCounts r;

  r.counts = lane < fours ? s->root_counts[lane] : 0;
  all = __dp4a (r.counts, 0x01010101u, 0u);
  sum = warp_scan (all);
  r.before = sum - all;
  p->components = __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
  return r;
}

/* The roots before those of the calling warp's group of pieces. */
static __device__ inline uint32_t
roots_before (const RootCounts &r, uint32_t group)
{
  uint32_t before = __shfl_sync (ALL_LANES, r.before, group / 4);
  uint32_t counts = __shfl_sync (ALL_LANES, r.counts, group / 4);

  return __dp4a (counts & bits_below (group % 4 * 8), 0x01010101u, before);
}

/* The root of the component of @piece, once there are components. */
static __device__ inline uint32_t
root_of (const Pieces &p, uint32_t piece)
{
  uint32_t parent = p.parents[piece];

  return parent & IS_ROOT ? piece : parent;
}

/* Finds the components of a tile, whose words are in shared memory. @w: what this thread is to
 * know of its word. What comes next is count_roots(). */
static __device__ inline Pieces
find_pieces (const CclCudaFrame &f, TilePieces *s, TileWord *w)
{
  Pieces p;

  *w = take_word (f.tiles, s);
  p.n = count_pieces (f.tiles, s, w);
  p.parents = (uint32_t *) (s + 1);
  p.firsts = (CclTilePixel *) (p.parents + p.n);
  p.components = 0;
  link_pieces (f, p, w);
  __syncthreads ();
  unite_pieces (f, s, p, *w);
  __syncthreads ();
  find_roots (s, p);
  __syncthreads ();
  return p;
}

#endif
