/* cudaccl - checkccl: a device that fails
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every call of CUDA fails once, in every place from opening to closing: either the frame's result
 * is right all the same, or there is an error that names the call. Nothing leaks, and the next
 * start works. */

#include "tests/engine/checkccl.h"

#ifdef HAVE_CUDA

#include <cudaccl/batch.h>
#include <cudaccl/eglimage.h>
#include <cudaccl/mask.h>
#include <cudaccl/signature.h>
#include <cudaccl/volume.h>
#include "tests/lib/cudafake.h"
#include "tests/lib/cudafault.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* Enough for more components than kernels write to host memory. */
#define WIDTH TEST_CUDA_FAKE_WIDTH
#define HEIGHT TEST_CUDA_FAKE_HEIGHT
#define BATCH 3
#define NEXT_STARTS 16 /* failures between two starts without */
#define DEPTH 4

typedef enum What
{
  FRAMES,
  FRAMES_OF_EGL,  /* CCL_MEMORY_ARRAY through an EGL image */
  FRAMES_OF_POOL, /* CCL_MEMORY_PINNED from ccl_pinned_alloc() */
  BATCHES,
  VOLUMES,
} What;

/* A way to use the engine. */
typedef struct Way
{
  const char *name;
  What what;
  CclMemory memory;
  uint32_t max_components; /* 0: enough */
  CclUpload upload;
  CclSync sync;
  bool no_graphs, map_pinned, labels, second_order, timing, updates, motion, automatic;
  unsigned shapes;
  bool signatures;
  const char *operations;
} Way;

static const Way ways[] = {
  { "pageable", FRAMES, CCL_MEMORY_HOST },
  { "pageable bytes", FRAMES, CCL_MEMORY_HOST, .upload = CCL_UPLOAD_PIXELS },
  { "page-locked", FRAMES_OF_POOL, CCL_MEMORY_PINNED },
  { "page-locked in place", FRAMES_OF_POOL, CCL_MEMORY_PINNED, .map_pinned = true },
  { "device", FRAMES, CCL_MEMORY_DEVICE, .sync = CCL_SYNC_BLOCK },
  { "without graphs", FRAMES, CCL_MEMORY_DEVICE, .no_graphs = true },
  { "array", FRAMES, CCL_MEMORY_ARRAY },
  { "EGL", FRAMES_OF_EGL, CCL_MEMORY_ARRAY },
  { "label maps", FRAMES, CCL_MEMORY_HOST, .labels = true },
  { "moments", FRAMES, CCL_MEMORY_DEVICE, .second_order = true },
  { "signatures", FRAMES, CCL_MEMORY_HOST, .signatures = true },
  { "shapes", FRAMES, CCL_MEMORY_HOST, .shapes = CCL_SHAPES_PERIMETER | CCL_SHAPES_LUMA },
  { "top-k", FRAMES, CCL_MEMORY_HOST, .max_components = 7 },
  { "large result", FRAMES, CCL_MEMORY_DEVICE, .max_components = 4100 },
  { "cleaning", FRAMES, CCL_MEMORY_HOST, .operations = "median3,close3x3,fill20,drop3,open3x3" },
  { "timing", FRAMES, CCL_MEMORY_HOST, .timing = true },
  { "updates", FRAMES, CCL_MEMORY_HOST, .updates = true },
  { "batch", BATCHES, CCL_MEMORY_HOST },
  { "batch on the device", BATCHES, CCL_MEMORY_DEVICE, .labels = true },
  { "model", FRAMES, CCL_MEMORY_HOST, .motion = true },
  { "model on the device", FRAMES, CCL_MEMORY_DEVICE, .timing = true, .motion = true },
  { "near and small objects", FRAMES, CCL_MEMORY_DEVICE, .motion = true, .automatic = true },
  { "volume", VOLUMES, CCL_MEMORY_HOST, .labels = true },
  { "volume on the device", VOLUMES, CCL_MEMORY_DEVICE },
};

