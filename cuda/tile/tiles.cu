/* cudaccl - CUDA backend: the tile algorithm, inside tiles, and its entry
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A block reads its tile once, as bits, and needs no pixels after that. Union-find over pieces
 * (pieces.cuh), the numbering of the roots and the sums of their features stay in shared memory.
 * The output is a record for each component of the tile, and the tile's border. */

#include "cuda/device/launch.cuh"
#include "cuda/device/local_features.cuh"
#include "cuda/tile/groups.cuh"
#include "cuda/tile/pieces.cuh"

/* The most blocks on a multiprocessor, for tiles of full height. */
#if __CUDA_ARCH__ == 750
#define TILE_BLOCKS 8
#else
#define TILE_BLOCKS 10
#endif

static_assert (sizeof (TilePieces) == CCL_PLAN_TILE_PIECES, "as planned");
static_assert (CCL_PLAN_TILE_LEAST_ROW > 4 * TILE_RUNS, "the most pieces and some features fit");

/* The bytes of dynamic shared memory of a block: for the pieces, and for the features of as many
 * components at a time as fit. */
static inline size_t
label_size (const CclTiles *tiles)
{
  return tile_pieces_size (tiles->room);
}

/* Features, in the coordinates of the tile */

#define AREA_BITS 14

typedef LocalRecord<N_FEATURES_AND_MOMENTS> PieceRecord;

/* The record of a piece, including the rows that repeat it. @classes: a pixel has two bits, the
 * second of which is not set at the end of most pieces. */
template <bool classes>
static __device__ inline PieceRecord
record_of_piece (const TilePieces *s, uint32_t first, bool moments)
{
  uint32_t bit = first % TILE_WIDTH, y = first / TILE_WIDTH, column = bit / WORD_PIXELS;
  uint64_t gap = ~(s->words[column][y] >> bit % WORD_PIXELS);
  uint32_t bits = (uint32_t) __clzll ((long long) __brevll (gap));
  uint32_t x = classes ? bit / 2 : bit, width = classes ? (bits + 1) / 2 : bits;
  uint32_t height = 1 + (uint32_t) __clz ((int) __brev (~(s->repeats[column] >> y >> 1)));
  uint32_t row_x = width * (2 * x + width - 1) / 2, column_y = height * (2 * y + height - 1) / 2;
  PieceRecord r;

  r.values[AREA_Y] = width * height | (width * column_y) << AREA_BITS;
  r.values[SUM_X] = row_x * height;
  r.values[MIN_X] = x;
  r.values[MAX_X] = x + width - 1;
  r.values[MAX_Y] = y + height - 1;
  if (moments) {
    r.values[SUM_XX] = height * (uint32_t) ccl_run_sum_xx (x, x + width);
    r.values[SUM_YY] = width * (uint32_t) ccl_run_sum_xx (y, y + height);
    r.values[SUM_XY] = row_x * column_y;
  }
  return r;
}

/* The record of component @c of the table, in the coordinates of the frame. */
template <bool classes>
static __device__ inline FeatureRecord
record_in_frame (const LocalTable &table, uint32_t c, const Tile &tile, bool moments)
{
  uint32_t left = classes ? tile.x / 2 : tile.x;
  uint64_t x = left, y = tile.y;
  uint32_t area_y = local_value (table, AREA_Y, c), sum_x = local_value (table, SUM_X, c);
  uint32_t area = area_y & ((1u << AREA_BITS) - 1), sum_y = area_y >> AREA_BITS;
  FeatureRecord r = { { area * x + sum_x, area * y + sum_y, area,
                        left + local_value (table, MIN_X, c), left + local_value (table, MAX_X, c),
                        tile.y + local_value (table, MAX_Y, c) },
                      { 0, 0, 0 } };

  if (moments) {
    r.moments.sum_xx = area * x * x + 2 * x * sum_x + local_value (table, SUM_XX, c);
    r.moments.sum_yy = area * y * y + 2 * y * sum_y + local_value (table, SUM_YY, c);
    r.moments.sum_xy = area * x * y + x * sum_y + y * sum_x + local_value (table, SUM_XY, c);
  }
  return r;
}

