/* cudaccl - background models: the reference, what every backend must reproduce
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pixel by pixel over whole planes, never optimised. It shares the arithmetic of a pixel with the
 * backends (motion_pixel.h) and what time does (motion_step.h), nothing else. */

#ifndef CCL_MOTION_REFERENCE_H
#define CCL_MOTION_REFERENCE_H

#include "engine/motion_step.h"

typedef struct CclMotionReference CclMotionReference;

/* Arguments are trusted here and below. Returns NULL if there is not enough memory. */
CclMotionReference *ccl_motion_reference_new (const CclMotionConfig *config);
void ccl_motion_reference_free (CclMotionReference *reference);

/* As ccl_motion_apply(), but writes one byte per pixel and width bytes per row: 0 for background,
 * 255 for foreground, 127 for shadow. @image is in host memory. */
void ccl_motion_reference_apply (CclMotionReference *reference, const CclMotionParams *params,
                                 const CclMotionImage *image, uint64_t elapsed, uint8_t *pixels);

void ccl_motion_reference_reset (CclMotionReference *reference);

/* The background, rounded to grey levels. */
void ccl_motion_reference_background (const CclMotionReference *reference, uint8_t *pixels);

#endif
