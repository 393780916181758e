/* cudaccl - buffers that share their memory; part of the plugins, not of libgstccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltwin.h"

static gboolean
copy_meta (GstBuffer *buffer, GstMeta **meta, gpointer user_data)
{
  GstMetaTransformCopy copy = { FALSE, 0, (gsize) -1 };

  if ((*meta)->info->transform_func)
    (*meta)->info->transform_func (user_data, *meta, buffer, _gst_meta_transform_copy, &copy);

  return TRUE;
}

/* gst_buffer_copy() would copy memory that says it is not to be shared; here it is not: of the two
 * buffers only one is left when the frame goes on. */
GstBuffer *
gst_ccl_twin_new (GstBuffer *buffer)
{
  GstBuffer *twin = gst_buffer_new ();
  guint i;

  for (i = 0; i < gst_buffer_n_memory (buffer); i++)
    gst_buffer_append_memory (twin, gst_buffer_get_memory (buffer, i));
  gst_buffer_copy_into (twin, buffer, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0,
                        (gsize) -1);
  gst_buffer_foreach_meta (buffer, copy_meta, twin);

  /* Its pool must not count on a buffer whose memory is still on its way downstream. */
  if (buffer->pool)
    gst_buffer_add_parent_buffer_meta (twin, buffer);

  return twin;
}
