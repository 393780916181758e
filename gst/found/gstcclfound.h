/* cudaccl - what was found in a frame, read from any metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FOUND_H__
#define __GST_CCL_FOUND_H__

#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclclasses.h>
#include <gst/found/gstcclfindings.h>
#include <gst/found/gstcclroi.h>

G_BEGIN_DECLS

/* Where components, or the detections of other elements, come from. */
typedef enum
{
  GST_CCL_FOUND_NOTHING,
  GST_CCL_FOUND_META, /* components in a GstCclMeta, which regions of interest may repeat */
  GST_CCL_FOUND_ROIS, /* components that are regions of interest only */

  /* Detections of other elements. */
  GST_CCL_FOUND_REGIONS,   /* regions of interest */
  GST_CCL_FOUND_ANALYTICS, /* object detections of GStreamer's analytics metadata */
  GST_CCL_FOUND_NVDS,      /* objects of DeepStream */
} GstCclFoundKind;

typedef enum
{
  GST_CCL_FOUND_BOTH = 1 << 0,  /* read regions of interest even if there is a GstCclMeta */
  GST_CCL_FOUND_CROP = 1 << 1,  /* crop components of a frame of another size to the visible part */
  GST_CCL_FOUND_SCALE = 1 << 2, /* crop them, and scale them to the frame */
} GstCclFoundFlags;

/* The components of a buffer, or the detections. Valid as long as its metadata does not change. */
typedef struct
{
  GstCclFoundKind kind;
  guint width, height; /* size of the frame that they belong to */
  gint64 found;        /* number of components before the analysis dropped some; -1: unknown */
  gint64 frame_age;    /* see GstCclMeta */
  guint n_components;
  GstCclComponent *components;
  GstCclClassNames *class_names; /* of the components; may be NULL */
  const guint8 *signatures;      /* GST_CCL_SIGNATURE_SIZE bytes of each component, or NULL */
  const GstCclRois *rois;        /* the components that are regions of interest */

  /*< private >*/
  GstCclRois own_rois;
  GstCclFindings *copy; /* cropped components, or NULL */
  GArray *boxes;        /* GstCclComponent: detections, or NULL */
  GPtrArray *sources;   /* their GstVideoRegionOfInterestMeta or NvDsObjectMeta, or NULL */
} GstCclFound;

/* Reads the components of @buffer, a frame of @width x @height pixels. Free with
 * gst_ccl_found_clear(). */
void gst_ccl_found_init (GstCclFound *self, GstBuffer *buffer, guint width, guint height,
                         GstCclFoundFlags flags);

/* Reads the detections of other elements instead, as components with a class of @classes, labelled
 * from 1 on, and with the track that another tracker gave them: regions of interest; without any,
 * object detections of GStreamer's analytics metadata; without any, objects of DeepStream. Without
 * any, the kind stays. */
void gst_ccl_found_read_detections (GstCclFound *self, GstBuffer *buffer, GstCclClasses *classes);

void gst_ccl_found_clear (GstCclFound *self);

/* Writes @n objects to the metadata of the writable @buffer that their components were read from,
 * but to no GstCclMeta. sources[i] is the component that objects[i] was made of, or
 * GST_CCL_NO_SOURCE. Regions of interest that are components are replaced. Detections get
 * their track, regions also the box and class; objects without a source become regions where
 * regions were found. Object detections with the same boxes get a track. */
void gst_ccl_found_write_objects (const GstCclFound *self, GstBuffer *buffer,
                                  GstCclClasses *classes, const GstCclComponent *objects,
                                  const guint *sources, guint n);

G_END_DECLS

#endif /* __GST_CCL_FOUND_H__ */
