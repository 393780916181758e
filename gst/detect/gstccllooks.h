/* cudaccl - where a network looks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_LOOKS_H__
#define __GST_CCL_LOOKS_H__

#include <gst/ccl/gstccl.h>
#include <cudaccl/crop.h>

#include "gstccloutputs.h"

G_BEGIN_DECLS

/* Remembers what moves: where it is, and when the network last looked at it. */
typedef struct _GstCclLooks GstCclLooks;

/* How a frame lies in the network's input. */
typedef enum
{
  GST_CCL_LETTERBOX_AUTO,
  GST_CCL_LETTERBOX_TOP_LEFT,
  GST_CCL_LETTERBOX_CENTER,
  GST_CCL_LETTERBOX_STRETCH,
} GstCclLetterbox;

/* What a picture shows. */
typedef struct
{
  guint n;
  CclCrop crops[CCL_MAX_CROPS];
} GstCclView;

GstCclLooks *gst_ccl_looks_new (void);
void gst_ccl_looks_free (GstCclLooks *self);

/* Forgets everything. */
void gst_ccl_looks_reset (GstCclLooks *self);

/* Takes the @n components that move in the frame at @time. Returns TRUE if there is any that the
 * network does not know well: it is new, was alone and is merged now, or has changed its size since
 * the network looked at it, or that was @refresh ago. */
gboolean gst_ccl_looks_update (GstCclLooks *self, GstClockTime time, GstClockTime refresh,
                               const GstCclComponent *components, guint n, guint width,
                               guint height);

/* Makes a picture of @width by @height pixels that shows these, and others where there is room:
 * crops of the last frame, scaled so that small things become large enough. It shows the whole
 * frame if that is not smaller. From then on, the network knows what the picture shows. */
void gst_ccl_looks_choose (GstCclLooks *self, guint width, guint height, GstCclLetterbox letterbox,
                           GstCclView *view);

/* The same, with the whole frame. */
void gst_ccl_looks_choose_frame (GstCclLooks *self, guint width, guint height,
                                 GstCclLetterbox letterbox, GstCclView *view);

/* Shows a whole frame of @frame_width by @frame_height pixels. */
void gst_ccl_view_set_frame (GstCclView *self, guint frame_width, guint frame_height, guint width,
                             guint height, GstCclLetterbox letterbox);

/* Converts boxes of a picture (GstCclBox) to pixels of a frame of that size, limited to the frame,
 * best first. Boxes that are mostly outside of every crop are dropped, and those that a crop cuts
 * if another crop shows more of the object; as gst_ccl_boxes_suppress(), with @iou. */
void gst_ccl_view_map (const GstCclView *self, guint frame_width, guint frame_height, gdouble iou,
                       GArray *boxes);

G_END_DECLS

#endif /* __GST_CCL_LOOKS_H__ */
