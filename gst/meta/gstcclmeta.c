/* cudaccl - connected components of video frames as metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/ccl/gstcclmeta.h>

#include <math.h>

#include "gstcclmetaprivate.h"

GST_DEBUG_CATEGORY (gst_ccl_meta_debug);

G_DEFINE_BOXED_TYPE (GstCclComponent, gst_ccl_component, gst_ccl_component_copy,
                     gst_ccl_component_free)

/**
 * gst_ccl_component_copy:
 * @component: a #GstCclComponent
 *
 * Copies @component.
 *
 * Returns: (transfer full): a copy, to be freed with gst_ccl_component_free()
 *
 * Since: 0.1
 */
GstCclComponent *
gst_ccl_component_copy (const GstCclComponent *component)
{
  g_return_val_if_fail (component != NULL, NULL);

  return g_memdup2 (component, sizeof (*component));
}

/**
 * gst_ccl_component_free:
 * @component: (transfer full) (nullable): a #GstCclComponent
 *
 * Frees a copy made by gst_ccl_component_copy().
 *
 * Since: 0.1
 */
void
gst_ccl_component_free (GstCclComponent *component)
{
  g_free (component);
}

/**
 * gst_ccl_meta_api_get_type:
 *
 * Returns: the type of #GstCclMeta's API
 *
 * Since: 0.1
 */
GType
gst_ccl_meta_api_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, gst_ccl_meta_register_api ("GstCclMetaAPI"));

  return type;
}

static gboolean
gst_ccl_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  GstCclMeta *self = (GstCclMeta *) meta;

  self->width = 0;
  self->height = 0;
  self->found = 0;
  self->n_components = 0;
  self->frame_age = 0;
  self->components = NULL;
  self->class_names = NULL;
  self->signatures = NULL;

  return TRUE;
}

static void
gst_ccl_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  GstCclMeta *self = (GstCclMeta *) meta;

  g_clear_pointer (&self->components, g_free);
  g_clear_pointer (&self->class_names, gst_ccl_class_names_unref);
  g_clear_pointer (&self->signatures, g_bytes_unref);
  self->n_components = 0;
}

/* Adds a copy of @meta, for a frame of @width x @height pixels. */
static GstCclMeta *
add_copy (GstBuffer *dest, const GstCclMeta *meta, guint width, guint height)
{
  GstCclMeta *copy = gst_buffer_add_ccl_meta (dest, width, height, meta->found, meta->components,
                                              meta->n_components);

  if (copy) {
    copy->frame_age = meta->frame_age;
    gst_ccl_meta_set_class_names (copy, meta->class_names);
    gst_ccl_meta_set_signatures (copy, meta->signatures);
  }

  return copy;
}

/* Keeps the signatures of the @n components that had the indices @kept, in their order. */
static void
keep_signatures (GstCclMeta *meta, const guint *kept, guint n)
{
  const guint8 *all;
  guint8 *left;
  guint i;

  if (!meta->signatures)
    return;

  all = g_bytes_get_data (meta->signatures, NULL);
  left = g_malloc ((gsize) n * GST_CCL_SIGNATURE_SIZE);
  for (i = 0; i < n; i++)
    memcpy (left + (gsize) i * GST_CCL_SIGNATURE_SIZE,
            all + (gsize) kept[i] * GST_CCL_SIGNATURE_SIZE, GST_CCL_SIGNATURE_SIZE);
  g_bytes_unref (meta->signatures);
  meta->signatures = g_bytes_new_take (left, (gsize) n * GST_CCL_SIGNATURE_SIZE);
}

/* Left and top edges are inclusive, right and bottom edges are exclusive. */
typedef struct
{
  gint64 x1, y1, x2, y2;
} Box;

/* Sets the box of @component to the part of @box inside of @clip. Both are relative to the origin
 * of the new frame. Returns FALSE if nothing is left. */
static gboolean
set_clipped_box (GstCclComponent *component, const Box *box, const Box *clip)
{
  gint64 x1 = MAX (box->x1, clip->x1);
  gint64 y1 = MAX (box->y1, clip->y1);
  gint64 x2 = MIN (box->x2, clip->x2);
  gint64 y2 = MIN (box->y2, clip->y2);

  if (x1 >= x2 || y1 >= y2)
    return FALSE;

  component->x = (guint) x1;
  component->y = (guint) y1;
  component->width = (guint) (x2 - x1);
  component->height = (guint) (y2 - y1);

  return TRUE;
}

