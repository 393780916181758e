/* cudaccl - checkccl: masks, the operations on them, and regions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/engine/masks.h"
#include "tests/lib/patterns.h"

#include "engine/cpu/pool.h"
#include "engine/cpu/tuning.h"
#include "tests/reference/components.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GUARD UINT64_C (0xa5a5a5a5a5a5a5a5)

/* Any width, but mostly one around a multiple of 64. */
uint32_t
masks_draw_width (Mt19937 *rng, uint32_t most)
{
  uint32_t words = mt19937_below (rng, most / 64 + 1), width;

  if (mt19937_below (rng, 3) == 0)
    return 1 + mt19937_below (rng, most);
  width = 64 * words + mt19937_below (rng, 7);
  return width > 3 ? width - 3 : 1;
}

/* Noise of any grain and density, or a pattern. */
void
masks_draw_image (Mt19937 *rng, TestImage *image)
{
  size_t n = 0;

  while (test_pattern (n))
    n++;
  if (mt19937_below (rng, 4) == 0)
    test_pattern_draw (test_pattern (mt19937_below (rng, (uint32_t) n)), image);
  else
    test_noise_draw (image, mt19937_below (rng, 101) / 100.0, 1 + mt19937_below (rng, 6), rng);
}

/* The image's foreground as a mask with @padding words between its rows, in the arena of host
 * memory, so that nothing behind it can be touched. */
static CclMask
place_mask (Check *check, const TestImage *image, size_t padding)
{
  TestImage words = test_image_new ((uint32_t) ccl_mask_words (image->width) * 8, image->height);
  TestPlacement placement = { .padding = 8 * padding, .fill = (uint8_t) GUARD };
  CclImage placed = test_arena_place (&check->arenas[CCL_MEMORY_HOST], &words, &placement);
  CclMask mask = {
    .words = (uint64_t *) placed.data,
    .pitch = placed.stride / 8,
    .width = image->width,
    .height = image->height,
  };

  for (uint32_t y = 0; y < image->height; y++)
    for (uint32_t x = 0; x < image->width; x++)
      mask.words[y * mask.pitch + x / 64] |=
          (uint64_t) (image->pixels[(size_t) y * image->width + x] > 127) << x % 64;
  test_image_clear (&words);
  return mask;
}

/* How many bits differ from the image, are set past the width, or were written between rows. */
static size_t
count_faults (const CclMask *mask, const TestImage *image)
{
  size_t faults = 0, words = ccl_mask_words (mask->width);

  for (uint32_t y = 0; y < mask->height; y++) {
    const uint64_t *row = mask->words + y * mask->pitch;

    for (uint32_t x = 0; x < 64 * words; x++) {
      bool expected = x < mask->width && image->pixels[(size_t) y * image->width + x] > 127;

      faults += (row[x / 64] >> x % 64 & 1) != expected;
    }
    for (size_t w = words; w < mask->pitch && y + 1 < mask->height; w++)
      faults += row[w] != GUARD;
  }
  return faults;
}

