/* cudaccl - primitives: the device functions against plain host code
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/primitives.h"
#include "tests/lib/arena.h"
#include "tests/lib/clock.h"
#include "tests/lib/device.h"
#include "tests/lib/mt19937.h"
#include "tests/lib/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_SKIP 77 /* Meson's exit status for "skipped" */
#define COUNT(array) (sizeof (array) / sizeof *(array))
#define MOST_REPORTS 5 /* of a test */

static const char usage[] = "\
Usage: primitives [OPTION...]\n\
Compares the CUDA backend's device functions with plain host code.\n\
\n\
  --seed=N  seed of the random numbers; the default is a new one, which is printed\n\
  --tiny    fewer and smaller inputs, for the emulated device\n\
  --help    prints this help\n\
\n\
Exit status: 0 if all tests passed, 1 if some failed, 77 without a CUDA device.\n";

typedef struct Run
{
  uint32_t seed;
  bool tiny;
  Mt19937 rng;
  uint64_t tests, failed;
  unsigned reports; /* of the running test */
} Run;

/* Counts a comparison; prints the message if it failed, up to a limit. */
static void __attribute__ ((format (printf, 3, 4)))
check (Run *run, bool ok, const char *format, ...)
{
  va_list args;

  run->tests++;
  if (ok)
    return;
  run->failed++;
  if (run->reports++ >= MOST_REPORTS)
    return;
  printf ("\n  FAILED: ");
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
}

/* Device memory with a copy of @host; uninitialised if that is NULL. */
static void *
device_new (const void *host, size_t bytes)
{
  void *device = test_device_alloc (CCL_MEMORY_DEVICE, bytes);

  if (host)
    test_device_upload (device, host, bytes);
  return device;
}

static void
device_free (void *device)
{
  test_device_free (CCL_MEMORY_DEVICE, device);
}

static uint64_t
random64 (Mt19937 *rng)
{
  uint64_t high = mt19937_next (rng);

  return high << 32 | mt19937_next (rng);
}

/* Touching rows */

static bool
row_bit (uint64_t row, uint32_t before, int x)
{
  return x < 0 ? before : row >> x & 1;
}

/* The number of runs that begin up to pixel @x, which names the run that covers it. */
static unsigned
run_at (uint64_t row, uint32_t before, int x)
{
  unsigned runs = 0;

  for (int i = -1; i <= x; i++)
    runs += row_bit (row, before, i) && (i < 0 || !row_bit (row, before, i - 1));
  return runs;
}

/* One bit for each pair of runs that touch: at the right one of the first two pixels that do. */
static uint64_t
expected_touching (const PrimitiveRows *r, unsigned connectivity)
{
  bool seen[34][34] = { { false } };
  uint64_t result = 0;

  for (int x = -1; x < 64; x++) {
    for (int k = 0; k < 3; k++) {
      int current = x - (k == 1), above = x - (k == 2);
      bool *pair;

      if ((k > 0 && (connectivity == 4 || x < 0)) ||
          !row_bit (r->current, r->current_before, current) ||
          !row_bit (r->above, r->above_before, above))
        continue;
      pair = &seen[run_at (r->current, r->current_before, current)]
                  [run_at (r->above, r->above_before, above)];
      if (!*pair && x >= 0)
        result |= (uint64_t) 1 << x;
      *pair = true;
    }
  }
  return result;
}

static PrimitiveRows
draw_rows (Mt19937 *rng)
{
  uint64_t a = random64 (rng), b = random64 (rng);
  uint32_t before = mt19937_next (rng);
  PrimitiveRows rows = { a, b, before & 1, before >> 1 & 1 };

  switch (mt19937_below (rng, 7)) {
  case 0: /* sparse */
    rows.current &= random64 (rng) & random64 (rng);
    rows.above &= random64 (rng) & random64 (rng);
    break;
  case 1: /* dense */
    rows.current |= random64 (rng);
    rows.above |= random64 (rng);
    break;
  case 2:
    rows.above = ~a;
    break;
  case 3:
    rows.above = a << 1;
    break;
  case 4:
    rows.above = a >> 1;
    break;
  case 5: /* long runs */
    rows.current = mt19937_below (rng, 2) ? ~(uint64_t) 0 << mt19937_below (rng, 64)
                                          : ~(uint64_t) 0 >> mt19937_below (rng, 64);
    break;
  default:
    break;
  }
  return rows;
}

