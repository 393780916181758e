/* cudaccl - CUDA backend: the tile algorithm, the components of a tile
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Union-find works on pieces: the runs of a word of 64 pixels. A word that equals the one above it
 * shares its pieces, so any number of repeated rows is processed only once.
 *
 * Pieces are numbered densely, row by row, from left to right. So the number of the piece at a
 * pixel is the number of pieces before its word plus a population count. The first piece of a
 * component is its root, and begins with the component's first pixel.
 *
 * Classes: runs of different classes may touch. So each pixel takes two bits of a word, the second
 * of which is set where the next pixel has the same class, and a tile is half as many pixels wide.
 * Then pieces are those of a mask with gaps, and only contacts with the row above differ: the
 * planes tell them (CclClassPlane). Where an x counts bits of a word, it is twice that of the
 * pixel. */

#ifndef CCL_CUDA_TILE_PIECES_CUH
#define CCL_CUDA_TILE_PIECES_CUH

#include "cuda/device/classes.cuh"
#include "cuda/device/foreground.cuh"
#include "cuda/device/rows.cuh"
#include "cuda/device/unionfind.cuh"
#include "cuda/tile/tile.cuh"

#define WORD_PIECES (WORD_PIXELS / 2)
#define TILE_PIECES (TILE_MAX_HEIGHT * TILE_WORDS * WORD_PIECES)
#define PIECE_CHUNKS (TILE_PIECES / WARP_LANES) /* a warp takes 32 pieces at a time */
#define WORDS_PITCH (TILE_MAX_HEIGHT + 4)       /* rows and columns without bank conflicts */

static_assert (
    TILE_WORDS == sizeof (uint32_t) && PIECE_CHUNKS / 4 <= WARP_LANES,
    "counts for each word of a row fit in one word, and a warp has a lane for four chunks");

/* A block's tile in shared memory, column by column; the pieces follow it. */
struct TilePieces
{
  uint64_t words[TILE_WORDS][WORDS_PITCH];
  uint16_t before[TILE_WORDS][WORDS_PITCH]; /* the pieces before each word's own or, if the word is
                                             * a repeat, before those of the word that it repeats */
  uint32_t repeats[TILE_WORDS];             /* for each column: which words equal the one above */
  uint32_t counts[TILE_MAX_HEIGHT]; /* for each row: the pieces of each word, one byte each; 0 for
                                     * repeats */
  uint32_t roots[PIECE_CHUNKS];     /* which pieces are roots, as bits */
  uint32_t root_counts[PIECE_CHUNKS / 4]; /* for each chunk of pieces, one byte each */
  uint32_t next;                          /* the first root that did not fit */
};

/* The pixels of a word as the planes have them, without neighbours outside the tile, and without
 * pairs that are connected anyway: through the pixel above, or the pairs above or to the left. */
struct ClassWord
{
  uint64_t up;         /* as the word: at the first of a pixel's two bits */
  uint32_t fall, rise; /* a bit for each pixel */
  bool left;           /* of the first pixel */
};

/* One word of a tile, as its thread sees it. */
struct TileWord
{
  uint32_t column, y;
  uint64_t pixels, above;        /* the word, and the one above it */
  uint32_t before, before_above; /* TilePieces.before of the two */
  uint64_t todo;     /* where it touches the word above; pairs that are still to be merged */
  ClassWord classes; /* only of classes */
};

/* A link holds a piece's parent and, in the lower FIRST_BITS, the piece's own first pixel. Both
 * share one word, so that more blocks fit. The first pixel never changes, so links compare as their
 * parents do. */
#define FIRST_BITS 16
/* Replaces a root's parent once roots are numbered; the lower bits are the component's index. */
#define IS_ROOT (1u << (31 - FIRST_BITS))

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

/* The index of a root's component in the tile. */
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

/* A forest of pieces in shared memory, for unionfind.cuh. Every write is atomic, because other
 * threads read at the same time. */
struct PieceForest
{
  uint32_t *links;
};

static __device__ inline uint32_t
load_link (const PieceForest &forest, uint32_t piece)
{
  return ((const volatile uint32_t *) forest.links)[piece];
}

static __device__ inline uint32_t
parent_in (const PieceForest &forest, uint32_t link)
{
  return link_parent (link);
}

