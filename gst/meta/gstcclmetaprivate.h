/* cudaccl - what GstCclMeta and GstCclZonesMeta share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_META_PRIVATE_H__
#define __GST_CCL_META_PRIVATE_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_meta_debug);

/* Registers the API of metadata that depends on the frame's size and orientation. */
static inline GType
gst_ccl_meta_register_api (const gchar *name)
{
  static const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                 GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };

  return gst_meta_api_type_register (name, tags);
}

/* Defines prefix_register(), which registers the metadata @Type with the functions prefix_init(),
 * prefix_free() and prefix_transform() and, where GStreamer has it, prefix_serialize() and
 * prefix_deserialize(). */
#if GST_CHECK_VERSION(1, 24, 0)
#define GST_CCL_DEFINE_REGISTER(Type, prefix)                                               \
  static const GstMetaInfo *prefix##_register (void)                                        \
  {                                                                                         \
    GstMetaInfo *info = gst_meta_info_new (prefix##_api_get_type (), #Type, sizeof (Type)); \
                                                                                            \
    info->init_func = prefix##_init;                                                        \
    info->free_func = prefix##_free;                                                        \
    info->transform_func = prefix##_transform;                                              \
    info->serialize_func = prefix##_serialize;                                              \
    info->deserialize_func = prefix##_deserialize;                                          \
                                                                                            \
    return gst_meta_info_register (info);                                                   \
  }
#else
#define GST_CCL_DEFINE_REGISTER(Type, prefix)                                                \
  static const GstMetaInfo *prefix##_register (void)                                         \
  {                                                                                          \
    return gst_meta_register (prefix##_api_get_type (), #Type, sizeof (Type), prefix##_init, \
                              prefix##_free, prefix##_transform);                            \
  }
#endif

/* Defines the accessors of an array: prefix_get_n_items(), prefix_get_items() and
 * prefix_get_item(). */
#define GST_CCL_DEFINE_ARRAY(Type, prefix, Item, item, items)     \
  guint prefix##_get_n_##items (const Type *meta)                 \
  {                                                               \
    g_return_val_if_fail (meta != NULL, 0);                       \
                                                                  \
    return meta->n_##items;                                       \
  }                                                               \
                                                                  \
  const Item *prefix##_get_##items (const Type *meta, guint *n)   \
  {                                                               \
    g_return_val_if_fail (n != NULL, NULL);                       \
    *n = 0;                                                       \
    g_return_val_if_fail (meta != NULL, NULL);                    \
                                                                  \
    *n = meta->n_##items;                                         \
                                                                  \
    return meta->items;                                           \
  }                                                               \
                                                                  \
  const Item *prefix##_get_##item (const Type *meta, guint index) \
  {                                                               \
    g_return_val_if_fail (meta != NULL, NULL);                    \
                                                                  \
    return index < meta->n_##items ? &meta->items[index] : NULL;  \
  }

/* How a frame is scaled. */
typedef struct
{
  guint in_width, in_height, out_width, out_height;
  gdouble x, y;
} GstCclScale;

/* Returns FALSE, and warns that @what was dropped, if there is no such scaling. */
static inline gboolean
gst_ccl_scale_init (GstCclScale *self, const GstVideoMetaTransform *trans, const gchar *what)
{
  gint in_width = GST_VIDEO_INFO_WIDTH (trans->in_info);
  gint in_height = GST_VIDEO_INFO_HEIGHT (trans->in_info);
  gint out_width = GST_VIDEO_INFO_WIDTH (trans->out_info);
  gint out_height = GST_VIDEO_INFO_HEIGHT (trans->out_info);

  if (in_width <= 0 || in_height <= 0 || out_width <= 0 || out_height <= 0) {
    GST_CAT_WARNING (gst_ccl_meta_debug,
                     "%s were dropped: scaling from %dx%d to %dx%d pixels is not possible", what,
                     in_width, in_height, out_width, out_height);
    return FALSE;
  }

  self->in_width = (guint) in_width;
  self->in_height = (guint) in_height;
  self->out_width = (guint) out_width;
  self->out_height = (guint) out_height;
  self->x = (gdouble) out_width / in_width;
  self->y = (gdouble) out_height / in_height;

  return TRUE;
}

/* Scales the frame size of metadata, which may differ from that of the input. */
static inline void
gst_ccl_scale_size (const GstCclScale *self, guint *width, guint *height)
{
  *width = (guint) CLAMP (gst_util_uint64_scale_round (*width, self->out_width, self->in_width), 1,
                          G_MAXINT);
  *height = (guint) CLAMP (gst_util_uint64_scale_round (*height, self->out_height, self->in_height),
                           1, G_MAXINT);
}

#if GST_CHECK_VERSION(1, 28, 0)
/* Projects a point with the matrix. Returns the homogeneous coordinate, which is positive only
 * for points in front of the projection. */
static inline gdouble
gst_ccl_project_point (const GstVideoMetaTransformMatrix *trans, gdouble *x, gdouble *y)
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

/* Negative if the matrix mirrors the picture. */
static inline gdouble
gst_ccl_project_get_determinant (const GstVideoMetaTransformMatrix *trans)
{
  gdouble m[3][3];
  guint i;

  for (i = 0; i < 9; i++)
    m[i / 3][i % 3] = trans->matrix[i / 3][i % 3];

  return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) -
         m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
         m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
}

#endif

/* Sets *@to, which may be @names already; either may be NULL. */
static inline void
gst_ccl_class_names_replace (GstCclClassNames **to, GstCclClassNames *names)
{
  GstCclClassNames *before = *to;

  *to = names ? gst_ccl_class_names_ref (names) : NULL;
  g_clear_pointer (&before, gst_ccl_class_names_unref);
}

#if GST_CHECK_VERSION(1, 24, 0)
gboolean gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version);

GstMeta *gst_ccl_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data,
                                   gsize size, guint8 version);

gboolean gst_ccl_zones_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data,
                                       guint8 *version);

GstMeta *gst_ccl_zones_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer,
                                         const guint8 *data, gsize size, guint8 version);
#endif

G_END_DECLS

#endif /* __GST_CCL_META_PRIVATE_H__ */