static void
check_rows (Run *run, const PrimitiveRows *rows, uint32_t n)
{
  PrimitiveRows *device = device_new (rows, n * sizeof *rows);
  uint64_t *result = device_new (NULL, n * sizeof *result);
  uint64_t *got = test_alloc (n * sizeof *got);

  for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
    primitive_touching (connectivity, device, result, n);
    test_device_download (got, result, n * sizeof *got);
    for (uint32_t i = 0; i < n; i++) {
      uint64_t expected = expected_touching (&rows[i], connectivity);

      check (run, got[i] == expected,
             "%u-connectivity: %016llx (%u before) below %016llx (%u before) gives %016llx, not "
             "%016llx",
             connectivity, (unsigned long long) rows[i].current, rows[i].current_before,
             (unsigned long long) rows[i].above, rows[i].above_before, (unsigned long long) got[i],
             (unsigned long long) expected);
    }
  }
  free (got);
  device_free (result);
  device_free (device);
}

/* All rows of five pixels, at the left end and at the right end, and random ones. */
static void
test_touching (Run *run)
{
  const uint32_t all = 1 << 12, drawn = 20000, n = 2 * all + drawn;
  PrimitiveRows *rows = test_alloc (n * sizeof *rows);

  for (uint32_t i = 0; i < all; i++) {
    uint64_t current = i & 31, above = i >> 5 & 31;

    rows[i] = (PrimitiveRows){ current, above, i >> 10 & 1, i >> 11 };
    rows[all + i] = (PrimitiveRows){ current << 59, above << 59, i >> 10 & 1, i >> 11 };
  }
  for (uint32_t i = 2 * all; i < n; i++)
    rows[i] = draw_rows (&run->rng);
  check_rows (run, rows, n);
  free (rows);
}

/* Foreground bits */

/* Random words of pixels around @threshold. */
static uint32_t *
draw_bytes (Mt19937 *rng, uint8_t threshold, size_t words)
{
  uint32_t *bytes = test_alloc (words * sizeof *bytes);

  for (size_t i = 0; i < words; i++) {
    bytes[i] = mt19937_next (rng);
    for (unsigned k = 0; k < 4 && i % 2; k++)
      ((uint8_t *) &bytes[i])[k] = (uint8_t) (threshold + mt19937_below (rng, 3) - 1);
  }
  return bytes;
}

static uint32_t
expected_bits (const uint32_t *bytes, uint32_t pixels, uint8_t threshold, bool invert)
{
  uint32_t bits = 0;

  for (uint32_t i = 0; i < pixels; i++)
    bits |= (uint32_t) ((((const uint8_t *) bytes)[i] > threshold) != invert) << i;
  return bits;
}

static void
check_above4 (Run *run, uint8_t threshold)
{
  enum
  {
    N = 512
  };
  uint32_t *bytes = draw_bytes (&run->rng, threshold, N), got[N];
  uint32_t *device, *result = device_new (NULL, sizeof got);

  for (uint32_t i = 0; i < 256; i++) /* every value at every place */
    bytes[i] = i << 8 * (i % 4) | (bytes[i] & ~(0xffu << 8 * (i % 4)));
  device = device_new (bytes, sizeof got);
  primitive_above4 (threshold, device, result, N);
  test_device_download (got, result, sizeof got);
  for (uint32_t i = 0; i < N; i++)
    check (run, got[i] == expected_bits (&bytes[i], 4, threshold, false),
           "threshold %u: the bytes %08x give %x", threshold, bytes[i], got[i]);
  device_free (result);
  device_free (device);
  free (bytes);
}

static void
check_foreground_bits (Run *run, uint8_t threshold, bool invert)
{
  enum
  {
    N = 64
  };
  uint32_t *bytes = draw_bytes (&run->rng, threshold, N * 8), got[N];
  uint32_t *device = device_new (bytes, N * 8 * sizeof *bytes);
  uint32_t *result = device_new (NULL, sizeof got);

  for (uint32_t words = 2; words <= 8; words += 2) {
    primitive_foreground_bits (threshold, invert, device, words, result, N);
    test_device_download (got, result, sizeof got);
    for (uint32_t i = 0; i < N; i++) {
      uint32_t expected = expected_bits (&bytes[8 * i], 4 * words, threshold, invert);

      check (run, got[i] == expected, "threshold %u%s, %u words: %08x instead of %08x", threshold,
             invert ? " inverted" : "", words, got[i], expected);
    }
  }
  device_free (result);
  device_free (device);
  free (bytes);
}

/* Every threshold. */
static void
test_thresholds (Run *run)
{
  for (unsigned threshold = 0; threshold < 256; threshold++) {
    check_above4 (run, (uint8_t) threshold);
    check_foreground_bits (run, (uint8_t) threshold, false);
    check_foreground_bits (run, (uint8_t) threshold, true);
  }
}

