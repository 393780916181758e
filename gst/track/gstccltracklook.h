/* cudaccl - what ccldetect attached to a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_LOOK_H__
#define __GST_CCL_TRACK_LOOK_H__

#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclclasses.h>
#include "tracker.h"

G_BEGIN_DECLS

/* A look of a network at some parts of a frame. */
typedef struct
{
  GArray *boxes;    /* GstCclDetection: what it found */
  GArray *parts;    /* GstCclLook: where it looked; none if it did not */
  GstClockTime age; /* how much older the frame that it looked at is */
} GstCclTrackLook;

void gst_ccl_track_look_init (GstCclTrackLook *self);

void gst_ccl_track_look_clear (GstCclTrackLook *self);

/* Reads the regions of ccldetect, whose frame is at most @most old; boxes without pixels are left
 * out. Returns FALSE if @buffer has none. */
gboolean gst_ccl_track_look_read (GstCclTrackLook *self, GstBuffer *buffer, GstCclClasses *classes,
                                  GstClockTime most);

/* Removes these regions from the writable @buffer. */
void gst_ccl_track_look_remove (GstBuffer *buffer);

G_END_DECLS

#endif /* __GST_CCL_TRACK_LOOK_H__ */
