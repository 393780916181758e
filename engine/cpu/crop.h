/* cudaccl - CPU backend: crops
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_CROP_H
#define CCL_CPU_CROP_H

#include "engine/account.h"
#include "engine/shared/crop.h"

/* Zeroed before its first frame. */
typedef struct CclCpuCropper
{
  uint32_t *sums; /* [n_sums]: of columns */
  size_t n_sums;
  CclCropTaps *taps; /* [2 * CCL_MAX_CROP_PICTURE]: of columns of luma, then of chroma */
} CclCpuCropper;

/* Draws the crops on @picture, three planes of @width by @height. Allocates what it needs for
 * frames of this width. */
CclStatus ccl_cpu_cropper_draw (CclCpuCropper *self, CclAccount *account, const CclCropTask *task,
                                uint32_t width, uint32_t height, uint8_t *picture);

void ccl_cpu_cropper_clear (CclCpuCropper *self);

#endif
