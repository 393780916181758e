/* cudaccl - parts of frames, scaled, as pictures for a neural network
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CUDACCL_CROP_H
#define CUDACCL_CROP_H

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Frames and pictures have at most this width and height. */
#define CCL_MAX_CROP_FRAME 65535
#define CCL_MAX_CROP_PICTURE 2048

#define CCL_MAX_CROPS 64

/* How luma and chroma become red, green and blue. Full: luma 0 to 255, else 16 to 235. Frames
 * without chroma are grey as they are. */
typedef enum CclColors
{
  CCL_COLORS_BT601 = 0,
  CCL_COLORS_BT601_FULL,
  CCL_COLORS_BT709,
  CCL_COLORS_BT709_FULL,
} CclColors;

/* A part of a frame, as in CclBox, and the place in the picture that it is scaled to; in pixels. */
typedef struct CclCrop
{
  uint32_t x, y, width, height;
  uint32_t to_x, to_y, to_width, to_height;
} CclCrop;

/* Start from ccl_cropper_config_init(). */
typedef struct CclCropperConfig
{
  uint32_t width, height; /* of the picture */
  uint8_t fill;           /* red, green and blue where there is no crop; default 114 */
  int device;             /* the CUDA device of frames in device memory, -1: any */
  void *cuda_context;     /* as CclConfig.cuda_context */
  uint64_t reserved[4];   /* for fields to come; 0 */
} CclCropperConfig;

typedef struct CclCropper CclCropper;

/* Fills @config with the defaults: any device, its primary context, @fill 114. */
CCL_API void ccl_cropper_config_init (CclCropperConfig *config, uint32_t width, uint32_t height);

/* Makes a cropper. Free it with ccl_cropper_free(). Frames in host memory are cropped by the CPU,
 * others on their device, which is opened with the first of them. Errors: CCL_ERROR_INVALID,
 * CCL_ERROR_NO_MEMORY. */
CCL_API CclStatus ccl_cropper_new (const CclCropperConfig *config, CclCropper **cropper);

/* NULL is ignored. */
CCL_API void ccl_cropper_free (CclCropper *cropper);

/* Draws @n crops of a frame of @width by @height pixels. @image: any format but CCL_FORMAT_BITS and
 * CCL_FORMAT_GRAY32. Bytes and 16-bit samples may have chroma, as for CCL_MOTION_LUMA_420, of the
 * same format and in the same kind of memory, in steps of 1 or 2 bytes, of 16-bit samples 2 or 4.
 * Of places that overlap, the last crop's is on top.
 *
 * A sample of the picture is the mean of the part of the frame that it covers, weighted by area,
 * in directions that shrink; in those that grow, it is interpolated linearly. Means are exact and
 * rounded to the nearest integer, half up, so that every backend gives the same bytes.
 *
 * @picture: three planes, of red, green and blue, one after the other, of the size in
 * CclCropperConfig, without padding, in host memory. It belongs to the cropper and stays valid
 * until the next call. Errors: CCL_ERROR_INVALID (NULL, too large, a crop that is empty or not
 * inside the frame or the picture), CCL_ERROR_UNSUPPORTED (this build cannot read the memory, or a
 * crop of more than 2^27 pixels, or with chroma of more than 2^25 that grows in one direction),
 * CCL_ERROR_NO_DEVICE, CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_cropper_draw (CclCropper *cropper, const CclImage *image, uint32_t width,
                                    uint32_t height, CclColors colors, const CclCrop *crops,
                                    uint32_t n, const uint8_t **picture);

/* The allocations of host and device memory since ccl_cropper_new(). */
CCL_API uint64_t ccl_cropper_allocations (const CclCropper *cropper);

#ifdef __cplusplus
}
#endif

#endif
