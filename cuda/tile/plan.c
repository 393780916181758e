/* cudaccl - CUDA backend: the sizes of strips and tiles, by the device's limits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/tile/plan.h"

#define WARP 32

/* Shared memory has room for the features of an eighth of a strip's components, fewer where it is
 * scarce. */
#define LEAST_SHARE 8
#define N_SHARES 5

#define MOST_BORDER_THREADS 256
#define FEW_BORDER_THREADS 64 /* where memory is scarce */

/* Multiprocessors with this many threads get plans of 1024, as measured on H100 and H200. */
#define MANY_THREADS 2048

/* How warps, and the registers of one, are allocated. */
#define WARP_UNIT 4
#define REGISTER_UNIT 256

/* A way to divide a multiprocessor. */
typedef struct Division
{
  uint32_t threads; /* of all blocks */
  uint32_t blocks;
  uint32_t share;
} Division;

static uint32_t
min (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static uint32_t
max (uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

static uint32_t
divide_up (uint32_t a, uint32_t b)
{
  return a > 0 ? (a - 1) / b + 1 : 0;
}

/* The number of resident threads of a multiprocessor for which there are enough registers. */
static uint32_t
most_threads (const CclCudaLimits *limits, const CclStripKernel *kernel)
{
  uint32_t registers = divide_up (kernel->registers * WARP, REGISTER_UNIT) * REGISTER_UNIT;
  uint32_t warps = registers > 0 ? limits->registers / registers / WARP_UNIT * WARP_UNIT : 0;

  return min (warps * WARP, limits->threads);
}

/* The bytes of dynamic shared memory that each of @blocks blocks on a multiprocessor can have. */
static uint32_t
room_of_strip (const CclCudaLimits *limits, const CclStripKernel *kernel, uint32_t blocks)
{
  uint32_t of_block = limits->shared / blocks - limits->shared_reserved - kernel->shared;
  uint32_t all = limits->shared - limits->shared_reserved - kernel->shared;

  /* The system reserves memory for one more block than there are. */
  of_block = min (of_block, all / blocks - limits->shared_reserved);
  return min (limits->shared_block - kernel->shared, of_block);
}

/* The smallest power of two greater than @n. */
static uint32_t
power_above (uint32_t n)
{
  uint32_t power = 1;

  while (power <= n)
    power *= 2;
  return power;
}

static CclStripPlan
plan_strips (const CclCudaLimits *limits, const CclStripKernel *kernel, uint32_t width,
             uint32_t height, uint32_t slots, const Division *by)
{
  uint32_t most = min (by->threads / by->blocks, CCL_PLAN_STRIP_THREADS) / WARP * WARP;
  uint32_t room = room_of_strip (limits, kernel, by->blocks), head, runs, features, buffers, least;
  bool scarce = by->share > LEAST_SHARE;
  CclStripPlan s = { .reason = CCL_PLAN_THREADS, .blocks = by->blocks };
  uint64_t pixels, words;

  s.words = divide_up (width, WARP);
  s.height = divide_up (height, limits->processors * by->blocks);
  words = (uint64_t) s.words * (s.height + 1);
  if (words + WARP > most)
    return s;
  s.threads = divide_up ((uint32_t) words, WARP) * WARP;
  if (s.threads + WARP > most)
    return s;
  s.border_threads = min (most - s.threads, scarce ? FEW_BORDER_THREADS : MOST_BORDER_THREADS);
  s.capacity = slots * (s.height + 1);
  s.reason = CCL_PLAN_SUMS;
  pixels = WARP * s.words * s.height;
  if (pixels >= 1u << CCL_PLAN_STRIP_AREA_BITS ||
      pixels / 2 * (s.height - 1) >= 1u << (32 - CCL_PLAN_STRIP_AREA_BITS))
    return s;
  /* The features follow the runs; roots and write buffers replace both later. */
  s.reason = CCL_PLAN_MEMORY;
  head = CCL_PLAN_STRIP_THREAD * (s.threads + s.border_threads);
  runs = head + 4 * s.capacity;
  features = CCL_PLAN_STRIP_RECORD * s.capacity;
  buffers = head + s.threads / WARP * CCL_PLAN_WRITE_BUFFER;
  least = scarce ? head + max (CCL_PLAN_ROOT * power_above (s.threads), CCL_PLAN_WRITE_BUFFER)
                 : buffers;
  if (least > room || runs + max (features / by->share, 2 * CCL_PLAN_ROOT) > room)
    return s;
  s.reason = CCL_PLAN_FULL;
  s.size = min (max (runs + features, buffers), room);
  s.writers = min (s.threads / WARP, (s.size - head) / CCL_PLAN_WRITE_BUFFER) * WARP;
  s.n = divide_up (height, s.height);
  return s;
}

bool
ccl_plan_strips (const CclCudaLimits *limits, const CclStripKernel *kernel, uint32_t width,
                 uint32_t height, uint32_t slots, uint32_t *step, CclStripPlan *plan)
{
  uint32_t usual = min (CCL_PLAN_STRIP_THREADS, limits->threads);
  uint32_t all = most_threads (limits, kernel);
  CclPlanReason reason = CCL_PLAN_LAUNCH;

  while (limits->cooperative && *step < N_SHARES * 2 * CCL_PLAN_STRIP_BLOCKS) {
    uint32_t round = *step / CCL_PLAN_STRIP_BLOCKS;
    bool more = round % 2 == 1;
    Division by = { more ? all : usual, 1 + *step % CCL_PLAN_STRIP_BLOCKS,
                    LEAST_SHARE << round / 2 };
    bool first = (*step)++ == 0;

    if (more && (limits->threads >= MANY_THREADS || all <= usual))
      continue;
    *plan = plan_strips (limits, kernel, width, height, slots, &by);
    if (plan->n > 0)
      return true;
    if (first)
      reason = plan->reason;
  }
  *plan = (CclStripPlan){ .reason = reason };
  return false;
}

/* The number of blocks that fit on a multiprocessor, for tiles of @height rows with @row bytes
 * each. */
static uint32_t
tile_blocks (const CclCudaLimits *limits, uint32_t height, uint32_t row)
{
  uint32_t bytes = CCL_PLAN_TILE_PIECES + height * row + limits->shared_reserved;
  uint32_t blocks = min (limits->blocks, limits->threads / (TILE_WORDS * height));

  /* There are registers for that many threads. */
  blocks = min (blocks, CCL_PLAN_TILE_BLOCKS * TILE_MAX_HEIGHT / height);
  return min (blocks, limits->shared / bytes);
}

/* The most bytes per row with which @blocks blocks fit. */
static uint32_t
row_of_tile (const CclCudaLimits *limits, uint32_t height, uint32_t blocks)
{
  uint32_t bytes = limits->shared / blocks - limits->shared_reserved - CCL_PLAN_TILE_PIECES;

  return min (bytes / height, CCL_PLAN_TILE_MOST_ROW);
}

CclTilePlan
ccl_plan_tiles (const CclCudaLimits *limits, uint32_t width, uint32_t height)
{
  uint64_t columns = divide_up (width, TILE_WIDTH), n;
  uint32_t tall = tile_blocks (limits, TILE_MAX_HEIGHT, CCL_PLAN_TILE_LEAST_ROW), most;
  CclTilePlan plan = { .reason = CCL_PLAN_FULL };

  /* Tall tiles have less border; short ones fill the device even with smaller frames. Choose tall
   * ones if they fill at least eight tenths of it. */
  n = columns * divide_up (height, TILE_MAX_HEIGHT);
  plan.height =
      10 * n >= 8 * (uint64_t) tall * limits->processors ? TILE_MAX_HEIGHT : TILE_MAX_HEIGHT / 2;
  n = columns * divide_up (height, plan.height);
  plan.blocks = tile_blocks (limits, plan.height, CCL_PLAN_TILE_LEAST_ROW);
  plan.threads = plan.blocks * TILE_WORDS * plan.height;
  most = min (limits->threads, CCL_PLAN_TILE_BLOCKS * TILE_WORDS * TILE_MAX_HEIGHT);
  if (plan.threads < most)
    plan.reason = CCL_PLAN_MEMORY;
  /* More blocks than tiles would only leave less memory for each block. */
  if (n <= (uint64_t) plan.blocks * limits->processors) {
    plan.reason = CCL_PLAN_SMALL_FRAME;
    plan.blocks = divide_up ((uint32_t) n, limits->processors);
    plan.threads = plan.blocks * TILE_WORDS * plan.height;
  }
  plan.row = row_of_tile (limits, plan.height, plan.blocks);
  return plan;
}
