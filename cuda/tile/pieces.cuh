/* cudaccl - CUDA backend: the tile algorithm, the components of a tile
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is united are pieces: the pixels of a word of 64 that touch each other. A word that equals
 * the one above it has the same pieces: all that is done for them is done once, however many rows
 * repeat. Pieces are numbered densely, row by row and from left to right, so that the piece under a
 * pixel is the number of those before its word and a population count away, and the first piece of
 * a component, which is its root, has the component's first pixel. */

#ifndef CCL_CUDA_TILE_PIECES_CUH
#define CCL_CUDA_TILE_PIECES_CUH

#include "cuda/device/rows.cuh"
#include "cuda/tile/tile.cuh"

#define WORD_PIECES (WORD_PIXELS / 2)
#define TILE_PIECES (TILE_MAX_HEIGHT * TILE_WORDS * WORD_PIECES)
#define PIECE_GROUPS (TILE_PIECES / WARP_LANES) /* a warp looks at one after the other */
#define WORDS_PITCH (TILE_MAX_HEIGHT + 4)       /* rows and columns both without bank conflicts */

static_assert (
    TILE_WORDS == sizeof (uint32_t) && PIECE_GROUPS / 4 <= WARP_LANES,
    "counts for each word of a row fit in one word, and a warp has a lane for four groups");

/* What a block keeps in shared memory of its tile; the pieces follow it. Words are in columns. */
struct TilePieces
{
  uint64_t words[TILE_WORDS][WORDS_PITCH];
  uint16_t before[TILE_WORDS][WORDS_PITCH]; /* pieces before those of a word, or before those of the
                                             * one that it repeats */
  uint32_t repeats[TILE_WORDS];             /* of a column: the words that equal the one above */
  uint32_t counts[TILE_MAX_HEIGHT]; /* of a row: the pieces of each word, a byte each; none where it
                                     * repeats */
  uint32_t roots[PIECE_GROUPS];     /* which pieces are roots, bit by bit */
  uint32_t root_counts[PIECE_GROUPS / 4]; /* of each group of pieces, a byte each */
  uint32_t next;                          /* the first root that there was no room for */
};

/* One word of a tile, as its thread sees it. */
struct TileWord
{
  uint32_t column, y;
  uint64_t pixels, above;        /* the word, and the one above it */
  uint32_t before, before_above; /* TilePieces.before of the two */
  uint64_t todo;                 /* where it touches the word above, and that is to be united */
};

/* The pieces of a tile. */
struct Pieces
{
  uint32_t n;
  uint32_t *links; /* [n] of each piece its parent, or of a root in the end IS_ROOT and the number
                    * of its component, and in the lower FIRST_BITS its first pixel */
  uint32_t components;
};

/* Both are in one word, so that more blocks have room. A piece's first pixel never changes: its
 * links compare as its parents do. */
#define FIRST_BITS 16
#define IS_ROOT (1u << (31 - FIRST_BITS)) /* in place of a parent */

static_assert (sizeof (CclTilePixel) * 8 == FIRST_BITS && TILE_PIECES <= IS_ROOT,
               "pieces and pixels fit in a link");

static __device__ inline uint32_t
make_link (uint32_t parent, uint32_t first)
{
  return parent << FIRST_BITS | first;
}

static __device__ inline uint32_t
link_parent (uint32_t link)
{
  return link >> FIRST_BITS;
}

static __device__ inline bool
link_is_root (uint32_t link)
{
  return link_parent (link) & IS_ROOT;
}

/* The number of a root's component. */
static __device__ inline uint32_t
link_number (uint32_t link)
{
  return link_parent (link) & ~IS_ROOT;
}

static __device__ inline CclTilePixel
link_first (uint32_t link)
{
  return (CclTilePixel) link;
}

/* Bytes of shared memory for so many pieces. */
static __host__ __device__ inline size_t
tile_pieces_size (uint32_t n)
{
  return sizeof (TilePieces) + n * sizeof (uint32_t);
}

/* The first pixels of the pieces of a word. */
static __device__ inline uint64_t
piece_starts (uint64_t word)
{
  return word & ~(word << 1);
}

/* The piece that covers the pixel @bit of a word, or else the one to its left; @before: those
 * before the word. */
static __device__ inline uint32_t
piece_at (uint32_t before, uint64_t word, uint64_t bit)
{
  return before + __popcll (piece_starts (word) & (bit | (bit - 1))) - 1;
}

#define LOAD_PIXELS 16
#define LOADS (WORD_PIXELS / LOAD_PIXELS) /* for a word, and of a thread */

/* Reads the pixels of a tile where whole loads are inside of the frame or outside. Threads side by
 * side read 16 of them each, in several rows, so that they read whole lines, and all at once. */
