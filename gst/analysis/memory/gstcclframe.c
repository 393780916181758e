/* cudaccl - mapping a plane of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclframe.h"

/* A plane of a frame's format. Planes with two components have them in turn. */
typedef struct
{
  guint plane, component; /* the latter is any of the plane's */
  gsize row;              /* bytes of a row, without padding */
  gsize rows;
} Plane;

static Plane
plane_get (const GstVideoInfo *info, guint index)
{
  Plane plane = { .plane = index };

  while (GST_VIDEO_INFO_COMP_PLANE (info, plane.component) != index)
    plane.component++;
  plane.row = (gsize) GST_VIDEO_INFO_COMP_WIDTH (info, plane.component) *
              (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, plane.component);
  plane.rows = (gsize) GST_VIDEO_INFO_COMP_HEIGHT (info, plane.component);

  return plane;
}

/* Bytes from the first pixel to the last. */
static gsize
extent (const Plane *plane, gint stride)
{
  return (plane->rows - 1) * (gsize) stride + plane->row;
}

/* Bytes from the start of a plane with rows of @stride bytes to the pixel (@x, @y) of the frame. */
static gsize
offset_of (const GstVideoInfo *info, const Plane *plane, gint stride, guint64 x, guint64 y)
{
  const GstVideoFormatInfo *format = info->finfo;

  x >>= GST_VIDEO_FORMAT_INFO_W_SUB (format, plane->component);
  y >>= GST_VIDEO_FORMAT_INFO_H_SUB (format, plane->component);

  return y * (gsize) stride + x * (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, plane->component);
}

static gboolean
check_stride (const GstVideoInfo *info, const Plane *plane, gint stride, GError **error)
{
  if (stride >= 0 && (gsize) stride >= plane->row)
    return TRUE;

  if (stride < 0)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame is stored bottom up (stride %d), which is not supported. Put "
                 "videoconvert before this element.",
                 stride);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The stride of the frame is %d bytes, too small for %d pixels.", stride,
                 GST_VIDEO_INFO_WIDTH (info));

  return FALSE;
}

/* The function of metadata that leaves mapping to GstBuffer. */
static gpointer
get_default_map (void)
{
  static gsize function = 0;

  if (g_once_init_enter (&function)) {
    GstBuffer *buffer = gst_buffer_new ();
    GstVideoMeta *meta =
        gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1);
    gsize map = (gsize) meta->map;

    gst_buffer_unref (buffer);
    g_once_init_leave (&function, map);
  }

  return (gpointer) function;
}

static gboolean
set_map_error (GstMapFlags flags, GError **error)
{
  gboolean write = (flags & GST_MAP_WRITE) != 0;

  g_set_error (error, GST_RESOURCE_ERROR,
               write ? GST_RESOURCE_ERROR_WRITE : GST_RESOURCE_ERROR_READ,
               "Could not map the memory of the frame for %s.", write ? "writing" : "reading");

  return FALSE;
}

/* Maps @size bytes from @offset on. Only the memories that hold them are mapped; several are copied
 * to a temporary one. */
static gboolean
map_range (GstCclFrame *frame, gsize offset, gsize size, GstMapFlags flags, GError **error)
{
  gsize available = gst_buffer_get_size (frame->buffer), skip;
  guint index, length;
  gboolean mapped;

  if (offset > available || size > available - offset) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame needs %" G_GSIZE_FORMAT " bytes from byte %" G_GSIZE_FORMAT
                 " on, but its buffer has only %" G_GSIZE_FORMAT ".",
                 size, offset, available);
    return FALSE;
  }

  if (!gst_buffer_find_memory (frame->buffer, offset, size, &index, &length, &skip))
    return set_map_error (flags, error);

  /* A writable buffer would keep the temporary memory instead of its own. */
  if (!(flags & GST_MAP_WRITE))
    gst_buffer_ref (frame->buffer);
  mapped = gst_buffer_map_range (frame->buffer, index, (gint) length, &frame->map, flags);
  if (!(flags & GST_MAP_WRITE))
    gst_buffer_unref (frame->buffer);
  if (!mapped)
    return set_map_error (flags, error);

  frame->image.data = frame->map.data + skip;

  return TRUE;
}

/* For metadata with its own function, which may set the data pointer and nothing else. */
static gboolean
map_with_function (GstCclFrame *frame, const GstVideoInfo *info, const Plane *plane, guint64 x,
                   guint64 y, GstMapFlags flags, GError **error)
{
  GstVideoMeta *meta = frame->meta;
  gpointer data = NULL;
  gsize start;
  gint stride = 0;

  if (!gst_video_meta_map (meta, plane->plane, &frame->map, &data, &stride, flags))
    return set_map_error (flags, error);

  if (!check_stride (info, plane, stride, error))
    goto unmap;

  frame->image.data = (const guint8 *) data + offset_of (info, plane, stride, x, y);
  frame->image.stride = (gsize) stride;
  if (!frame->map.data)
    return TRUE;

  start = (gsize) (frame->image.data - frame->map.data);
  if (start > frame->map.size || extent (plane, stride) > frame->map.size - start) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame with a stride of %d bytes needs %" G_GSIZE_FORMAT
                 " bytes, but its memory has only %" G_GSIZE_FORMAT ".",
                 stride, start + extent (plane, stride), frame->map.size);
    goto unmap;
  }

  return TRUE;