/* The components whose features are summed up in one turn, as many as fit. */
struct Turn
{
  LocalTable table;
  uint32_t from, to; /* their roots are among these pieces; their other pieces come later */
};

/* Returns the first turn; its table is behind the pieces in shared memory. */
static __device__ inline Turn
first_turn (const CclTiles &tiles, const Pieces &p, bool moments)
{
  uint32_t room = tiles.room - p.n;
  uint32_t capacity = moments ? room / N_FEATURES_AND_MOMENTS : room / N_FEATURES;
  Turn turn = { { p.forest.links + p.n, 0, capacity }, 0, p.n };

  return turn;
}

/* Returns the first piece of this warp if the block begins with the chunk of @piece. */
static __device__ inline uint32_t
warp_base (uint32_t piece)
{
  return piece / WARP_LANES * WARP_LANES + threadIdx.x - lane_id ();
}

/* Numbers the roots, and initializes the features of this turn's. Stores the first root that does
 * not fit in s->next. */
template <bool classes>
static __device__ inline void
begin_components (TilePieces *s, const Pieces &p, const RootCounts &counts, const Turn &turn,
                  bool moments)
{
  const LocalTable &table = turn.table;

  for (uint32_t base = warp_base (turn.from); base < p.n; base += blockDim.x) {
    uint32_t chunk = base / WARP_LANES, roots = s->roots[chunk], piece = base + lane_id ();
    uint32_t number = roots_before (counts, chunk) + __popc (roots & bits_below (lane_id ()));
    uint32_t c = number - table.first;
    CclTilePixel first;

    if (!(roots >> lane_id () & 1))
      continue;
    first = link_first (p.forest.links[piece]);
    p.forest.links[piece] = make_link (IS_ROOT | number, first);
    if (c < table.capacity)
      local_begin (table, c, record_of_piece<classes> (s, first, moments), moments);
    else if (c == table.capacity)
      s->next = piece;
  }
}

/* Adds non-root pieces to their components. */
template <bool classes>
static __device__ inline void
add_pieces (const TilePieces *s, const Pieces &p, const Turn &turn, bool moments)
{
  for (uint32_t base = warp_base (turn.from); base < p.n; base += blockDim.x) {
    uint32_t piece = base + lane_id (), c = CCL_NO_LABEL;
    uint32_t link = piece < p.n ? p.forest.links[piece] : make_link (IS_ROOT, 0);

    if (!link_is_root (link))
      c = link_number (p.forest.links[link_parent (link)]) - turn.table.first;
    if (c >= turn.table.capacity)
      c = CCL_NO_LABEL;
    local_add_warp<N_FEATURES_AND_MOMENTS> (
        turn.table, c, moments,
        [&] { return record_of_piece<classes> (s, link_first (link), moments); }, AtomicCombine{});
  }
}

/* Whether a component touches no border of its tile. */
template <bool classes>
static __device__ inline bool
is_inside (const CclTiles &tiles, const LocalTable &table, uint32_t c, CclTilePixel first)
{
  return first >= TILE_WIDTH && local_value (table, MIN_X, c) > 0 &&
         local_value (table, MAX_X, c) < (classes ? TILE_WIDTH / 2 : TILE_WIDTH) - 1 &&
         local_value (table, MAX_Y, c) < tiles.height - 1;
}

/* Output */

/* Writes the records of the turn's components. Those inside the tile get a parent only for a label
 * map, which looks it up. */
template <bool classes>
static __device__ inline void
store_components (const CclComponentTable &t, const CclTiles &tiles, const Pieces &p,
                  const Turn &turn, const Tile &tile, bool all_parents)
{
  for (uint32_t base = warp_base (turn.from); base < turn.to; base += blockDim.x) {
    uint32_t piece = base + lane_id (), link = piece < turn.to ? p.forest.links[piece] : 0;
    uint32_t c = link_number (link) - turn.table.first, label = CCL_NO_LABEL;
    FeatureRecord r = record_empty ();

    if (link_is_root (link) && c < turn.table.capacity) {
      CclTilePixel first = link_first (link);
      bool inside = is_inside<classes> (tiles, turn.table, c, first);

      label = component_label (t, tile, first);
      r = record_in_frame<classes> (turn.table, c, tile, t.moments != NULL);
      if (!inside || all_parents)
        t.parents[label] = label;
      tile_firsts (tiles, tile)[turn.table.first + c] = first | (inside ? FIRST_IS_INSIDE : 0);
    }
    features_begin_warp (t, label, r);
  }
}