/* Components dropped here no longer count as found; those dropped by the analysis still do. */
static guint
count_found (const GstCclMeta *meta, guint n_left)
{
  return meta->found - (meta->n_components - n_left);
}

/* Scales a side of a box and rounds it outwards, in integers, so that an edge exactly between two
 * pixels stays there. At least one pixel remains inside of @limit, the size of the frame. */
static void
scale_range (guint *start, guint *length, guint num, guint denom, guint limit)
{
  guint64 first = gst_util_uint64_scale (*start, num, denom);
  guint64 end = gst_util_uint64_scale_ceil ((guint64) *start + *length, num, denom);

  first = MIN (first, limit - 1);
  end = CLAMP (end, first + 1, limit);
  *start = (guint) first;
  *length = (guint) (end - first);
}

/* Scales the ellipse by its second-order moments. */
static void
scale_ellipse (GstCclComponent *component, const GstCclScale *scale)
{
  gdouble major = component->major_axis * component->major_axis;
  gdouble minor = component->minor_axis * component->minor_axis;
  gdouble c = cos (component->orientation), s = sin (component->orientation);
  gdouble xx = (major * c * c + minor * s * s) * scale->x * scale->x;
  gdouble yy = (major * s * s + minor * c * c) * scale->y * scale->y;
  gdouble xy = (major - minor) * c * s * scale->x * scale->y;
  gdouble root = sqrt ((xx - yy) * (xx - yy) + 4.0 * xy * xy);

  component->major_axis = sqrt ((xx + yy + root) / 2.0);
  component->minor_axis = sqrt (MAX (xx + yy - root, 0.0) / 2.0);
  component->orientation = root > 0.0 ? atan2 (2.0 * xy, xx - yy) / 2.0 : 0.0;
}

/* Metadata and sizes may come from code that does not check them. */
static gboolean
transform_scale (GstBuffer *dest, const GstCclMeta *meta, const GstVideoMetaTransform *trans)
{
  guint width = meta->width, height = meta->height, i;
  guint64 in_area, out_area;
  GstCclScale scale;
  GstCclMeta *scaled;

  if (!gst_ccl_scale_init (&scale, trans, "components"))
    return FALSE;
  in_area = (guint64) scale.in_width * scale.in_height;
  out_area = (guint64) scale.out_width * scale.out_height;

  gst_ccl_scale_size (&scale, &width, &height);
  scaled = add_copy (dest, meta, width, height);
  if (!scaled)
    return FALSE;

  for (i = 0; i < scaled->n_components; i++) {
    GstCclComponent *component = &scaled->components[i];

    scale_range (&component->x, &component->width, scale.out_width, scale.in_width, width);
    scale_range (&component->y, &component->height, scale.out_height, scale.in_height, height);
    component->area = MAX (gst_util_uint64_scale_round (component->area, out_area, in_area), 1);
    component->centroid_x = (component->centroid_x + 0.5) * scale.x - 0.5;
    component->centroid_y = (component->centroid_y + 0.5) * scale.y - 0.5;
    component->velocity_x *= scale.x;
    component->velocity_y *= scale.y;
    component->perimeter *= sqrt (scale.x * scale.y);
    if (component->features & GST_CCL_FEATURE_ELLIPSE)
      scale_ellipse (component, &scale);
  }

  return TRUE;
}