static __device__ inline uint64_t
load_aligned (const CclCudaFrame &f, TilePieces *s, const Tile &tile)
{
  uint32_t part = threadIdx.x % (TILE_WIDTH / LOAD_PIXELS), rows = f.tiles.height / LOADS;
  uint32_t row = threadIdx.x / (TILE_WIDTH / LOAD_PIXELS), x = tile.x + part * LOAD_PIXELS;
  uint32_t height = x < f.width ? f.height - tile.y : 0;
  const uint8_t *pixels = row_pixels (f, tile.y + row) + x;
  uint16_t *words = (uint16_t *) &s->words[part / LOADS][row] + part % LOADS;
  uint64_t all = 0;
  uint4 loads[LOADS];

#pragma unroll
  for (uint32_t i = 0; i < LOADS; i++)
    loads[i] = row + i * rows < height
                   ? __ldcs ((const uint4 *) (pixels + i * rows * (size_t) f.pitch))
                   : uint4{};
#pragma unroll
  for (uint32_t i = 0; i < LOADS; i++) {
    uint32_t bytes[4] = { loads[i].x, loads[i].y, loads[i].z, loads[i].w };
    uint32_t bits = row + i * rows < height ? foreground_bits (f, bytes, 4) : 0;

    words[i * rows * LOADS] = (uint16_t) bits;
    all |= (uint64_t) bits << (i * LOAD_PIXELS);
  }
  return all;
}

/* The same for any tile; a thread reads a word. */
static __device__ inline uint64_t
load_any (const CclCudaFrame &f, TilePieces *s, const Tile &tile)
{
  uint32_t column = threadIdx.x % TILE_WORDS, row = threadIdx.x / TILE_WORDS, y = tile.y + row;
  uint64_t word = 0;

#pragma unroll 1
  for (uint32_t i = 0; i < WORD_PIXELS && y < f.height; i += 32) {
    uint32_t x = tile.x + column * WORD_PIXELS + i;

    if (x < f.width)
      word |= (uint64_t) foreground32 (f, row_pixels (f, y), x) << i;
  }
  s->words[column][row] = word;
  return word;
}

/* Reads the tile's pixels into shared memory. Returns those that this thread has read. */
static __device__ inline uint64_t
load_pixels (const CclCudaFrame &f, TilePieces *s, const Tile &tile)
{
  bool aligned = (((uintptr_t) f.pixels | f.pitch) & (LOAD_PIXELS - 1)) == 0;
  bool whole = f.width % LOAD_PIXELS == 0 || f.width - tile.x >= TILE_WIDTH;

  return aligned && whole ? load_aligned (f, s, tile) : load_any (f, s, tile);
}

/* This thread's word of the tile. Those of its warp are one above the other. */
static __device__ inline TileWord
take_word (const CclTiles &tiles, const TilePieces *s)
{
  uint32_t i = threadIdx.x;
  TileWord w;

  w.y = i & (tiles.height - 1);
  w.column = i >> (31 - __clz (tiles.height));
  w.pixels = s->words[w.column][w.y];
  w.above = w.y > 0 ? s->words[w.column][w.y - 1] : 0;
  return w;
}

/* Counts the pieces before each word. Returns the number of all. */
static __device__ inline uint32_t
count_pieces (const CclTiles &tiles, TilePieces *s, TileWord *w)
{
  bool repeats = w->y > 0 && w->pixels == w->above;
  uint32_t column = lane_id () - w->y; /* the lane of its first row */
  uint32_t rows = __ballot_sync (ALL_LANES, repeats) >> column;
  uint32_t own = __popcll (piece_starts (w->pixels)), counts, top, sum, all;

  if (tiles.height < WARP_LANES)
    rows &= bits_below (tiles.height);
  if (w->y == 0)
    s->repeats[w->column] = rows;
  ((uint8_t *) &s->counts[w->y])[w->column] = (uint8_t) (repeats ? 0 : own);
  __syncthreads ();
  counts = s->counts[w->y];
  all = __dp4a (counts, 0x01010101u, 0u);
  sum = all;
  for (uint32_t distance = 1; distance < tiles.height; distance *= 2) {
    uint32_t other = __shfl_up_sync (ALL_LANES, sum, distance);

    if (w->y >= distance)
      sum += other;
  }
  w->before = __dp4a (counts & bits_below (w->column * 8), 0x01010101u, sum - all);
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
  uint64_t rest = piece_starts (w->pixels);
  uint32_t piece = w->before;

  w->todo = 0;
  if (w->y > 0 && w->pixels == w->above)
    return;
  w->todo = touching (f, r);
  for (; rest; rest &= rest - 1, piece++) {
    uint64_t start = rest & -rest, pixels = w->pixels & ~(w->pixels + start);
    uint64_t pairs = w->todo & (pixels | pixels << 1), first = pairs & -pairs;

    w->todo ^= first;
    p.links[piece] = make_link (first ? piece_at (w->before_above, w->above, first) : piece,
                                w->y * TILE_WIDTH + w->column * WORD_PIXELS + __ffsll (start) - 1);
  }
}

/* Gives a piece, of which @link was read, a lower parent, unless it has one; returns what it had.
 */
