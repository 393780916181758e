/* cudaccl - what becomes of components when their frame is copied, scaled, cropped or turned
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <string.h>
#include <gst/video/video.h>

#include "gstccl-private.h"

/* Left and top edges are inclusive, right and bottom edges are not. */
typedef struct
{
  gint64 x1, y1, x2, y2;
} Box;

/* Cuts @component's box off at @clip and makes it relative to the frame's origin, which is where it
 * is already. FALSE when nothing of it is left. */
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

/* What was dropped is no longer found in the frame; what the analysis had no room for still is. */
static guint
count_found (const GstCclMeta *meta, guint n_left)
{
  return meta->found - (meta->n_components - n_left);
}

/* Whole numbers, so that a box that hits a pixel's edge exactly does not spill over it. */
static void
scale_range (guint *start, guint *length, guint num, guint denom)
{
  guint64 first = (guint64) *start * num / denom;
  guint64 end = (((guint64) *start + *length) * num + denom - 1) / denom;

  *start = (guint) first;
  *length = (guint) (end - first);
}

static gboolean
transform_scale (GstBuffer *dest, const GstCclMeta *meta, const GstVideoMetaTransform *trans)
{
  guint in_width = GST_VIDEO_INFO_WIDTH (trans->in_info);
  guint in_height = GST_VIDEO_INFO_HEIGHT (trans->in_info);
  guint out_width = GST_VIDEO_INFO_WIDTH (trans->out_info);
  guint out_height = GST_VIDEO_INFO_HEIGHT (trans->out_info);
  guint64 in_area = (guint64) in_width * in_height;
  guint64 out_area = (guint64) out_width * out_height;
  gdouble sx = (gdouble) out_width / in_width;
  gdouble sy = (gdouble) out_height / in_height;
  guint width, height, i;
  GstCclMeta *scaled;

  /* Components that were made for a frame of another size stay in proportion. */
  width = (guint) gst_util_uint64_scale_int_round (meta->width, out_width, in_width);
  height = (guint) gst_util_uint64_scale_int_round (meta->height, out_height, in_height);

  scaled = gst_buffer_add_ccl_meta (dest, MAX (width, 1), MAX (height, 1), meta->found,
                                    meta->components, meta->n_components);

  for (i = 0; i < scaled->n_components; i++) {
    GstCclComponent *component = &scaled->components[i];

    scale_range (&component->x, &component->width, out_width, in_width);
    scale_range (&component->y, &component->height, out_height, in_height);
    component->area = MAX (gst_util_uint64_scale_round (component->area, out_area, in_area), 1);
    component->centroid_x = (component->centroid_x + 0.5) * sx - 0.5;
    component->centroid_y = (component->centroid_y + 0.5) * sy - 0.5;
  }

  return TRUE;
}

#if GST_CHECK_VERSION(1, 28, 0)
/* A point of the input goes to where the matrix says; the result is the homogeneous coordinate,
 * which is not positive for points that the projection cannot show. */
static gdouble
project_point (const GstVideoMetaTransformMatrix *trans, gdouble *x, gdouble *y)
{
  gdouble in_x = *x - trans->in_rectangle.x;
  gdouble in_y = *y - trans->in_rectangle.y;
  gdouble w = trans->matrix[2][0] * in_x + trans->matrix[2][1] * in_y + trans->matrix[2][2];

  *x = (trans->matrix[0][0] * in_x + trans->matrix[0][1] * in_y + trans->matrix[0][2]) / w +
       trans->out_rectangle.x;
  *y = (trans->matrix[1][0] * in_x + trans->matrix[1][1] * in_y + trans->matrix[1][2]) / w +
       trans->out_rectangle.y;

  return w;
}