/* Bytes to bits and back, at any address, with every instruction set. */
static void
test_pack (Check *check)
{
  const CclCpuTuning usual = ccl_cpu_tuning;
  const CclCpuFunctions *functions;

  for (uint32_t k = 0; k < (check->options.effort <= EFFORT_SMALL ? 20 : 300); k++) {
    TestImage image =
        test_image_new (masks_draw_width (&check->rng, 300), 1 + mt19937_below (&check->rng, 6));
    size_t pixels = (size_t) image.width * image.height, wrong = 0;
    CclParams params = { .threshold = (uint8_t) mt19937_below (&check->rng, 256),
                         .invert = mt19937_below (&check->rng, 2) };
    uint8_t value = (uint8_t) (1 + mt19937_below (&check->rng, 255));
    TestArena arena = { .memory = CCL_MEMORY_HOST };
    TestImage expected = test_image_new (image.width, image.height);
    TestPlacement placement = { .padding = mt19937_below (&check->rng, 70) };

    for (size_t i = 0; i < pixels; i++) {
      image.pixels[i] = (uint8_t) mt19937_next (&check->rng);
      expected.pixels[i] = (image.pixels[i] > params.threshold) != params.invert ? 255 : 0;
    }
    for (size_t f = 0; (functions = ccl_cpu_functions (f)); f++) {
      CclMask mask = place_mask (check, &image, mt19937_below (&check->rng, 3));
      CclImage placed = test_arena_place (&arena, &image, &placement);
      uint8_t *bytes = (uint8_t *) placed.data;

      ccl_cpu_tuning.functions = functions;
      check_that (check,
                  ccl_mask_pack (&mask, bytes, placed.stride, params.threshold, params.invert) ==
                      CCL_OK,
                  "%s", ccl_last_error ());
      check_that (check, count_faults (&mask, &expected) == 0, "%s: packing %u x %u",
                  functions->name, image.width, image.height);
      check_that (check, ccl_mask_unpack (&mask, bytes, placed.stride, value) == CCL_OK, "%s",
                  ccl_last_error ());
      for (uint32_t y = 0; y < image.height; y++)
        for (uint32_t x = 0; x < image.width; x++)
          wrong += bytes[y * placed.stride + x] !=
                   (expected.pixels[(size_t) y * image.width + x] ? value : 0);
      for (size_t i = image.width; image.height > 1 && i < placed.stride; i++)
        wrong += bytes[i] != placement.fill;
      check_that (check, wrong == 0, "%s: unpacking %u x %u", functions->name, image.width,
                  image.height);
    }
    ccl_cpu_tuning = usual;
    test_arena_clear (&arena);
    test_image_clear (&expected);
    test_image_clear (&image);
  }
}

/* Applies operations to the image with one instruction set and @threads, and compares. */
static bool
check_operations (Check *check, const TestImage *image, const TestImage *expected,
                  unsigned connectivity, const CclOperation *operations, uint32_t n,
                  const CclCpuFunctions *functions, unsigned threads)
{
  const CclCpuTuning usual = ccl_cpu_tuning;
  CclMask mask = place_mask (check, image, mt19937_below (&check->rng, 3));
  CclMorphology *morphology;
  char text[1024];
  CclStatus status;
  bool ok;

  ccl_operations_format (operations, n, text, sizeof text);
  ccl_cpu_tuning.functions = functions;
  ccl_cpu_tuning.strip_pixels = 1;
  status = ccl_morphology_new (image->width, image->height, connectivity, operations, n, threads,
                               &morphology);
  ccl_cpu_tuning = usual;
  if (!check_that (check, status == CCL_OK, "%s: %s", text, ccl_last_error ()))
    return false;
  check->runs++;
  status = ccl_morphology_apply (morphology, &mask);
  ok = check_that (check, status == CCL_OK && count_faults (&mask, expected) == 0,
                   "%s of %u x %u, %u-connectivity, %s, %u threads: %zu pixels are wrong", text,
                   image->width, image->height, connectivity, functions->name, threads,
                   count_faults (&mask, expected));
  ccl_morphology_free (morphology);
  return ok;
}

/* Any operations in any order, on masks of any size, with every instruction set. */
static void
test_operations (Check *check)
{
  static const unsigned rounds[] = { 8, 30, 150, 600, 4000 }; /* by effort */
  uint32_t most = check->options.effort <= EFFORT_SMALL ? 100 : 330;

  for (unsigned k = 0; k < rounds[check->options.effort]; k++) {
    CclOperation operations[CCL_MAX_OPERATIONS];
    uint32_t n = k % 3 == 0 ? 1 : 1 + mt19937_below (&check->rng, 6);
    unsigned connectivity = mt19937_below (&check->rng, 2) ? 4 : 8;
    TestImage image = test_image_new (masks_draw_width (&check->rng, most),
                                      1 + mt19937_below (&check->rng, k % 4 ? 60 : most));
    const CclCpuFunctions *functions;
    TestImage expected;

    masks_draw_image (&check->rng, &image);
    expected = test_image_copy (&image);
    for (uint32_t i = 0; i < n; i++)
      operations[i] = test_operation_draw (&check->rng);
    test_morphology_apply (&expected, connectivity, operations, n);
    for (size_t f = 0; (functions = ccl_cpu_functions (f)); f++) {
      check_operations (check, &image, &expected, connectivity, operations, n, functions, 1);
      if (k % 4 == 1)
        check_operations (check, &image, &expected, connectivity, operations, n, functions,
                          k % 8 == 1 ? 0 : 2 + k % 3);
    }
    test_image_clear (&expected);
    test_image_clear (&image);
  }
}

