/* cudaccl - components as regions of interest on buffers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ROI_H__
#define __GST_CCL_ROI_H__

#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* The name of the parameter structure that marks a region of interest as a component. */
#define GST_CCL_ROI_PARAM "cudaccl"

/* The components that @buffer has as regions of interest, sorted by id. */
typedef struct
{
  guint n;
  GstVideoRegionOfInterestMeta **rois; /* borrowed from the buffer, or copies */
  GstCclComponent *components;         /* read from the regions */
  GstCclClassNames *class_names;       /* of the components; may be NULL */
  gint64 frame_age;                    /* see GstCclMeta */
  gboolean owned;                      /* the regions are copies */
} GstCclRois;

/* Reads the regions of @buffer. They stay valid as long as its metadata is not changed. Free with
 * gst_ccl_rois_clear(). */
void gst_ccl_rois_init (GstCclRois *rois, GstBuffer *buffer);

/* Returns the name of a class, or NULL without one. */
static inline const gchar *
gst_ccl_rois_get_class_name (const GstCclRois *rois, guint class_id)
{
  return rois->class_names ? gst_ccl_class_names_get_name (rois->class_names, class_id) : NULL;
}

/* Copies the regions, so that they stay valid without the buffer. */
void gst_ccl_rois_own (GstCclRois *rois);

void gst_ccl_rois_clear (GstCclRois *rois);

/* Index of an object that was made of no component. */
#define GST_CCL_NO_SOURCE G_MAXUINT

/* The type of an object's region: the name of its class, which may be NULL, or `object`. */
GQuark gst_ccl_rois_get_object_type (const gchar *class_name);

/* Returns the first of @n consecutive ids that no region of @buffer has: 0 if @from_zero and they
 * are free, or the highest that can be, behind another region's. */
gint gst_ccl_rois_find_free_ids (GstBuffer *buffer, guint n, gboolean from_zero);

/* Attaches @component to the writable @buffer as a region of interest, and returns that.
 * @class_name may be NULL. */
GstVideoRegionOfInterestMeta *gst_ccl_rois_add (GstBuffer *buffer, GQuark roi_type, gint id,
                                                const GstCclComponent *component,
                                                const gchar *class_name);

/* Sets the fields of a parameter structure from @component, except for the label; the optional ones
 * only if it has them. @class_name may be NULL. */
void gst_ccl_rois_set_param (GstStructure *param, const GstCclComponent *component,
                             const gchar *class_name);

/* Attaches @component to the writable @buffer as a region of interest with the type of @roi and a
 * copy of its parameters, except for those that gst_ccl_rois_set_param() sets. If the type was the
 * class, it is the new one. */
void gst_ccl_rois_add_copy (GstBuffer *buffer, const GstVideoRegionOfInterestMeta *roi, gint id,
                            const GstCclComponent *component, const gchar *class_name);

/* Replaces @rois, the regions of the writable @buffer, with @n objects: copies of the regions that
 * they were made of, and new ones for objects without a source. The region of objects[i] is that of
 * component sources[i] or, with @by_label, the first one with the label of the object. */
void gst_ccl_rois_replace (GstBuffer *buffer, const GstCclRois *rois, gboolean by_label,
                           const GstCclComponent *objects, const guint *sources, guint n,
                           GstCclClassNames *names);

/* Sets the age of the frame in which the regions of the writable @buffer were found. */
void gst_ccl_rois_set_frame_age (GstBuffer *buffer, gint64 frame_age);

/* Removes all components that the writable @buffer has as regions of interest. */
void gst_ccl_rois_remove (GstBuffer *buffer);

/* Removes the components from the writable @buffer: GstCclMeta, and regions of interest that are
 * components. */
void gst_ccl_buffer_remove_components (GstBuffer *buffer);

G_END_DECLS

#endif /* __GST_CCL_ROI_H__ */
