/* cudaccl - background models: checks arguments, chooses a backend, keeps the clock
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/motion.h>
#include "engine/motion_backend.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MILLISECOND UINT64_C (1000000)
#define SECOND (1000 * MILLISECOND)
#define DAY (24 * 3600 * SECOND)

struct CclMotion
{
  const CclMotionClass *backend;
  CclMotionSession *session;
  CclMotionClock clock;
  uint64_t foreground, starts;
  bool light_change;
  bool has_shadows; /* the session's own masks are of the last frame */
  /* The last frame, until its foreground is known. */
  bool in_flight, freeze;
  uint64_t most, elapsed;
};

/* In the order in which CCL_BACKEND_AUTO tries them. */
static const CclMotionClass *const backends[] = {
#ifdef HAVE_CUDA
  &ccl_motion_cuda,
#endif
  &ccl_motion_cpu,
};

#define N_BACKENDS (sizeof backends / sizeof backends[0])

void
ccl_motion_config_init (CclMotionConfig *config, uint32_t width, uint32_t height)
{
  *config = (CclMotionConfig){
    .width = width,
    .height = height,
    .format = CCL_MOTION_LUMA_420,
    .device = -1,
    .scale = 1,
    .threads = 1,
  };
}

void
ccl_motion_params_init (CclMotionParams *params)
{
  *params = (CclMotionParams){
    .learning_time = 10 * SECOND,
    .noise_floor = 14,
    .light_change = 60,
  };
}

/* Geometry, device and threads are as an analyzer's. */
static CclStatus
check_motion_config (const CclMotionConfig *config)
{
  CclConfig analyzer;

  ccl_config_init (&analyzer, config->width, config->height);
  analyzer.backend = CCL_BACKEND_CPU;
  analyzer.threads = config->threads;
  if ((unsigned) config->format > CCL_MOTION_LUMA_420)
    return ccl_fail (CCL_ERROR_INVALID, "unknown format %d of frames", (int) config->format);
  if (config->scale != 1 && config->scale != 2 && config->scale != 4)
    return ccl_fail (CCL_ERROR_INVALID, "scale %u is not supported; use 1, 2 or 4", config->scale);
  if ((unsigned) config->backend > CCL_BACKEND_CPU)
    return ccl_fail (CCL_ERROR_INVALID, "unknown backend %d", (int) config->backend);
  if (config->device < -1)
    return ccl_fail (CCL_ERROR_INVALID, "device %d is invalid; use 0 or more, or -1 for any",
                     config->device);
  return ccl_config_check (&analyzer);
}

static CclStatus
check_params (const CclMotionParams *params)
{
  if (params->learning_time < MILLISECOND || params->learning_time > DAY)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a learning time of %" PRIu64 " ns; it must be from 1 ms to 1 day",
                     params->learning_time);
  if (params->light_change > 100)
    return ccl_fail (CCL_ERROR_INVALID, "a light change of %u %% is invalid; use 0 to 100 %%",
                     params->light_change);
  return CCL_OK;
}

/* Room for a row of @samples, @step bytes from one to the next. */
static CclStatus
check_plane (const CclImage *image, uint32_t samples, unsigned step, const char *name)
{
  size_t row = (size_t) (samples - 1) * step + 1;

  if ((unsigned) image->memory > CCL_MEMORY_ARRAY || image->format != CCL_FORMAT_BYTES)
    return ccl_fail (CCL_ERROR_INVALID, "the frame's %s is not CCL_FORMAT_BYTES in a known memory",
                     name);
  if (!image->data)
    return ccl_fail (CCL_ERROR_INVALID, "the frame has no %s: its data is NULL", name);
  if (image->memory != CCL_MEMORY_ARRAY && image->stride < row)
    return ccl_fail (CCL_ERROR_INVALID, "a stride of %zu is less than the %zu bytes of a row of %s",
                     image->stride, row, name);
  return CCL_OK;
}

static CclStatus
check_image (const CclMotion *self, const CclMotionImage *image)
{
  const CclMotionConfig *config = &self->session->config;
  CclStatus status = check_plane (&image->luma, config->width, 1, "luma");

  if (status != CCL_OK || config->format == CCL_MOTION_LUMA)
    return status;
  if (image->chroma_step != 1 && image->chroma_step != 2)
    return ccl_fail (CCL_ERROR_INVALID, "a chroma step of %u; it must be 1 or 2",
                     image->chroma_step);
  for (int i = 0; i < 2 && status == CCL_OK; i++)
    status = check_plane (&image->chroma[i], config->width / 2 + config->width % 2,
                          image->chroma_step, "chroma");
  return status;
}