/* @count pixels of row @y from @x on as bits; outside of the image none is set. */
static uint32_t
expected_pixels (const TestImage *image, const CclParams *params, int64_t x, int64_t y,
                 uint32_t count)
{
  uint32_t bits = 0;

  for (uint32_t i = 0; i < count && y >= 0 && y < image->height; i++)
    if (x + i >= 0 && x + i < image->width)
      bits |= (uint32_t) test_image_is_foreground (image, params, (uint32_t) (x + i), (uint32_t) y)
              << i;
  return bits;
}

static void
check_foreground32 (Run *run, const PrimitiveFrame *frame, const TestImage *image,
                    const CclParams *params)
{
  size_t n = (size_t) frame->width * frame->height;
  uint32_t *result = device_new (NULL, n * sizeof *result), *got = test_alloc (n * sizeof *got);

  primitive_foreground32 (frame, result);
  test_device_download (got, result, n * sizeof *got);
  for (size_t i = 0; i < n; i++) {
    uint32_t x = (uint32_t) (i % frame->width), y = (uint32_t) (i / frame->width);
    uint32_t expected = expected_pixels (image, params, x, y, 32);

    if (frame->bits && x % 32 > 0)
      continue;
    check (run, got[i] == expected,
           "foreground32: %ux%u, pitch %zu, address %% 16 = %zu, threshold %u%s: (%u, %u) gives "
           "%08x, not %08x",
           frame->width, frame->height, frame->pitch, (size_t) frame->pixels % 16, frame->threshold,
           frame->invert ? " inverted" : "", x, y, got[i], expected);
  }
  free (got);
  device_free (result);
}

static void
check_foreground_around (Run *run, const PrimitiveFrame *frame, const TestImage *image,
                         const CclParams *params, uint32_t words)
{
  size_t columns = frame->width + PRIMITIVE_AROUND, n = columns * (frame->height + 2);
  uint32_t *result = device_new (NULL, n * sizeof *result), *got = test_alloc (n * sizeof *got);

  primitive_foreground_around (frame, words, result);
  test_device_download (got, result, n * sizeof *got);
  for (size_t i = 0; i < n; i++) {
    int64_t x = (int64_t) (i % columns), y = (int64_t) (i / columns) - 1;
    uint32_t expected = expected_pixels (image, params, x - 1, y, 4 * words);

    check (run, got[i] == expected,
           "foreground_around: %ux%u, pitch %zu, address %% 16 = %zu, threshold %u%s, %u words: "
           "(%lld, %lld) gives %02x, not %02x",
           frame->width, frame->height, frame->pitch, (size_t) frame->pixels % 16, frame->threshold,
           frame->invert ? " inverted" : "", words, (long long) x, (long long) y, got[i], expected);
  }
  free (got);
  device_free (result);
}

/* Frames at every alignment, which end with their memory. */
static void
test_frames (Run *run)
{
  static const uint8_t thresholds[] = { 0, 1, 63, 126, 127, 128, 200, 254, 255 };
  TestArena arena = { .memory = CCL_MEMORY_DEVICE };

  for (uint32_t k = 0; k < 300; k++) {
    uint32_t width = k < 80 ? k + 1 : 1 + mt19937_below (&run->rng, 200);
    TestImage image = test_image_new (width, 1 + mt19937_below (&run->rng, 5));
    TestPlacement placement = { .padding = mt19937_below (&run->rng, 3)
                                               ? mt19937_below (&run->rng, 40)
                                               : (64 - width % 64) % 64,
                                .slack = k % 3 ? mt19937_below (&run->rng, 33) : 0,
                                .bits = mt19937_below (&run->rng, 3) == 0 };
    CclParams params;
    CclImage placed;
    PrimitiveFrame frame;

    ccl_params_init (&params);
    params.threshold = thresholds[mt19937_below (&run->rng, COUNT (thresholds))];
    params.invert = mt19937_below (&run->rng, 2);
    placement.fill = params.invert ? 0 : 255; /* foreground, where there may be one */
    for (size_t i = 0; i < (size_t) image.width * image.height; i++)
      image.pixels[i] = mt19937_below (&run->rng, 2)
                            ? (uint8_t) mt19937_next (&run->rng)
                            : (uint8_t) (params.threshold + mt19937_below (&run->rng, 3) - 1);
    placed = test_arena_place_as (&arena, &image, &params, &placement);
    frame = (PrimitiveFrame){ placed.data,      placed.stride, image.width,   image.height,
                              params.threshold, params.invert, placement.bits };
    check_foreground32 (run, &frame, &image, &params);
    check_foreground_around (run, &frame, &image, &params, 1);
    check_foreground_around (run, &frame, &image, &params, 2);
    test_image_clear (&image);
  }
  test_arena_clear (&arena);
}