#if GST_CHECK_VERSION(1, 28, 0)
static gboolean
project_component (const GstVideoMetaTransformMatrix *trans, gdouble det, const Box *clip,
                   GstCclComponent *component)
{
  /* The matrix has single precision: parts of pixels thinner than this are rounding errors. */
  const gdouble epsilon = 1.0 / 256.0;
  const gdouble step = 1.0 / 1024.0; /* s */
  gdouble min_x = G_MAXDOUBLE, min_y = G_MAXDOUBLE, max_x = -G_MAXDOUBLE, max_y = -G_MAXDOUBLE;
  gdouble centre_x, centre_y, next_x, next_y, w, area;
  Box box;
  guint i;

  for (i = 0; i < 4; i++) {
    gdouble x = (gdouble) component->x + ((i & 1) ? component->width : 0);
    gdouble y = (gdouble) component->y + ((i & 2) ? component->height : 0);

    if (!(gst_ccl_project_point (trans, &x, &y) > 0.0))
      return FALSE;

    min_x = MIN (min_x, x);
    min_y = MIN (min_y, y);
    max_x = MAX (max_x, x);
    max_y = MAX (max_y, y);
  }

  if (!isfinite (min_x + max_x) || !isfinite (min_y + max_y))
    return FALSE;

  box.x1 = (gint64) floor (CLAMP (min_x, -1e9, 1e9) + epsilon);
  box.y1 = (gint64) floor (CLAMP (min_y, -1e9, 1e9) + epsilon);
  box.x2 = (gint64) ceil (CLAMP (max_x, -1e9, 1e9) - epsilon);
  box.y2 = (gint64) ceil (CLAMP (max_y, -1e9, 1e9) - epsilon);
  if (!set_clipped_box (component, &box, clip))
    return FALSE;

  centre_x = component->centroid_x + 0.5;
  centre_y = component->centroid_y + 0.5;
  next_x = centre_x + step * component->velocity_x;
  next_y = centre_y + step * component->velocity_y;
  w = gst_ccl_project_point (trans, &centre_x, &centre_y);
  if (!(w > 0.0) || !isfinite (centre_x) || !isfinite (centre_y))
    return FALSE;
  if (component->velocity_x != 0.0 || component->velocity_y != 0.0) {
    /* A velocity that leads behind the projection has no direction there. */
    gboolean visible = gst_ccl_project_point (trans, &next_x, &next_y) > 0.0 && isfinite (next_x) &&
                       isfinite (next_y);

    component->velocity_x = visible ? (next_x - centre_x) / step : 0.0;
    component->velocity_y = visible ? (next_y - centre_y) / step : 0.0;
  }
  component->centroid_x = centre_x - 0.5;
  component->centroid_y = centre_y - 0.5;
  component->features &= ~(guint) (GST_CCL_FEATURE_ELLIPSE | GST_CCL_FEATURE_PERIMETER);
  component->orientation = component->major_axis = component->minor_axis = 0.0;
  component->perimeter = 0.0;
  area = rint ((gdouble) component->area * fabs (det / (w * w * w)));
  component->area = (guint64) (isfinite (area) ? CLAMP (area, 1.0, 1e18) : 1.0);

  return TRUE;
}

static gboolean
transform_matrix (GstBuffer *dest, const GstCclMeta *meta, const GstVideoMetaTransformMatrix *trans)
{
  Box clip = { 0, 0, GST_VIDEO_INFO_WIDTH (trans->out_info),
               GST_VIDEO_INFO_HEIGHT (trans->out_info) };
  gdouble det = gst_ccl_project_get_determinant (trans);
  GstCclMeta *projected;
  guint *kept, i, n = 0;

  projected = add_copy (dest, meta, (guint) clip.x2, (guint) clip.y2);
  if (!projected)
    return FALSE;

  /* Outside of the rectangle is a border, where the frame is not drawn. */
  clip.x1 = MAX (clip.x1, trans->out_rectangle.x);
  clip.y1 = MAX (clip.y1, trans->out_rectangle.y);
  clip.x2 = MIN (clip.x2, (gint64) trans->out_rectangle.x + trans->out_rectangle.w);
  clip.y2 = MIN (clip.y2, (gint64) trans->out_rectangle.y + trans->out_rectangle.h);

  kept = g_new (guint, meta->n_components);
  for (i = 0; i < meta->n_components; i++) {
    if (!project_component (trans, det, &clip, &projected->components[i]))
      continue;
    kept[n] = i;
    projected->components[n++] = projected->components[i];
  }

  projected->found = count_found (meta, n);
  projected->n_components = n;
  keep_signatures (projected, kept, n);
  g_free (kept);

  return TRUE;
}
#endif

static gboolean
gst_ccl_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                        gpointer data)
{
  GstCclMeta *self = (GstCclMeta *) meta;

  /* Partial copies keep the components, as they keep regions of interest: removing padding or a
   * header does not change the picture. */
  if (GST_META_TRANSFORM_IS_COPY (type)) {
    /* Before 1.22, GStreamer's scalers first scale the metadata and then copy it to the same
     * buffer.
     */
    if (gst_buffer_get_ccl_meta (dest))
      return TRUE;

    return add_copy (dest, self, self->width, self->height) != NULL;
  }

  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return transform_scale (dest, self, data);

#if GST_CHECK_VERSION(1, 28, 0)
  if (GST_VIDEO_META_TRANSFORM_IS_MATRIX (type))
    return transform_matrix (dest, self, data);
#endif

  return FALSE;
}