/* A way, an algorithm, and what both need. */
typedef struct Job
{
  Check *check;
  const Way *way;
  const CclAlgorithm *algorithm;
  bool fake;
  TestImage image;
  CclImage placed;
  CclMask region;
  CclOperation operations[CCL_MAX_OPERATIONS];
  uint32_t n_operations;
} Job;

#define MAX_STEPS 16

/* The outcome, step by step. */
typedef struct Outcome
{
  char error[512];          /* the first one; "": none */
  uint64_t sums[MAX_STEPS]; /* checksums of results; 0: the step failed */
  unsigned n;
  bool busy; /* a frame failed, but its pixels may still be read */
} Outcome;

/* Of whole words, or of less than one. */
static uint64_t
checksum (uint64_t sum, const void *data, size_t size)
{
  for (size_t i = 0; i < size; i += sizeof (uint64_t)) {
    uint64_t word = 0;

    memcpy (&word, (const char *) data + i, size < sizeof word ? size : sizeof word);
    sum = (sum ^ word) * UINT64_C (0x9e3779b97f4a7c15);
    sum ^= sum >> 29;
  }
  return sum;
}

/* Ends a step; @sum: the checksum of its result. Returns whether it succeeded. */
static bool
step (Outcome *outcome, CclStatus status, uint64_t sum)
{
  if (status != CCL_OK && !*outcome->error)
    snprintf (outcome->error, sizeof outcome->error, "%s", ccl_last_error ());
  if (outcome->n < MAX_STEPS)
    outcome->sums[outcome->n++] = status == CCL_OK ? sum | 1 : 0;
  return status == CCL_OK;
}

static CclConfig
config_of (const Job *job)
{
  static const CclMotionConfig motion = { CCL_MOTION_LUMA, .scale = 2, .shadows = true };
  const Way *way = job->way;
  CclConfig config;

  ccl_config_init (&config, WIDTH, HEIGHT);
  config.connectivity = job->algorithm->connectivity & 8 ? 8 : 4;
  config.backend = CCL_BACKEND_CUDA;
  config.algorithm = job->algorithm->name;
  config.device = TEST_DEVICE;
  if (way->max_components > 0)
    config.max_components = way->max_components;
  config.upload = way->upload;
  config.sync = way->sync;
  config.graphs = !way->no_graphs;
  config.map_pinned = way->map_pinned;
  config.labels = way->labels;
  config.second_order = way->second_order;
  config.shapes = way->shapes;
  config.signatures = way->signatures;
  config.timing = config.stages = way->timing;
  config.updates = way->updates;
  config.motion = way->motion ? &motion : NULL;
  config.auto_operations = way->automatic;
  config.mask = way->motion && !way->automatic;
  if (job->n_operations > 0) {
    config.operations = job->operations;
    config.n_operations = job->n_operations;
    config.region = &job->region;
  }
  return config;
}

/* Of those components that there is room for: the fake finds more. */
static uint64_t
components_sum (const Job *job, const CclComponents *components)
{
  uint32_t most = job->way->max_components > 0 ? job->way->max_components : 1024;
  uint32_t n = components->count < most ? components->count : most;
  uint64_t sum = checksum (components->found, &components->count, sizeof components->count);

  return n > 0 ? checksum (sum, components->items, n * sizeof *components->items) : sum;
}

static uint64_t
labels_sum (const CclLabels *labels, uint32_t rows)
{
  uint64_t sum = 1;

  for (uint32_t y = 0; y < rows; y++)
    sum = checksum (sum, (const uint8_t *) labels->data + y * labels->stride,
                    WIDTH * sizeof *labels->data);
  return sum;
}

static void
use_labels (const Job *job, CclAnalyzer *analyzer, Outcome *outcome)
{
  CclLabels labels;
  CclStatus status;

  if (!job->way->labels)
    return;
  status = ccl_analyzer_labels (analyzer, &labels);
  step (outcome, status, status == CCL_OK ? labels_sum (&labels, HEIGHT) : 0);
}