/* Filters */

/* Pixel @x of a word, -32 to 63, with those beside it. */
static bool
pixel_around (const uint32_t *words, int x)
{
  return words[(x + 32) / 32] >> ((x + 32) % 32) & 1;
}

static void
check_dilation (Run *run, const uint32_t *words, uint32_t reach, uint32_t got)
{
  uint32_t expected = 0;

  for (int x = 0; x < 32; x++)
    for (int d = -(int) reach; d <= (int) reach; d++)
      expected |= (uint32_t) pixel_around (words, x + d) << x;
  check (run, got == expected, "%08x %08x %08x dilated by %u gives %08x, not %08x", words[0],
         words[1], words[2], reach, got, expected);
}

static void
check_median (Run *run, const uint32_t *words, uint32_t size, uint32_t got)
{
  int reach = (int) size / 2;
  uint32_t expected = 0;

  for (int x = 0; x < 32; x++) {
    uint32_t set = 0;

    for (uint32_t y = 0; y < size; y++)
      for (int d = -reach; d <= reach; d++)
        set += pixel_around (words + 3 * y, x + d);
    expected |= (uint32_t) (2 * set > size * size) << x;
  }
  check (run, got == expected, "median%u gives %08x, not %08x", size, got, expected);
}

static void
test_filters (Run *run)
{
  enum
  {
    N = 4096
  };
  uint32_t *words = test_alloc (15 * N * sizeof *words), got[N];
  uint32_t *device, *result = device_new (NULL, sizeof got);

  for (uint32_t i = 0; i < 15 * N; i++) { /* sparse, half set, dense */
    uint32_t a = mt19937_next (&run->rng), b = mt19937_next (&run->rng);

    words[i] = i / 15 % 3 == 0 ? a & b : i / 15 % 3 == 1 ? a : a | b;
  }
  device = device_new (words, 15 * N * sizeof *words);
  for (uint32_t reach = 1; reach <= 16; reach++) {
    primitive_dilate (device, reach, result, N);
    test_device_download (got, result, sizeof got);
    for (uint32_t i = 0; i < N; i++)
      check_dilation (run, words + 3 * i, reach, got[i]);
  }
  for (uint32_t size = 3; size <= 5; size += 2) {
    primitive_median (device, size, result, N);
    test_device_download (got, result, sizeof got);
    for (uint32_t i = 0; i < N; i++)
      check_median (run, words + 3 * size * i, size, got[i]);
  }
  device_free (result);
  device_free (device);
  free (words);
}

/* Division and sums in a warp */

/* A number near a power of two, or a random one of random length. */
static uint32_t
draw_number (Mt19937 *rng)
{
  uint32_t power = 1u << mt19937_below (rng, 32);

  if (mt19937_below (rng, 2))
    return power + mt19937_below (rng, 3) - 1;
  return mt19937_next (rng) >> mt19937_below (rng, 32);
}

/* Random numbers, and dividends at multiples of the divisor. */
static void
test_divide (Run *run)
{
  const uint32_t n = 100000;
  uint32_t *numbers = test_alloc (2 * n * sizeof *numbers), *got = test_alloc (n * sizeof *got);
  uint32_t *device, *result = device_new (NULL, n * sizeof *result);

  for (uint32_t i = 0; i < n; i++) {
    uint32_t divisor = i < 100 ? i + 1 : draw_number (&run->rng), most, number;

    divisor = divisor ? divisor : UINT32_MAX;
    most = UINT32_MAX / divisor;
    switch (mt19937_below (&run->rng, 4)) {
    case 0:
      number = draw_number (&run->rng);
      break;
    case 1:
      number = UINT32_MAX - mt19937_below (&run->rng, 3);
      break;
    default:
      number = (most < UINT32_MAX ? mt19937_below (&run->rng, most + 1) : most) * divisor +
               mt19937_below (&run->rng, 3) - 1;
      break;
    }
    numbers[2 * i] = number;
    numbers[2 * i + 1] = divisor;
  }
  device = device_new (numbers, 2 * n * sizeof *numbers);
  primitive_divide (device, result, n);
  test_device_download (got, result, n * sizeof *got);
  for (uint32_t i = 0; i < n; i++)
    check (run, got[i] == numbers[2 * i] / numbers[2 * i + 1], "%u / %u is not %u", numbers[2 * i],
           numbers[2 * i + 1], got[i]);
  device_free (result);
  device_free (device);
  free (got);
  free (numbers);
}

