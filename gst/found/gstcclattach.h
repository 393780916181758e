/* cudaccl - components and objects as metadata of other elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ATTACH_H__
#define __GST_CCL_ATTACH_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* Kinds of metadata, the values of the properties `attach`. */
typedef enum
{
  GST_CCL_ATTACH_COMPONENTS = 1 << 0, /* GstCclMeta */
  GST_CCL_ATTACH_ROI = 1 << 1,
  GST_CCL_ATTACH_ANALYTICS = 1 << 2, /* in builds with gstreamer-analytics-1.0 only */
  GST_CCL_ATTACH_NVDS = 1 << 3,
} GstCclAttach;

/* The default of those that track objects. */
#ifdef HAVE_ANALYTICS
#define GST_CCL_ATTACH_NATIVE GST_CCL_ATTACH_ANALYTICS
#else
#define GST_CCL_ATTACH_NATIVE 0
#endif

/* GstCudaCclAttach for elements that find components, and GstCclObjectAttach for those that track
 * objects, which always have a GstCclMeta. */
#define GST_TYPE_CCL_ATTACH (gst_ccl_attach_get_type ())
GType gst_ccl_attach_get_type (void);
#define GST_TYPE_CCL_OBJECT_ATTACH (gst_ccl_object_attach_get_type ())
GType gst_ccl_object_attach_get_type (void);

/* The components of a frame. */
typedef struct
{
  const GstCclComponent *components;
  guint n_components;
  GstCclClassNames *class_names; /* may be NULL */
  guint width, height;           /* of the frame */
  GQuark type;                   /* type or label of those without a class name */
  gboolean tracked;     /* objects of a tracker: those that the buffer has already stay, and regions
                         * also get DL Streamer's parameters */
  const guint *sources; /* with @tracked: GST_CCL_NO_SOURCE for those that were not found in this
                         * frame; NULL: all were */
} GstCclAttachment;

/* Attaches a component each to the writable @buffer: regions of interest, object detections,
 * objects of DeepStream. GST_CCL_ATTACH_COMPONENTS is up to the caller. Returns FALSE and sets
 * @error if DeepStream's batch is wanted but missing. */
gboolean gst_ccl_attach (GstBuffer *buffer, GstCclAttach kinds, const GstCclAttachment *attachment,
                         GError **error);

G_END_DECLS

#endif /* __GST_CCL_ATTACH_H__ */