static void
use_shapes (const Job *job, CclAnalyzer *analyzer, uint32_t count, Outcome *outcome)
{
  const CclShape *shapes = NULL;
  CclStatus status;

  if (!job->way->shapes)
    return;
  status = ccl_analyzer_shapes (analyzer, &shapes);
  step (outcome, status,
        status == CCL_OK && !job->fake ? checksum (1, shapes, count * sizeof *shapes) : 1);
}

static void
use_signatures (const Job *job, CclAnalyzer *analyzer, Outcome *outcome)
{
  const CclBox boxes[] = { { 0, 0, WIDTH, HEIGHT }, { 3, 5, 7, 9 } };
  CclSignature found[COUNT (boxes)];
  CclStatus status;

  if (!job->way->signatures)
    return;
  status = ccl_analyzer_signatures (analyzer, boxes, COUNT (boxes), found);
  step (outcome, status, status == CCL_OK && !job->fake ? checksum (1, found, sizeof found) : 1);
}

static void
use_masks (const Job *job, CclAnalyzer *analyzer, Outcome *outcome)
{
  CclStatus (*const getters[]) (CclAnalyzer *, CclMask *) = { ccl_analyzer_mask,
                                                              ccl_analyzer_shadows };

  for (size_t i = job->way->automatic; job->way->motion && i < COUNT (getters); i++) {
    CclMask mask = { NULL };
    CclStatus status = getters[i](analyzer, &mask);
    uint64_t sum = 1;

    for (uint32_t y = 0; y < mask.height; y++)
      sum = checksum (sum, mask.words + y * mask.pitch,
                      ccl_mask_words (mask.width) * sizeof *mask.words);
    step (outcome, status, sum);
  }
}

/* A frame that is launched directly, one whose work is captured, two that replay it, and one with
 * other settings. A frame that fails does not keep the next one from being analysed. */
static void
use_analyzer (const Job *job, CclAnalyzer *analyzer, const CclImage *image, Outcome *outcome)
{
  static const uint8_t thresholds[] = { 127, 127, 127, 127, 100 };

  for (size_t i = 0; i < COUNT (thresholds); i++) {
    CclComponents components = { 0 };
    CclEglImage egl;
    CclImage frame = *image;
    CclParams params;
    CclStatus status = CCL_OK;

    ccl_params_init (&params);
    params.threshold = thresholds[i];
    if (job->way->automatic) {
      /* Inverted, the still background is a large object from the first frame on. */
      params.invert = true;
      params.elapsed = UINT64_C (1000000000);
    }
    if (job->way->what == FRAMES_OF_EGL) {
      status = ccl_egl_image_register (&egl, (void *) image->data, TEST_DEVICE);
      frame = egl.luma;
    }
    if (status == CCL_OK) {
      status = ccl_analyzer_analyze (analyzer, &frame, &params, &components);
      step (outcome, status, components_sum (job, &components));
      outcome->busy |= status != CCL_OK && test_cuda_fault.busy;
      if (job->way->what == FRAMES_OF_EGL)
        ccl_egl_image_unregister (&egl);
    } else {
      step (outcome, status, 0);
    }
    if (status == CCL_OK) {
      use_labels (job, analyzer, outcome);
      use_shapes (job, analyzer, components.count, outcome);
      use_signatures (job, analyzer, outcome);
      use_masks (job, analyzer, outcome);
    }
  }
}

static void
run_frames (const Job *job, Outcome *outcome)
{
  size_t size = (size_t) WIDTH * HEIGHT;
  CclConfig config = config_of (job);
  CclImage image = job->placed;
  CclAnalyzer *analyzer = NULL;
  void *pool = NULL;

  if (job->way->what == FRAMES_OF_POOL) {
    if (!step (outcome, ccl_pinned_alloc (TEST_DEVICE, size, &pool), 0))
      return;
    memcpy (pool, job->image.pixels, size);
    image.data = pool;
  }
  if (step (outcome, ccl_analyzer_new (&config, &analyzer), 0))
    use_analyzer (job, analyzer, &image, outcome);
  ccl_analyzer_free (analyzer);
  ccl_pinned_free (TEST_DEVICE, pool);
}

