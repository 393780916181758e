/* cudaccl - tests of the sizes of strips and tiles for the limits of devices
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Devices need not exist: their limits are numbers here. */

#include "cuda/tile/plan.h"
#include "tests/lib/mt19937.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
  V100,
  T4,
  A100,
  ORIN,
  L4,
  RTX4090,
  H100,
  N_DEVICES
};

static const struct
{
  const char *name;
  CclCudaLimits limits;
} devices[N_DEVICES] = {
  [V100] = { "V100", { 80, 2048, 32, 65536, 98304, 98304, 0, true } },
  [T4] = { "T4", { 40, 1024, 16, 65536, 65536, 65536, 0, true } },
  [A100] = { "A100", { 108, 2048, 32, 65536, 167936, 166912, 1024, true } },
  [ORIN] = { "AGX Orin", { 16, 1536, 16, 65536, 167936, 166912, 1024, true } },
  [L4] = { "L4", { 58, 1536, 24, 65536, 102400, 101376, 1024, true } },
  [RTX4090] = { "RTX 4090", { 128, 1536, 24, 65536, 102400, 101376, 1024, true } },
  [H100] = { "H100, H200", { 132, 2048, 32, 65536, 233472, 232448, 1024, true } },
};

/* As compiled by CUDA 13. */
static const CclStripKernel kernel = { .registers = 48, .shared = 128 };

static const char *const reasons[] = {
  [CCL_PLAN_FULL] = "full",       [CCL_PLAN_SMALL_FRAME] = "one wave", [CCL_PLAN_LAUNCH] = "launch",
  [CCL_PLAN_THREADS] = "threads", [CCL_PLAN_MEMORY] = "memory",        [CCL_PLAN_SUMS] = "sums",
};

/* The plans of a frame. One wave: all tiles are on the device at once. */
typedef struct Case
{
  int device;
  uint32_t width, height;
  CclPlanReason strips_reason;
  uint32_t strips, strip_blocks, strip_threads; /* strips, and on a multiprocessor */
  CclPlanReason tiles_reason;
  uint32_t tile_height, tile_row, tile_blocks, tile_threads;
} Case;

static const Case cases[] = {
  { T4, 640, 480, CCL_PLAN_FULL, 40, 1, 544, CCL_PLAN_SMALL_FRAME, 16, 626, 3, 192 },
  { T4, 960, 540, CCL_PLAN_FULL, 39, 1, 736, CCL_PLAN_SMALL_FRAME, 16, 626, 4, 256 },
  { T4, 1024, 768, CCL_PLAN_FULL, 77, 2, 832, CCL_PLAN_SMALL_FRAME, 32, 612, 3, 384 },
  /* One strip on a multiprocessor: sums have too few bits. Two: too little memory. */
  { T4, 1280, 720, CCL_PLAN_SUMS, 0, 0, 0, CCL_PLAN_SMALL_FRAME, 32, 612, 3, 384 },
  { T4, 1920, 1080, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_MEMORY, 32, 612, 3, 384 },
  { ORIN, 640, 480, CCL_PLAN_FULL, 32, 2, 1024, CCL_PLAN_SMALL_FRAME, 16, 626, 6, 384 },
  { ORIN, 800, 600, CCL_PLAN_FULL, 47, 3, 1248, CCL_PLAN_SMALL_FRAME, 16, 626, 10, 640 },
  { ORIN, 960, 540, CCL_PLAN_FULL, 32, 2, 1280, CCL_PLAN_SMALL_FRAME, 16, 626, 9, 576 },
  /* 29 440 words of 32 pixels, and 20 480 threads with 48 registers each. */
  { ORIN, 1280, 720, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_SMALL_FRAME, 32, 554, 8, 1024 },
  { ORIN, 1920, 1080, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_MEMORY, 32, 554, 8, 1024 },
  { L4, 1280, 720, CCL_PLAN_FULL, 56, 1, 832, CCL_PLAN_SMALL_FRAME, 16, 626, 4, 256 },
  { L4, 1920, 1080, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_SMALL_FRAME, 32, 538, 5, 640 },
  { L4, 3840, 2160, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_MEMORY, 32, 538, 5, 640 },
  { RTX4090, 1280, 720, CCL_PLAN_FULL, 120, 1, 544, CCL_PLAN_SMALL_FRAME, 16, 626, 2, 128 },
  { RTX4090, 1920, 1080, CCL_PLAN_FULL, 120, 1, 864, CCL_PLAN_SMALL_FRAME, 16, 626, 5, 320 },
  { RTX4090, 2560, 1440, CCL_PLAN_FULL, 240, 2, 1280, CCL_PLAN_SMALL_FRAME, 16, 596, 8, 512 },
  { RTX4090, 3840, 2160, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_MEMORY, 32, 538, 5, 640 },
  { V100, 1920, 1080, CCL_PLAN_FULL, 155, 2, 1024, CCL_PLAN_SMALL_FRAME, 16, 626, 7, 448 },
  { A100, 1920, 1080, CCL_PLAN_FULL, 108, 1, 928, CCL_PLAN_SMALL_FRAME, 16, 626, 6, 384 },
  { A100, 3840, 2160, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_MEMORY, 32, 554, 8, 1024 },
  { H100, 640, 480, CCL_PLAN_FULL, 120, 1, 384, CCL_PLAN_SMALL_FRAME, 16, 626, 1, 64 },
  { H100, 1280, 720, CCL_PLAN_FULL, 120, 1, 544, CCL_PLAN_SMALL_FRAME, 16, 626, 2, 128 },
  { H100, 1920, 1080, CCL_PLAN_FULL, 120, 1, 864, CCL_PLAN_SMALL_FRAME, 16, 626, 5, 320 },
  { H100, 2560, 1440, CCL_PLAN_SUMS, 0, 0, 0, CCL_PLAN_SMALL_FRAME, 16, 626, 7, 448 },
  { H100, 3840, 2160, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_SMALL_FRAME, 16, 626, 16, 1024 },
  { H100, 7680, 4320, CCL_PLAN_THREADS, 0, 0, 0, CCL_PLAN_FULL, 32, 626, 10, 1280 },
};

