/* cudaccl - checkccl: without host memory, and what is left behind
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/allocations.h"
#include "tests/engine/checkccl.h"

#include "engine/cpu/tuning.h"
#include <cudaccl/batch.h>
#include <cudaccl/mask.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 70
#define HEIGHT 40
#define FRAMES 3
#define MOST_ALLOCATIONS 200

/* Of all threads. Not what libraries allocate and free themselves. */
static _Atomic uint64_t made;

uint64_t
allocations_made (void)
{
  return made;
}

#ifdef HAVE_WRAP
static _Atomic int64_t held;         /* allocations that are not freed yet */
static _Atomic int64_t until_0 = -1; /* allocations until one fails; below 0: none fails */

void *__real_malloc (size_t size);
void *__real_calloc (size_t count, size_t size);
void *__real_realloc (void *memory, size_t size);
int __real_posix_memalign (void **memory, size_t alignment, size_t size);
void __real_free (void *memory);
void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t count, size_t size);
void *__wrap_realloc (void *memory, size_t size);
int __wrap_posix_memalign (void **memory, size_t alignment, size_t size);
char *__wrap_strdup (const char *text);
void __wrap_free (void *memory);

/* Counts one allocation; returns whether it is to fail. */
static bool
fails (void)
{
  made++;
  if (until_0 >= 0 && until_0-- == 0)
    return true;
  held++;
  return false;
}

void *
__wrap_malloc (size_t size)
{
  return fails () ? NULL : __real_malloc (size);
}

void *
__wrap_calloc (size_t count, size_t size)
{
  return fails () ? NULL : __real_calloc (count, size);
}

void *
__wrap_realloc (void *memory, size_t size)
{
  if (fails ())
    return NULL;
  held -= memory != NULL;
  return __real_realloc (memory, size);
}

int
__wrap_posix_memalign (void **memory, size_t alignment, size_t size)
{
  return fails () ? ENOMEM : __real_posix_memalign (memory, alignment, size);
}

char *
__wrap_strdup (const char *text)
{
  size_t size = strlen (text) + 1;
  char *copy = __wrap_malloc (size);

  return copy ? memcpy (copy, text, size) : NULL;
}

void
__wrap_free (void *memory)
{
  held -= memory != NULL;
  __real_free (memory);
}

/* A frame of noise. */
typedef struct Frame
{
  uint8_t luma[WIDTH * HEIGHT];
  CclChroma chroma;
  CclImage image;
} Frame;

static void
draw_frame (Frame *frame, Mt19937 *rng)
{
  for (size_t i = 0; i < sizeof frame->luma; i++)
    frame->luma[i] = mt19937_below (rng, 2) ? 255 : 0;
  frame->image = (CclImage){ .data = frame->luma, .stride = WIDTH };
  frame->chroma = (CclChroma){ .planes = { frame->image, frame->image }, .step = 1 };
  frame->image.chroma = &frame->chroma;
}

/* An analyzer with everything, or not, by the bits of @parts. */
static CclStatus
use_analyzer (Frame *frame, unsigned parts)
{
  static const CclOperation operations[] = {
    { .kind = CCL_OPERATION_MEDIAN, .width = 5, .height = 5 },
    { .kind = CCL_OPERATION_FILL },
    { .kind = CCL_OPERATION_DROP, .size = 3 },
  };
  uint64_t words[HEIGHT * ((WIDTH + 63) / 64)] = { 1 };
  CclMask region = { .words = words, .pitch = 2, .width = WIDTH, .height = HEIGHT };
  CclAnalyzer *analyzer = (CclAnalyzer *) frame;
  CclMotionConfig motion;
  CclComponents components;
  CclParams params;
  CclConfig config;
  CclStatus status;
  CclLabels labels;
  CclMask mask;

  ccl_params_init (&params);
  ccl_motion_config_init (&motion);
  ccl_config_init (&config, WIDTH, HEIGHT);
  config.backend = CCL_BACKEND_CPU;
  config.threads = parts & 1 ? 3 : 1;
  config.labels = config.second_order = config.mask = parts & 2;
  config.operations = operations;
  config.n_operations = parts & 4 ? 3 : 0;
  config.region = parts & 8 ? &region : NULL;
  motion.scale = parts & 16 ? 2 : 1;
  config.motion = parts & 32 ? &motion : NULL;
  status = ccl_analyzer_new (&config, &analyzer);
  if (status != CCL_OK)
    return analyzer ? CCL_ERROR_INVALID : status;
  for (int i = 0; i < 2 && status == CCL_OK; i++)
    status = ccl_analyzer_analyze (analyzer, &frame->image, &params, &components);
  if (status == CCL_OK && config.labels)
    status = ccl_analyzer_labels (analyzer, &labels);
  if (status == CCL_OK && config.mask)
    status = ccl_analyzer_mask (analyzer, &mask);
  ccl_analyzer_free (analyzer);
  return status;
}