static void
test_warp_sums (Run *run)
{
  const uint32_t n = 64 * PRIMITIVE_LANES;
  uint32_t *values = test_alloc (n * sizeof *values), *scans = test_alloc (n * sizeof *scans);
  uint32_t *sums = test_alloc (n * sizeof *sums), *device, *device_scans, *device_sums;

  for (uint32_t i = 0; i < n; i++)
    values[i] = i < n / 2 ? mt19937_below (&run->rng, 100) : mt19937_next (&run->rng);
  device = device_new (values, n * sizeof *values);
  device_scans = device_new (NULL, n * sizeof *scans);
  device_sums = device_new (NULL, n * sizeof *sums);
  primitive_warp_sums (device, device_scans, device_sums, n);
  test_device_download (scans, device_scans, n * sizeof *scans);
  test_device_download (sums, device_sums, n * sizeof *sums);
  for (uint32_t warp = 0; warp < n; warp += PRIMITIVE_LANES) {
    uint32_t sum = 0, wrong = 0;

    for (uint32_t i = warp; i < warp + PRIMITIVE_LANES; i++) {
      sum += values[i];
      wrong += scans[i] != sum;
    }
    check (run, wrong == 0, "%u of a warp's sums up to a lane are wrong", wrong);
    for (uint32_t i = warp; i < warp + PRIMITIVE_LANES; i++)
      check (run, sums[i] == sum, "a warp's sum is %u instead of %u", sums[i], sum);
  }
  device_free (device_sums);
  device_free (device_scans);
  device_free (device);
  free (sums);
  free (scans);
  free (values);
}

/* Union-find */

/* Graphs that are hard for one or another way of merging. */
static const char *const graphs[] = { "few random edges",     "random edges",
                                      "many random edges",    "chain",
                                      "shuffled chain",       "star at the lowest",
                                      "star at the highest",  "tree",
                                      "two chains and rungs", "the same few edges" };

static void
swap_edges (uint32_t *edges, uint32_t i, uint32_t k)
{
  uint32_t edge[2];

  memcpy (edge, &edges[2 * i], sizeof edge);
  memcpy (&edges[2 * i], &edges[2 * k], sizeof edge);
  memcpy (&edges[2 * k], edge, sizeof edge);
}

/* Draws graph number @graph over @n labels; returns the number of edges, at most 4 * @n. */
static uint32_t
draw_edges (Mt19937 *rng, size_t graph, uint32_t n, uint32_t *edges)
{
  static const uint32_t quarters[] = { 1, 4, 16 }; /* of n edges, for random graphs */
  uint32_t count = graph < 3 ? n / 4 * quarters[graph] : n - 1;

  if (n < 4)
    return 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t a = mt19937_below (rng, n), b = mt19937_below (rng, n);

    switch (graph) {
    case 3:
    case 4:
      a = i, b = i + 1;
      break;
    case 5:
      a = 0, b = i + 1;
      break;
    case 6:
      a = i, b = n - 1;
      break;
    case 7:
      a = i / 2, b = i + 1;
      break;
    case 8: /* even labels, odd labels, and a rung now and then */
      a = i, b = i + 2 < n && i % 61 ? i + 2 : i + 1;
      break;
    case 9:
      a = n / 2 + i % 3, b = n / 4 + i % 5;
      break;
    }
    edges[2 * i] = i % 2 ? a : b;
    edges[2 * i + 1] = i % 2 ? b : a;
  }
  for (uint32_t i = 0; graph > 3 && i < count; i++)
    swap_edges (edges, i, mt19937_below (rng, count));
  return count;
}

static uint32_t
find_root (const uint32_t *parents, uint32_t label)
{
  while (parents[label] != label)
    label = parents[label];
  return label;
}

/* The roots of all labels: the lowest ones of their trees. */
static uint32_t *
expected_roots (uint32_t n, const uint32_t *edges, uint32_t n_edges)
{
  uint32_t *parents = test_alloc (n * sizeof *parents);

  for (uint32_t label = 0; label < n; label++)
    parents[label] = label;
  for (uint32_t i = 0; i < n_edges; i++) {
    uint32_t a = find_root (parents, edges[2 * i]), b = find_root (parents, edges[2 * i + 1]);
    uint32_t low = a < b ? a : b;

    /* Short paths for the next ones. */
    parents[a] = parents[b] = low;
    parents[edges[2 * i]] = parents[edges[2 * i + 1]] = low;
  }
  for (uint32_t label = 0; label < n; label++)
    parents[label] = parents[parents[label]]; /* in ascending order: the parent has its root */
  return parents;
}

