/* cudaccl - corrects tracks by detections of their own
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MEASURE_H__
#define __GST_CCL_MEASURE_H__

#include "scene.h"

G_BEGIN_DECLS

/* The first half of step 6: detections measure the tracks that have them. */
void gst_ccl_scene_measure_all (GstCclScene *self);

/* Weight of the size of a detection in that of its track. @alpha is the usual one. */
gdouble gst_ccl_measure_get_share (const Track *track, const Blob *blob, gdouble alpha);

/* Measures a track that has a detection for itself. @share is the weight of its size. If it is
 * @better than the prediction, its centre counts more, wherever its sides are. */
void gst_ccl_scene_measure (const GstCclScene *self, Track *track, const Blob *blob, gdouble share,
                            gboolean better);

G_END_DECLS

#endif /* __GST_CCL_MEASURE_H__ */