static gdouble
determinant (const GstVideoMetaTransformMatrix *trans)
{
  gdouble m[3][3];
  guint i;

  for (i = 0; i < 9; i++)
    m[i / 3][i % 3] = trans->matrix[i / 3][i % 3];

  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

static gboolean
project_component (const GstVideoMetaTransformMatrix *trans, gdouble det, const Box *clip,
                   GstCclComponent *component)
{
  /* The matrix is in single precision: a sliver thinner than this is not a pixel's. */
  const gdouble sliver = 1.0 / 256.0;
  gdouble min_x = G_MAXDOUBLE, min_y = G_MAXDOUBLE, max_x = -G_MAXDOUBLE, max_y = -G_MAXDOUBLE;
  gdouble centre_x, centre_y, w;
  Box box;
  guint i;

  for (i = 0; i < 4; i++) {
    gdouble x = (gdouble) component->x + ((i & 1) ? component->width : 0);
    gdouble y = (gdouble) component->y + ((i & 2) ? component->height : 0);

    if (!(project_point (trans, &x, &y) > 0.0))
      return FALSE;

    min_x = MIN (min_x, x);
    min_y = MIN (min_y, y);
    max_x = MAX (max_x, x);
    max_y = MAX (max_y, y);
  }

  box.x1 = (gint64) floor (CLAMP (min_x, -1e9, 1e9) + sliver);
  box.y1 = (gint64) floor (CLAMP (min_y, -1e9, 1e9) + sliver);
  box.x2 = (gint64) ceil (CLAMP (max_x, -1e9, 1e9) - sliver);
  box.y2 = (gint64) ceil (CLAMP (max_y, -1e9, 1e9) - sliver);
  if (!set_clipped_box (component, &box, clip))
    return FALSE;

  centre_x = component->centroid_x + 0.5;
  centre_y = component->centroid_y + 0.5;
  w = project_point (trans, &centre_x, &centre_y);
  component->centroid_x = centre_x - 0.5;
  component->centroid_y = centre_y - 0.5;
  component->area = (guint64) MAX (rint (component->area * fabs (det / (w * w * w))), 1.0);

  return TRUE;
}

static gboolean
transform_matrix (GstBuffer *dest, const GstCclMeta *meta, const GstVideoMetaTransformMatrix *trans)
{
  Box clip = { 0, 0, GST_VIDEO_INFO_WIDTH (trans->out_info),
               GST_VIDEO_INFO_HEIGHT (trans->out_info) };
  gdouble det = determinant (trans);
  GstCclMeta *projected;
  guint i, n = 0;

  projected = gst_buffer_add_ccl_meta (dest, (guint) clip.x2, (guint) clip.y2, meta->found,
                                       meta->components, meta->n_components);

  /* What goes past the rectangle's edge is not drawn: around it is a border. */
  clip.x1 = MAX (clip.x1, trans->out_rectangle.x);
  clip.y1 = MAX (clip.y1, trans->out_rectangle.y);
  clip.x2 = MIN (clip.x2, (gint64) trans->out_rectangle.x + trans->out_rectangle.w);
  clip.y2 = MIN (clip.y2, (gint64) trans->out_rectangle.y + trans->out_rectangle.h);

  for (i = 0; i < meta->n_components; i++) {
    if (project_component (trans, det, &clip, &projected->components[i]))
      projected->components[n++] = projected->components[i];
  }

  projected->found = count_found (meta, n);
  projected->n_components = n;

  return TRUE;
}
#endif

gboolean
_gst_ccl_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                         gpointer data)
{
  GstCclMeta *self = (GstCclMeta *) meta;

  /* Copies of a part of the bytes keep the components, as they keep regions of interest: cutting
   * padding or a header off does not change the picture. */
  if (GST_META_TRANSFORM_IS_COPY (type)) {
    /* Before 1.22, GStreamer's scalers have metadata scaled and then copied onto the same buffer.
     */
    if (gst_buffer_get_ccl_meta (dest))
      return TRUE;

    return gst_buffer_add_ccl_meta (dest, self->width, self->height, self->found, self->components,
                                    self->n_components) != NULL;
  }

  if (GST_VIDEO_META_TRANSFORM_IS_SCALE (type))
    return transform_scale (dest, self, data);

#if GST_CHECK_VERSION(1, 28, 0)
  if (GST_VIDEO_META_TRANSFORM_IS_MATRIX (type))
    return transform_matrix (dest, self, data);
#endif

  return FALSE;
}

/**
 * gst_ccl_meta_crop:
 * @meta: a #GstCclMeta on a writable buffer
 * @x: left edge of the rectangle, in pixels
 * @y: top edge of the rectangle, in pixels
 * @width: width of the rectangle, in pixels
 * @height: height of the rectangle, in pixels
 *
 * Cuts the frame of @meta down to a rectangle, as described at #GstCclMeta. For code that crops
 * frames: GStreamer before 1.28 cannot tell metadata about cropping, and its elements drop
 * metadata that depends on the size of the frame when they crop.
 *
 * Returns: %FALSE when the rectangle is empty or not inside the frame; @meta is unchanged then
 *
 * Since: 0.1
 */
gboolean
gst_ccl_meta_crop (GstCclMeta *meta, guint x, guint y, guint width, guint height)
{
  const Box clip = { 0, 0, width, height };
  guint i, n = 0;

  g_return_val_if_fail (meta != NULL, FALSE);

  if (width == 0 || height == 0 || (guint64) x + width > meta->width ||
      (guint64) y + height > meta->height)
    return FALSE;

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
    meta->components[n++] = component;
  }

  meta->found = count_found (meta, n);
  meta->n_components = n;
  meta->width = width;
  meta->height = height;

  return TRUE;
}
