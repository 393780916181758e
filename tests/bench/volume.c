/* cudaccl - ccl-bench volume: masks of consecutive frames as objects in space and time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"
#include "tests/bench/median.h"
#include "tests/lib/clock.h"

#include "tests/reference/volume.h"

#include <stdlib.h>
#include <string.h>

#define WARM_UP 2
#define MOST_COMPONENTS (1u << 20)
#define LARGEST 10 /* objects to print */

static const char usage[] = "\
Usage: ccl-bench volume --images=FOLDER [OPTION...]\n\
Stacks the masks in FOLDER, in the order of their names, into a volume, finds its components, which\n\
are the objects in space and time, and prints the largest. pipelines/masks.sh makes such a folder\n\
from a recording.\n\
\n\
  --algorithms=NAME,...  only these\n\
  --backend=NAME         only cpu or only cuda\n\
  --neighbours=N         of a voxel: 6, 18 or 26 (26)\n\
  --threads=N            of the CPU backend (1)\n\
  --labels               makes the label map, too, and measures it by the host's clock\n\
  --runs=N               runs of each (20)\n\
  --no-check             does not compare with the reference\n\
  --max-components=N     capacity of the result (1048576)\n\
\n\
Exit status: 0, or 1 if a result was wrong.\n";

/* The volume in host and device memory, and its components. */
typedef struct Masks
{
  CclVolumeConfig config;
  TestImage stack;
  CclImage host, device;
  CclVolumeComponents expected;
} Masks;

static void
read_masks (Masks *self, const Bench *bench)
{
  BenchSize size = bench->files[0].size;
  size_t slice = (size_t) size.width * size.height;

  ccl_volume_config_init (&self->config, size.width, size.height, (uint32_t) bench->n_files);
  if (slice > UINT32_MAX / bench->n_files)
    test_fatal ("%zu masks of %ux%u are more than 2^32 - 1 voxels; use fewer", bench->n_files,
                size.width, size.height);
  self->stack = test_image_new (size.width, size.height * self->config.depth);
  for (size_t z = 0; z < bench->n_files; z++) {
    TestImage mask;

    if (!bench_read_image (bench->files[z].path, &mask))
      test_fatal ("an image has disappeared");
    if (mask.width != size.width || mask.height != size.height)
      test_fatal ("%s is not %ux%u as %s; all slices must have the same size", bench->files[z].path,
                  size.width, size.height, bench->files[0].path);
    memcpy (self->stack.pixels + z * slice, mask.pixels, slice);
    test_image_clear (&mask);
  }
}

static int
compare_volumes (const void *a, const void *b)
{
  const CclVolumeComponent *ca = a, *cb = b;

  if (ca->volume != cb->volume)
    return ca->volume < cb->volume ? 1 : -1;
  return ca->label < cb->label ? -1 : 1;
}

static void
print_largest (const CclVolumeComponents *components)
{
  size_t bytes = components->count * sizeof *components->items;
  CclVolumeComponent *sorted = test_alloc (bytes);

  memcpy (sorted, components->items, bytes);
  qsort (sorted, components->count, sizeof *sorted, compare_volumes);
  printf ("\nobject   frames            box                   voxels  centroid (x, y, frame)\n");
  for (uint32_t i = 0; i < components->count && i < LARGEST; i++) {
    const CclVolumeComponent *c = &sorted[i];
    double centroid[3];

    ccl_volume_component_centroid (c, centroid);
    printf ("%6u   %5u to %-5u  %4ux%-4u at (%4u, %4u) %9llu  %.1f, %.1f, %.1f\n", c->label, c->z,
            c->z + c->depth - 1, c->width, c->height, c->x, c->y, (unsigned long long) c->volume,
            centroid[0], centroid[1], centroid[2]);
  }
  free (sorted);
}