/* Writes the first and the last row of a tile; called by a warp, with four lanes for each word. */
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

/* Writes the first and the last column of a tile; called by a warp, with a lane for each row. */
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

/* Writes the border of a tile. The last warps do this: with few pieces, only the first ones are
 * busy. */
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

/* Writes record and border of a tile without background. */
static __device__ inline void
store_full_tile (const CclComponentTable &t, const CclTiles &tiles, const Tile &tile)
{
  CclTileBorder *border = &tiles.borders[tile.index];
  uint32_t i = threadIdx.x, label = component_label (t, tile, 0), height = tiles.height;

  if (i < TILE_WORDS) {
    border->top[i] = border->bottom[i] = ~0ull;
    border->top_runs[i * WORD_PIECES] = border->bottom_runs[i * WORD_PIECES] = 0;
  }
  if (i < height)
    border->left_pixels[i] = border->right_pixels[i] = 0;
  if (i == 0) {
    FeatureRecord r = record_of_run (t, tile.x, tile.x + TILE_WIDTH, tile.y + height - 1);
    uint64_t sum_y = ccl_run_sum_x (tile.y, tile.y + height);

    r.moments.sum_xx *= height;
    r.moments.sum_xy = r.features.sum_x * sum_y;
    r.moments.sum_yy = TILE_WIDTH * ccl_run_sum_xx (tile.y, tile.y + height);
    r.features.sum_x *= height;
    r.features.sum_y = TILE_WIDTH * sum_y;
    r.features.area *= height;
    t.parents[label] = label;
    features_begin (t, label, r);
    tile_firsts (tiles, tile)[0] = 0;
    border->left = border->right = ~0u >> (32 - height);
    tiles.n[tile.index] = 1;
  }
}

/* Writes the border of a tile without foreground. */
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

/* Labels this block's tile, with a thread for each word. */
template <bool classes>
static __device__ inline void
label_tile (const CclCudaFrame &f, const CclComponentTable &t, const CclTiles &tiles,
            bool all_parents, uint32_t *memory)
{
  Tile tile = tile_number (tiles, blockIdx.x);
  TilePieces *s = (TilePieces *) memory;
  uint32_t i = threadIdx.x;
  bool moments = t.moments != NULL;
  RootCounts counts = { 0, 0 };
  uint64_t pixels;
  Turn turn;
  Pieces p;

  let_kernel_follow ();
  follow_kernel ();
  if (tile.column == 0 && i == 0)
    tiles.totals[tile.row] = 0;
  pixels = classes ? load_classes (f, s, tile) : load_pixels (f, tiles, s, tile);
  if (classes) {
    if (!__syncthreads_or (pixels != 0)) {
      store_empty_tile (tiles, tile);
      return;
    }
  } else if (!__syncthreads_or (pixels + 1 > 1)) { /* each thread's are all ones or all zeros */
    uint32_t full = __syncthreads_count (pixels != 0);

    if (full == 0) {
      store_empty_tile (tiles, tile);
      return;
    }
    if (full == blockDim.x) {
      store_full_tile (t, tiles, tile);
      return;
    }
  }
  p = find_pieces<classes> (f, tiles, s, tile);
  turn = first_turn (tiles, p, moments);
  /* If one turn is enough for any number of roots, a warp without pieces needs no counts. */
  if (p.n > turn.table.capacity || i - lane_id () < p.n)
    counts = scan_root_counts (s, &p);
  if (i == 0)
    tiles.n[tile.index] = p.components;
  for (;;) {
    begin_components<classes> (s, p, counts, turn, moments);
    __syncthreads ();
    if (p.components - turn.table.first > turn.table.capacity)
      turn.to = s->next;
    if (turn.table.first == 0)
      store_border (tiles, s, p, tile);
    add_pieces<classes> (s, p, turn, moments);
    __syncthreads ();
    store_components<classes> (t, tiles, p, turn, tile, all_parents);
    if (turn.to == p.n)
      break;
    __syncthreads ();
    turn.table.first += turn.table.capacity;
    turn.from = turn.to;
    turn.to = p.n;
  }
}

