/* cudaccl - crops: checks arguments, and chooses who draws
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/backend.h"
#include "engine/color.h"
#include "engine/cpu/crop.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The largest total of weights for which ccl_crop_mean() is exact. */
#define MOST_WEIGHTS (UINT64_C (1) << 27)

struct CclCropper
{
  CclCropperConfig config;
  CclAccount account;
  CclCpuCropper cpu;
  uint8_t *picture;
  CclDeviceCropper *device; /* NULL before the first frame in device memory */
};

void
ccl_cropper_config_init (CclCropperConfig *config, uint32_t width, uint32_t height)
{
  *config = (CclCropperConfig){ .width = width, .height = height, .fill = 114, .device = -1 };
}

CclStatus
ccl_cropper_new (const CclCropperConfig *config, CclCropper **cropper)
{
  CclCropper *self;

  if (!config || !cropper)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_cropper_new: an argument is NULL");
  if (config->width == 0 || config->height == 0 || config->width > CCL_MAX_CROP_PICTURE ||
      config->height > CCL_MAX_CROP_PICTURE)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a picture of %" PRIu32 "x%" PRIu32 " pixels; use 1 to %d in each direction",
                     config->width, config->height, CCL_MAX_CROP_PICTURE);
  if (config->device < -1)
    return ccl_fail (CCL_ERROR_INVALID, "device %d is invalid; use 0 or more, or -1 for any",
                     config->device);
  self = calloc (1, sizeof *self);
  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a cropper");
  self->config = *config;
  self->picture = ccl_account_malloc (&self->account, 3 * (uint64_t) config->width, config->height,
                                      "a picture");
  if (!self->picture) {
    free (self);
    return CCL_ERROR_NO_MEMORY;
  }
  *cropper = self;
  return CCL_OK;
}

void
ccl_cropper_free (CclCropper *self)
{
  if (!self)
    return;
#ifdef HAVE_CUDA
  if (self->device)
    ccl_backend_cuda.cropper_close (self->device);
#endif
  ccl_cpu_cropper_clear (&self->cpu);
  free (self->picture);
  free (self);
}

uint64_t
ccl_cropper_allocations (const CclCropper *self)
{
  return self->account.allocations;
}

/* In the order of CclColors. */
static const CclCropColors colors_table[] = {
  { 16, 298, 409, -100, -208, 516 },
  { 0, 256, 359, -88, -183, 454 },
  { 16, 298, 459, -55, -136, 541 },
  { 0, 256, 403, -48, -120, 475 },
};

static bool
is_inside (uint32_t start, uint32_t size, uint32_t end)
{
  return size > 0 && start < end && size <= end - start;
}

/* Whether the weights of a plane are not too many for exact means. */
static bool
has_room (const CclCropTask *task, const CclCrop *crop, unsigned plane)
{
  CclCropAxis x = ccl_crop_axis_x (task, crop, plane), y = ccl_crop_axis_y (task, crop, plane);

  return (uint64_t) ccl_crop_total (&x) * ccl_crop_total (&y) <= MOST_WEIGHTS;
}

static CclStatus
check_crop (const CclCropper *self, const CclCropTask *task, const CclCrop *crop)
{
  if (!is_inside (crop->x, crop->width, task->width) ||
      !is_inside (crop->y, crop->height, task->height))
    return ccl_fail (CCL_ERROR_INVALID,
                     "a crop of %" PRIu32 "x%" PRIu32 " pixels at %" PRIu32 ", %" PRIu32
                     " is not inside the frame",
                     crop->width, crop->height, crop->x, crop->y);
  if (!is_inside (crop->to_x, crop->to_width, self->config.width) ||
      !is_inside (crop->to_y, crop->to_height, self->config.height))
    return ccl_fail (CCL_ERROR_INVALID,
                     "a place of %" PRIu32 "x%" PRIu32 " pixels at %" PRIu32 ", %" PRIu32
                     " is not inside the picture",
                     crop->to_width, crop->to_height, crop->to_x, crop->to_y);
  if (!has_room (task, crop, 0) || (task->planes[1].samples && !has_room (task, crop, 1)))
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "a crop of %" PRIu32 "x%" PRIu32 " pixels is too large; split it", crop->width,
                     crop->height);
  return CCL_OK;
}

