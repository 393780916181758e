/* cudaccl - connected components of video frames as metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>
#include <gst/video/video.h>

#include "gstccl-private.h"

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
  GstCclComponent *copy;

  g_return_val_if_fail (component != NULL, NULL);

  copy = g_new (GstCclComponent, 1);
  *copy = *component;

  return copy;
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
  static const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                 GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };

  if (g_once_init_enter (&type)) {
    GType new_type = gst_meta_api_type_register ("GstCclMetaAPI", tags);

    g_once_init_leave (&type, new_type);
  }

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
  self->components = NULL;

  return TRUE;
}

static void
gst_ccl_meta_free (GstMeta *meta, GstBuffer *buffer)
{
  GstCclMeta *self = (GstCclMeta *) meta;

  g_clear_pointer (&self->components, g_free);
  self->n_components = 0;
}

static const GstMetaInfo *
gst_ccl_meta_register (void)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstMetaInfo *info = gst_meta_info_new (GST_CCL_META_API_TYPE, "GstCclMeta", sizeof (GstCclMeta));

  info->init_func = gst_ccl_meta_init;
  info->free_func = gst_ccl_meta_free;
  info->transform_func = _gst_ccl_meta_transform;
  info->serialize_func = _gst_ccl_meta_serialize;
  info->deserialize_func = _gst_ccl_meta_deserialize;

  return gst_meta_info_register (info);
#else
  return gst_meta_register (GST_CCL_META_API_TYPE, "GstCclMeta", sizeof (GstCclMeta),
                            gst_ccl_meta_init, gst_ccl_meta_free, _gst_ccl_meta_transform);
#endif
}

/**
 * gst_ccl_meta_get_info:
 *
 * Registers #GstCclMeta with GStreamer. A program that reads components which another process sent,
 * through `unixfdsrc`, does that before the first frame arrives, if none of its elements is one of
 * cudaccl's: what is not registered does not get through.
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
    const GstMetaInfo *new_info = gst_ccl_meta_register ();

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
 * Attaches components to @buffer. Those that were attached before are replaced: a frame has one
 * analysis, and the latest one counts.
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
  GstCclComponent *copy = NULL;

  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (gst_buffer_is_writable (buffer), NULL);
  g_return_val_if_fail (components != NULL || n_components == 0, NULL);
  g_return_val_if_fail (found >= n_components, NULL);

  /* The copy comes first: the components may be those of the metadata that is replaced. */
  if (n_components > 0) {
    copy = g_new (GstCclComponent, n_components);
    memcpy (copy, components, sizeof (*copy) * n_components);
  }

  meta = gst_buffer_get_ccl_meta (buffer);
  if (meta)
    g_free (meta->components);
  else
    meta = (GstCclMeta *) gst_buffer_add_meta (buffer, GST_CCL_META_INFO, NULL);

  meta->width = width;
  meta->height = height;
  meta->found = found;
  meta->n_components = n_components;
  meta->components = copy;

  return meta;
}

/**
 * gst_buffer_get_ccl_meta:
 * @buffer: a #GstBuffer
 *
 * Gets the components attached to @buffer, which must be kept as long as they are used.
 *
 * Returns: (transfer none) (nullable): the #GstCclMeta of @buffer, or %NULL when it was not
 * analysed
 *
 * Since: 0.1
 */
GstCclMeta *
gst_buffer_get_ccl_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);

  /* Frames from other processes get theirs only when it is registered. */
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
guint
gst_ccl_meta_get_n_components (const GstCclMeta *meta)
{
  g_return_val_if_fail (meta != NULL, 0);

  return meta->n_components;
}

/**
 * gst_ccl_meta_get_components:
 * @meta: a #GstCclMeta
 * @n_components: (out): the number of components
 *
 * Gets all components of @meta, in canonical order.
 *
 * Returns: (transfer none) (array length=n_components) (nullable): the components, which are valid
 *   as long as @meta is, or %NULL when there are none
 *
 * Since: 0.1
 */
const GstCclComponent *
gst_ccl_meta_get_components (const GstCclMeta *meta, guint *n_components)
{
  g_return_val_if_fail (n_components != NULL, NULL);
  *n_components = 0;
  g_return_val_if_fail (meta != NULL, NULL);

  *n_components = meta->n_components;

  return meta->components;
}

/**
 * gst_ccl_meta_get_component:
 * @meta: a #GstCclMeta
 * @index: number of the component, from 0 on
 *
 * Gets one component of @meta. Components come in canonical order.
 *
 * Returns: (transfer none) (nullable): the component, which is valid as long as @meta is, or %NULL
 *   when there are no more than @index components
 *
 * Since: 0.1
 */
const GstCclComponent *
gst_ccl_meta_get_component (const GstCclMeta *meta, guint index)
{
  g_return_val_if_fail (meta != NULL, NULL);

  return index < meta->n_components ? &meta->components[index] : NULL;
}
