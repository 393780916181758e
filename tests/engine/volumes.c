/* cudaccl - checkccl: volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#include "tests/reference/volume.h"

#include "engine/cpu/tuning.h"
#include "engine/shared/cut.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* A volume's slices, one below the other. */
typedef struct Stack
{
  uint32_t width, height, depth;
  TestImage image; /* of bytes, as many for each voxel as the format has */
  CclFormat format;
  CclValues values;
} Stack;

static Stack
stack_new (uint32_t width, uint32_t height, uint32_t depth)
{
  return (Stack){
    width, height, depth, test_image_new (width, height * depth), CCL_FORMAT_BYTES, CCL_VALUES_ABOVE
  };
}

static bool
is_small (const Check *check)
{
  return check->options.effort <= EFFORT_SMALL;
}

static bool
wants (const Check *check, const CclAlgorithm *algorithm)
{
  const Options *options = &check->options;

  if (options->algorithm && strcmp (options->algorithm, algorithm->name) != 0)
    return false;
  if (options->backend != CCL_BACKEND_AUTO && options->backend != algorithm->backend)
    return false;
  return algorithm->backend == CCL_BACKEND_CPU || test_device_available ();
}

static bool
components_match (const CclVolumeComponents *a, const CclVolumeComponents *b)
{
  return a->found == b->found && a->count == b->count &&
         (a->count == 0 || memcmp (a->items, b->items, a->count * sizeof *a->items) == 0);
}

/* The first component that differs. */
static void
report (const CclVolumeComponents *got, const CclVolumeComponents *expected)
{
  printf ("\n  %u of %u components, not %u of %u\n", got->count, got->found, expected->count,
          expected->found);
  for (uint32_t i = 0; i < got->count && i < expected->count; i++) {
    const CclVolumeComponent *both[] = { &got->items[i], &expected->items[i] };

    if (memcmp (both[0], both[1], sizeof *both[0]) == 0)
      continue;
    for (int k = 0; k < 2; k++)
      printf ("  %s: label %u, (%u, %u, %u) + (%u, %u, %u), volume %llu, sums %llu %llu %llu, "
              "first %u %u\n",
              k ? "not" : "got", both[k]->label, both[k]->x, both[k]->y, both[k]->z, both[k]->width,
              both[k]->height, both[k]->depth, (unsigned long long) both[k]->volume,
              (unsigned long long) both[k]->sum_x, (unsigned long long) both[k]->sum_y,
              (unsigned long long) both[k]->sum_z, both[k]->first_x, both[k]->first_y);
    return;
  }
}

/* One algorithm; on a device twice, the second time from another kind of memory. */
static void
check_algorithm (Check *check, const CclAlgorithm *algorithm, const CclVolumeConfig *wanted,
                 const Stack *stack, const CclParams *params, const CclVolumeComponents *expected,
                 const uint32_t *expected_labels)
{
  const bool cpu = algorithm->backend == CCL_BACKEND_CPU;
  CclVolumeConfig config = *wanted;
  const unsigned size = ccl_class_size (stack->format);
  TestPlacement placement = { .padding = size * mt19937_below (&check->rng, 9) };
  CclVolume *volume;

  config.algorithm = algorithm->name;
  config.backend = algorithm->backend;
  config.device = cpu ? -1 : TEST_DEVICE;
  if (!check_that (check, ccl_volume_new (&config, &volume) == CCL_OK, "%s: %s", algorithm->name,
                   ccl_last_error ()))
    return;
  for (int m = 0; m < (cpu ? 1 : CHECK_MEMORIES); m += 2) {
    CclImage image = test_arena_place (&check->arenas[m], &stack->image, &placement);
    CclVolumeComponents got;
    CclLabels labels = { NULL, 0 };
    CclStatus status;
    size_t bytes = (size_t) stack->width * stack->image.height * sizeof *expected_labels;
    bool right;

    image.format = stack->format;
    status = ccl_volume_analyze (volume, &image, params, &got);
    right = status == CCL_OK && components_match (&got, expected);
    check->runs++;
    if (!check_that (check, right, "%s, volume of %u x %u x %u, connectivity %u: status %d",
                     algorithm->name, stack->width, stack->height, stack->depth,
                     config.connectivity, status) &&
        status == CCL_OK)
      report (&got, expected);
    if (right && config.labels) {
      uint32_t *written = test_alloc (bytes);

      check_that (check,
                  ccl_volume_write_labels (volume, written, stack->width * sizeof *written,
                                           CCL_MEMORY_HOST) == CCL_OK &&
                      memcmp (written, expected_labels, bytes) == 0,
                  "%s, volume of %u x %u x %u: wrong written labels", algorithm->name, stack->width,
                  config.height, config.depth);
      free (written);
    }
    if (right && config.labels)
      check_that (check,
                  ccl_volume_labels (volume, &labels) == CCL_OK &&
                      memcmp (labels.data, expected_labels, bytes) == 0,
                  "%s, volume of %u x %u x %u, connectivity %u: wrong labels", algorithm->name,
                  stack->width, stack->height, stack->depth, config.connectivity);
  }
  ccl_volume_free (volume);
}

