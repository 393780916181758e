/* cudaccl - background models: what all backends share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_ENGINE_MOTION_H
#define CCL_ENGINE_MOTION_H

#include <cudaccl/ccl.h>
#include "engine/motion/step.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The part of a background model that all backends share. The analyzer keeps the time; backends
 * read what a frame does to their state, and set foreground. */
typedef struct CclModel
{
  CclMotionConfig config;
  uint32_t width, height; /* pixels */
  uint64_t bytes;         /* set by open(): what the backend allocated for it */

  /* The frame that is submitted. */
  CclMotionStep step;
  uint64_t most; /* with more foreground, both masks are empty */
  bool silent;   /* both are empty in any case */
  /* Set by collect(), at the latest. */
  uint64_t foreground, n_shadows;   /* pixels of the model */
  uint64_t known;                   /* see CclMotionSeen */
  uint64_t luma[CCL_FLICKER_BANDS]; /* sums of the rows that count: see ccl_drift_brightness() */
  bool relit;                       /* see CclMotionSeen; false unless step.light searches */
  CclDriftLevels levels;            /* 0 unless step.light is CCL_MOTION_DRIFT */
  CclShift shift;                   /* 0 unless step.align is CCL_SHAKE_ALIGN */
  CclShift moved;                   /* 0 unless it is CCL_SHAKE_SEARCH */
  bool flickers, far;               /* false unless step.flicker */

  CclMotionClock clock;
  bool freeze;
  uint64_t elapsed, starts;
  uint64_t n_relit, n_aligned, n_flickered; /* frames: see CclMotionInfo */
  uint32_t n_displaced;                     /* likewise */
  bool light_change;
} CclModel;

CclStatus ccl_model_check_config (const CclMotionConfig *config);

/* Checks that a frame of @width pixels a row has the planes of @format. */
CclStatus ccl_motion_check_image (CclMotionFormat format, const CclImage *image, uint32_t width);

/* For frames of @width by @height pixels. */
void ccl_model_init (CclModel *model, const CclMotionConfig *config, uint32_t width,
                     uint32_t height);

/* Checks the parameters of a frame. */
CclStatus ccl_model_check (const CclParams *params);
/* Sets what a frame with checked parameters does; @clock: the time with it. */
void ccl_model_begin (CclModel *model, const CclParams *params, CclMotionClock *clock);
/* The frame was submitted: the backend's state will change. */
void ccl_model_commit (CclModel *model, const CclMotionClock *clock);
/* The frame was collected: its foreground is known. */
void ccl_model_finish (CclModel *model);

void ccl_model_info (const CclModel *model, CclMotionInfo *info);

/* The samples of chroma of @n pixels in a row or column. */
static inline uint32_t
ccl_model_half (uint32_t n)
{
  return n / 2 + n % 2;
}

#ifdef __cplusplus
}
#endif

#endif
