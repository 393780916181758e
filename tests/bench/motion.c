/* cudaccl - ccl-bench motion: background models, and peers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/tuning.h"
#include <cudaccl/mask.h>
#include "tests/bench/bench.h"
#include "tests/bench/camera.h"
#include "tests/bench/median.h"
#include "tests/lib/clock.h"
#include "tests/lib/device.h"
#include "tests/lib/image.h"
#include "tests/lib/parse.h"
#include "tests/peers/peers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DURATION UINT64_C (33333333) /* of a frame */
#define WARM_UP 100                  /* frames; 3 s, after which a model learns at its usual pace */
#define INTERVAL 4 /* a device measures the model in one frame in so many, and not the whole */

static const char usage[] = "\
Usage: ccl-bench motion [OPTION...]\n\
Measures background models on frames in NV12, from pixels to masks and to components, beside\n\
OpenCV's with their conversion of colours, a closing by 5x5 and connectedComponentsWithStats.\n\
One thread by default; medians of frames.\n\
\n\
  --size=WxH            of the frames, even (1920x1080)\n\
  --frames=N            different frames, played forwards and backwards (24)\n\
  --video=FILE          raw frames in NV12 of that size instead of drawn ones\n\
  --runs=N              frames that are measured (200)\n\
  --peer-runs=N         the same for OpenCV (20)\n\
  --operations=CHAIN    cleaning of masks (close5x5)\n\
  --scale=N             of the models, 1, 2 or 4 (1)\n\
  --luma                without chroma\n\
  --simd=NAME,...       instruction sets: all, or some of c, avx2, avx-512, neon (the best)\n\
  --threads=N           of the CPU (1)\n\
  --backend=NAME        cpu, cuda (both)\n\
  --no-peers\n\
  --seed=N              of the drawn frames (1)\n\
\n\
Exit status: 0, 1 when masks differ between backends, 77 with nothing to measure.\n";

typedef struct MotionOptions
{
  uint32_t width, height;
  unsigned frames, runs, peer_runs, scale, threads;
  const char *video, *operations, *simd;
  bool luma, cpu, cuda, peers;
  uint32_t seed;
} MotionOptions;

/* The times of one implementation in nanoseconds, and the masks' checksum. */
typedef struct Times
{
  uint64_t model, all;
  double components;
  uint64_t checksum;
} Times;

/* The frames. */
typedef struct Video
{
  uint8_t *pixels;
  size_t size; /* of a frame */
  unsigned n;
} Video;

static Video
open_video (const MotionOptions *options)
{
  Video video = { .size = (size_t) options->width * options->height * 3 / 2 };
  FILE *file;

  video.n = options->frames;
  video.pixels = test_alloc (video.n * video.size);
  if (!options->video) {
    for (unsigned i = 0; i < video.n; i++)
      camera_draw (video.pixels + i * video.size, options->width, options->height, i,
                   options->seed);
    return video;
  }
  file = fopen (options->video, "rb");
  if (!file)
    test_fatal ("cannot read %s", options->video);
  video.n = (unsigned) fread (video.pixels, video.size, video.n, file);
  fclose (file);
  if (video.n == 0)
    test_fatal ("%s has no frame of %ux%u pixels in NV12", options->video, options->width,
                options->height);
  return video;
}

/* The frame that is shown @i-th: forwards, then backwards, so that nothing jumps. */
static size_t
frame_at (const Video *video, unsigned i)
{
  unsigned period = video->n > 1 ? 2 * video->n - 2 : 1;

  i %= period;
  return (i < video->n ? i : period - i) * video->size;
}