GST_CCL_DEFINE_REGISTER (GstCclMeta, gst_ccl_meta)

/**
 * gst_ccl_meta_get_info:
 *
 * Registers #GstCclMeta with GStreamer. A program that receives components from another process
 * with `unixfdsrc` must call this before the first frame arrives, unless it uses an element of
 * cudaccl: metadata that is not registered is dropped.
 *
 * Returns: (transfer none): the #GstMetaInfo of #GstCclMeta
 *
 * Since: 0.1
 */
const GstMetaInfo *
gst_ccl_meta_get_info (void)
{
  static const GstMetaInfo *info = NULL;

  if (g_once_init_enter ((GstMetaInfo **) &info)) {
    const GstMetaInfo *new_info;

    GST_DEBUG_CATEGORY_INIT (gst_ccl_meta_debug, "cclmeta", 0, "connected components as metadata");
    new_info = gst_ccl_meta_register ();
    g_once_init_leave ((GstMetaInfo **) &info, (GstMetaInfo *) new_info);
  }

  return info;
}

/**
 * gst_buffer_add_ccl_meta:
 * @buffer: a writable #GstBuffer
 * @width: width of the frame, in pixels
 * @height: height of the frame, in pixels
 * @found: number of components found, at least @n_components
 * @components: (array length=n_components) (nullable): the components, which are copied
 * @n_components: number of @components
 *
 * Attaches components to @buffer. Replaces those attached before, and the names of their classes: a
 * frame has at most one #GstCclMeta.
 *
 * Returns: (transfer none): the #GstCclMeta on @buffer
 *
 * Since: 0.1
 */
GstCclMeta *
gst_buffer_add_ccl_meta (GstBuffer *buffer, guint width, guint height, guint found,
                         const GstCclComponent *components, guint n_components)
{
  GstCclMeta *meta;
  GstCclComponent *copy;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (gst_buffer_is_writable (buffer), NULL);
  g_return_val_if_fail (components != NULL || n_components == 0, NULL);
  g_return_val_if_fail (found >= n_components, NULL);

  /* Copy first: the components may be those of the metadata that is replaced. */
  copy = g_memdup2 (components, sizeof (*copy) * n_components);

  meta = gst_buffer_get_ccl_meta (buffer);
  if (meta)
    gst_ccl_meta_free (&meta->meta, buffer);
  else
    meta = (GstCclMeta *) gst_buffer_add_meta (buffer, GST_CCL_META_INFO, NULL);

  meta->width = width;
  meta->height = height;
  meta->found = found;
  meta->n_components = n_components;
  meta->frame_age = 0;
  meta->components = copy;

  return meta;
}

/**
 * gst_buffer_get_ccl_meta:
 * @buffer: a #GstBuffer
 *
 * Gets the components attached to @buffer. They are valid as long as @buffer is.
 *
 * Returns: (transfer none) (nullable): the #GstCclMeta of @buffer, or %NULL if it has none
 *
 * Since: 0.1
 */
GstCclMeta *
gst_buffer_get_ccl_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  /* Frames from other processes only keep metadata that is registered. */
  gst_ccl_meta_get_info ();

  return (GstCclMeta *) gst_buffer_get_meta (buffer, GST_CCL_META_API_TYPE);
}

/**
 * gst_ccl_meta_get_n_components:
 * @meta: a #GstCclMeta
 *
 * Gets the number of components in @meta.
 *
 * Returns: the number of components
 *
 * Since: 0.1
 */

/**
 * gst_ccl_meta_get_components:
 * @meta: a #GstCclMeta
 * @n_components: (out): the number of components
 *
 * Gets all components of @meta, in canonical order.
 *
 * Returns: (transfer none) (array length=n_components) (nullable): the components, valid as long as
 *   @meta is, or %NULL if there are none
 *
 * Since: 0.1
 */

/**
 * gst_ccl_meta_get_component:
 * @meta: a #GstCclMeta
 * @index: index of the component, from 0
 *
 * Gets one component of @meta. Components are in canonical order.
 *
 * Returns: (transfer none) (nullable): the component, valid as long as @meta is, or %NULL if
 *   @index is out of range
 *
 * Since: 0.1
 */