unmap:
  gst_video_meta_unmap (meta, plane->plane, &frame->map);
  return FALSE;
}

/* GStreamer's function wants a known format. */
static const gchar *
get_format_name (GstVideoFormat format)
{
  GEnumClass *klass = g_type_class_ref (GST_TYPE_VIDEO_FORMAT);
  gboolean known = format != GST_VIDEO_FORMAT_UNKNOWN && g_enum_get_value (klass, (gint) format);

  g_type_class_unref (klass);

  return known ? gst_video_format_to_string (format) : "an unknown format";
}

/* Does not map the other planes, which may be in other memory. */
static gboolean
map_with_meta (GstCclFrame *frame, const GstVideoInfo *info, const Plane *plane, GstMapFlags flags,
               GError **error)
{
  GstVideoMeta *meta = frame->meta;
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame->buffer);
  guint64 x = crop ? crop->x : 0;
  guint64 y = crop ? crop->y : 0;
  gsize start, offset;
  gint stride;

  if (meta->format != GST_VIDEO_INFO_FORMAT (info) || meta->n_planes <= plane->plane ||
      meta->n_planes > GST_VIDEO_MAX_PLANES || x + GST_VIDEO_INFO_WIDTH (info) > meta->width ||
      y + GST_VIDEO_INFO_HEIGHT (info) > meta->height) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Got a frame of %ux%u pixels in %u planes of %s, but %dx%d in %s was negotiated.",
                 meta->width, meta->height, meta->n_planes, get_format_name (meta->format),
                 GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                 gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));
    return FALSE;
  }

  if ((gpointer) meta->map != get_default_map ())
    return map_with_function (frame, info, plane, x, y, flags, error);

  stride = meta->stride[plane->plane];
  if (!check_stride (info, plane, stride, error))
    return FALSE;

  start = offset_of (info, plane, stride, x, y);
  offset = meta->offset[plane->plane];
  if (start > G_MAXSIZE - offset) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame starts at byte %" G_GSIZE_FORMAT " of a buffer of only %" G_GSIZE_FORMAT
                 " bytes.",
                 offset, gst_buffer_get_size (frame->buffer));
    return FALSE;
  }
  if (!map_range (frame, offset + start, extent (plane, stride), flags, error))
    return FALSE;
  frame->image.stride = (gsize) stride;
  frame->meta = NULL;

  return TRUE;
}

static gboolean
map_without_meta (GstCclFrame *frame, const GstVideoInfo *info, const Plane *plane,
                  GstMapFlags flags, GError **error)
{
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, plane->plane);
  gsize size = gst_buffer_get_size (frame->buffer);

  if (size < GST_VIDEO_INFO_SIZE (info)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame needs %" G_GSIZE_FORMAT
                 " bytes, but its buffer has only %" G_GSIZE_FORMAT ".",
                 GST_VIDEO_INFO_SIZE (info), size);
    return FALSE;
  }

  if (!check_stride (info, plane, stride, error) ||
      !map_range (frame, GST_VIDEO_INFO_PLANE_OFFSET (info, plane->plane), extent (plane, stride),
                  flags, error))
    return FALSE;
  frame->image.stride = (gsize) stride;

  return TRUE;
}

gboolean
gst_ccl_frame_map_plane (GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                         guint index, GstMapFlags flags, GError **error)
{
  Plane plane = plane_get (info, index);

  frame->plane = index;
  frame->buffer = buffer;
  frame->meta = gst_buffer_get_video_meta (buffer);
  frame->image.memory = CCL_MEMORY_HOST;
  frame->image.stream = NULL;

  return frame->meta ? map_with_meta (frame, info, &plane, flags, error)
                     : map_without_meta (frame, info, &plane, flags, error);
}

void
gst_ccl_frame_unmap_plane (GstCclFrame *frame)
{
  if (frame->meta)
    gst_video_meta_unmap (frame->meta, frame->plane, &frame->map);
  else
    gst_buffer_unmap (frame->buffer, &frame->map);
}

gboolean
gst_ccl_frame_check_device (gint device, gint wanted, GError **error)
{
  if (wanted < 0 || wanted == device)
    return TRUE;

  g_set_error (
      error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
      "The frame is in the memory of CUDA device %d, but cuda-device-id is %d: set it to %d "
      "or -1, or produce the frames on device %d.",
      device, wanted, device, wanted);

  return FALSE;
}