static unsigned failures;

static void
check (bool ok, const char *what, const char *device, uint32_t width, uint32_t height)
{
  if (ok)
    return;
  printf ("FAILED: %s, %u x %u: %s\n", device, width, height, what);
  failures++;
}

static CclStripPlan
first_strips (const CclCudaLimits *limits, uint32_t width, uint32_t height)
{
  uint32_t step = 0;
  CclStripPlan plan;

  ccl_plan_strips (limits, &kernel, width, height, (width + 1) / 2, &step, &plan);
  return plan;
}

static void
run_cases (void)
{
  printf ("%-10s %-11s %-8s %6s %7s  %-8s %6s %4s %7s %7s\n", "", "", "strips", "blocks", "threads",
          "tiles", "height", "row", "blocks", "threads");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const Case *c = &cases[i];
    const char *name = devices[c->device].name;
    CclStripPlan s = first_strips (&devices[c->device].limits, c->width, c->height);
    CclTilePlan t = ccl_plan_tiles (&devices[c->device].limits, c->width, c->height);
    uint32_t blocks = s.n > 0 ? s.blocks : 0, threads = blocks * (s.threads + s.border_threads);

    printf ("%-10s %4u x %-4u %-8s %6u %7u  %-8s %6u %4u %7u %7u\n", name, c->width, c->height,
            reasons[s.reason], blocks, threads, reasons[t.reason], t.height, t.row, t.blocks,
            t.threads);
    check (s.reason == c->strips_reason && s.n == c->strips && blocks == c->strip_blocks &&
               threads == c->strip_threads,
           "other strips", name, c->width, c->height);
    check (t.reason == c->tiles_reason && t.height == c->tile_height && t.row == c->tile_row &&
               t.blocks == c->tile_blocks && t.threads == c->tile_threads,
           "other tiles", name, c->width, c->height);
  }
}

/* The kernels' assumptions. */
static bool
strips_work (const CclCudaLimits *l, const CclStripPlan *s, uint32_t width, uint32_t height)
{
  uint32_t threads = s->threads + s->border_threads, bytes = 16 * threads;
  uint32_t roots = 1;

  while (roots <= s->threads)
    roots *= 2;
  return s->n > 0 && s->n <= s->blocks * l->processors && s->n * s->height >= height &&
         (s->n - 1) * s->height < height && s->words * 32 >= width &&
         s->threads >= s->words * (s->height + 1) && s->threads % 32 == 0 &&
         s->border_threads >= 32 && s->border_threads % 32 == 0 && threads <= 1024 &&
         s->blocks * threads <= l->threads && s->writers >= 32 && s->writers % 32 == 0 &&
         s->writers <= s->threads && bytes + s->writers / 32 * 2432 <= s->size &&
         bytes + 28 * roots <= s->size && bytes + 4 * s->capacity + 2 * 28 <= s->size &&
         s->size + kernel.shared <= l->shared_block &&
         s->blocks * (s->size + kernel.shared + l->shared_reserved) <= l->shared;
}

static bool
tiles_work (const CclCudaLimits *l, const CclTilePlan *t)
{
  uint32_t bytes = CCL_PLAN_TILE_PIECES + t->height * t->row;

  return (t->height == 32 || t->height == 16) && t->row > 4 * 128 && t->row <= 626 &&
         t->blocks > 0 && t->blocks <= l->blocks && t->threads == t->blocks * t->height * 4 &&
         t->threads <= l->threads && t->blocks * (bytes + l->shared_reserved) <= l->shared;
}

/* Any frame on any device: every plan that is offered works. */
static void
run_random (uint32_t seed)
{
  Mt19937 rng;

  mt19937_seed (&rng, seed);
  for (unsigned i = 0; i < 20000; i++) {
    uint32_t range = i % 8 == 0 ? 32768 : 2600;
    uint32_t width = 1 + mt19937_below (&rng, range), height = 1 + mt19937_below (&rng, range);
    unsigned d = mt19937_below (&rng, N_DEVICES);
    const CclCudaLimits *limits = &devices[d].limits;
    CclTilePlan tiles = ccl_plan_tiles (limits, width, height);
    uint32_t step = 0;
    CclStripPlan strips;

    check (tiles_work (limits, &tiles), "tiles that do not fit", devices[d].name, width, height);
    while (ccl_plan_strips (limits, &kernel, width, height, (width + 1) / 2, &step, &strips))
      check (strips_work (limits, &strips, width, height), "strips that do not fit",
             devices[d].name, width, height);
    check (strips.n == 0, "strips after the last plan", devices[d].name, width, height);
  }
}

int
main (int argc, char **argv)
{
  uint32_t seed = argc > 1 ? (uint32_t) strtoul (argv[1], NULL, 10) : (uint32_t) time (NULL);
  CclCudaLimits limits = devices[H100].limits;

  run_cases ();
  limits.cooperative = false;
  check (first_strips (&limits, 640, 480).reason == CCL_PLAN_LAUNCH, "strips without launches",
         "H100", 640, 480);
  run_random (seed);
  printf ("%u failures, seed %u\n", failures, seed);
  return failures > 0;
}