static __device__ inline void
shorten (const PieceForest &forest, uint32_t piece, uint32_t link, uint32_t ancestor)
{
  atomicMin (&forest.links[piece], make_link (ancestor, link_first (link)));
}

static __device__ inline uint32_t
lower_parent (const PieceForest &forest, uint32_t piece, uint32_t parent)
{
  uint32_t link = make_link (parent, link_first (load_link (forest, piece)));

  return link_parent (atomicMin (&forest.links[piece], link));
}

/* The pieces of a tile. */
struct Pieces
{
  uint32_t n;
  PieceForest forest; /* [n] */
  uint32_t components;
};

/* Bytes of shared memory for @n pieces. */
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

/* The piece at the pixel @bit of a word or, if that is background, the piece to its left. @before:
 * the pieces before the word. */
static __device__ inline uint32_t
piece_at (uint32_t before, uint64_t word, uint64_t bit)
{
  return before + __popcll (piece_starts (word) & (bit | (bit - 1))) - 1;
}

#define LOAD_PIXELS 16
#define LOADS (WORD_PIXELS / LOAD_PIXELS) /* for a word, and by a thread */

/* Loads the pixels of a tile if each load is entirely inside or entirely outside the frame.
 * Neighbouring threads load 16 pixels each, from several rows: whole cache lines, all in flight at
 * once. */