static CclStatus
check_mask (const CclMotion *self, const CclMask *mask)
{
  const CclMotionSession *session = self->session;

  if (!mask->words)
    return ccl_fail (CCL_ERROR_INVALID, "the mask has no words; use ccl_mask_alloc()");
  if (mask->width != session->width || mask->height != session->height)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a mask of %" PRIu32 "x%" PRIu32 " does not fit a model of %" PRIu32
                     "x%" PRIu32 "; use the size in CclMotionInfo",
                     mask->width, mask->height, session->width, session->height);
  if (mask->pitch < ccl_mask_words (mask->width))
    return ccl_fail (CCL_ERROR_INVALID, "a mask's pitch of %zu words is less than a row's %zu",
                     mask->pitch, ccl_mask_words (mask->width));
  return CCL_OK;
}

static bool
allows (const CclMotionConfig *config, const CclMotionClass *backend)
{
  return ccl_backend_is_allowed (config->backend, config->device, config->cuda_context,
                                 backend->id);
}

/* Opens a session on the first backend that the config allows and that works. */
static CclStatus
open_session (CclMotion *self, const CclMotionSession *wanted)
{
  CclStatus status = CCL_ERROR_UNSUPPORTED;
  bool known = false;

  for (size_t i = 0; i < N_BACKENDS && status != CCL_OK; i++) {
    if (!allows (&wanted->config, backends[i]))
      continue;
    known = true;
    self->backend = backends[i];
    status = self->backend->open (wanted, &self->session);
    if (status == CCL_ERROR_INVALID)
      return status;
  }
  if (!known)
    return ccl_fail_without_cuda ();
  return status;
}

CclStatus
ccl_motion_new (const CclMotionConfig *config, CclMotion **motion)
{
  CclMotionSession wanted = { 0 };
  CclMotion *self;
  CclStatus status;

  if (!config || !motion)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_motion_new: an argument is NULL");
  *motion = NULL;
  status = check_motion_config (config);
  if (status != CCL_OK)
    return status;
  wanted.config = *config;
  wanted.device = -1;
  wanted.width = (config->width - 1) / config->scale + 1;
  wanted.height = (config->height - 1) / config->scale + 1;
  self = calloc (1, sizeof *self);
  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a background model");
  status = open_session (self, &wanted);
  if (status != CCL_OK) {
    free (self);
    return status;
  }
  *motion = self;
  return CCL_OK;
}

void
ccl_motion_free (CclMotion *motion)
{
  if (!motion)
    return;
  motion->backend->close (motion->session);
  free (motion);
}

/* Takes the last frame's foreground into account. Waits until that is known, or with @all until the
 * frame is complete. */
static CclStatus
finish (CclMotion *self, bool all)
{
  CclStatus status;

  if (!self->in_flight)
    return CCL_OK;
  self->in_flight = false;
  status = self->backend->finish (self->session, all, &self->foreground);
  if (status != CCL_OK)
    return status;
  self->light_change = self->foreground > self->most;
  ccl_motion_clock_judge (&self->clock, self->freeze, self->elapsed, self->light_change);
  return CCL_OK;
}

/* Begins a frame; fills in the rest of @job. */
static CclStatus
begin (CclMotion *self, const CclMotionParams *params, uint64_t elapsed, CclMotionJob *job)
{
  const CclMotionSession *session = self->session;
  CclMotionClock clock;
  CclStatus status = finish (self, false);

  if (status != CCL_OK)
    return status;
  clock = self->clock;
  job->step = ccl_motion_clock_tick (&clock, params, elapsed);
  job->most = ccl_motion_most (params, (uint64_t) session->width * session->height);
  job->silent = clock.age < params->warm_up;
  status = self->backend->apply (self->session, job);
  if (status != CCL_OK)
    return status;
  self->clock = clock;
  self->starts += job->step.first;
  self->most = job->most;
  self->freeze = params->freeze;
  self->elapsed = elapsed;
  self->has_shadows = false;
  self->in_flight = true;
  return CCL_OK;
}

static CclStatus
check_frame (const CclMotion *self, const CclMotionParams *params, const CclMotionImage *image)
{
  CclStatus status = check_params (params);

  return status == CCL_OK ? check_image (self, image) : status;
}

static bool
is_host (CclMemory memory)
{
  return memory == CCL_MEMORY_HOST || memory == CCL_MEMORY_PINNED;
}

static CclStatus
check_masks (const CclMotion *self, const CclMask *mask, const CclMask *shadows)
{
  CclStatus status = check_mask (self, mask);

  if (status == CCL_OK && shadows)
    status = check_mask (self, shadows);
  if (status == CCL_OK && shadows && is_host (mask->memory) != is_host (shadows->memory))
    return ccl_fail (
        CCL_ERROR_INVALID,
        "one mask is in host memory, the other in device memory; use the same for both");
  return status;
}

