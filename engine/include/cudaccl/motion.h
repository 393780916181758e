/* cudaccl - background models: a camera's frames in, masks of what moves out
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A CclMotion learns the background of a fixed camera and returns, for each frame, a CclMask of the
 * pixels that differ from it. The mask is not cleaned: see CclConfig.operations.
 *
 * The model: the background is a slow mean of the pixels that are not foreground. A pixel is
 * foreground if its luma, blurred over 3x3 pixels, or its chroma differs from the background by
 * more than a threshold. The threshold is the larger of noise_floor and four times the pixel's mean
 * difference, plus the change that a shift of the picture by one pixel would cause there. Pixels
 * that are darker than the background but keep its texture and chroma are shadows. Objects that
 * stand still for the learning time become background. A young model learns faster, so that objects
 * in the first frames soon leave no ghosts.
 *
 * All arithmetic is in integers: the result is the same on every backend, with every instruction
 * set and any number of threads.
 *
 * A model belongs to one thread at a time; different models may run concurrently. */

#ifndef CCL_MOTION_H
#define CCL_MOTION_H

#include <cudaccl/mask.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CclMotion CclMotion;

typedef enum CclMotionFormat
{
  CCL_MOTION_LUMA = 0, /* luma only: GRAY8, or colour formats without their chroma */
  CCL_MOTION_LUMA_420, /* luma and chroma of half the width and height: NV12, I420 and the like */
} CclMotionFormat;

/* What is fixed for the life of a model. Start from ccl_motion_config_init(). */
typedef struct CclMotionConfig
{
  uint32_t width, height; /* pixels of a frame, each at least 1; width * height < 2^32 */
  CclMotionFormat format;
  CclBackend backend;
  int device;         /* as in CclConfig */
  void *cuda_context; /* as in CclConfig */
  unsigned scale;     /* 1, 2 or 4: a pixel of the model and its masks is the mean of scale x scale
                       * pixels of the frame, fewer at the right and bottom edges */
  unsigned threads;   /* as in CclConfig */
  bool timing;        /* measure CclMotionInfo.time */
} CclMotionConfig;

/* What may change from frame to frame. Start from ccl_motion_params_init(). */
typedef struct CclMotionParams
{
  uint64_t learning_time; /* nanoseconds that an object must stand still to become background; from
                           * 1 ms to 1 day */
  uint64_t warm_up;       /* nanoseconds after each start in which the model learns but masks are
                           * empty */
  uint8_t noise_floor;    /* grey levels: minimum difference in luma of foreground pixels */
  uint8_t light_change; /* percent, 0 to 100: more foreground than this is a change of light: masks
                         * are empty, and if it lasts 0.3 s the model starts anew; 0: never */
  bool keep_shadows;    /* shadows are foreground */
  bool freeze;          /* the model stays as it is */
} CclMotionParams;

/* One frame. */
typedef struct CclMotionImage
{
  CclImage luma;      /* of CCL_FORMAT_BYTES */
  CclImage chroma[2]; /* CCL_MOTION_LUMA_420: the two components, in the same order for all frames,
                       * (width + 1) / 2 by (height + 1) / 2 samples. If they alternate in one
                       * CCL_MEMORY_ARRAY, both are that array */
  unsigned
      chroma_step; /* bytes from sample to sample: 1 for planes, 2 where they alternate (NV12) */
} CclMotionImage;

/* A model's properties, and the state after its last frame. */
typedef struct CclMotionInfo
{
  CclBackend backend;      /* never CCL_BACKEND_AUTO */
  int device;              /* CUDA device number, -1 on the CPU */
  const char *device_name; /* "NVIDIA H200", or the CPU's instruction set in use */
  uint32_t width, height;  /* of masks */
  uint64_t foreground;     /* of the last frame, in pixels, also when its mask is empty */
  uint64_t age;            /* nanoseconds of frames since the start */
  uint64_t starts; /* number of starts: the first frame's, and one for each lasting change of light
                    * and ccl_motion_reset() */
  bool light_change;    /* the last frame was one */
  uint64_t time;        /* nanoseconds that the last frame took; with the CUDA backend on the device
                         * and without waiting for pixels; 0 unless CclMotionConfig.timing */
  uint64_t allocations; /* of any kind of memory since ccl_motion_new() */
  uint64_t bytes;       /* what they hold now */
} CclMotionInfo;

