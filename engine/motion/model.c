/* cudaccl - background models: arguments and time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/motion/model.h"
#include "engine/error.h"
#include "engine/motion/drift.h"

#include <inttypes.h>

#define MILLISECOND UINT64_C (1000000)
#define SECOND (1000 * MILLISECOND)
#define DAY (24 * 3600 * SECOND)

void
ccl_motion_config_init (CclMotionConfig *config)
{
  *config = (CclMotionConfig){ .format = CCL_MOTION_LUMA_420, .scale = 1 };
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

CclStatus
ccl_model_check_config (const CclMotionConfig *config)
{
  if ((unsigned) config->format > CCL_MOTION_LUMA_420)
    return ccl_fail (CCL_ERROR_INVALID, "unknown format %d of frames", (int) config->format);
  if (config->scale != 1 && config->scale != 2 && config->scale != 4)
    return ccl_fail (CCL_ERROR_INVALID, "scale %u is not supported; use 1, 2 or 4", config->scale);
  return CCL_OK;
}

CclStatus
ccl_model_check (const CclParams *params)
{
  const CclMotionParams *motion = &params->motion;

  if (motion->learning_time < MILLISECOND || motion->learning_time > DAY)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a learning time of %" PRIu64 " ns; it must be from 1 ms to 1 day",
                     motion->learning_time);
  if (motion->light_change > 100)
    return ccl_fail (CCL_ERROR_INVALID, "a light change of %u %% is invalid; use 0 to 100 %%",
                     motion->light_change);
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

CclStatus
ccl_motion_check_image (CclMotionFormat format, const CclImage *image, uint32_t width)
{
  const CclChroma *chroma = image->chroma;
  CclStatus status = check_plane (image, width, 1, "luma");

  if (status != CCL_OK || format == CCL_MOTION_LUMA)
    return status;
  if (!chroma || (chroma->step != 1 && chroma->step != 2))
    return ccl_fail (CCL_ERROR_INVALID, "the frame has no chroma, or its step is not 1 or 2");
  for (int i = 0; i < 2 && status == CCL_OK; i++)
    status = check_plane (&chroma->planes[i], ccl_model_half (width), chroma->step, "chroma");
  return status;
}

void
ccl_model_init (CclModel *model, const CclMotionConfig *config, uint32_t width, uint32_t height)
{
  *model = (CclModel){
    .config = *config,
    .width = (width - 1) / config->scale + 1,
    .height = (height - 1) / config->scale + 1,
  };
}

void
ccl_model_begin (CclModel *model, const CclParams *params, CclMotionClock *clock)
{
  const CclMotionParams *motion = &params->motion;

  *clock = model->clock;
  model->step = ccl_motion_clock_tick (clock, motion, params->elapsed);
  model->most = ccl_motion_most (motion, (uint64_t) model->width * model->height);
  model->silent = clock->age < motion->warm_up;
  model->freeze = motion->freeze;
  model->elapsed = params->elapsed;
}

void
ccl_model_commit (CclModel *model, const CclMotionClock *clock)
{
  model->clock = *clock;
  model->starts += model->step.first;
  model->n_displaced += model->step.displaced;
}

void
ccl_model_finish (CclModel *model)
{
  CclMotionSeen seen = {
    .pixels = (uint64_t) model->width * model->height,
    .foreground = model->foreground,
    .shadows = model->n_shadows,
    .known = model->known,
    .relit = model->relit,
    .levels = model->levels,
    .shift = model->shift,
    .moved = model->moved,
    .coarse = ccl_shake_size (model->width, model->height),
    .flickers = model->flickers,
    .far = model->far,
    .light_change = model->foreground > model->most,
  };
  uint64_t luma = 0;

  for (int i = 0; i < CCL_FLICKER_BANDS; i++)
    luma += model->luma[i];
  seen.brightness = ccl_drift_brightness (luma, model->width, model->height);
  ccl_flicker_levels (model->luma, model->width, model->height, seen.bands);
  model->light_change = seen.light_change;
  model->n_relit += model->relit;
  model->n_aligned += ccl_shake_moves (model->shift);
  model->n_flickered += model->step.flicker != CCL_FLICKER_NONE;
  ccl_motion_clock_judge (&model->clock, model->freeze, model->elapsed, &seen);
}

void
ccl_model_info (const CclModel *model, CclMotionInfo *info)
{
  *info = (CclMotionInfo){
    .width = model->width,
    .height = model->height,
    .foreground = model->foreground,
    .age = model->clock.age,
    .starts = model->starts,
    .light_change = model->light_change,
    .bytes = model->bytes,
    .relit = model->n_relit,
    .aligned = model->n_aligned,
    .flickered = model->n_flickered,
    .veil = model->step.veil,
    .displaced = model->n_displaced,
    .waves = model->step.waves,
  };
}