/* The CPU's algorithms with every instruction set, and with one thread or some. */
static void
check_instruction_sets (Check *check, const CclAlgorithm *algorithm, const CclVolumeConfig *wanted,
                        const Stack *stack, const CclParams *params,
                        const CclVolumeComponents *expected, const uint32_t *expected_labels)
{
  const CclCpuTuning tuning = ccl_cpu_tuning;
  const CclCpuFunctions *functions;
  CclVolumeConfig config = *wanted;

  for (size_t i = 0; (functions = ccl_cpu_functions (i)); i++) {
    ccl_cpu_tuning.functions = functions;
    ccl_cpu_tuning.strip_pixels = 1;
    config.threads = mt19937_below (&check->rng, 2) ? 1 : 3;
    config.labels = mt19937_below (&check->rng, 4);
    check_algorithm (check, algorithm, &config, stack, params, expected, expected_labels);
  }
  ccl_cpu_tuning = tuning;
}

/* All algorithms, with a random feature stage and capacity. */
static void
check_connectivity (Check *check, const Stack *stack, unsigned connectivity)
{
  const CclAlgorithm *algorithm;
  CclVolumeConfig config;
  CclVolumeComponents expected;
  CclParams params;
  uint32_t *labels = test_alloc ((size_t) stack->width * stack->image.height * sizeof *labels);
  CclImage view = test_image_view (&stack->image);
  bool found = false;

  view.format = stack->format;
  ccl_volume_config_init (&config, stack->width, stack->height, stack->depth);
  config.connectivity = connectivity;
  config.values = stack->values;
  config.labels = true;
  config.features = (CclFeatureStage) mt19937_below (&check->rng, CCL_FEATURES_RUNS_CD + 1);
  config.max_components = mt19937_below (&check->rng, 4) ? 1u << 20 : 20;
  ccl_params_init (&params);
  params.min_area = mt19937_below (&check->rng, 3) ? 1 : 3;
  params.min_height = mt19937_below (&check->rng, 4) ? 1 : 2;
  params.invert = mt19937_below (&check->rng, 2);
  if (ccl_volume_reference_analyze (&config, &view, &params, &expected, labels) != CCL_OK)
    test_fatal ("out of memory for the reference");
  for (size_t i = 0; (algorithm = ccl_volume_algorithm (i)); i++) {
    if (!wants (check, algorithm) || !ccl_volume_algorithm_has (algorithm, connectivity))
      continue;
    if (stack->values == CCL_VALUES_EQUAL && algorithm->backend == CCL_BACKEND_CUDA &&
        strcmp (algorithm->name, "uf") != 0)
      continue;
    found = true;
    if (algorithm->backend == CCL_BACKEND_CPU)
      check_instruction_sets (check, algorithm, &config, stack, &params, &expected, labels);
    else
      check_algorithm (check, algorithm, &config, stack, &params, &expected, labels);
  }
  check_that (check, found || check->options.algorithm, "no algorithm for connectivity %u",
              connectivity);
  ccl_volume_reference_clear (&expected);
  free (labels);
}