/* Compares a forest with the roots. @flat: every label must point to its root. */
static void
check_forest (Run *run, const char *what, size_t graph, const uint32_t *labels,
              const uint32_t *roots, uint32_t n, bool flat)
{
  uint32_t rising = 0, wrong = 0, deep = 0;
  uint32_t *found = test_alloc (n * sizeof *found);

  for (uint32_t label = 0; label < n; label++) {
    rising += labels[label] > label;
    found[label] = labels[label] < label ? found[labels[label]] : label;
    wrong += found[label] != roots[label];
    deep += labels[label] != roots[label];
  }
  check (run, rising == 0, "%s, %s: %u of %u parents are higher than their labels", what,
         graphs[graph], rising, n);
  check (run, wrong == 0, "%s, %s: %u of %u labels have a wrong root", what, graphs[graph], wrong,
         n);
  check (run, !flat || deep == 0, "%s, %s: %u of %u labels do not point to their root", what,
         graphs[graph], deep, n);
  free (found);
}

static void
check_merge (Run *run, PrimitiveMerge how, size_t graph, uint32_t n)
{
  static const char *const names[PRIMITIVE_MERGES] = {
    "merge", "join", "merge_and_compress", "unite", "merge and find_halving", "mixed"
  };
  static const char *const passes[PRIMITIVE_COMPRESSES] = { "compress", "compression",
                                                            "compression in line",
                                                            "shallow compression",
                                                            "shallow compression in line" };
  uint32_t *edges = test_alloc (8 * (size_t) n * sizeof *edges);
  uint32_t n_edges = draw_edges (&run->rng, graph, n, edges);
  uint32_t *roots = expected_roots (n, edges, n_edges), *labels = test_alloc (n * sizeof *labels);
  uint32_t *merged = test_alloc (n * sizeof *merged), *device, *device_edges;

  for (uint32_t label = 0; label < n; label++)
    labels[label] = label;
  device = device_new (labels, n * sizeof *labels);
  device_edges = device_new (edges, 8 * (size_t) n * sizeof *edges);
  if (n_edges)
    primitive_merge (how, device, device_edges, n_edges);
  test_device_download (merged, device, n * sizeof *merged);
  check_forest (run, names[how], graph, merged, roots, n, false);
  for (int pass = 0; pass < PRIMITIVE_COMPRESSES; pass++) {
    test_device_upload (device, merged, n * sizeof *merged);
    primitive_compress ((PrimitiveCompress) pass, device, n);
    test_device_download (labels, device, n * sizeof *labels);
    check_forest (run, passes[pass], graph, labels, roots, n, true);
  }
  device_free (device_edges);
  device_free (device);
  free (merged);
  free (labels);
  free (roots);
  free (edges);
}

/* Many blocks merge the same labels at once. */
static void
test_union_find (Run *run)
{
  static const uint32_t sizes[] = { 1, 5, 1000, 65536, 300007 };

  for (size_t s = 0; s < (run->tiny ? 3 : COUNT (sizes)); s++)
    for (size_t graph = 0; graph < COUNT (graphs); graph++)
      for (int how = 0; how < PRIMITIVE_MERGES; how++)
        check_merge (run, (PrimitiveMerge) how, graph, sizes[s]);
}

static void
check_merge_shared (Run *run, PrimitiveShared how, size_t graph, uint32_t n)
{
  static const char *const names[PRIMITIVE_SHARED] = { "join_shared", "unite in shared memory",
                                                       "merge_pieces" };
  enum
  {
    BLOCKS = 8
  };
  uint32_t *edges = test_alloc (BLOCKS * 8 * (size_t) n * sizeof *edges), n_edges = 0, intact = 1;
  uint32_t *labels = test_alloc (BLOCKS * (size_t) n * sizeof *labels);
  uint32_t *device = device_new (NULL, BLOCKS * (size_t) n * sizeof *labels);
  uint32_t *device_edges, *device_intact = device_new (&intact, sizeof intact);

  for (uint32_t block = 0; block < BLOCKS; block++)
    n_edges = draw_edges (&run->rng, graph, n, edges + (size_t) block * 2 * n_edges);
  device_edges = device_new (edges, BLOCKS * 8 * (size_t) n * sizeof *edges);
  primitive_merge_shared (how, device, device_edges, BLOCKS, n, n_edges, device_intact);
  test_device_download (labels, device, BLOCKS * (size_t) n * sizeof *labels);
  test_device_download (&intact, device_intact, sizeof intact);
  check (run, intact, "%s, %s: first pixels in links have changed", names[how], graphs[graph]);
  for (uint32_t block = 0; block < BLOCKS; block++) {
    uint32_t *roots = expected_roots (n, edges + (size_t) block * 2 * n_edges, n_edges);

    check_forest (run, names[how], graph, labels + (size_t) block * n, roots, n, true);
    free (roots);
  }
  device_free (device_intact);
  device_free (device_edges);
  device_free (device);
  free (labels);
  free (edges);
}