/* A block for each tile. @bits: CclCudaFrame.bits. */
template <bool bits>
static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT, TILE_BLOCKS)
    tile_label (CclCudaFrame f, CclComponentTable t, CclTiles tiles, bool all_parents)
{
  extern __shared__ uint32_t memory[];

  f.bits = bits;
  label_tile<false> (f, t, tiles, all_parents, memory);
}

/* The same for classes. */
static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT, TILE_BLOCKS)
    tile_label_classes (CclCudaFrame f, CclComponentTable t, CclTiles tiles, bool all_parents)
{
  extern __shared__ uint32_t memory[];

  label_tile<true> (f, t, tiles, all_parents, memory);
}

/* Whether these are tiles of the greatest height with first-order features only. */
static inline bool
is_usual (const CclComponentTable *t, const CclTiles *tiles)
{
  return tiles->height == TILE_MAX_HEIGHT && !t->moments && !t->updates;
}

/* The same for the usual tiles of large frames: tells the compiler what is_usual() has checked. */
template <bool bits>
static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT, TILE_BLOCKS)
    tile_label_usual (CclCudaFrame f, CclComponentTable t, CclTiles tiles, bool all_parents)
{
  extern __shared__ uint32_t memory[];

  f.bits = bits;
  tiles.height = TILE_MAX_HEIGHT;
  t.moments = NULL;
  t.updates = NULL;
  t.depth_sums = NULL;
  label_tile<false> (f, t, tiles, all_parents, memory);
}

/* Host */

static CclTiles
make_tiles (const CclCudaWork *work, const CclCudaLimits *limits)
{
  const CclCudaFrame *f = &work->frame;
  const uint32_t bits = work->classes ? 2 : 1; /* of a pixel */
  CclTilePlan plan = ccl_plan_tiles (limits, min (f->width, UINT32_MAX / bits) * bits, f->height);
  uint32_t width = TILE_WIDTH / bits, columns = (f->width - 1) / width + 1;
  CclTiles tiles = {};

  tiles.height = plan.height;
  tiles.room = plan.height * plan.row / 4;
  tiles.columns = columns;
  tiles.rows = (f->height - 1) / tiles.height + 1;
  tiles.column_reciprocal = UINT32_MAX / columns;
  tiles.group_reciprocal = UINT32_MAX / TILE_GROUPS (columns);
  tiles.capacity = ccl_runs_per_row (min (f->width, width) * bits) * min (f->height, tiles.height);
  return tiles;
}

static CclStatus
allocate_tiles (CclTiles *tiles, CclCudaMemory *memory)
{
  size_t n = (size_t) tiles->rows * tiles->columns;
  const CclCudaTable tables[] = {
    { &tiles->n, n * sizeof *tiles->n, false },
    { &tiles->firsts, n * tiles->capacity * sizeof *tiles->firsts, false },
    { &tiles->borders, n * sizeof *tiles->borders, false },
    { &tiles->counts, n * tiles->height * sizeof *tiles->counts, false },
    { &tiles->totals, tiles->rows * sizeof *tiles->totals, false },
  };

  return ccl_cuda_allocate_tables (memory, tables, sizeof tables / sizeof *tables);
}