static __device__ inline uint32_t
lower_parent (const Pieces &p, uint32_t piece, uint32_t link, uint32_t parent)
{
  return link_parent (atomicMin (&p.links[piece], make_link (parent, link_first (link))));
}

/* As find_halving() and merge() of unionfind.cuh, with links. All writes are atomic, as others read
 * meanwhile. */
static __device__ inline uint32_t
find_piece (const Pieces &p, uint32_t piece)
{
  const volatile uint32_t *links = p.links;
  uint32_t link, parent, grandparent;

  while ((parent = link_parent (link = links[piece])) != piece) {
    grandparent = link_parent (links[parent]);
    if (grandparent == parent)
      return parent;
    lower_parent (p, piece, link, grandparent);
    piece = grandparent;
  }
  return piece;
}

static __device__ inline void
merge_pieces (const Pieces &p, uint32_t piece1, uint32_t piece2)
{
  const volatile uint32_t *links = p.links;
  bool first = true;

  while (piece1 != piece2) {
    uint32_t high = max (piece1, piece2), low = min (piece1, piece2);
    uint32_t found = lower_parent (p, high, links[high], low);

    if (found == high || found == low)
      return;
    piece1 = first ? find_piece (p, found) : found;
    piece2 = first ? find_piece (p, low) : low;
    first = false;
  }
}

/* Makes a piece point to its root, which it returns. */
static __device__ inline uint32_t
compress_piece (const Pieces &p, uint32_t piece)
{
  const volatile uint32_t *links = p.links;
  uint32_t link = links[piece], parent = link_parent (link), grandparent;

  while ((grandparent = link_parent (links[parent])) != parent) {
    lower_parent (p, piece, link, grandparent);
    parent = grandparent;
  }
  return parent;
}

/* Looks for a pair of pieces at the left edge of a word. */
static __device__ inline bool
touches_left (const CclCudaFrame &f, const TilePieces *s, const TileWord &w, uint32_t *piece1,
              uint32_t *piece2)
{
  uint64_t left, left_above;
  uint32_t y, row;
  Rows r;

  if (w.column == 0)
    return false;
  left = s->words[w.column - 1][w.y];
  left_above = w.y > 0 ? s->words[w.column - 1][w.y - 1] : 0;
  /* Two rows of columns side by side. */
  r = { (w.pixels & 1) << 1 | (w.above & 1), left >> 63 << 1 | left_above >> 63, false, false };
  if (!(touching (f, r) & 2))
    return false;
  row = w.pixels & 1 ? w.y : w.y - 1;
  y = left >> 63 ? w.y : w.y - 1;
  *piece1 = s->before[w.column][row];
  *piece2 = piece_at (s->before[w.column - 1][y], left >> 63 ? left : left_above, 1ull << 63);
  return true;
}

/* Unites the pieces of this thread's word with those that they touch, above and to the left. */
static __device__ inline void
unite_pieces (const CclCudaFrame &f, const TilePieces *s, const Pieces &p, const TileWord &w)
{
  uint64_t todo = w.todo;
  uint32_t piece1, piece2;
  bool side = touches_left (f, s, w, &piece1, &piece2);

  while (side || todo) {
    if (!side) {
      uint64_t bit = todo & -todo;

      todo ^= bit;
      piece1 = piece_at (w.before, w.pixels, bit);
      piece2 = piece_at (w.before_above, w.above, bit);
    }
    side = false;
    merge_pieces (p, piece1, piece2);
  }
}

/* Makes parents roots, and marks the roots. */
static __device__ inline void
find_roots (TilePieces *s, const Pieces &p)
{
  uint32_t n = (p.n + 4 * WARP_LANES - 1) / (4 * WARP_LANES) * (4 * WARP_LANES);

  for (uint32_t piece = threadIdx.x; piece < n; piece += blockDim.x) {
    bool root = piece < p.n && compress_piece (p, piece) == piece;
    uint32_t roots = __ballot_sync (ALL_LANES, root);

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

static __device__ inline bool
piece_is_root (const TilePieces *s, uint32_t piece)
{
  return s->roots[piece / WARP_LANES] >> piece % WARP_LANES & 1;
}

/* The first pixel of the component of @piece, once roots are numbered. */
static __device__ inline CclTilePixel
first_of_component (const Pieces &p, uint32_t piece)
{
  uint32_t link = p.links[piece];

  return link_first (link_is_root (link) ? link : p.links[link_parent (link)]);
}

/* Finds the components of a tile, whose words are in shared memory. What comes next is
 * count_roots(). */
static __device__ inline Pieces
find_pieces (const CclCudaFrame &f, TilePieces *s)
{
  TileWord w = take_word (f.tiles, s);
  Pieces p;

  p.n = count_pieces (f.tiles, s, &w);
  p.links = (uint32_t *) (s + 1);
  p.components = 0;
  link_pieces (f, p, &w);
  __syncthreads ();
  unite_pieces (f, s, p, w);
  __syncthreads ();
  find_roots (s, p);
  __syncthreads ();
  return p;
}

#endif