/* Every size of rectangle, on a frame that is smaller than some. */
static void
test_rectangles (Check *check)
{
  const CclCpuFunctions *functions;

  for (uint32_t side = 1; side <= CCL_MAX_OPERATION_SIZE; side += side < 67 ? 2 : 4)
    for (uint32_t kind = CCL_OPERATION_ERODE; kind <= CCL_OPERATION_CLOSE; kind++) {
      CclOperation operation = { .kind = (CclOperationKind) kind, .width = side, .height = side };
      TestImage image =
          test_image_new (masks_draw_width (&check->rng, 400), 1 + mt19937_below (&check->rng, 40));
      TestImage expected;

      if (mt19937_below (&check->rng, 2))
        operation.height = 1 + 2 * mt19937_below (&check->rng, side / 2 + 1);
      test_noise_draw (&image, kind % 2 ? 0.98 : 0.02, 1, &check->rng);
      expected = test_image_copy (&image);
      test_morphology_apply (&expected, 8, &operation, 1);
      for (size_t f = 0; (functions = ccl_cpu_functions (f)); f++)
        check_operations (check, &image, &expected, 8, &operation, 1, functions, 1);
      test_image_clear (&expected);
      test_image_clear (&image);
    }
}

/* Operations and their results, drawn by hand; blanks separate rows. */
static const struct Picture
{
  const char *operations;
  unsigned connectivity;
  const char *before, *after;
} pictures[] = {
  { "median3", 8, "..... .#... .....", "..... ..... ....." },
  { "median3", 8, "##### ##.## #####", "##### ##### #####" },
  { "median3", 8, "#.... ..... .....", "..... ..... ....." },
  /* 4 copies of the corner, 2 of its neighbour */
  { "median3", 8, "##... ..... .....", "#.... ..... ....." },
  { "median5", 8, "##### ##### ##.## ##### #####", "##### ##### ##### ##### #####" },
  { "median5", 8, "#.... ..... ..... ..... .....", "..... ..... ..... ..... ....." },
  { "median5", 8, "#", "#" },
  { "erode3x3", 8, "##### ##### #####", "##### ##### #####" },
  { "erode3x3", 8, "##### ##.## #####", "#...# #...# #...#" },
  { "erode3x1", 8, ".#### ##### #####", "..### ##### #####" },
  { "erode1x3", 8, ".#### ##### #####", ".#### .#### #####" },
  { "dilate3x3", 8, "..... ..#.. .....", ".###. .###. .###." },
  { "dilate5x1", 8, "#.... ..... ....#", "###.. ..... ..###" },
  { "dilate1x3", 8, "#.... ..... ....#", "#.... #...# ....#" },
  { "open3x3", 8, "###.. ###.# ###..", "###.. ###.. ###.." },
  { "open3x1", 8, ".##.# ###.. #####", "..... ###.. #####" },
  { "close3x1", 8, "#.#.. #..#. #.#.#", "###.. ##### #####" },
  { "close3x3", 8, "....... ....... ..#.#.. ....... .......",
    "....... ....... ..###.. ....... ......." },
  { "fill", 8, "##### #...# #.#.# #####", "##### ##### ##### #####" },
  { "fill", 8, ".#.. #.#. .#.. ....", ".#.. ###. .#.. ...." },
  { "fill", 4, ".#.. #.#. .#.. ....", ".#.. #.#. .#.. ...." },
  { "fill", 4, "###. #.## ###.", "###. #### ###." },
  { "fill", 8, "#.## #..# ####", "#.## #..# ####" },
  { "fill2", 8, "####### #.##..# #.##.## #######", "####### ####..# ####.## #######" },
  { "fill3", 8, "####### #.##..# #.##.## #######", "####### ####### ####### #######" },
  { "drop2", 8, "#.#. .... ..## #...", ".... .... ..## ...." },
  { "drop3", 8, "#... .#.. ..#. ....", "#... .#.. ..#. ...." },
  { "drop3", 4, "#... .#.. ..#. ....", ".... .... .... ...." },
  { "drop1", 4, "#.#.", "#.#." },
  { "dilate3x3,drop9,erode3x3", 8, "..... ..#.. .....", "..#.. ..#.. ..#.." },
  { "drop2,fill", 8, "####.# #..#.. ####.#", "####.. ####.. ####.." },
};

