/* cudaccl - small pictures of places in a frame, and what they show
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PATCH_H__
#define __GST_CCL_PATCH_H__

#include <glib.h>

G_BEGIN_DECLS

#define GST_CCL_PATCH_SIDE 48

/* The luma of a box and its surroundings. A sample is the mean of the pixels that it covers. */
typedef struct
{
  guint x, y, width, height;      /* of all in the frame */
  guint columns, rows;            /* samples, at most GST_CCL_PATCH_SIDE */
  guint left, top, right, bottom; /* samples of the box; the last two are behind it */
  guint8 samples[GST_CCL_PATCH_SIDE * GST_CCL_PATCH_SIDE]; /* rows of @columns */
} GstCclPatch;

/* Places a patch around a box, which is inside of a frame of @frame_width by @frame_height. */
void gst_ccl_patch_place (GstCclPatch *self, guint x, guint y, guint width, guint height,
                          guint frame_width, guint frame_height);

/* Blurs a patch of a frame like the background, which the model blurs: a quarter of each of its
 * pixels, @scale by @scale of the frame's, comes from either side. */
void gst_ccl_patch_blur (GstCclPatch *self, guint scale);

/* Functions below compare patches of the same place. */

/* Returns how much @a differs from @b in another light, which is brighter or darker by a constant,
 * and has up to twice or half the contrast: the mean square that is left. */
gdouble gst_ccl_patch_get_distance (const GstCclPatch *a, const GstCclPatch *b);

/* Whether @now shows @object rather than @before, and surely @before rather than @object. */
gboolean gst_ccl_patch_shows (const GstCclPatch *now, const GstCclPatch *object,
                              const GstCclPatch *before);
gboolean gst_ccl_patch_shows_before (const GstCclPatch *now, const GstCclPatch *object,
                                     const GstCclPatch *before);

/* Returns the share of the box in which @object differs from @before by more than surroundings do.
 */
gdouble gst_ccl_patch_differs (const GstCclPatch *object, const GstCclPatch *before);

/* Whether the outline of what differs is an edge of @before rather than of @object. */
gboolean gst_ccl_patch_is_removed (const GstCclPatch *object, const GstCclPatch *before);

G_END_DECLS

#endif /* __GST_CCL_PATCH_H__ */
