/* cudaccl - background models: the front
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccl/motion.h"
#include "ccl/motion_backend.h"

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
};

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
check_config (const CclMotionConfig *config)
{
  CclConfig analyzer;

  ccl_config_init (&analyzer, config->width, config->height);
  analyzer.backend = CCL_BACKEND_CPU;
  analyzer.threads = config->threads;
  if ((unsigned) config->format > CCL_MOTION_LUMA_420)
    return ccl_fail (CCL_ERROR_INVALID, "unknown format %d of frames", (int) config->format);
  if (config->scale != 1 && config->scale != 2 && config->scale != 4)
    return ccl_fail (CCL_ERROR_INVALID, "scale %u is none of 1, 2 and 4", config->scale);
  if ((unsigned) config->backend > CCL_BACKEND_CPU)
    return ccl_fail (CCL_ERROR_INVALID, "unknown backend %d", (int) config->backend);
  if (config->device < -1)
    return ccl_fail (CCL_ERROR_INVALID, "device %d; name one from 0 on, or -1 for any",
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
    return ccl_fail (CCL_ERROR_INVALID, "a light change at %u %% of the frame; name 0 to 100",
                     params->light_change);
  return CCL_OK;
}

/* Room for a row of @samples, @step bytes from one to the next. */
static CclStatus
check_plane (const CclImage *image, uint32_t samples, unsigned step, const char *name)
{
  size_t row = (size_t) (samples - 1) * step + 1;

  if ((unsigned) image->memory > CCL_MEMORY_ARRAY || image->format != CCL_FORMAT_BYTES)
    return ccl_fail (CCL_ERROR_INVALID, "the frame's %s is not of bytes in a known memory", name);
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
                     "a mask of %" PRIu32 "x%" PRIu32 " for a model of %" PRIu32 "x%" PRIu32,
                     mask->width, mask->height, session->width, session->height);
  if (mask->pitch < ccl_mask_words (mask->width))
    return ccl_fail (CCL_ERROR_INVALID, "a mask's pitch of %zu words is less than a row's %zu",
                     mask->pitch, ccl_mask_words (mask->width));
  return CCL_OK;
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
  status = check_config (config);
  if (status != CCL_OK)
    return status;
  if (config->backend == CCL_BACKEND_CUDA || config->cuda_context || config->device >= 0)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "background models don't run on CUDA yet; use the CPU backend");
  wanted.config = *config;
  wanted.width = (config->width - 1) / config->scale + 1;
  wanted.height = (config->height - 1) / config->scale + 1;
  self = calloc (1, sizeof *self);
  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a background model");
  self->backend = &ccl_motion_cpu;
  status = self->backend->open (&wanted, &self->session);
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

static CclStatus
clear_masks (CclMotion *self, CclMask *mask, CclMask *shadows)
{
  CclStatus status = self->backend->clear (self->session, mask);

  return status == CCL_OK && shadows ? self->backend->clear (self->session, shadows) : status;
}

CclStatus
ccl_motion_apply (CclMotion *motion, const CclMotionParams *params, const CclMotionImage *image,
                  uint64_t elapsed, CclMask *mask, CclMask *shadows)
{
  CclMotionClock clock;
  CclMotionStep step;
  CclStatus status;
  uint64_t pixels;

  if (!motion || !params || !image || !mask)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_motion_apply: an argument is NULL");
  status = check_params (params);
  if (status == CCL_OK)
    status = check_image (motion, image);
  if (status == CCL_OK)
    status = check_mask (motion, mask);
  if (status == CCL_OK && shadows)
    status = check_mask (motion, shadows);
  if (status != CCL_OK)
    return status;
  clock = motion->clock;
  step = ccl_motion_clock_tick (&clock, params, elapsed);
  status =
      motion->backend->apply (motion->session, &step, image, mask, shadows, &motion->foreground);
  if (status != CCL_OK)
    return status;
  motion->starts += step.first;
  pixels = (uint64_t) mask->width * mask->height;
  motion->light_change =
      ccl_motion_clock_judge (&clock, params, elapsed, motion->foreground, pixels);
  motion->clock = clock;
  if (motion->light_change || clock.age < params->warm_up)
    status = clear_masks (motion, mask, shadows);
  return status;
}

void
ccl_motion_reset (CclMotion *motion)
{
  motion->clock = (CclMotionClock){ 0 };
}

CclStatus
ccl_motion_background (const CclMotion *motion, uint8_t *pixels, size_t stride)
{
  if (!motion || !pixels)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_motion_background: an argument is NULL");
  if (stride < motion->session->width)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a stride of %zu is less than the %" PRIu32 " pixels of a row", stride,
                     motion->session->width);
  return motion->backend->background (motion->session, pixels, stride);
}

void
ccl_motion_info (const CclMotion *motion, CclMotionInfo *info)
{
  const CclMotionSession *session = motion->session;

  *info = (CclMotionInfo){
    .backend = motion->backend->id,
    .device_name = session->device_name,
    .width = session->width,
    .height = session->height,
    .foreground = motion->foreground,
    .age = motion->clock.age,
    .starts = motion->starts,
    .light_change = motion->light_change,
    .allocations = session->account.allocations,
    .bytes = session->account.bytes,
  };
}