static __device__ inline uint64_t
load_aligned (const CclCudaFrame &f, const CclTiles &tiles, TilePieces *s, const Tile &tile)
{
  uint32_t part = threadIdx.x % (TILE_WIDTH / LOAD_PIXELS), rows = tiles.height / LOADS;
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

/* Does the same for any tile. A thread loads a word. */
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

/* Does the same for frames of bits. */
static __device__ inline uint64_t
load_words (const CclCudaFrame &f, TilePieces *s, const Tile &tile)
{
  uint32_t column = threadIdx.x % TILE_WORDS, row = threadIdx.x / TILE_WORDS, y = tile.y + row;
  uint32_t x = tile.x + column * WORD_PIXELS;
  uint64_t word = 0;

  if (x < f.width && y < f.height)
    word = bits_inside (f, __ldcs ((const uint64_t *) row_pixels (f, y) + x / WORD_PIXELS), x);
  s->words[column][row] = word;
  return word;
}

/* Loads the tile's pixels into shared memory. Returns the ones that this thread loaded. */
static __device__ inline uint64_t
load_pixels (const CclCudaFrame &f, const CclTiles &tiles, TilePieces *s, const Tile &tile)
{
  bool aligned = (((uintptr_t) f.pixels | f.pitch) & (LOAD_PIXELS - 1)) == 0;
  bool whole = f.width % LOAD_PIXELS == 0 || f.width - tile.x >= TILE_WIDTH;

  if (f.bits)
    return load_words (f, s, tile);
  return aligned && whole ? load_aligned (f, tiles, s, tile) : load_any (f, s, tile);
}

/* Moves bit i to bit 2 * i. */
static __device__ inline uint64_t
spread_bits (uint32_t bits)
{
  uint64_t word = bits;

  word = (word | word << 16) & 0x0000ffff0000ffffull;
  word = (word | word << 8) & 0x00ff00ff00ff00ffull;
  word = (word | word << 4) & 0x0f0f0f0f0f0f0f0full;
  word = (word | word << 2) & 0x3333333333333333ull;
  return (word | word << 1) & 0x5555555555555555ull;
}

#define CLASS_PIXELS (WORD_PIXELS / 2) /* of a word */

/* Does the same for classes. The last pixel's second bit is set, too, so that words and tiles end
 * with a pixel's bit as they do without classes. */
static __device__ inline uint64_t
load_classes (const CclCudaFrame &f, TilePieces *s, const Tile &tile)
{
  uint32_t column = threadIdx.x % TILE_WORDS, row = threadIdx.x / TILE_WORDS, y = tile.y + row;
  uint32_t x = tile.x / 2 + column * CLASS_PIXELS;
  uint32_t pixels = class_bits (f, CCL_CLASS_PIXELS, x, y);
  uint32_t joined = class_bits (f, CCL_CLASS_LEFT, x, y) >> 1 | (pixels & 1u << 31);
  uint64_t word = spread_bits (pixels) | spread_bits (joined) << 1;

  s->words[column][row] = word;
  return word;
}

static __device__ inline ClassWord
take_classes (const CclCudaFrame &f, const Tile &tile, const TileWord &w)
{
  uint32_t x = tile.x / 2 + w.column * CLASS_PIXELS, y = tile.y + w.y;
  uint32_t inside = w.column > 0 ? ~0u : ~1u, others = 0, up;
  ClassWord c = { 0, 0, 0, (class_bits (f, CCL_CLASS_LEFT, x, y) & inside & 1) != 0 };

  if (w.y == 0)
    return c;
  up = class_bits (f, CCL_CLASS_UP, x, y);
  if (up & class_bits (f, CCL_CLASS_LEFT, x, y - 1) & 1)
    c.left = false;
  c.up = spread_bits (up);
  if (f.connectivity == 8)
    others = inside & ~(up | up << 1);
  c.fall = class_bits (f, CCL_CLASS_FALL, x, y) & others;
  c.rise = class_bits (f, CCL_CLASS_RISE, x, y) & others;
  return c;
}

/* Whether a word's pieces are those of the word above. */
template <bool classes>
static __device__ inline bool
repeats_above (const TileWord &w)
{
  return w.y > 0 && w.pixels == w.above &&
         (!classes || (w.pixels & 0x5555555555555555ull) == w.classes.up);
}

/* Gets this thread's word of the tile. The words of a warp lie below each other. */
template <bool classes>
static __device__ inline TileWord
take_word (const CclCudaFrame &f, const CclTiles &tiles, const TilePieces *s, const Tile &tile)
{
  uint32_t i = threadIdx.x;
  TileWord w;

  w.y = i & (tiles.height - 1);
  w.column = i >> (31 - __clz (tiles.height));
  w.pixels = s->words[w.column][w.y];
  w.above = w.y > 0 ? s->words[w.column][w.y - 1] : 0;
  if (classes)
    w.classes = take_classes (f, tile, w);
  return w;
}

/* Counts the pieces before each word. Returns the total. */
template <bool classes>
static __device__ inline uint32_t
count_pieces (const CclTiles &tiles, TilePieces *s, TileWord *w)
{
  bool repeats = repeats_above<classes> (*w);
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

/* Initializes the links of the pieces of a word. The parent of each is the first piece that it
 * touches in the word above; other pairs are merged later. */
template <bool classes>
static __device__ inline void
link_pieces (const CclCudaFrame &f, const Pieces &p, TileWord *w)
{
  Rows r = { w->pixels, w->above, false, false };
  uint64_t rest = piece_starts (w->pixels);
  uint32_t piece = w->before;

  w->todo = 0;
  if (repeats_above<classes> (*w))
    return;
  if (classes) /* not where the pixels to the left touch, too */
    w->todo = w->classes.up & ~(w->classes.up << 2 & w->pixels << 1);
  else
    w->todo = touching (f.connectivity, r);
  for (; rest; rest &= rest - 1, piece++) {
    uint64_t start = rest & -rest, pixels = w->pixels & ~(w->pixels + start);
    uint64_t pairs = w->todo & (pixels | pixels << 1), first = pairs & -pairs;

    w->todo ^= first;
    p.forest.links[piece] =
        make_link (first ? piece_at (w->before_above, w->above, first) : piece,
                   w->y * TILE_WIDTH + w->column * WORD_PIXELS + __ffsll (start) - 1);
  }
}

/* Finds the pieces that touch across the left edge of a word: at most one pair in each row. */
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
  /* Two columns side by side, as two rows. */
  r = { (w.pixels & 1) << 1 | (w.above & 1), left >> 63 << 1 | left_above >> 63, false, false };
  if (!(touching (f.connectivity, r) & 2))
    return false;
  row = w.pixels & 1 ? w.y : w.y - 1;
  y = left >> 63 ? w.y : w.y - 1;
  *piece1 = s->before[w.column][row];
  *piece2 = piece_at (s->before[w.column - 1][y], left >> 63 ? left : left_above, 1ull << 63);
  return true;
}

/* The piece at pixel @x of a row of word @column of the tile; -1: at the last pixel of the word to
 * the left. */
static __device__ inline uint32_t
class_piece_at (const TilePieces *s, uint32_t column, uint32_t y, int x)
{
  uint32_t c = x < 0 ? column - 1 : column, bit = 2 * (x < 0 ? CLASS_PIXELS - 1 : (uint32_t) x);

  return piece_at (s->before[c][y], s->words[c][y], 1ull << bit);
}

/* Merges the pieces of classes that touch across the left edge of a word or by a corner. */
static __device__ inline void
merge_class_pieces (const TilePieces *s, const Pieces &p, const TileWord &w)
{
  if (w.classes.left)
    merge (p.forest, w.before, class_piece_at (s, w.column, w.y, -1));
  for (uint32_t rest = w.classes.fall; rest; rest &= rest - 1) {
    int x = __ffs (rest) - 1;

    merge (p.forest, class_piece_at (s, w.column, w.y, x),
           class_piece_at (s, w.column, w.y - 1, x - 1));
  }
  for (uint32_t rest = w.classes.rise; rest; rest &= rest - 1) {
    int x = __ffs (rest) - 1;

    merge (p.forest, class_piece_at (s, w.column, w.y, x - 1),
           class_piece_at (s, w.column, w.y - 1, x));
  }
}

/* Merges the pieces of this thread's word with the pieces that they touch above and to the left. */
template <bool classes>
static __device__ inline void
merge_pieces_of_word (const CclCudaFrame &f, const TilePieces *s, const Pieces &p,
                      const TileWord &w)
{
  uint64_t todo = w.todo;
  uint32_t piece1, piece2;
  bool side = !classes && touches_left (f, s, w, &piece1, &piece2);

  while (side || todo) {
    if (!side) {
      uint64_t bit = todo & -todo;

      todo ^= bit;
      piece1 = piece_at (w.before, w.pixels, bit);
      piece2 = piece_at (w.before_above, w.above, bit);
    }
    side = false;
    merge (p.forest, piece1, piece2);
  }
  if (classes)
    merge_class_pieces (s, p, w);
}

/* Compresses paths, and marks the roots. */
static __device__ inline void
find_roots (TilePieces *s, const Pieces &p)
{
  uint32_t n = (p.n + 4 * WARP_LANES - 1) / (4 * WARP_LANES) * (4 * WARP_LANES);

  for (uint32_t piece = threadIdx.x; piece < n; piece += blockDim.x) {
    bool root = piece < p.n && compress (p.forest, piece, load_link (p.forest, piece)) == piece;
    uint32_t roots = __ballot_sync (ALL_LANES, root);

    if (lane_id () == 0) {
      s->roots[piece / WARP_LANES] = roots;
      ((uint8_t *) s->root_counts)[piece / WARP_LANES] = (uint8_t) __popc (roots);
    }
  }
}

/* The number of roots before each chunk of pieces, as a warp holds it: each lane has four
 * consecutive chunks. */
struct RootCounts
{
  uint32_t before; /* the roots before the four */
  uint32_t counts; /* in the four, one byte each */
};

static __device__ inline RootCounts
scan_root_counts (const TilePieces *s, Pieces *p)
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

/* The number of roots before @chunk, which is the same for the whole warp. */
static __device__ inline uint32_t
roots_before (const RootCounts &r, uint32_t chunk)
{
  uint32_t before = __shfl_sync (ALL_LANES, r.before, chunk / 4);
  uint32_t counts = __shfl_sync (ALL_LANES, r.counts, chunk / 4);

  return __dp4a (counts & bits_below (chunk % 4 * 8), 0x01010101u, before);
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
  uint32_t link = p.forest.links[piece];

  return link_first (link_is_root (link) ? link : p.forest.links[link_parent (link)]);
}

/* Merges the pieces of a tile whose words are in shared memory. Call scan_root_counts() next. */
template <bool classes>
static __device__ inline Pieces
find_pieces (const CclCudaFrame &f, const CclTiles &tiles, TilePieces *s, const Tile &tile)
{
  TileWord w = take_word<classes> (f, tiles, s, tile);
  Pieces p;

  p.n = count_pieces<classes> (tiles, s, &w);
  p.forest.links = (uint32_t *) (s + 1);
  p.components = 0;
  link_pieces<classes> (f, p, &w);
  __syncthreads ();
  merge_pieces_of_word<classes> (f, s, p, w);
  __syncthreads ();
  find_roots (s, p);
  __syncthreads ();
  return p;
}

#endif
