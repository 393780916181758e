/* cudaccl - connected components of video frames as metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_META_H__
#define __GST_CCL_META_H__

#include <gst/gst.h>
#include <gst/ccl/ccl-prelude.h>
#include <gst/ccl/gstcclclassnames.h>

G_BEGIN_DECLS

/**
 * GstCclComponent:
 * @label: label of the component in its frame, 1...n in raster order of the first pixels
 * @x: left edge of the bounding box, in pixels
 * @y: top edge of the bounding box, in pixels
 * @width: width of the bounding box, in pixels
 * @height: height of the bounding box, in pixels
 * @area: number of pixels
 * @centroid_x: horizontal centroid, in pixel centres: 3.0 for a single pixel at x = 3
 * @centroid_y: vertical centroid, in pixel centres
 * @track: id of the object in all frames, from 1 on, or 0 if it is not tracked
 * @static_age: how long the component has stood, in milliseconds; 0 if it moves, or if that is not
 *   known. It may stand before it is %GST_CCL_COMPONENT_STATIC
 * @age: how long the object has been tracked, in nanoseconds
 * @velocity_x: horizontal velocity of the object, in pixels per second
 * @velocity_y: vertical velocity of the object, in pixels per second
 * @class_id: class of the object, from 1 on, or 0 if it has none; gst_ccl_meta_get_class_name()
 *   returns its name
 * @flags: #GstCclComponentFlags
 * @confidence: how certain the object is, above 0 and up to 1, or 0 if that is not known
 * @features: which of the following are known, #GstCclFeatures; the others are 0
 * @holes: number of holes: areas of background that the component surrounds
 * @perimeter: length of the outline through the centres of its pixels, as scikit-image estimates it
 * @orientation: angle of the major axis, in radians from the x axis, above -pi/2 and up to pi/2;
 *   positive is clockwise, as y points down
 * @major_axis: length of the major axis of the ellipse with the same second-order moments
 * @minor_axis: length of its minor axis
 * @luma_mean: mean of the luma of its pixels, of a mask their values
 * @luma_min: minimum of the luma
 * @luma_max: maximum of the luma
 *
 * One connected component of a frame. `ccltrack` sets @track, @age and the velocity; without it,
 * they are 0. After `ccltrack`, there is a component for each object, see there. Detectors set
 * @class_id and @confidence; connected components alone have neither. `cclmotion` sets @flags and
 * @static_age, which version 0.1 does not know.
 *
 * Since: 0.1
 */
typedef struct _GstCclComponent GstCclComponent;

/**
 * GstCclComponentFlags:
 * @GST_CCL_COMPONENT_STATIC: it stands; see #cclmotion:static-time. It stays in the metadata after
 *   its pixels have become background
 * @GST_CCL_COMPONENT_REMOVED: nothing was put there, something was taken away. Always with
 *   %GST_CCL_COMPONENT_STATIC
 *
 * Kinds of components.
 *
 * Since: 0.2
 */
typedef enum
{
  GST_CCL_COMPONENT_STATIC = 1 << 0,
  GST_CCL_COMPONENT_REMOVED = 1 << 1,
} GstCclComponentFlags;

/**
 * GstCclFeatures:
 * @GST_CCL_FEATURE_ELLIPSE: `orientation`, `major_axis` and `minor_axis`
 * @GST_CCL_FEATURE_HOLES: `holes`
 * @GST_CCL_FEATURE_PERIMETER: `perimeter`
 * @GST_CCL_FEATURE_LUMA: `luma_mean`, `luma_min` and `luma_max`
 *
 * Features of a component beyond its box, area and centroid.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_FEATURE_ELLIPSE = 1 << 0,
  GST_CCL_FEATURE_HOLES = 1 << 1,
  GST_CCL_FEATURE_PERIMETER = 1 << 2,
  GST_CCL_FEATURE_LUMA = 1 << 3,
} GstCclFeatures;

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
  guint track;
  guint static_age; /* where 0.1 had padding, as flags */
  guint64 age;
  gdouble velocity_x;
  gdouble velocity_y;
  guint class_id;
  guint flags; /* a guint in all languages, of GstCclComponentFlags */
  gdouble confidence;
  guint features; /* a guint in all languages, of GstCclFeatures */
  guint holes;
  gdouble perimeter;
  gdouble orientation;
  gdouble major_axis;
  gdouble minor_axis;
  gdouble luma_mean;
  guint luma_min;
  guint luma_max;
};

/**
 * GstCclMeta:
 * @meta: parent #GstMeta
 * @width: width of the frame that the components belong to, in pixels
 * @height: height of the frame that the components belong to, in pixels
 * @found: number of components found in the frame; more than @n_components if the analysis was
 *   limited to fewer
 * @n_components: number of components in the array `components`, which is in canonical order;
 *   bindings use gst_ccl_meta_get_components()
 * @frame_age: how much older the frame is in which the components were found, in nanoseconds; 0 if
 *   they were found in this one, negative if in a later one. `cclmerge` sets it
 *
 * The connected components of a video frame. A buffer has at most one such metadata. The `cudaccl`
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
 * Copies of the buffer get a copy of it, and elements that scale frames (or, from GStreamer 1.28
 * on, crop, flip or rotate them) transform it:
 *
 * - A box still covers all pixels of the component: its edges are rounded outwards. It is clipped
 * to the frame, and components outside of the frame are dropped.
 * - Centroid and area describe the whole component, in pixels of the new frame, even if a part of
 * it was cropped: so a centroid may be outside of the frame. The area is rounded and never becomes
 * 0.
 * - Labels do not change, so that components can be recognised; they may then have gaps.
 * - Velocities are in pixels of the new frame.
 * - Classes and their names, flags, @static_age and signatures of components stay.
 * - Holes and luma stay. Scaling keeps ellipses and perimeters right, the latter by the mean of
 * both directions; other transforms drop the two.
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
  gint64 frame_age;

  /*< private >*/ /* bindings cannot know its length */
  GstCclComponent *components;
  GstCclClassNames *class_names; /* shared; NULL if there are none */
  GBytes *signatures;            /* shared; NULL if there are none */
};

/**
 * GST_CCL_SIGNATURE_SIZE:
 *
 * Bytes of a signature; see gst_ccl_meta_set_signatures().
 *
 * Since: 0.2
 */
#define GST_CCL_SIGNATURE_SIZE 64

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
GBytes *gst_ccl_meta_get_bytes (const GstCclMeta *meta);

GST_CCL_API
GstCclMeta *gst_buffer_add_ccl_meta_from_bytes (GstBuffer *buffer, guint width, guint height,
                                                GBytes *components);

GST_CCL_API
void gst_ccl_meta_set_class_names (GstCclMeta *meta, GstCclClassNames *names);

GST_CCL_API
GstCclClassNames *gst_ccl_meta_get_class_names (const GstCclMeta *meta);

GST_CCL_API
const gchar *gst_ccl_meta_get_class_name (const GstCclMeta *meta, guint class_id);

GST_CCL_API
void gst_ccl_meta_set_signatures (GstCclMeta *meta, GBytes *signatures);

GST_CCL_API
GBytes *gst_ccl_meta_get_signatures (const GstCclMeta *meta);

GST_CCL_API
gboolean gst_ccl_meta_crop (GstCclMeta *meta, guint x, guint y, guint width, guint height);

G_END_DECLS

#endif /* __GST_CCL_META_H__ */