static CclStatus
check_frame (const CclImage *image, uint32_t width, uint32_t height)
{
  CclStatus status;

  if (width == 0 || height == 0 || width > CCL_MAX_CROP_FRAME || height > CCL_MAX_CROP_FRAME)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a frame of %" PRIu32 "x%" PRIu32 " pixels; use 1 to %d in each direction",
                     width, height, CCL_MAX_CROP_FRAME);
  if (!image->data)
    return ccl_fail (CCL_ERROR_INVALID, "the frame has no pixels: its data is NULL");
  if (ccl_color_weights (image->format))
    return ccl_color_check (image, width, image->chroma != NULL);
  status =
      ccl_motion_check_image (image->chroma ? CCL_MOTION_LUMA_420 : CCL_MOTION_LUMA, image, width);
  for (int i = 0; i < 2 && image->chroma && status == CCL_OK; i++)
    if (image->chroma->planes[i].memory != image->memory)
      return ccl_fail (CCL_ERROR_UNSUPPORTED, "luma and chroma are in different kinds of memory");
  return status;
}

/* 16-bit samples: the bytes that are their highest 8 bits, or the samples themselves. */
static void
set_samples (CclCropTask *task, const CclImage *image, const CclColorWeights *layout)
{
  const CclChroma *chroma = image->chroma;
  const uint32_t shift = layout->shift % 8;
  const size_t at = shift ? 0 : layout->offsets[0];

  task->planes[0] = (CclCropPlane){ image->data + at, image->stride, layout->bytes, shift };
  for (int i = 0; i < 2 && chroma; i++)
    task->planes[1 + i] = (CclCropPlane){ chroma->planes[i].data + at, chroma->planes[i].stride,
                                          chroma->step, shift };
}

static void
set_planes (CclCropTask *task, const CclImage *image)
{
  const CclColorWeights *layout = ccl_color_weights (image->format);
  const CclChroma *chroma = image->chroma;

  task->sub_x = task->sub_y = 2;
  if (layout && layout->shift) {
    set_samples (task, image, layout);
    return;
  }
  if (layout) {
    task->sub_x = layout->pairs ? 2 : 1;
    task->sub_y = 1;
    task->rgb = layout->chroma && !layout->pairs;
    for (unsigned i = 0; i < (layout->chroma ? 3 : 1); i++)
      task->planes[i] = (CclCropPlane){ image->data + layout->offsets[i], image->stride,
                                        layout->bytes * (i > 0 ? task->sub_x : 1), 0 };
    return;
  }
  task->planes[0] = (CclCropPlane){ image->data, image->stride, 1, 0 };
  for (int i = 0; i < 2 && chroma; i++)
    task->planes[1 + i] =
        (CclCropPlane){ chroma->planes[i].data, chroma->planes[i].stride, chroma->step, 0 };
}

static CclStatus
draw (CclCropper *self, const CclImage *image, CclCropTask *task, const uint8_t **picture)
{
  *picture = self->picture;
  if (image->memory == CCL_MEMORY_HOST || image->memory == CCL_MEMORY_PINNED) {
    memset (self->picture, self->config.fill,
            3 * (size_t) self->config.width * self->config.height);
    return ccl_cpu_cropper_draw (&self->cpu, &self->account, task, self->config.width,
                                 self->config.height, self->picture);
  }
#ifdef HAVE_CUDA
  if (!self->device) {
    CclStatus status = ccl_backend_cuda.cropper_open (&self->config, &self->account, &self->device);

    if (status != CCL_OK)
      return status;
  }
  return ccl_backend_cuda.cropper_draw (self->device, image, task, picture);
#else
  return ccl_fail_without_cuda ();
#endif
}

CclStatus
ccl_cropper_draw (CclCropper *self, const CclImage *image, uint32_t width, uint32_t height,
                  CclColors colors, const CclCrop *crops, uint32_t n, const uint8_t **picture)
{
  CclCropTask task = { .width = width, .height = height, .n = n };
  CclStatus status;

  if (!self || !image || (!crops && n > 0) || !picture)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_cropper_draw: an argument is NULL");
  if ((unsigned) colors > CCL_COLORS_BT709_FULL || n > CCL_MAX_CROPS)
    return ccl_fail (CCL_ERROR_INVALID, "unknown colours %d, or more than %d crops: %" PRIu32,
                     (int) colors, CCL_MAX_CROPS, n);
  status = check_frame (image, width, height);
  if (status == CCL_OK)
    set_planes (&task, image);
  for (uint32_t i = 0; i < n && status == CCL_OK; i++) {
    task.crops[i] = crops[i];
    status = check_crop (self, &task, &crops[i]);
  }
  if (status != CCL_OK)
    return status;

  task.colors = colors_table[colors];
  return draw (self, image, &task, picture);
}