GST_CCL_DEFINE_ARRAY (GstCclMeta, gst_ccl_meta, GstCclComponent, component, components)

/* Both functions for bytes hand programs this layout. */
#if GLIB_SIZEOF_VOID_P == 8
G_STATIC_ASSERT (sizeof (GstCclComponent) == 152);
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, area) == 24);
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, static_age) == 52);
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, age) == 56);
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, class_id) == 80);
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, flags) == 84);
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, confidence) == 88);
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, perimeter) == 104);
G_STATIC_ASSERT (G_STRUCT_OFFSET (GstCclComponent, luma_max) == 148);
#endif

/**
 * gst_ccl_meta_get_bytes:
 * @meta: a #GstCclMeta
 *
 * Gets a copy of all components as bytes, which a program can read at once where one call for each
 * component is slow. Each takes the 152 bytes of #GstCclComponent, in the machine's order of bytes.
 * For NumPy:
 *
 * ```python
 * dtype = numpy.dtype({
 *     'names': ['label', 'x', 'y', 'width', 'height', 'area', 'centroid_x', 'centroid_y', 'track',
 *               'static_age', 'age', 'velocity_x', 'velocity_y', 'class_id', 'flags', 'confidence',
 *               'features', 'holes', 'perimeter', 'orientation', 'major_axis', 'minor_axis',
 *               'luma_mean', 'luma_min', 'luma_max'],
 *     'formats': ['u4', 'u4', 'u4', 'u4', 'u4', 'u8', 'f8', 'f8', 'u4', 'u4', 'u8', 'f8', 'f8',
 *                 'u4', 'u4', 'f8', 'u4', 'u4', 'f8', 'f8', 'f8', 'f8', 'f8', 'u4', 'u4'],
 *     'offsets': [0, 4, 8, 12, 16, 24, 32, 40, 48, 52, 56, 64, 72, 80, 84, 88, 96, 100, 104, 112,
 *                 120, 128, 136, 144, 148], 'itemsize': 152})
 * components = numpy.frombuffer(meta.get_bytes().get_data(), dtype)
 * ```
 *
 * The Python package cudaccl has this as `cudaccl.gst.components (buffer)`.
 *
 * Returns: (transfer full): the components
 *
 * Since: 0.1
 */
GBytes *
gst_ccl_meta_get_bytes (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return g_bytes_new (meta->components, meta->n_components * sizeof (*meta->components));
}

/**
 * gst_buffer_add_ccl_meta_from_bytes:
 * @buffer: a #GstBuffer
 * @width: width of the frame, in pixels
 * @height: height of the frame, in pixels
 * @components: components as gst_ccl_meta_get_bytes() returns them
 *
 * Attaches components to @buffer, as gst_buffer_add_ccl_meta() does, for programs that have them as
 * an array: boxes of a detector, for example. `cudaccl.gst.attach ()` of the Python package makes
 * them from boxes, classes and scores.
 *
 * Returns: (transfer none) (nullable): the #GstCclMeta on @buffer, or %NULL if @buffer is not
 *   writable, as those that a pad probe gets in Python
 *
 * Since: 0.1
 */
GstCclMeta *
gst_buffer_add_ccl_meta_from_bytes (GstBuffer *buffer, guint width, guint height,
                                    GBytes *components)
{
  GstCclComponent *copy;
  GstCclMeta *meta;
  gsize size;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (components != NULL, NULL);

  if (!gst_buffer_is_writable (buffer))
    return NULL;

  size = g_bytes_get_size (components);
  g_return_val_if_fail (size % sizeof (*copy) == 0, NULL);
  g_return_val_if_fail (size / sizeof (*copy) <= G_MAXUINT, NULL);

  /* Bytes need not be aligned. */
  copy = g_memdup2 (g_bytes_get_data (components, NULL), size);
  meta = gst_buffer_add_ccl_meta (buffer, width, height, (guint) (size / sizeof (*copy)), copy,
                                  (guint) (size / sizeof (*copy)));
  g_free (copy);

  return meta;
}

/**
 * gst_ccl_meta_set_class_names:
 * @meta: a #GstCclMeta on a writable buffer
 * @names: (nullable): the names of the classes of its components, or %NULL for none
 *
 * Sets the names of the classes. Adds a reference to @names; strings are not copied.
 *
 * Since: 0.1
 */