static CclStatus
use_batch (Frame *frame, unsigned parts)
{
  static const CclOperation operation = { .kind = CCL_OPERATION_FILL };
  CclImage images[FRAMES] = { frame->image, frame->image, frame->image };
  CclBatch *batch = (CclBatch *) frame;
  CclComponents components[FRAMES];
  CclParams params;
  CclConfig config;
  CclStatus status;

  ccl_params_init (&params);
  ccl_config_init (&config, WIDTH, HEIGHT);
  config.backend = CCL_BACKEND_CPU;
  config.threads = parts & 1 ? 3 : 1;
  config.labels = parts & 2;
  config.operations = &operation;
  config.n_operations = parts & 4 ? 1 : 0;
  status = ccl_batch_new (&config, FRAMES, &batch);
  if (status != CCL_OK)
    return batch ? CCL_ERROR_INVALID : status;
  status = ccl_batch_analyze (batch, images, FRAMES, &params, components);
  ccl_batch_free (batch);
  return status;
}

static CclStatus
use_mask (Frame *frame, unsigned parts)
{
  static const CclOperation operation = { .kind = CCL_OPERATION_CLOSE, .width = 3, .height = 5 };
  CclMorphology *morphology = (CclMorphology *) frame;
  CclMask mask;
  CclStatus status = ccl_mask_alloc (WIDTH, HEIGHT, &mask);

  if (status != CCL_OK)
    return mask.words ? CCL_ERROR_INVALID : status;
  status = ccl_region_parse ("0,0 1,0 0.5,1", NULL, &mask);
  if (status == CCL_OK) {
    status = ccl_morphology_new (WIDTH, HEIGHT, 8, &operation, 1, parts & 1 ? 3 : 1, &morphology);
    if (status == CCL_OK) {
      status = ccl_morphology_apply (morphology, &mask);
      ccl_morphology_free (morphology);
    } else if (morphology) {
      status = CCL_ERROR_INVALID;
    }
  }
  ccl_mask_free (&mask);
  return status;
}

/* Fails each allocation once. Every time the error says so, the result is NULL and all other memory
 * is freed; so it is after success. */
static void
check_out_of_memory (Check *check, const char *name, CclStatus (*use) (Frame *, unsigned),
                     unsigned parts)
{
  Frame frame;

  draw_frame (&frame, &check->rng);
  for (int64_t n = 0; n < MOST_ALLOCATIONS; n++) {
    int64_t before = held, left;
    CclStatus status;
    bool failed;

    until_0 = n;
    status = use (&frame, parts);
    failed = until_0 < 0;
    until_0 = -1;
    left = held - before;
    check_that (check, status == (failed ? CCL_ERROR_NO_MEMORY : CCL_OK) && left == 0,
                "%s, parts %u, allocation %d %s: status %d (%s), %d allocations are left", name,
                parts, (int) n, failed ? "fails" : "does not happen", (int) status,
                ccl_last_error (), (int) left);
    if (!failed)
      return;
  }
  check_that (check, false, "%s, parts %u: more than %d allocations", name, parts,
              MOST_ALLOCATIONS);
}

static void
test_out_of_memory (Check *check)
{
  uint32_t strip_pixels = ccl_cpu_tuning.strip_pixels;

  if (check->options.backend == CCL_BACKEND_CUDA)
    return;
  ccl_cpu_tuning.strip_pixels = 1;
  for (unsigned parts = 0; parts < 64; parts++)
    check_out_of_memory (check, "analyzer", use_analyzer, parts);
  for (unsigned parts = 0; parts < 8; parts++)
    check_out_of_memory (check, "batch", use_batch, parts);
  for (unsigned parts = 0; parts < 2; parts++)
    check_out_of_memory (check, "mask", use_mask, parts);
  ccl_cpu_tuning.strip_pixels = strip_pixels;
}
#endif

const Test allocation_tests[] = {
#ifdef HAVE_WRAP
  { "out-of-memory", test_out_of_memory },
#endif
  { NULL, NULL },
};