static void
run_batches (const Job *job, Outcome *outcome)
{
  const CclImage images[BATCH] = { job->placed, job->placed, job->placed };
  CclConfig config = config_of (job);
  CclBatch *batch;
  CclParams params;

  ccl_params_init (&params);
  if (!step (outcome, ccl_batch_new (&config, BATCH, &batch), 0))
    return;
  for (uint32_t i = 0; i < 4; i++) {
    CclComponents components[BATCH] = { { 0 } };
    CclLabels labels;
    CclStatus status = ccl_batch_analyze (batch, images, BATCH, &params, components);

    step (outcome, status,
          components_sum (job, &components[0]) ^ components_sum (job, &components[BATCH - 1]));
    if (status != CCL_OK || !job->way->labels)
      continue;
    status = ccl_batch_labels (batch, 1, &labels);
    step (outcome, status, status == CCL_OK ? labels_sum (&labels, HEIGHT) : 0);
  }
  ccl_batch_free (batch);
}

static void
run_volumes (const Job *job, Outcome *outcome)
{
  CclVolumeConfig config;
  CclVolume *volume;
  CclParams params;

  ccl_params_init (&params);
  ccl_volume_config_init (&config, WIDTH, HEIGHT / DEPTH, DEPTH);
  config.algorithm = job->algorithm->name;
  config.device = TEST_DEVICE;
  config.labels = job->way->labels;
  if (!step (outcome, ccl_volume_new (&config, &volume), 0))
    return;
  for (uint32_t i = 0; i < 4; i++) {
    CclVolumeComponents components = { 0 };
    CclLabels labels;
    CclStatus status = ccl_volume_analyze (volume, &job->placed, &params, &components);

    step (
        outcome, status,
        checksum (components.found, components.items, components.count * sizeof *components.items));
    if (status != CCL_OK || !job->way->labels)
      continue;
    status = ccl_volume_labels (volume, &labels);
    step (outcome, status, status == CCL_OK ? labels_sum (&labels, HEIGHT) : 0);
  }
  ccl_volume_free (volume);
}

static Outcome
run (const Job *job)
{
  Outcome outcome = { .n = 0 };

  if (job->way->what == VOLUMES)
    run_volumes (job, &outcome);
  else if (job->way->what == BATCHES)
    run_batches (job, &outcome);
  else
    run_frames (job, &outcome);
  return outcome;
}

static bool
check_job (const Job *job, bool ok, const char *what, const Outcome *outcome)
{
  const TestCudaFault *fault = &test_cuda_fault;

  return check_that (job->check, ok, "%s, %s: %s, after call %llu, %s, failed%s; the error: \"%s\"",
                     job->algorithm->name, job->way->name, what,
                     (unsigned long long) fault->fail_at, fault->failed ? fault->failed : "none",
                     fault->sticky ? " and all after it" : "", outcome->error);
}

/* Nothing is left behind: no resource, no context, no error for the next user of CUDA. */
static void
check_tidy (const Job *job, const Outcome *outcome)
{
  const TestCudaFault *fault = &test_cuda_fault;
  /* Without its context, a session cannot free anything; the context frees it in the end. */
  bool lost = fault->failed && (strcmp (fault->failed, "cuCtxGetApiVersion") == 0 ||
                                strcmp (fault->failed, "cuCtxPushCurrent_v2") == 0);

  check_job (job, fault->live == 0 || lost, "something was not freed", outcome);
  check_job (job, !outcome->busy || lost, "the device still reads the frame", outcome);
  check_job (job, !fault->freed_twice, "something was freed that did not exist", outcome);
  check_job (job, fault->entered == 0, "the context is not left", outcome);
  check_job (job, fault->last == cudaSuccess || fault->sticky, "an error is left", outcome);
  check_job (job, !fault->enqueued_behind, "a kernel was launched behind the failure", outcome);
  test_cuda_fault_clear ();
}