static CclAnalyzer *
open_analyzer (const MotionOptions *options, CclBackend backend)
{
  CclOperation operations[CCL_MAX_OPERATIONS];
  CclMotionConfig motion;
  CclAnalyzer *analyzer;
  CclConfig config;

  ccl_motion_config_init (&motion);
  motion.format = options->luma ? CCL_MOTION_LUMA : CCL_MOTION_LUMA_420;
  motion.scale = options->scale;
  ccl_config_init (&config, options->width, options->height);
  config.backend = backend;
  config.threads = options->threads;
  config.timing = true;
  config.timing_interval = INTERVAL;
  config.operations = operations;
  config.motion = &motion;
  if (ccl_operations_parse (options->operations, operations, &config.n_operations) != CCL_OK ||
      ccl_analyzer_new (&config, &analyzer) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  return analyzer;
}

static uint64_t
add_to_checksum (uint64_t sum, const CclComponents *components)
{
  const uint8_t *bytes = (const uint8_t *) components->items;

  for (size_t i = 0; i < components->count * sizeof *components->items; i++)
    sum = (sum ^ bytes[i]) * UINT64_C (0x100000001b3);
  return sum;
}

/* Plays the video; @pixels: where it is. */
static Times
measure_analyzer (const MotionOptions *options, const Video *video, CclBackend backend,
                  const uint8_t *pixels, CclMemory memory)
{
  CclAnalyzer *analyzer = open_analyzer (options, backend);
  uint64_t *model = test_alloc (options->runs * sizeof *model);
  uint64_t *all = test_alloc (options->runs * sizeof *all);
  unsigned n_model = 0, n_all = 0;
  Times times = { .checksum = UINT64_C (0xcbf29ce484222325) };
  CclParams params;

  ccl_params_init (&params);
  params.elapsed = DURATION;
  for (unsigned i = 0; i < WARM_UP + options->runs; i++) {
    CclImage luma = { pixels + frame_at (video, i), options->width, memory };
    CclChroma chroma = { { luma, luma }, 2 };
    CclComponents components;
    CclTiming timing;
    uint64_t start = test_now (), end;

    luma.chroma = &chroma;
    chroma.planes[0].data += (size_t) options->width * options->height;
    chroma.planes[1].data = chroma.planes[0].data + 1;
    if (ccl_analyzer_analyze (analyzer, &luma, &params, &components) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    end = test_now ();
    times.checksum = add_to_checksum (times.checksum, &components);
    if (i < WARM_UP)
      continue;
    times.components += (double) components.found / options->runs;
    ccl_analyzer_timing (analyzer, &timing);
    if (timing.measured)
      model[n_model++] = timing.model;
    if (!timing.measured || backend == CCL_BACKEND_CPU)
      all[n_all++] = end - start;
  }
  times.model = n_model > 0 ? bench_median (model, n_model) : 0;
  times.all = n_all > 0 ? bench_median (all, n_all) : 0;
  free (model);
  free (all);
  ccl_analyzer_free (analyzer);
  return times;
}

static void
print_times (const char *name, const Times *times, uint64_t ours)
{
  printf ("%-36s %10.1f us %10.1f us %10.0f %8.1f", name, (double) times->model / 1e3,
          (double) times->all / 1e3, 1e9 / (double) times->all, times->components);
  if (ours > 0)
    printf (" %8.1f x", (double) times->all / (double) ours);
  putchar ('\n');
  fflush (stdout);
}

/* Returns the time with the best instruction set that was measured. */
static uint64_t
measure_cpu (const MotionOptions *options, const Video *video, uint64_t *checksum)
{
  const CclCpuTuning usual = ccl_cpu_tuning;
  const CclCpuFunctions *functions;
  uint64_t best = 0;
  Times times;

  for (size_t f = 0; (functions = ccl_cpu_functions (f)); f++) {
    char name[64];

    if (!options->simd && f > 0)
      break;
    if (options->simd && strcasecmp (options->simd, "all") != 0 &&
        !strcasestr (options->simd, functions->name))
      continue;
    ccl_cpu_tuning.functions = functions;
    times = measure_analyzer (options, video, CCL_BACKEND_CPU, video->pixels, CCL_MEMORY_HOST);
    ccl_cpu_tuning = usual;
    snprintf (name, sizeof name, "cpu, %s, %u thread(s)", functions->name, options->threads);
    print_times (name, &times, 0);
    *checksum = times.checksum;
    if (best == 0 || times.all < best)
      best = times.all;
  }
  return best;
}

/* Returns whether all masks have @checksum, unless that is 0. */
static bool
measure_cuda (const MotionOptions *options, const Video *video, uint64_t checksum)
{
  static const struct
  {
    const char *name;
    CclMemory memory;
  } places[] = {
    { "cuda, device memory", CCL_MEMORY_DEVICE },
    { "cuda, page-locked memory", CCL_MEMORY_PINNED },
    { "cuda, host memory", CCL_MEMORY_HOST },
  };
  bool ok = true;

  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    uint8_t *pixels = video->pixels;
    Times times;

    if (places[i].memory != CCL_MEMORY_HOST)
      pixels = test_device_alloc (places[i].memory, video->n * video->size);
    if (places[i].memory == CCL_MEMORY_DEVICE)
      test_device_upload (pixels, video->pixels, video->n * video->size);
    else if (places[i].memory == CCL_MEMORY_PINNED)
      memcpy (pixels, video->pixels, video->n * video->size);
    times = measure_analyzer (options, video, CCL_BACKEND_CUDA, pixels, places[i].memory);
    print_times (places[i].name, &times, 0);
    if (checksum && times.checksum != checksum) {
      printf ("  components DIFFER from the CPU's\n");
      ok = false;
    }
    if (places[i].memory != CCL_MEMORY_HOST)
      test_device_free (places[i].memory, pixels);
  }
  return ok;
}

#ifdef HAVE_OPENCV_VIDEO
static void
measure_peer (const MotionOptions *options, const Video *video, const MotionPeer *peer,
              uint64_t ours)
{
  uint64_t *model = test_alloc (options->peer_runs * sizeof *model);
  uint64_t *all = test_alloc (options->peer_runs * sizeof *all);
  unsigned warm_up = options->peer_runs / 2;
  void *state = peer->open ();
  Times times = { 0 };

  for (unsigned i = 0; state && i < warm_up + options->peer_runs; i++) {
    unsigned k = i < warm_up ? 0 : i - warm_up;
    uint32_t components = 0;

    all[k] = peer->run (state, video->pixels + frame_at (video, i), options->width, options->height,
                        &model[k], &components);
    times.components += i < warm_up ? 0 : (double) components / options->peer_runs;
  }
  if (state) {
    times.all = bench_median (all, options->peer_runs);
    times.model = bench_median (model, options->peer_runs);
    print_times (peer->name, &times, ours);
    peer->close (state);
  }
  free (model);
  free (all);
}
#endif

/* Measures OpenCV's models; without OpenCV it does nothing. @ours: nanoseconds of our model. */
static void
measure_peers (const MotionOptions *options, const Video *video, uint64_t ours)
{
#ifdef HAVE_OPENCV_VIDEO
  for (int i = 0; i < MOTION_PEERS; i++)
    measure_peer (options, video, &motion_opencv[i], ours);
#endif
}

static bool
parse_number (const char *argument, const char *name, unsigned least, unsigned most, unsigned *n)
{
  const char *value = test_argument_value (argument, name);

  if (value)
    *n = (unsigned) test_parse_whole_number (value, least, most);
  return value != NULL;
}

static void
parse_option (MotionOptions *options, const char *argument)
{
  const char *value;

  if ((value = test_argument_value (argument, "--size"))) {
    options->width = (uint32_t) test_parse_number (&value, 2, 32768);
    if (*value++ != 'x')
      test_fatal ("a size such as 1920x1080 is expected");
    options->height = (uint32_t) test_parse_whole_number (value, 2, 32768);
    if (options->width % 2 || options->height % 2)
      test_fatal ("width and height must be even");
  } else if ((value = test_argument_value (argument, "--video"))) {
    options->video = value;
  } else if ((value = test_argument_value (argument, "--operations"))) {
    options->operations = value;
  } else if ((value = test_argument_value (argument, "--simd"))) {
    options->simd = value;
  } else if ((value = test_argument_value (argument, "--backend"))) {
    options->cpu = strcmp (value, "cpu") == 0;
    options->cuda = strcmp (value, "cuda") == 0;
    if (!options->cpu && !options->cuda)
      test_fatal ("no such backend: %s", value);
  } else if (strcmp (argument, "--luma") == 0) {
    options->luma = true;
  } else if (strcmp (argument, "--no-peers") == 0) {
    options->peers = false;
  } else if (!parse_number (argument, "--frames", 1, 10000, &options->frames) &&
             !parse_number (argument, "--runs", 1, 1000000, &options->runs) &&
             !parse_number (argument, "--peer-runs", 1, 1000000, &options->peer_runs) &&
             !parse_number (argument, "--scale", 1, 4, &options->scale) &&
             !parse_number (argument, "--threads", 0, CCL_MAX_THREADS, &options->threads) &&
             !parse_number (argument, "--seed", 0, UINT32_MAX, &options->seed)) {
    test_fatal ("'%s' is not an option; try ccl-bench motion --help", argument);
  }
}

int
motion_main (int argc, char **argv)
{
  MotionOptions options = {
    .width = 1920,
    .height = 1080,
    .frames = 24,
    .runs = 200,
    .peer_runs = 20,
    .scale = 1,
    .threads = 1,
    .operations = "close5x5",
    .cpu = true,
    .cuda = true,
    .peers = true,
    .seed = 1,
  };
  uint64_t checksum = 0, ours = 0;
  bool ok = true;
  Video video;

  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--help") == 0) {
      fputs (usage, stdout);
      return EXIT_SUCCESS;
    }
    parse_option (&options, argv[i]);
  }
  options.cuda = options.cuda && test_device_available ();
  if (!options.cpu && !options.cuda) {
    fprintf (stderr, "ccl-bench: no CUDA device\n");
    return 77;
  }
  video = open_video (&options);
  printf ("%ux%u, %s, %s\n%-36s %13s %13s %10s %8s\n", options.width, options.height,
          options.luma ? "luma" : "NV12", options.operations, "", "model", "to components",
          "frames/s", "comps");
  if (options.cpu)
    ours = measure_cpu (&options, &video, &checksum);
  if (options.cuda)
    ok = measure_cuda (&options, &video, checksum);
  if (options.peers)
    measure_peers (&options, &video, ours);
  free (video.pixels);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
