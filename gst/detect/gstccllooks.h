/* cudaccl - where a network looks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_LOOKS_H__
#define __GST_CCL_LOOKS_H__

#include <gst/ccl/gstccl.h>
#include <cudaccl/crop.h>

#include "gstcclmasks.h"

G_BEGIN_DECLS

/* Remembers moving things: where they are, and when the network last looked at them. */
typedef struct _GstCclLooks GstCclLooks;

/* How a frame lies in the network's input. */
typedef enum
{
  GST_CCL_LETTERBOX_AUTO,
  GST_CCL_LETTERBOX_TOP_LEFT,
  GST_CCL_LETTERBOX_CENTER,
  GST_CCL_LETTERBOX_STRETCH,
} GstCclLetterbox;

/* The parts of a frame in a picture. */
typedef struct
{
  guint n;
  CclCrop crops[CCL_MAX_CROPS];
} GstCclView;

GstCclLooks *gst_ccl_looks_new (void);
void gst_ccl_looks_free (GstCclLooks *self);

/* Forgets everything. */
void gst_ccl_looks_reset (GstCclLooks *self);

/* Updates the things with the @n moving components of the frame at @time. Returns TRUE if the
 * network should look at one: it is new, or has merged or changed its size since the last look,
 * or that was @refresh ago. Where components reach over half of the picture most of the time, they
 * are groups: then it is whether the last look was a twelfth of @refresh ago. */
gboolean gst_ccl_looks_update (GstCclLooks *self, GstClockTime time, GstClockTime refresh,
                               const GstCclComponent *components, guint n, guint width,
                               guint height);

/* Makes a picture of @width by @height pixels that shows these things, and others where there is
 * room: crops of the last frame, in which small things are scaled up, or the whole frame if
 * things are as large there. Marks all things in the picture as looked at. */
void gst_ccl_looks_choose (GstCclLooks *self, guint width, guint height, GstCclLetterbox letterbox,
                           GstCclView *view);

/* The same with the whole frame. */
void gst_ccl_looks_choose_frame (GstCclLooks *self, guint width, guint height,
                                 GstCclLetterbox letterbox, GstCclView *view);

/* Sets the view to a whole frame of @frame_width by @frame_height pixels. */
void gst_ccl_view_set_frame (GstCclView *self, guint frame_width, guint frame_height, guint width,
                             guint height, GstCclLetterbox letterbox);

/* Overlap of boxes of several crops that are one object if a network has one box for each: crops
 * may share parts of the frame, where it has two. */
#define GST_CCL_SAME_IOU 0.45

/* Converts boxes of a picture (GstCclBox) and their @outlines (GstCclOutline) to pixels of a frame
 * of @width by @height pixels, clipped to the frame, best first. Drops boxes that are mostly
 * outside of every crop, boxes that a crop cuts if another crop shows more of the object, and of
 * several crops those that gst_ccl_boxes_suppress() drops with @iou. */
void gst_ccl_view_map (const GstCclView *self, guint frame_width, guint frame_height, gdouble iou,
                       GArray *boxes, GPtrArray *outlines);

G_END_DECLS

#endif /* __GST_CCL_LOOKS_H__ */
