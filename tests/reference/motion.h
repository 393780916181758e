/* cudaccl - background models: the reference, what every backend must reproduce
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pixel by pixel over whole planes, never optimised. It shares the arithmetic of a pixel with the
 * backends (engine/motion/pixel.h) and what time does (step.h), nothing else. */

#ifndef CCL_MOTION_REFERENCE_H
#define CCL_MOTION_REFERENCE_H

#include "engine/motion/step.h"

#include <cudaccl/ccl.h>

typedef struct CclMotionReference CclMotionReference;

/* For frames of @width by @height pixels. Arguments are trusted here and below. Returns NULL if
 * there is not enough memory. */
CclMotionReference *ccl_motion_reference_new (const CclMotionConfig *config, uint32_t width,
                                              uint32_t height);
void ccl_motion_reference_free (CclMotionReference *reference);

/* Writes one byte per pixel of the model and its width bytes per row: 0 for background, 255 for
 * foreground, 127 for shadow. @image and its chroma are in host memory. */
void ccl_motion_reference_apply (CclMotionReference *reference, const CclParams *params,
                                 const CclImage *image, uint8_t *pixels);

/* Whether the next frame is divided by the gains of its rows, since lamps flicker. */
bool ccl_motion_reference_flickers (const CclMotionReference *reference);

void ccl_motion_reference_reset (CclMotionReference *reference);

/* The background, rounded to grey levels. */
void ccl_motion_reference_background (const CclMotionReference *reference, uint8_t *pixels);

#endif