static void
check_stack (Check *check, const Stack *stack)
{
  static const unsigned connectivities[] = { 26, 18, 6 };

  for (size_t i = 0; i < COUNT (connectivities); i++)
    check_connectivity (check, stack, connectivities[i]);
}

/* Odd and even sizes, single rows, columns and slices, blobs and noise. */
static void
test_volumes (Check *check)
{
  static const uint32_t sizes[][3] = {
    { 1, 1, 1 },    { 2, 2, 2 },    { 3, 3, 3 },     { 1, 1, 9 },    { 9, 1, 1 },    { 1, 9, 1 },
    { 5, 7, 1 },    { 1, 7, 5 },    { 7, 1, 5 },     { 33, 9, 6 },   { 65, 17, 5 },  { 6, 5, 67 },
    { 64, 64, 64 }, { 63, 65, 31 }, { 130, 33, 20 }, { 257, 40, 3 }, { 100, 99, 98 }
  };
  static const double densities[] = { 0, 0.03, 0.1, 0.3, 0.6, 1 }; /* it percolates at 0.1 */
  int rounds = is_small (check) ? 1 : 3;

  for (size_t i = 0; i < COUNT (sizes); i++) {
    Stack stack = stack_new (sizes[i][0], sizes[i][1], sizes[i][2]);

    if (is_small (check) && (size_t) stack.width * stack.image.height >
                                (check->options.effort == EFFORT_TINY ? 2000 : 6000)) {
      test_image_clear (&stack.image);
      continue;
    }
    for (size_t d = 0; d < COUNT (densities); d += check->options.effort == EFFORT_TINY ? 3 : 1) {
      for (int k = 0; k < rounds; k++) {
        test_noise_draw (&stack.image, densities[d], 1 + mt19937_below (&check->rng, 4),
                         &check->rng);
        check_stack (check, &stack);
      }
    }
    test_image_clear (&stack.image);
  }
}

static void
set_voxel (Stack *stack, const uint32_t at[3])
{
  if (at[0] < stack->width && at[1] < stack->height && at[2] < stack->depth)
    stack->image.pixels[((size_t) at[2] * stack->height + at[1]) * stack->width + at[0]] = 255;
}

/* The cell at @index on Hilbert's curve through a cube of 2^@bits cells a side: J. Skilling's
 * transform of the index, distributed to the axes bit by bit. */
static void
hilbert_place (uint32_t index, uint32_t bits, uint32_t place[3])
{
  uint32_t carry;

  for (int axis = 0; axis < 3; axis++) {
    place[axis] = 0;
    for (uint32_t b = 0; b < bits; b++)
      place[axis] |= (index >> (3 * b + 2 - (uint32_t) axis) & 1) << b;
  }
  carry = place[2] >> 1;
  place[2] ^= place[1];
  place[1] ^= place[0];
  place[0] ^= carry;
  for (uint32_t bit = 1; bit < bits; bit++) {
    uint32_t below = (1u << bit) - 1;

    for (int axis = 2; axis >= 0; axis--) {
      uint32_t swap = (place[0] ^ place[axis]) & below;

      if (place[axis] >> bit & 1) {
        place[0] ^= below;
      } else {
        place[0] ^= swap;
        place[axis] ^= swap;
      }
    }
  }
}

/* Hilbert's curve through cells three voxels apart: one component with long paths that fills the
 * volume; cut at every @cut'th cell, many components. */