static TestImage
read_picture (const char *text)
{
  const char *end = strchr (text, ' ');
  uint32_t width = (uint32_t) (end ? (size_t) (end - text) : strlen (text));
  TestImage image = test_image_new (width, (uint32_t) (strlen (text) + 1) / (width + 1));

  for (uint32_t y = 0; y < image.height; y++)
    for (uint32_t x = 0; x < width; x++)
      image.pixels[y * width + x] = text[y * (width + 1) + x] == '#' ? 255 : 0;
  return image;
}

static void
test_pictures (Check *check)
{
  const CclCpuFunctions *functions;

  for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
    const struct Picture *picture = &pictures[i];
    TestImage before = read_picture (picture->before), after = read_picture (picture->after);
    TestImage reference = test_image_copy (&before);
    CclOperation operations[CCL_MAX_OPERATIONS];
    uint32_t n;

    check_that (check, ccl_operations_parse (picture->operations, operations, &n) == CCL_OK, "%s",
                ccl_last_error ());
    test_morphology_apply (&reference, picture->connectivity, operations, n);
    check_that (check,
                memcmp (reference.pixels, after.pixels, (size_t) after.width * after.height) == 0,
                "picture %zu, %s: the reference differs", i, picture->operations);
    for (size_t f = 0; (functions = ccl_cpu_functions (f)); f++)
      check_operations (check, &before, &after, picture->connectivity, operations, n, functions, 1);
    test_image_clear (&reference);
    test_image_clear (&before);
    test_image_clear (&after);
  }
}

/* Arguments that ccl_morphology_new() and ccl_morphology_apply() refuse, and operations that were
 * not parsed.
 */