static CclStatus
ccl_cuda_tile_open (CclCudaWork *work, CclCudaQueue *queue)
{
  TileTables *tables = (TileTables *) work->tables;
  size_t labels = (size_t) work->frame.height * work->components.slots, strip_labels;
  CclStatus status;

  tables->tiles = make_tiles (work, &queue->device.limits);
  status = work->classes ? CCL_OK : ccl_cuda_strips_open (work, queue, tables);
  if (status == CCL_OK)
    status = allocate_tiles (&tables->tiles, &queue->memory);
  if (status != CCL_OK)
    return status;
  strip_labels = (size_t) tables->strips.n * tables->strips.capacity;
  return ccl_cuda_components_allocate (work, &queue->memory, max (labels, strip_labels));
}

typedef void (*LabelKernel) (CclCudaFrame f, CclComponentTable t, CclTiles tiles, bool all_parents);

static cudaError_t
launch_label (const CclCudaWork *work, bool all_parents, cudaStream_t stream)
{
  const CclTiles *tiles = &tile_tables (work)->tiles;
  bool usual = is_usual (&work->components, tiles);
  LabelKernel kernel = work->frame.bits ? (usual ? tile_label_usual<true> : tile_label<true>)
                                        : (usual ? tile_label_usual<false> : tile_label<false>);

  if (work->classes)
    kernel = tile_label_classes;
  return launch (kernel, tiles->columns * tiles->rows, tiles->height * TILE_WORDS,
                 label_size (tiles), stream, work->frame, work->components, *tiles, all_parents);
}

cudaError_t
ccl_cuda_tile_find_components (const CclCudaWork *work, bool all_parents, cudaStream_t stream)
{
  cudaError_t error = launch_label (work, all_parents, stream);

  if (error == cudaSuccess)
    error = ccl_cuda_tile_merge_borders (work, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_tile_resolve (work, stream);
  ccl_cuda_stage (work, "components", stream);
  return error;
}

/* Enqueues everything from roots to the result. @counted: ccl_cuda_tile_resolve() has counted the
 * roots. */
static cudaError_t
write_result (const CclCudaWork *work, bool counted, cudaStream_t stream)
{
  const CclCudaResult *r = &work->result;
  size_t labels = (size_t) work->frame.height * work->components.slots;
  cudaError_t error = cudaSuccess;

  if (r->labels)
    error = CCL_CUDA (cudaMemsetAsync, r->labels, 0, labels * sizeof *r->labels, stream);
  if (error == cudaSuccess && !counted)
    error = ccl_cuda_tile_count_roots (work, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_tile_write_result (work, stream);
  ccl_cuda_stage (work, CCL_STAGE_SELECTION, stream);
  if (error == cudaSuccess && r->label_map) {
    error = ccl_cuda_tile_write_label_map (work, stream);
    ccl_cuda_stage_label_map (work, stream);
  }
  return error;
}

static cudaError_t
ccl_cuda_tile_select (const CclCudaWork *work, cudaStream_t stream)
{
  return write_result (work, false, stream);
}

static cudaError_t
ccl_cuda_tile_enqueue (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error;

  if (ccl_cuda_strips_can_analyse (work)) {
    error = ccl_cuda_strips_enqueue (work, stream);
    if (error != cudaErrorCooperativeLaunchTooLarge)
      return error;
    /* The process has been limited to part of the device, for example by MPS. */
    ccl_cuda_api.cudaGetLastError ();
  }
  error = ccl_cuda_tile_find_components (work, work->result.label_map != NULL, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_updates_sum (work, stream);
  if (error == cudaSuccess)
    error = write_result (work, keeps_all (work->frame, work->result), stream);
  return error;
}

static bool
ccl_cuda_tile_leaves_components (const CclCudaWork *work)
{
  return !ccl_cuda_strips_can_analyse (work);
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_tile) = {
  { "tile", "Bits, runs and components of a tile in shared memory, then the borders between tiles",
    CCL_BACKEND_CUDA, 4 | 8 },
  sizeof (TileTables),
  ccl_cuda_tile_open,
  ccl_cuda_tile_enqueue,
  ccl_cuda_tile_count_areas,
  ccl_cuda_tile_select,
  ccl_cuda_tile_leaves_components,
  NULL,
  true,
};

const CclCudaAlgorithm *
ccl_cuda_tile_algorithm (void)
{
  return &ccl_cuda_algorithm_tile;
}