/* Each block has labels of its own. */
static void
test_union_find_shared (Run *run)
{
  static const uint32_t sizes[] = { 1, 5, 1000, PRIMITIVE_SHARED_LABELS };

  for (size_t s = 0; s < (run->tiny ? 3 : COUNT (sizes)); s++)
    for (size_t graph = 0; graph < COUNT (graphs); graph++)
      for (int how = 0; how < PRIMITIVE_SHARED; how++)
        check_merge_shared (run, (PrimitiveShared) how, graph, sizes[s]);
}

/* Features */

#define LABELS 500
#define FEATURE_WARPS 64

/* The labels of a warp: all the same, one with some others, few, many, or none for most lanes. */
static void
draw_labels (Mt19937 *rng, PrimitiveRun *runs)
{
  uint32_t kind = mt19937_below (rng, 6), label = mt19937_below (rng, LABELS);
  uint32_t few = 1 + mt19937_below (rng, 8), none = mt19937_below (rng, 3);

  for (uint32_t lane = 0; lane < PRIMITIVE_LANES; lane++) {
    uint32_t other = mt19937_below (rng, LABELS);

    switch (kind) {
    case 0:
      runs[lane].label = label;
      break;
    case 1:
      runs[lane].label = mt19937_below (rng, 4) ? label : other;
      break;
    case 2:
      runs[lane].label = (label + mt19937_below (rng, few)) % LABELS;
      break;
    case 3:
      runs[lane].label = (label + lane / few) % LABELS;
      break;
    case 4:
      runs[lane].label = mt19937_below (rng, 8) ? PRIMITIVE_NO_LABEL : other;
      break;
    default:
      runs[lane].label = other;
      break;
    }
    if (none == 0 && mt19937_below (rng, 4) == 0)
      runs[lane].label = PRIMITIVE_NO_LABEL;
  }
}

static void
draw_run (Mt19937 *rng, PrimitiveRun *run)
{
  run->start = mt19937_below (rng, 1u << (1 + mt19937_below (rng, 20)));
  run->end = run->start + 1 + mt19937_below (rng, 1u << mt19937_below (rng, 11));
  run->y = mt19937_below (rng, 1u << (1 + mt19937_below (rng, 20)));
}

/* Adds a run's pixels, one by one. */
static void
add_expected (PrimitiveFeatures *f, const PrimitiveRun *run, bool moments)
{
  for (uint64_t x = run->start, y = run->y; x < run->end; x++) {
    f->area++;
    f->sum_x += x;
    f->sum_y += y;
    f->sum_xx += moments ? x * x : 0;
    f->sum_yy += moments ? y * y : 0;
    f->sum_xy += moments ? x * y : 0;
    f->min_x = x < f->min_x ? (uint32_t) x : f->min_x;
    f->max_x = x > f->max_x ? (uint32_t) x : f->max_x;
    f->max_y = y > f->max_y ? (uint32_t) y : f->max_y;
  }
}

static bool
features_equal (const PrimitiveFeatures *a, const PrimitiveFeatures *b)
{
  return a->sum_x == b->sum_x && a->sum_y == b->sum_y && a->sum_xx == b->sum_xx &&
         a->sum_yy == b->sum_yy && a->sum_xy == b->sum_xy && a->area == b->area &&
         a->min_x == b->min_x && a->max_x == b->max_x && a->max_y == b->max_y;
}