static void
draw_hilbert (Stack *stack, uint32_t bits, uint32_t cut)
{
  uint32_t at[3] = { 0, 0, 0 };

  for (uint32_t i = 0; i < 1u << 3 * bits; i++) {
    uint32_t next[3];

    hilbert_place (i, bits, next);
    for (int axis = 0; axis < 3; axis++)
      next[axis] *= 3;
    for (bool there = false; !there && i % cut != 0;) {
      there = true;
      for (int axis = 0; axis < 3; axis++) {
        at[axis] += at[axis] < next[axis] ? 1 : at[axis] > next[axis] ? UINT32_MAX : 0;
        there &= at[axis] == next[axis];
      }
      set_voxel (stack, at);
    }
    memcpy (at, next, sizeof at);
    set_voxel (stack, at);
  }
}

static void
test_hilbert_volumes (Check *check)
{
  static const uint32_t cuts[] = { UINT32_MAX, 1000, 17 };

  for (uint32_t bits = 1; bits <= (is_small (check) ? 2 : 5); bits++) {
    for (size_t i = 0; i < COUNT (cuts); i++) {
      uint32_t side = 3 * (1u << bits) - mt19937_below (&check->rng, 5);
      Stack stack = stack_new (side, side + 1, side + 2);

      draw_hilbert (&stack, bits, cuts[i]);
      check_stack (check, &stack);
      test_image_clear (&stack.image);
    }
  }
}

static void
set_class (Stack *stack, size_t i, uint32_t value)
{
  uint8_t *voxel = stack->image.pixels + i * ccl_class_size (stack->format);
  const bool big = stack->format == CCL_FORMAT_GRAY16_BE;

  switch (stack->format) {
  case CCL_FORMAT_GRAY16_LE:
  case CCL_FORMAT_GRAY16_BE:
    voxel[big] = (uint8_t) value;
    voxel[!big] = (uint8_t) (value >> 8);
    return;
  case CCL_FORMAT_GRAY32:
    memcpy (voxel, &value, sizeof value);
    return;
  default:
    *voxel = (uint8_t) value;
  }
}

/* Boxes of random classes, of @side voxels a side, of which rows repeat those above. */
static void
draw_classes (Stack *stack, const uint32_t *classes, uint32_t n, uint32_t side, Mt19937 *rng)
{
  const uint32_t across = stack->width / side + 1, down = stack->height / side + 1;
  uint32_t *boxes = test_alloc ((size_t) across * down * (stack->depth / side + 1) * sizeof *boxes);
  size_t i = 0;

  for (size_t b = 0; b < (size_t) across * down * (stack->depth / side + 1); b++)
    boxes[b] = classes[mt19937_below (rng, n)];
  for (uint32_t z = 0; z < stack->depth; z++)
    for (uint32_t y = 0; y < stack->height; y++)
      for (uint32_t x = 0; x < stack->width; x++, i++)
        set_class (stack, i, boxes[(z / side * down + y / side) * (size_t) across + x / side]);
  free (boxes);
}

