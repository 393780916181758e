/* cudaccl - connected components of video frames as metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_META_H__
#define __GST_CCL_META_H__

#include <gst/gst.h>
#include <gst/ccl/ccl-prelude.h>

G_BEGIN_DECLS

/**
 * GstCclComponent:
 * @label: number of the component in its frame, 1...n in raster order of the first pixels
 * @x: left edge of the bounding box, in pixels
 * @y: top edge of the bounding box, in pixels
 * @width: width of the bounding box, in pixels
 * @height: height of the bounding box, in pixels
 * @area: number of pixels
 * @centroid_x: horizontal centre of gravity, in pixel centres: a lone pixel at x = 3 has 3.0
 * @centroid_y: vertical centre of gravity, in pixel centres
 *
 * One connected component of a frame.
 *
 * Since: 0.1
 */
typedef struct _GstCclComponent GstCclComponent;

struct _GstCclComponent
{
  guint label;
  guint x;
  guint y;
  guint width;
  guint height;
  guint64 area;
  gdouble centroid_x;
  gdouble centroid_y;
};

/**
 * GstCclMeta:
 * @meta: parent #GstMeta
 * @width: width of the frame that the components belong to, in pixels
 * @height: height of the frame that the components belong to, in pixels
 * @found: number of components found in the frame; more than @n_components when the analysis was
 *   limited to fewer
 * @n_components: number of components that follow, in the array `components`, in canonical order;
 *   languages other than C get them from gst_ccl_meta_get_components()
 *
 * The connected components of a video frame, at most one such metadata a buffer. The `cudaccl`
 * element attaches it to every frame that it analyses. To read it:
 *
 * ```c
 * GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
 *
 * for (guint i = 0; meta && i < meta->n_components; i++)
 *   g_print ("%u x %u\n", meta->components[i].width, meta->components[i].height);
 * ```
 *
 * ```python
 * meta = GstCcl.buffer_get_ccl_meta(buffer)
 * for component in meta.get_components() if meta else []:
 *     print(component.width, 'x', component.height)
 * ```
 *
 * It travels with the frame: copies of the buffer get a copy of it, and elements that scale frames
 * (or, from GStreamer 1.28 on, crop, flip or rotate them) get a transformed one:
 *
 * - A box still covers every pixel that the component's pixels went to: its edges are rounded
 *   outwards. It is clipped to the frame, and components that lie outside of it are dropped.
 * - The centroid and the area describe the whole component, in the pixels of the new frame, even
 *   when a part of it was cut off: so a centroid may lie outside of the frame. The area is rounded
 *   and never becomes 0.
 * - The label stays, so that a component can be recognised; labels may have gaps then.
 *
 * Since: 0.1
 */
typedef struct _GstCclMeta GstCclMeta;

struct _GstCclMeta
{
  GstMeta meta;

  guint width;
  guint height;
  guint found;
  guint n_components;

  /*< private >*/ /* to introspection, whose languages cannot tell its length */
  GstCclComponent *components;
};

/**
 * GST_TYPE_CCL_COMPONENT:
 *
 * The boxed type of #GstCclComponent.
 *
 * Since: 0.1
 */
#define GST_TYPE_CCL_COMPONENT (gst_ccl_component_get_type ())

/**
 * GST_CCL_META_API_TYPE:
 *
 * The type of #GstCclMeta's API.
 *
 * Since: 0.1
 */
#define GST_CCL_META_API_TYPE (gst_ccl_meta_api_get_type ())

/**
 * GST_CCL_META_INFO:
 *
 * The #GstMetaInfo of #GstCclMeta.
 *
 * Since: 0.1
 */
#define GST_CCL_META_INFO (gst_ccl_meta_get_info ())

GST_CCL_API
GType gst_ccl_component_get_type (void);

GST_CCL_API
GstCclComponent *gst_ccl_component_copy (const GstCclComponent *component);

GST_CCL_API
void gst_ccl_component_free (GstCclComponent *component);

GST_CCL_API
GType gst_ccl_meta_api_get_type (void);

GST_CCL_API
const GstMetaInfo *gst_ccl_meta_get_info (void);

GST_CCL_API
GstCclMeta *gst_buffer_add_ccl_meta (GstBuffer *buffer, guint width, guint height, guint found,
                                     const GstCclComponent *components, guint n_components);

GST_CCL_API
GstCclMeta *gst_buffer_get_ccl_meta (GstBuffer *buffer);

GST_CCL_API
guint gst_ccl_meta_get_n_components (const GstCclMeta *meta);

GST_CCL_API
const GstCclComponent *gst_ccl_meta_get_components (const GstCclMeta *meta, guint *n_components);

GST_CCL_API
const GstCclComponent *gst_ccl_meta_get_component (const GstCclMeta *meta, guint index);

GST_CCL_API
gboolean gst_ccl_meta_crop (GstCclMeta *meta, guint x, guint y, guint width, guint height);

G_END_DECLS

#endif /* __GST_CCL_META_H__ */