/* Fills @config with the defaults: luma and chroma, automatic backend and device, scale 1, one
 * thread. */
void ccl_motion_config_init (CclMotionConfig *config, uint32_t width, uint32_t height);

/* Fills @params with the defaults: learning time 10 s, no warm-up, noise floor 14, shadows dropped,
 * light change at 60 %. */
void ccl_motion_params_init (CclMotionParams *params);

/* Makes a model and allocates all its memory. Free it with ccl_motion_free(). Errors:
 * CCL_ERROR_INVALID, CCL_ERROR_UNSUPPORTED (this build has no such backend), CCL_ERROR_NO_DEVICE,
 * CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclStatus ccl_motion_new (const CclMotionConfig *config, CclMotion **motion);

/* Frees the model, after waiting for a frame in flight. NULL is ignored. */
void ccl_motion_free (CclMotion *motion);

/* Writes the foreground of a frame to @mask, and updates the model. @elapsed is the time since the
 * previous frame in nanoseconds: usually the frame's duration, more after a gap; it is ignored for
 * the first frame. @mask, and @shadows unless it is NULL, are allocated by the caller, of the size
 * in CclMotionInfo, and are overwritten; @shadows receives the pixels that were dropped as shadows.
 * With the CUDA backend both are in host or both in device memory. Both are complete on return.
 * Allocates memory only for the first frame that has to be transferred to the device. Errors:
 * CCL_ERROR_INVALID and CCL_ERROR_UNSUPPORTED (memory that the backend cannot access), which leave
 * the model as it was; CCL_ERROR_NO_MEMORY and CCL_ERROR_DEVICE, after which it must be freed. */
CclStatus ccl_motion_apply (CclMotion *motion, const CclMotionParams *params,
                            const CclMotionImage *image, uint64_t elapsed, CclMask *mask,
                            CclMask *shadows);

/* The same for a frame that @analyzer analyses next: sets @foreground to a mask of the frame's
 * size, whatever the scale, which belongs to the model and is valid until its next frame. With the
 * CUDA backend this does not wait: the work is enqueued in the stream of ccl_analyzer_submit(), and
 * the frame must not change until ccl_analyzer_collect(). @analyzer must run on the model's
 * backend, device and context. @shadows: keep the shadows for ccl_motion_shadows(). Errors: as
 * ccl_motion_apply(). */
CclStatus ccl_motion_detect (CclMotion *motion, const CclMotionParams *params,
                             const CclMotionImage *image, uint64_t elapsed, bool shadows,
                             const CclAnalyzer *analyzer, CclImage *foreground);

/* Copies the pixels of the last frame of ccl_motion_detect() that were dropped as shadows to
 * @shadows, a mask of the size of the frame in host memory. Errors: CCL_ERROR_INVALID (NULL,
 * another size, or the frame was analysed without @shadows), CCL_ERROR_UNSUPPORTED (device memory),
 * CCL_ERROR_DEVICE. */
CclStatus ccl_motion_shadows (CclMotion *motion, CclMask *shadows);

/* Drops the model's state: the next frame is the first. */
void ccl_motion_reset (CclMotion *motion);

/* Writes the background as a picture of luma, of the masks' size, to host memory; all 0 before the
 * first frame. Errors: CCL_ERROR_INVALID (NULL, or @stride less than the width),
 * CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CclStatus ccl_motion_background (CclMotion *motion, uint8_t *pixels, size_t stride);

/* Gets the model's properties and its state after the last frame, for which it waits. */
void ccl_motion_info (CclMotion *motion, CclMotionInfo *info);

/* Gets CclMotionInfo.allocations and bytes without waiting. */
void ccl_motion_usage (const CclMotion *motion, uint64_t *allocations, uint64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