/* Measures an algorithm; false if its result is wrong. */
static bool
measure (const Masks *self, const CclAlgorithm *algorithm, const BenchOptions *options,
         CclVolume *volume, CclVolumeComponents *components)
{
  double voxels = (double) self->stack.width * self->stack.height;
  uint64_t *times = test_alloc (options->runs * sizeof *times), median;
  bool wrong = false;
  CclParams params;

  ccl_params_init (&params);
  for (unsigned run = 0; run < WARM_UP + options->runs; run++) {
    const bool cpu = algorithm->backend == CCL_BACKEND_CPU;
    uint64_t start = test_now ();
    CclTiming timing;
    CclLabels labels;

    if (ccl_volume_analyze (volume, cpu ? &self->host : &self->device, &params, components) !=
            CCL_OK ||
        (options->labels && ccl_volume_labels (volume, &labels) != CCL_OK))
      test_fatal ("%s: %s", algorithm->name, ccl_last_error ());
    ccl_volume_timing (volume, &timing);
    if (run >= WARM_UP)
      times[run - WARM_UP] = options->labels ? test_now () - start : timing.analysis;
  }
  median = bench_median (times, options->runs);
  if (options->check)
    wrong = components->count != self->expected.count ||
            components->found != self->expected.found ||
            memcmp (components->items, self->expected.items,
                    components->count * sizeof *components->items) != 0;
  printf ("  %-8s %-4s %9.1f us, %6.2f Gvoxel/s, %u objects%s\n", algorithm->name,
          ccl_backend_name (algorithm->backend), (double) median / 1e3, voxels / (double) median,
          components->found,
          wrong            ? ", WRONG"
          : options->check ? ", as the reference"
                           : "");
  free (times);
  return !wrong;
}

/* Measures every selected algorithm; false if one is wrong. */
static bool
measure_all (Masks *self, const BenchOptions *options)
{
  const CclAlgorithm *algorithm;
  bool ok = true, printed = false;

  for (size_t i = 0; (algorithm = ccl_volume_algorithm (i)); i++) {
    CclVolumeComponents components;
    CclVolume *volume;

    if (!bench_is_listed (options->algorithms, algorithm->name) ||
        !ccl_volume_algorithm_has (algorithm, options->neighbours) ||
        (options->backend != CCL_BACKEND_AUTO && options->backend != algorithm->backend) ||
        (algorithm->backend == CCL_BACKEND_CUDA && ccl_cuda_device_count () == 0))
      continue;
    self->config.algorithm = algorithm->name;
    self->config.backend = algorithm->backend;
    if (ccl_volume_new (&self->config, &volume) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    ok &= measure (self, algorithm, options, volume, &components);
    if (!printed)
      print_largest (&components);
    printed = true;
    ccl_volume_free (volume);
  }
  return ok;
}

int
volume_main (int argc, char **argv)
{
  static const TestPlacement placement = { .slack = TEST_SLACK_FRONT }; /* aligned */
  TestArena device = { .memory = CCL_MEMORY_DEVICE };
  static Bench bench; /* too large for some stacks */
  Masks masks = { 0 };
  CclParams params;
  bool ok;

  if (argc > 1 && strcmp (argv[1], "--help") == 0) {
    fputs (usage, stdout);
    return EXIT_SUCCESS;
  }
  bench_parse_options (&bench.options, argc, argv);
  bench_find_files (&bench);
  if (bench.n_files == 0)
    test_fatal ("name a folder of masks with --images");
  read_masks (&masks, &bench);
  masks.config.timing = true;
  masks.config.connectivity = bench.options.neighbours;
  masks.config.threads = bench.options.threads[0];
  masks.config.labels = bench.options.labels;
  masks.config.max_components =
      bench.options.max_components ? bench.options.max_components : MOST_COMPONENTS;
  masks.host = test_image_view (&masks.stack);
  if (ccl_cuda_device_count () > 0)
    masks.device = test_arena_place (&device, &masks.stack, &placement);
  ccl_params_init (&params);
  if (bench.options.check && ccl_volume_reference_analyze (&masks.config, &masks.host, &params,
                                                           &masks.expected, NULL) != CCL_OK)
    test_fatal ("out of memory for the reference");
  printf ("%zu masks of %ux%u, median of %u runs, no copies\n", bench.n_files, masks.config.width,
          masks.config.height, bench.options.runs);
  ok = measure_all (&masks, &bench.options);
  ccl_volume_reference_clear (&masks.expected);
  test_arena_clear (&device);
  test_image_clear (&masks.stack);
  bench_clear_files (&bench);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