CclStatus
ccl_motion_apply (CclMotion *motion, const CclMotionParams *params, const CclMotionImage *image,
                  uint64_t elapsed, CclMask *mask, CclMask *shadows)
{
  CclMotionJob job = { .image = image, .mask = mask, .shadows = shadows };
  CclMotionSession *session;
  CclStatus status;
  bool copied;

  if (!motion || !params || !image || !mask)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_motion_apply: an argument is NULL");
  status = check_frame (motion, params, image);
  if (status == CCL_OK)
    status = check_masks (motion, mask, shadows);
  if (status != CCL_OK)
    return status;
  session = motion->session;
  copied = is_host (mask->memory) && motion->backend->id != CCL_BACKEND_CPU;
  if (copied) {
    job.mask = &session->masks[0];
    job.shadows = shadows ? &session->masks[1] : NULL;
  }
  status = begin (motion, params, elapsed, &job);
  if (status == CCL_OK)
    status = finish (motion, true);
  if (status == CCL_OK && copied)
    status = motion->backend->read (session, &session->masks[0], mask);
  if (status == CCL_OK && copied && shadows)
    status = motion->backend->read (session, &session->masks[1], shadows);
  return status;
}

CclStatus
ccl_motion_detect (CclMotion *motion, const CclMotionParams *params, const CclMotionImage *image,
                   uint64_t elapsed, bool shadows, const CclAnalyzer *analyzer,
                   CclImage *foreground)
{
  CclMotionSession *session;
  CclMotionJob job;
  CclInfo info;
  CclStatus status;

  if (!motion || !params || !image || !analyzer || !foreground)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_motion_detect: an argument is NULL");
  session = motion->session;
  ccl_analyzer_info (analyzer, &info);
  if (info.backend != motion->backend->id || info.device != session->device)
    return ccl_fail (CCL_ERROR_INVALID,
                     "the analyzer is on another device (%s) than the background model (%s)",
                     info.device_name, session->device_name);
  status = check_frame (motion, params, image);
  if (status != CCL_OK)
    return status;
  job = (CclMotionJob){
    .image = image,
    .mask = &session->masks[0],
    .shadows = shadows ? &session->masks[1] : NULL,
    .enlarge = session->config.scale > 1,
    .stream = ccl_analyzer_stream (analyzer),
  };
  status = begin (motion, params, elapsed, &job);
  if (status != CCL_OK)
    return status;
  motion->has_shadows = shadows;
  *foreground = ccl_mask_image (job.enlarge ? &session->enlarged[0] : &session->masks[0]);
  return CCL_OK;
}

CclStatus
ccl_motion_shadows (CclMotion *motion, CclMask *shadows)
{
  const CclMotionConfig *config;
  CclMotionSession *session;
  CclStatus status;

  if (!motion || !shadows)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_motion_shadows: an argument is NULL");
  session = motion->session;
  config = &session->config;
  status = ccl_check_mask (shadows, "ccl_motion_shadows");
  if (status == CCL_OK && (shadows->width != config->width || shadows->height != config->height))
    return ccl_fail (CCL_ERROR_INVALID,
                     "a mask of %" PRIu32 "x%" PRIu32 " does not fit frames of %" PRIu32 "x%" PRIu32
                     "; use the same size",
                     shadows->width, shadows->height, config->width, config->height);
  if (status == CCL_OK && !motion->has_shadows)
    return ccl_fail (CCL_ERROR_INVALID,
                     "the last frame has no shadows; call ccl_motion_detect() with shadows");
  if (status == CCL_OK)
    status = finish (motion, true);
  return status == CCL_OK
             ? motion->backend->read (
                   session, config->scale > 1 ? &session->enlarged[1] : &session->masks[1], shadows)
             : status;
}

void
ccl_motion_reset (CclMotion *motion)
{
  finish (motion, true);
  motion->clock = (CclMotionClock){ 0 };
}

CclStatus
ccl_motion_background (CclMotion *motion, uint8_t *pixels, size_t stride)
{
  CclStatus status;

  if (!motion || !pixels)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_motion_background: an argument is NULL");
  if (stride < motion->session->width)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a stride of %zu is less than the %" PRIu32 " pixels of a row", stride,
                     motion->session->width);
  status = finish (motion, true);
  return status == CCL_OK ? motion->backend->background (motion->session, pixels, stride) : status;
}

void
ccl_motion_info (CclMotion *motion, CclMotionInfo *info)
{
  const CclMotionSession *session = motion->session;

  finish (motion, true);
  *info = (CclMotionInfo){
    .backend = motion->backend->id,
    .device = session->device,
    .device_name = session->device_name,
    .width = session->width,
    .height = session->height,
    .foreground = motion->foreground,
    .age = motion->clock.age,
    .starts = motion->starts,
    .light_change = motion->light_change,
    .time = session->time,
    .allocations = session->account.allocations,
    .bytes = session->account.bytes,
  };
}

void
ccl_motion_usage (const CclMotion *motion, uint64_t *allocations, uint64_t *bytes)
{
  *allocations = motion->session->account.allocations;
  *bytes = motion->session->account.bytes;
}