/* Few classes and many, and such as differ in one byte only, in all formats. */
static void
test_volumes_of_classes (Check *check)
{
  static const CclFormat formats[] = { CCL_FORMAT_BYTES, CCL_FORMAT_GRAY16_LE, CCL_FORMAT_GRAY16_BE,
                                       CCL_FORMAT_GRAY32 };
  static const uint32_t classes[] = { 0,      1,      2,          255,        256,       257,
                                      0x8001, 0xffff, 0x00010001, 0x7fffffff, 0x80000001 };
  static const uint32_t sizes[][3] = { { 1, 1, 1 },   { 2, 2, 2 },  { 9, 1, 1 },   { 1, 7, 5 },
                                       { 7, 1, 5 },   { 5, 7, 1 },  { 33, 9, 6 },  { 32, 8, 4 },
                                       { 65, 17, 5 }, { 6, 5, 67 }, { 130, 9, 4 }, { 64, 64, 20 },
                                       { 97, 33, 20 } };
  static const uint32_t most[] = { 4, 8, 8, COUNT (classes) }; /* by format */
  const uint32_t limit = check->options.effort == EFFORT_TINY ? 700 : 6000;

  for (size_t i = 0; i < COUNT (sizes); i++) {
    const uint32_t voxels = sizes[i][0] * sizes[i][1] * sizes[i][2];

    if (is_small (check) && voxels > limit)
      continue;
    for (int k = 0; k < (is_small (check) ? 4 : 12); k++) {
      const CclFormat format = formats[k % 4];
      const uint32_t side = 1 + mt19937_below (&check->rng, 5) * mt19937_below (&check->rng, 2);
      Stack stack = { sizes[i][0], sizes[i][1], sizes[i][2], .format = format,
                      .values = CCL_VALUES_EQUAL };

      stack.image =
          test_image_new (stack.width * ccl_class_size (format), stack.height * stack.depth);
      draw_classes (&stack, classes, 1 + mt19937_below (&check->rng, most[k % 4]), side,
                    &check->rng);
      check_stack (check, &stack);
      test_image_clear (&stack.image);
    }
  }
}

/* Volumes of classes refuse other frames and options. */
static void
test_class_errors (Check *check)
{
  uint32_t pixels[9] = { 7, 7, 0, 7, 8 };
  CclImage image = { .data = (const uint8_t *) pixels, .stride = 8, .format = CCL_FORMAT_GRAY32 };
  CclVolumeComponents components;
  CclVolumeConfig config;
  CclVolume *volume;
  CclParams params;

  ccl_params_init (&params);
  ccl_volume_config_init (&config, 2, 2, 2);
  config.backend = CCL_BACKEND_CPU;
  config.values = CCL_VALUES_BAND;
  check_that (check, ccl_volume_new (&config, &volume) == CCL_ERROR_INVALID, "a band");
  config.values = (CclValues) 3;
  check_that (check, ccl_volume_new (&config, &volume) == CCL_ERROR_INVALID, "unknown values");
  config.values = CCL_VALUES_ABOVE;
  check_that (check, ccl_volume_new (&config, &volume) == CCL_OK, "%s", ccl_last_error ());
  check_that (check, ccl_volume_analyze (volume, &image, &params, &components) != CCL_OK,
              "32 bits above a threshold");
  ccl_volume_free (volume);
  config.values = CCL_VALUES_EQUAL;
  check_that (check, ccl_volume_new (&config, &volume) == CCL_OK, "%s", ccl_last_error ());
  check_that (check,
              ccl_volume_analyze (volume, &image, &params, &components) == CCL_OK &&
                  components.count == 2 && components.items[0].value == 7 &&
                  components.items[1].value == 8,
              "%s", ccl_last_error ());
  image.stride = 4;
  check_that (check, ccl_volume_analyze (volume, &image, &params, &components) == CCL_ERROR_INVALID,
              "rows that overlap");
  image.stride = 10;
  check_that (check, ccl_volume_analyze (volume, &image, &params, &components) == CCL_ERROR_INVALID,
              "a stride that is no multiple of 4");
  image.stride = 8;
  image.data++;
  check_that (check, ccl_volume_analyze (volume, &image, &params, &components) == CCL_ERROR_INVALID,
              "an odd address");
  image.data--;
  image.memory = CCL_MEMORY_ARRAY;
  check_that (check,
              ccl_volume_analyze (volume, &image, &params, &components) == CCL_ERROR_UNSUPPORTED,
              "an array");
  image.memory = CCL_MEMORY_HOST;
  image.format = CCL_FORMAT_BITS;
  check_that (check,
              ccl_volume_analyze (volume, &image, &params, &components) == CCL_ERROR_UNSUPPORTED,
              "classes in bits");
  ccl_volume_free (volume);
}

