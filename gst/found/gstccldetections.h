/* cudaccl - the detections of ccldetect
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_DETECTIONS_H__
#define __GST_CCL_DETECTIONS_H__

#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclclasses.h>

G_BEGIN_DECLS

/* The results of one look of a network. On a buffer, these are regions of interest: they scale with
 * the frame and applications read them, see docs/elements/ccldetect.md. Only these functions know
 * their fields. */
typedef struct
{
  GArray *boxes;    /* GstCclComponent: objects, with class and confidence */
  GArray *parts;    /* GstCclComponent: the parts of the frame that were looked at */
  GstClockTime age; /* how much older the frame is that they are of */
} GstCclDetections;

/* The type of the regions that were looked at. Elements that take all regions for detections leave
 * them out. */
#define GST_CCL_DETECTIONS_PART "ccldetect-look"

/* Sets the area and the centroid of a box that has no others: all of its pixels count. */
void gst_ccl_detections_complete (GstCclComponent *box);

/* Returns the id of another element's track as one of GstCclComponent, in which 0 is none: 0
 * becomes the highest, and ids of more than 32 bits are folded. */
guint gst_ccl_detections_get_track (guint64 id);

void gst_ccl_detections_init (GstCclDetections *self);

void gst_ccl_detections_clear (GstCclDetections *self);

/* Adds a part of the frame or a box to the writable @buffer, as a region with this id. A box may
 * have an @outline (gfloat: x and y in turn, in pixels of the frame); its area and its centroid are
 * then those of what is inside. */
void gst_ccl_detections_add_part (GstBuffer *buffer, gint id, const GstCclComponent *part,
                                  gint64 age);
void gst_ccl_detections_add_box (GstBuffer *buffer, GQuark type, gint id,
                                 const GstCclComponent *box, const GArray *outline, gint64 age);

/* Replaces the content of @self with the detections of @buffer, limiting the age to @oldest. Leaves
 * boxes without pixels out. Returns FALSE if @buffer has no detections. */
gboolean gst_ccl_detections_read (GstCclDetections *self, GstBuffer *buffer, GstCclClasses *classes,
                                  GstClockTime oldest);

/* Removes their regions from the writable @buffer. */
void gst_ccl_detections_remove (GstBuffer *buffer);

G_END_DECLS

#endif /* __GST_CCL_DETECTIONS_H__ */