/* Steps either fail or give the same as without failures. */
static void
check_results (const Job *job, const Outcome *outcome, const Outcome *wanted)
{
  bool same = *outcome->error || outcome->n == wanted->n;

  for (unsigned i = 0; i < outcome->n && !*outcome->error; i++)
    same = same && outcome->sums[i] == wanted->sums[i];
  check_job (job, same, "a wrong result", outcome);
}

/* While a stream is captured, a call in another thread can crash the driver: only sessions with
 * CclConfig.graphs capture. */
static void
check_captures (const Job *job)
{
  const Way *way = job->way;
  bool wanted = !way->no_graphs && !way->motion && !way->timing && way->what != VOLUMES;
  Outcome outcome;

  test_cuda_fault_arm (0, cudaSuccess, false);
  test_cuda_fault.only = "cudaStreamBeginCapture";
  outcome = run (job);
  check_job (job, (test_cuda_fault.calls > 0) == wanted,
             wanted ? "no stream was captured" : "a stream was captured", &outcome);
  check_tidy (job, &outcome);
}

/* The error says what failed, and what to do. */
static void
check_error (const Job *job, const Outcome *outcome)
{
  const char *failed = test_cuda_fault.failed;
  bool named = failed && (test_cuda_fault.sticky || strstr (outcome->error, failed));

  check_job (job, named && strstr (outcome->error, " while ") && strchr (outcome->error, ';'),
             "the error does not help", outcome);
}

static void
fail_call (const Job *job, uint64_t n, cudaError_t error, bool sticky, const Outcome *wanted)
{
  Outcome outcome;

  test_cuda_fault_arm (n, error, sticky);
  outcome = run (job);
  if (*outcome.error)
    check_error (job, &outcome);
  check_results (job, &outcome, wanted);
  check_tidy (job, &outcome);
}

static void
check_next_start (const Job *job, const Outcome *wanted)
{
  Outcome outcome;

  test_cuda_fault_arm (0, cudaSuccess, false);
  outcome = run (job);
  check_job (job, !*outcome.error, "the next start fails", &outcome);
  check_results (job, &outcome, wanted);
  check_tidy (job, &outcome);
}

/* On a device, all calls of the best algorithm fail, and some of the others'. */
static uint64_t
stride_of (const Job *job)
{
  if (job->check->options.effort == EFFORT_SMALL)
    return 29;
  if (job->fake || job->check->options.effort == EFFORT_FULL)
    return 1;
  return strcmp (job->algorithm->name, ccl_algorithm (0)->name) == 0 ? 1 : 11;
}

static void
fail_calls (const Job *job)
{
  uint64_t stride = stride_of (job), calls;
  Outcome wanted;

  test_cuda_fault_arm (0, cudaSuccess, false);
  run (job); /* what is done once in a process is done */
  test_cuda_fault_arm (0, cudaSuccess, false);
  wanted = run (job);
  if (strstr (wanted.error, "does not support"))
    return;
  calls = test_cuda_fault.calls;
  if (job->check->options.verbose)
    printf ("  %s, %s: %llu calls\n", job->algorithm->name, job->way->name,
            (unsigned long long) calls);
  check_job (job, !*wanted.error, "fails by itself", &wanted);
  check_tidy (job, &wanted);
  check_captures (job);
  for (uint64_t n = 1 + mt19937_below (&job->check->rng, (uint32_t) stride); n <= calls;
       n += stride) {
    fail_call (job, n, cudaErrorMemoryAllocation, false, &wanted);
    fail_call (job, n, cudaErrorIllegalAddress, true, &wanted);
    /* Leftovers of a failure stay in the process, so a check now and then finds them. */
    if (n % NEXT_STARTS < stride || n + stride > calls)
      check_next_start (job, &wanted);
  }
  job->check->runs++;
}

