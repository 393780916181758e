/* cudaccl - tells components of objects from noise by their area
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_NOISE_H__
#define __GST_CCL_NOISE_H__

#include "track.h"

G_BEGIN_DECLS

/* Detections below this share of the area that starts a track are not even fragments. */
#define NOISE_SHARE 0.25

#define N_AREA_BINS 256 /* four for each power of two up to 2^64 */

typedef struct
{
  gdouble areas[N_AREA_BINS]; /* total area of recent detections of such areas */
} GstCclNoise;

/* Starts anew. */
void gst_ccl_noise_reset (GstCclNoise *self);

/* Returns the least area that starts a track, in pixels: @limit, or less where the @blobs (Blob) of
 * this frame, @dt seconds after the one before, and of earlier ones are small. */
gdouble gst_ccl_noise_update (GstCclNoise *self, const GArray *blobs, gdouble dt, gdouble limit);

G_END_DECLS

#endif /* __GST_CCL_NOISE_H__ */