void
gst_ccl_meta_set_class_names (GstCclMeta *meta, GstCclClassNames *names)
{
  g_return_if_fail (meta != NULL);

  gst_ccl_class_names_replace (&meta->class_names, names);
}

/**
 * gst_ccl_meta_get_class_names:
 * @meta: a #GstCclMeta
 *
 * Gets the names of the classes.
 *
 * Returns: (transfer none) (nullable): the names, or %NULL if there are none
 *
 * Since: 0.1
 */
GstCclClassNames *
gst_ccl_meta_get_class_names (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->class_names;
}

/**
 * gst_ccl_meta_get_class_name:
 * @meta: a #GstCclMeta
 * @class_id: a class, as of a component
 *
 * Gets the name of a class.
 *
 * Returns: (transfer none) (nullable): the name, in UTF-8 and valid as long as @meta is, or %NULL
 *   if the class has none
 *
 * Since: 0.1
 */
const gchar *
gst_ccl_meta_get_class_name (const GstCclMeta *meta, guint class_id)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->class_names ? gst_ccl_class_names_get_name (meta->class_names, class_id) : NULL;
}

/**
 * gst_ccl_meta_set_signatures:
 * @meta: a #GstCclMeta on a writable buffer
 * @signatures: (nullable): %GST_CCL_SIGNATURE_SIZE bytes for each of its components, in their
 *   order, or %NULL for none
 *
 * Sets what the components look like: for each the `CclSignature` of libcudaccl, histograms of luma
 * and chroma of the upper and the lower half of its box. All 0: not known. Adds a reference to
 * @signatures.
 *
 * `cclmotion` sets them if an element behind it asks for them, as `ccltrack` does, which tells
 * objects apart by them.
 *
 * Since: 0.2
 */
void
gst_ccl_meta_set_signatures (GstCclMeta *meta, GBytes *signatures)
{
  g_return_if_fail (meta != NULL);
  g_return_if_fail (signatures == NULL || g_bytes_get_size (signatures) ==
                                              (gsize) meta->n_components * GST_CCL_SIGNATURE_SIZE);

  if (signatures)
    g_bytes_ref (signatures);
  g_clear_pointer (&meta->signatures, g_bytes_unref);
  meta->signatures = signatures;
}

/**
 * gst_ccl_meta_get_signatures:
 * @meta: a #GstCclMeta
 *
 * Gets what the components look like; see gst_ccl_meta_set_signatures().
 *
 * Returns: (transfer none) (nullable): the signatures, or %NULL if there are none
 *
 * Since: 0.2
 */
GBytes *
gst_ccl_meta_get_signatures (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return meta->signatures;
}

/**
 * gst_ccl_meta_crop:
 * @meta: a #GstCclMeta on a writable buffer
 * @x: left edge of the rectangle, in pixels
 * @y: top edge of the rectangle, in pixels
 * @width: width of the rectangle, in pixels
 * @height: height of the rectangle, in pixels
 *
 * Crops the frame of @meta to a rectangle, as described for #GstCclMeta. For code that crops
 * frames: before version 1.28, GStreamer has no transform for cropping, and its elements drop
 * metadata that depends on the frame size when they crop.
 *
 * Returns: %FALSE if the rectangle is empty or not inside the frame; then @meta is unchanged
 *
 * Since: 0.1
 */
gboolean
gst_ccl_meta_crop (GstCclMeta *meta, guint x, guint y, guint width, guint height)
{
  const Box clip = { 0, 0, width, height };
  guint *kept, i, n = 0;

  g_return_val_if_fail (meta != NULL, FALSE);

  if (width == 0 || height == 0 || (guint64) x + width > meta->width ||
      (guint64) y + height > meta->height)
    return FALSE;

  kept = g_new (guint, meta->n_components);
  for (i = 0; i < meta->n_components; i++) {
    GstCclComponent component = meta->components[i];
    Box box;

    box.x1 = (gint64) component.x - x;
    box.y1 = (gint64) component.y - y;
    box.x2 = box.x1 + component.width;
    box.y2 = box.y1 + component.height;
    if (!set_clipped_box (&component, &box, &clip))
      continue;

    component.centroid_x -= x;
    component.centroid_y -= y;
    kept[n] = i;
    meta->components[n++] = component;
  }

  meta->found = count_found (meta, n);
  meta->n_components = n;
  keep_signatures (meta, kept, n);
  g_free (kept);
  meta->width = width;
  meta->height = height;

  return TRUE;
}
