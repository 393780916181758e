/* cudaccl - reads ONVIF metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ONVIF_PARSER_H__
#define __GST_CCL_ONVIF_PARSER_H__

#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclclasses.h>

G_BEGIN_DECLS

/* Limits of a document, which comes from a camera. */
#define GST_CCL_ONVIF_MAX_SIZE (1024 * 1024) /* bytes */
#define GST_CCL_ONVIF_MAX_DEPTH 64           /* of elements */
#define GST_CCL_ONVIF_MAX_FRAMES 64
#define GST_CCL_ONVIF_MAX_OBJECTS 4096 /* in all of its frames */

/* A tt:Frame. */
typedef struct
{
  GstClockTime utc;   /* since 1970; GST_CLOCK_TIME_NONE: none, or not a time */
  GArray *components; /* GstCclComponent; the track is the ObjectId */
} GstCclOnvifFrame;

/* Reads the frames of a document, with objects as components of a frame of @width by @height
 * pixels, and classes of @classes. Returns an array of GstCclOnvifFrame, which may be empty, or
 * NULL with @error (GST_STREAM_ERROR). Free it with g_array_unref(). */
GArray *gst_ccl_onvif_parse (const gchar *text, gsize size, guint width, guint height,
                             GstCclClasses *classes, GError **error);

G_END_DECLS

#endif /* __GST_CCL_ONVIF_PARSER_H__ */