/* Puts the image where the way wants it. */
static void
place (Job *job)
{
  static const TestPlacement placement = { 0 };
  CclMemory memory = job->way->memory;

  job->placed = test_image_view (&job->image);
  job->placed.memory = memory;
  if (job->fake)
    return;
  if (memory == CCL_MEMORY_ARRAY)
    job->placed.data = test_device_array_new (job->image.pixels, WIDTH, WIDTH, HEIGHT);
  else if (memory == CCL_MEMORY_DEVICE)
    job->placed = test_arena_place (&job->check->arenas[memory], &job->image, &placement);
}

static void
run_job (Job *job)
{
  static unsigned stream; /* something that the fake can use as a handle */
  const Way *way = job->way;

  job->image = test_image_new (WIDTH, HEIGHT);
  test_noise_draw (&job->image, 0.4, 1, &job->check->rng);
  place (job);
  if (way->memory == CCL_MEMORY_DEVICE)
    job->placed.stream = job->fake ? &stream : test_device_stream_new ();
  if (way->operations) {
    if (ccl_operations_parse (way->operations, job->operations, &job->n_operations) != CCL_OK ||
        ccl_mask_alloc (WIDTH, HEIGHT, &job->region) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    memset (job->region.words, 0xff, HEIGHT * job->region.pitch * sizeof *job->region.words);
  }
  test_cuda_fake_fill = way->max_components > 0;
  fail_calls (job);
  test_cuda_fake_fill = 0;
  ccl_mask_free (&job->region);
  if (!job->fake && way->memory == CCL_MEMORY_ARRAY)
    test_device_array_free ((void *) job->placed.data);
  if (!job->fake)
    test_device_stream_free (job->placed.stream);
  test_image_clear (&job->image);
}

static bool
wants (const Check *check, const CclAlgorithm *algorithm)
{
  const char *name = check->options.algorithm;

  return algorithm->backend == CCL_BACKEND_CUDA && (!name || strcmp (name, algorithm->name) == 0);
}

/* Every way with every algorithm. */
static void
run_ways (Check *check, bool fake)
{
  for (size_t w = 0; w < COUNT (ways); w++) {
    bool volumes = ways[w].what == VOLUMES;
    Job job = { .check = check, .way = &ways[w], .fake = fake };

    for (size_t i = 0; (job.algorithm = volumes ? ccl_volume_algorithm (i) : ccl_algorithm (i));
         i++) {
      check_on_crash (check, NULL);
      if (wants (check, job.algorithm))
        run_job (&job);
      if (ways[w].motion)
        break; /* the same with all algorithms */
    }
  }
}

static void
test_failures (Check *check)
{
  CclCudaApi api;

  if (check->options.backend == CCL_BACKEND_CPU || !test_device_available ())
    return;
  ccl_cuda_api_load ();
  api = ccl_cuda_api;
  /* Only Jetsons have EGL images of frames; here one is the array. */
  api.cuGraphicsEGLRegisterImage = test_cuda_fake.cuGraphicsEGLRegisterImage;
  api.cuGraphicsResourceGetMappedEglFrame = test_cuda_fake.cuGraphicsResourceGetMappedEglFrame;
  api.cuGraphicsUnregisterResource = test_cuda_fake.cuGraphicsUnregisterResource;
  test_cuda_fault_begin (&api);
  run_ways (check, false);
  test_cuda_fault_end ();
}

static void
test_failures_of_fake (Check *check)
{
  if (check->options.backend == CCL_BACKEND_CPU)
    return;
  test_cuda_fault_begin (&test_cuda_fake);
  run_ways (check, true);
  test_cuda_fault_end ();
}

#endif

const Test failure_tests[] = {
#ifdef HAVE_CUDA
  { "failures", test_failures },
  { "failures-fake", test_failures_of_fake },
#endif
  { NULL, NULL },
};
