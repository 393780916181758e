/* cudaccl - reads places of a frame and of its background
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PLACES_H__
#define __GST_CCL_PLACES_H__

#include <cudaccl/crop.h>

#include "gstcclpatch.h"
#include "gstcclsession.h"

G_BEGIN_DECLS

/* Reads luma of frames in any memory, and of the session's background model. On a device, each read
 * waits for it, and the first of a frame's background copies all of it. */
typedef struct
{
  GstCclSession *session;
  CclCropper *cropper; /* NULL before the first read */
  GstCclDevice device; /* of the cropper */
  GstBuffer *buffer;   /* the frame analysed last; borrowed */
  guint8 *background;
  CclImage image;      /* of the background */
  guint width, height; /* of the background; 0: not read since that frame */
  gboolean warned;
} GstCclPlaces;

/* Initializes a zeroed struct. @session is borrowed. */
void gst_ccl_places_init (GstCclPlaces *self, GstCclSession *session);
void gst_ccl_places_clear (GstCclPlaces *self);

/* @buffer was analysed; valid until the next call. */
void gst_ccl_places_set_frame (GstCclPlaces *self, GstBuffer *buffer);

/* Sets the samples of a patch, which was placed, from the frame or its @background. Returns FALSE,
 * and logs a warning for the first time, on failure. */
gboolean gst_ccl_places_read (GstCclPlaces *self, gboolean background, GstCclPatch *patch);

G_END_DECLS

#endif /* __GST_CCL_PLACES_H__ */