static void
test_mask_errors (Check *check)
{
  static const CclOperation good = { .kind = CCL_OPERATION_DROP, .size = 2 };
  static const CclOperation bad[] = {
    { .kind = CCL_OPERATION_MEDIAN, .width = 3, .height = 5 },
    { .kind = CCL_OPERATION_MEDIAN, .width = 7, .height = 7 },
    { .kind = CCL_OPERATION_ERODE, .width = 4, .height = 3 },
    { .kind = CCL_OPERATION_CLOSE, .width = 3, .height = 257 },
    { .kind = CCL_OPERATION_OPEN, .width = 0, .height = 1 },
    { .kind = CCL_OPERATION_DROP, .size = 0 },
    { .kind = (CclOperationKind) 7, .size = 1 },
    { .kind = (CclOperationKind) -1, .size = 1 },
  };
  CclMorphology *morphology;
  CclMask mask, other = { 0 };
  uint8_t pixels[64] = { 0 };

  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    check_that (check,
                ccl_morphology_new (9, 9, 8, &bad[i], 1, 1, &morphology) == CCL_ERROR_INVALID &&
                    !morphology,
                "operation %zu is bad, and works", i);
    check_that (check, ccl_operations_check (&bad[i], 1) == CCL_ERROR_INVALID,
                "operation %zu is bad, and passes", i);
  }
  check_that (check, ccl_operations_check (&good, CCL_MAX_OPERATIONS + 1) == CCL_ERROR_INVALID,
              "too many operations");
  check_that (check, ccl_operations_check (NULL, 1) == CCL_ERROR_INVALID, "no operations");
  check_that (check, ccl_operations_check (NULL, 0) == CCL_OK, "none of no operations");
  check_that (check, ccl_morphology_new (0, 9, 8, &good, 1, 1, &morphology) == CCL_ERROR_INVALID,
              "a mask of no pixels");
  check_that (check, ccl_morphology_new (9, 9, 6, &good, 1, 1, &morphology) == CCL_ERROR_INVALID,
              "connectivity 6");
  check_that (check, ccl_morphology_new (9, 9, 8, &good, 1, 1, NULL) == CCL_ERROR_INVALID, "NULL");
  check_that (check, ccl_morphology_new (9, 9, 8, &good, 1, 0, &morphology) == CCL_OK, "%s",
              ccl_last_error ());
  check_that (check, ccl_mask_alloc (9, 9, &mask) == CCL_OK, "%s", ccl_last_error ());
  check_that (check, (uintptr_t) mask.words % 64 == 0 && mask.pitch % 8 == 0, "unaligned rows");
  check_that (check, ccl_morphology_apply (morphology, &mask) == CCL_OK, "%s", ccl_last_error ());
  check_that (check, ccl_morphology_apply (NULL, &mask) == CCL_ERROR_INVALID, "no morphology");
  check_that (check, ccl_morphology_apply (morphology, NULL) == CCL_ERROR_INVALID, "no mask");
  check_that (check, ccl_morphology_apply (morphology, &other) == CCL_ERROR_INVALID, "no words");
  other = mask;
  other.width = 8;
  check_that (check, ccl_morphology_apply (morphology, &other) == CCL_ERROR_INVALID, "narrow");
  other.width = 9999;
  check_that (check, ccl_mask_pack (&other, pixels, 9999, 1, false) == CCL_ERROR_INVALID,
              "a pitch below the width");
  other = mask;
  other.memory = CCL_MEMORY_DEVICE;
  check_that (check, ccl_morphology_apply (morphology, &other) == CCL_ERROR_UNSUPPORTED, "device");
  check_that (check, ccl_mask_pack (&mask, pixels, 8, 1, false) == CCL_ERROR_INVALID, "stride");
  check_that (check, ccl_mask_pack (&mask, NULL, 9, 1, false) == CCL_ERROR_INVALID, "pixels");
  check_that (check, ccl_mask_unpack (&mask, NULL, 9, 1) == CCL_ERROR_INVALID, "no pixels");
  check_that (check, ccl_mask_alloc (0, 9, &other) == CCL_ERROR_INVALID, "an empty mask");
  check_that (check, ccl_mask_alloc (1u << 16, 1u << 16, &other) == CCL_ERROR_INVALID, "2^32");
  check_that (check, ccl_mask_alloc (9, 9, NULL) == CCL_ERROR_INVALID, "no mask to allocate");
  ccl_mask_free (&mask);
  check_that (check, !mask.words, "a mask that is free has words");
  ccl_mask_free (&mask);
  ccl_mask_free (NULL);
  ccl_morphology_free (morphology);
  ccl_morphology_free (NULL);
}

/* The threads of this process; 0 where that cannot be known. */
static unsigned
count_threads (void)
{
  const struct timespec moment = { .tv_nsec = 20000000 };
  unsigned n = 0;
  DIR *tasks;

  nanosleep (&moment, NULL); /* those that ended are still there for a moment */
  tasks = opendir ("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir (tasks));)
    n += task->d_name[0] != '.';
  if (tasks)
    closedir (tasks);
  return n;
}

/* 0 threads mean one for each CPU, 1 is the caller's. */
static void
test_mask_threads (Check *check)
{
  static const CclOperation drop = { .kind = CCL_OPERATION_DROP, .size = 2 };
  const unsigned threads[] = { 0, 1, 2 }, expected[] = { ccl_pool_cpus (), 1, 2 };
  const CclCpuTuning usual = ccl_cpu_tuning;

  for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
    unsigned before = count_threads ();
    CclMorphology *morphology;

    ccl_cpu_tuning.strip_pixels = 1;
    check_that (check, ccl_morphology_new (99, 99, 8, &drop, 1, threads[i], &morphology) == CCL_OK,
                "%s", ccl_last_error ());
    ccl_cpu_tuning = usual;
    check_that (check, before == 0 || count_threads () + 1 == before + expected[i],
                "%u threads, not %u", count_threads () + 1 - before, expected[i]);
    ccl_morphology_free (morphology);
  }
}

const Test mask_tests[] = {
  { "mask-pack", test_pack },
  { "mask-pictures", test_pictures },
  { "mask-rectangles", test_rectangles },
  { "mask-operations", test_operations },
  { "mask-threads", test_mask_threads },
  { "mask-errors", test_mask_errors },
  { NULL, NULL },
};