/* Invalid arguments. */
static void
test_volume_errors (Check *check)
{
  static const struct
  {
    uint32_t size[3], max_components;
    const char *algorithm;
    unsigned connectivity;
    CclBackend backend;
    unsigned threads;
  } errors[] = {
    { { 0, 1, 1 }, 9, NULL, 26, CCL_BACKEND_AUTO, 1 },
    { { 1, 0, 1 }, 9, NULL, 26, CCL_BACKEND_AUTO, 1 },
    { { 1, 1, 0 }, 9, NULL, 26, CCL_BACKEND_AUTO, 1 },
    { { 65536, 256, 256 }, 9, NULL, 26, CCL_BACKEND_AUTO, 1 },
    { { 3, 3, 3 }, 0, NULL, 26, CCL_BACKEND_AUTO, 1 },
    { { 3, 3, 3 }, 9, "tile", 26, CCL_BACKEND_AUTO, 1 },
    { { 3, 3, 3 }, 9, "buf", 26, CCL_BACKEND_CPU, 1 },
    { { 3, 3, 3 }, 9, "buf", 6, CCL_BACKEND_AUTO, 1 },
    { { 3, 3, 3 }, 9, NULL, 8, CCL_BACKEND_AUTO, 1 },
    { { 3, 3, 3 }, 9, NULL, 26, (CclBackend) 7, 1 },
    { { 3, 3, 3 }, 9, NULL, 26, CCL_BACKEND_CPU, CCL_MAX_THREADS + 1 },
  };
  CclVolume *volume;
  CclVolumeConfig config;

  for (size_t i = 0; i < COUNT (errors); i++) {
    ccl_volume_config_init (&config, errors[i].size[0], errors[i].size[1], errors[i].size[2]);
    config.max_components = errors[i].max_components;
    config.algorithm = errors[i].algorithm;
    config.connectivity = errors[i].connectivity;
    config.backend = errors[i].backend;
    config.threads = errors[i].threads;
    check_that (check, ccl_volume_new (&config, &volume) != CCL_OK && !volume,
                "volume error %zu passed", i);
    check_that (check, strlen (ccl_last_error ()) > 10, "volume error %zu: no message", i);
  }
  check_that (check, ccl_volume_new (NULL, &volume) != CCL_OK, "a volume without a configuration");
  ccl_volume_free (NULL);
}

/* The reported backend; device memory is refused; a volume makes no allocations. */
static void
test_volume_info (Check *check)
{
  Stack stack = stack_new (70, 5, 4);
  CclImage image = test_image_view (&stack.image);
  CclVolumeComponents components;
  CclVolumeConfig config;
  CclVolume *volume;
  CclParams params;
  CclInfo before, after;

  ccl_params_init (&params);
  ccl_volume_config_init (&config, 70, 5, 4);
  config.backend = CCL_BACKEND_CPU;
  if (!check_that (check, ccl_volume_new (&config, &volume) == CCL_OK, "%s", ccl_last_error ()))
    return;
  ccl_volume_info (volume, &before);
  check_that (check, before.backend == CCL_BACKEND_CPU && strcmp (before.algorithm, "runs") == 0,
              "a volume on the CPU runs on %s", before.algorithm);
  check_that (check, ccl_volume_analyze (volume, &image, &params, &components) == CCL_OK, "%s",
              ccl_last_error ());
  ccl_volume_info (volume, &after);
  check_that (check, after.allocations == before.allocations, "a volume allocates");
  image.memory = CCL_MEMORY_DEVICE;
  check_that (check,
              ccl_volume_analyze (volume, &image, &params, &components) == CCL_ERROR_UNSUPPORTED,
              "the CPU reads device memory");
  ccl_volume_free (volume);
  test_image_clear (&stack.image);
}

const Test volume_tests[] = {
  { "volume-errors", test_volume_errors },
  { "volume-info", test_volume_info },
  { "volumes", test_volumes },
  { "volumes-of-classes", test_volumes_of_classes },
  { "volume-class-errors", test_class_errors },
  { "hilbert-volumes", test_hilbert_volumes },
  { NULL, NULL },
};