static void
check_features (Run *run, PrimitiveUpdate how, bool moments)
{
  static const char *const names[PRIMITIVE_UPDATES] = { "feature_update", "feature_update_cd",
                                                        "feature_update_accumulated",
                                                        "features_set_warp" };
  const PrimitiveFeatures nothing = { .min_x = UINT32_MAX };
  uint32_t rounds = how == PRIMITIVE_SET ? 1 : 8, labels = LABELS, n;
  PrimitiveFeatures *expected, *got, *result;
  PrimitiveRun *runs, *device;

  n = FEATURE_WARPS * rounds * PRIMITIVE_LANES;
  if (how == PRIMITIVE_SET)
    labels = n;
  runs = test_alloc (n * sizeof *runs);
  expected = test_alloc (labels * sizeof *expected);
  got = test_alloc (labels * sizeof *got);
  for (uint32_t label = 0; label < labels; label++)
    expected[label] = nothing;
  for (uint32_t i = 0; i < n; i += PRIMITIVE_LANES)
    draw_labels (&run->rng, &runs[i]);
  for (uint32_t i = 0; i < n; i++) {
    if (how == PRIMITIVE_SET && runs[i].label != PRIMITIVE_NO_LABEL)
      runs[i].label = n - 1 - i; /* each label once */
    draw_run (&run->rng, &runs[i]);
    if (runs[i].label != PRIMITIVE_NO_LABEL)
      add_expected (&expected[runs[i].label], &runs[i], moments);
  }
  device = device_new (runs, n * sizeof *runs);
  result = device_new (NULL, labels * sizeof *result);
  primitive_features (how, moments, device, FEATURE_WARPS, rounds, result, labels);
  test_device_download (got, result, labels * sizeof *got);
  for (uint32_t label = 0; label < labels; label++)
    check (run, features_equal (&got[label], &expected[label]),
           "%s%s: label %u has area %u, sums %llu %llu, second order %llu %llu %llu, x %u...%u, y "
           "up to %u; expected %u, %llu %llu, %llu %llu %llu, %u...%u, %u",
           names[how], moments ? " with moments" : "", label, got[label].area,
           (unsigned long long) got[label].sum_x, (unsigned long long) got[label].sum_y,
           (unsigned long long) got[label].sum_xx, (unsigned long long) got[label].sum_yy,
           (unsigned long long) got[label].sum_xy, got[label].min_x, got[label].max_x,
           got[label].max_y, expected[label].area, (unsigned long long) expected[label].sum_x,
           (unsigned long long) expected[label].sum_y, (unsigned long long) expected[label].sum_xx,
           (unsigned long long) expected[label].sum_yy, (unsigned long long) expected[label].sum_xy,
           expected[label].min_x, expected[label].max_x, expected[label].max_y);
  device_free (result);
  device_free (device);
  free (got);
  free (expected);
  free (runs);
}

static void
test_features (Run *run)
{
  for (int k = 0; k < (run->tiny ? 2 : 10); k++)
    for (int how = 0; how < PRIMITIVE_UPDATES; how++)
      check_features (run, (PrimitiveUpdate) how, k % 2);
}

static const struct
{
  const char *name;
  void (*test) (Run *run);
} tests[] = {
  { "touching", test_touching },     { "thresholds", test_thresholds },
  { "frames", test_frames },         { "filters", test_filters },
  { "divide", test_divide },         { "warp-sums", test_warp_sums },
  { "union-find", test_union_find }, { "union-find-shared", test_union_find_shared },
  { "features", test_features },
};

static const TestOption option_table[] = {
  { "seed", TEST_NUMBER, .member = offsetof (Run, seed), .most = UINT32_MAX },
  { "tiny", TEST_FLAG, .member = offsetof (Run, tiny) },
  { NULL },
};

int
main (int argc, char **argv)
{
  Run run = { .seed = (uint32_t) test_now () ^ (uint32_t) getpid () << 16 };

  test_parse_options (option_table, "primitives", usage, argc, argv, &run);
  if (!test_device_available ()) {
    ccl_cuda_device_count ();
    printf ("primitives: skipped: %s\n", ccl_last_error ());
    return EXIT_SKIP;
  }
  printf ("primitives: seed %u\n", run.seed);
  for (size_t i = 0; i < COUNT (tests); i++) {
    uint64_t before = run.tests, failed = run.failed;

    run.reports = 0;
    mt19937_seed (&run.rng, mt19937_mix (run.seed, tests[i].name));
    printf (" - %-18s", tests[i].name);
    fflush (stdout);
    tests[i].test (&run);
    printf ("%s%s %9llu\n", run.reports ? "\n   " : "",
            run.failed > failed ? "[FAILED]" : "[OK]    ",
            (unsigned long long) (run.tests - before));
  }
  printf ("primitives: %llu tests, %llu failed\n", (unsigned long long) run.tests,
          (unsigned long long) run.failed);
  return run.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
