/* cudaccl - CUDA backend: crops
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_CROPS_H
#define CCL_CUDA_CROPS_H

#include "engine/backend.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enqueues the drawing of a picture, three planes of @width by @height, filled with @fill where
 * there is no crop. The task's planes are in device memory. */
cudaError_t ccl_cuda_crops_draw (const CclCropTask *task, uint32_t width, uint32_t height,
                                 uint8_t fill, uint8_t *picture, cudaStream_t stream);

/* Members of CclBackendClass. */
CclStatus ccl_cuda_cropper_open (const CclCropperConfig *config, CclAccount *account,
                                 CclDeviceCropper **cropper);
CclStatus ccl_cuda_cropper_draw (CclDeviceCropper *cropper, const CclImage *image,
                                 CclCropTask *task, const uint8_t **picture);
void ccl_cuda_cropper_close (CclDeviceCropper *cropper);

#ifdef __cplusplus
}
#endif

#endif
