/* cudaccl - mapping frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclframe.h"

GstCclPlaneSize
gst_ccl_plane_get_size (const GstVideoInfo *info, guint index)
{
  GstCclPlaneSize plane = { .component = 0 };

  while (GST_VIDEO_INFO_COMP_PLANE (info, plane.component) != index)
    plane.component++;
  plane.row = (gsize) GST_VIDEO_INFO_COMP_WIDTH (info, plane.component) *
              (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, plane.component);
  /* In YUY2 and UYVY, two pixels share chroma. */
  if (GST_VIDEO_INFO_N_PLANES (info) == 1 && GST_VIDEO_INFO_IS_YUV (info))
    plane.row = GST_ROUND_UP_4 (plane.row);
  plane.rows = (gsize) GST_VIDEO_INFO_COMP_HEIGHT (info, plane.component);

  return plane;
}

/* Returns the number of bytes from the first pixel to the last. */
static gsize
extent (const GstCclPlaneSize *plane, gint stride)
{
  return (plane->rows - 1) * (gsize) stride + plane->row;
}

guint64
gst_ccl_plane_get_start (const GstVideoInfo *info, guint index, guint64 stride, guint64 x,
                         guint64 y)
{
  const GstVideoFormatInfo *format = info->finfo;
  guint component = gst_ccl_plane_get_size (info, index).component;

  x >>= GST_VIDEO_FORMAT_INFO_W_SUB (format, component);
  y >>= GST_VIDEO_FORMAT_INFO_H_SUB (format, component);

  return y * stride + x * (guint64) GST_VIDEO_INFO_COMP_PSTRIDE (info, component);
}

static gboolean
check_stride (const GstVideoInfo *info, const GstCclPlaneSize *plane, gint stride, GError **error)
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

/* Returns the map function of metadata that leaves mapping to GstBuffer. */
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

/* Maps @size bytes from @offset on. Maps only the memories that hold them; several are copied to
 * a temporary one. */
static gboolean
map_range (GstCclPlane *plane, GstBuffer *buffer, gsize offset, gsize size, GstMapFlags flags,
           GError **error)
{
  gsize available = gst_buffer_get_size (buffer), skip;
  guint index, length;
  gboolean mapped;

  if (offset > available || size > available - offset) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame needs %" G_GSIZE_FORMAT " bytes from byte %" G_GSIZE_FORMAT
                 " on, but its buffer has only %" G_GSIZE_FORMAT ".",
                 size, offset, available);
    return FALSE;
  }

  if (!gst_buffer_find_memory (buffer, offset, size, &index, &length, &skip))
    return set_map_error (flags, error);

  /* A writable buffer would keep the temporary memory instead of its own. */
  if (!(flags & GST_MAP_WRITE))
    gst_buffer_ref (buffer);
  mapped = gst_buffer_map_range (buffer, index, (gint) length, &plane->map, flags);
  if (!(flags & GST_MAP_WRITE))
    gst_buffer_unref (buffer);
  if (!mapped)
    return set_map_error (flags, error);

  plane->image.data = plane->map.data + skip;

  return TRUE;
}

/* For metadata with its own map function, which may set only the data pointer. */
static gboolean
map_with_function (GstCclPlane *plane, const GstVideoInfo *info, GstVideoMeta *meta, guint index,
                   guint64 x, guint64 y, GstMapFlags flags, GError **error)
{
  GstCclPlaneSize size = gst_ccl_plane_get_size (info, index);
  gpointer data = NULL;
  gsize start;
  gint stride = 0;

  if (!gst_video_meta_map (meta, index, &plane->map, &data, &stride, flags))
    return set_map_error (flags, error);

  if (!check_stride (info, &size, stride, error))
    goto unmap;

  plane->meta = meta;
  plane->image.data =
      (const guint8 *) data + gst_ccl_plane_get_start (info, index, (guint64) stride, x, y);
  plane->image.stride = (gsize) stride;
  if (!plane->map.data)
    return TRUE;

  start = (gsize) (plane->image.data - plane->map.data);
  if (start > plane->map.size || extent (&size, stride) > plane->map.size - start) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame with a stride of %d bytes needs %" G_GSIZE_FORMAT
                 " bytes, but its memory has only %" G_GSIZE_FORMAT ".",
                 stride, start + extent (&size, stride), plane->map.size);
    goto unmap;
  }

  return TRUE;

unmap:
  gst_video_meta_unmap (meta, index, &plane->map);
  return FALSE;
}

/* GStreamer's function needs a known format. */
static const gchar *
get_format_name (GstVideoFormat format)
{
  GEnumClass *klass = g_type_class_ref (GST_TYPE_VIDEO_FORMAT);
  gboolean known = format != GST_VIDEO_FORMAT_UNKNOWN && g_enum_get_value (klass, (gint) format);

  g_type_class_unref (klass);

  return known ? gst_video_format_to_string (format) : "an unknown format";
}

/* Leaves out the other planes, which may be in other memory. */
static gboolean
map_with_meta (GstCclPlane *plane, const GstVideoInfo *info, GstBuffer *buffer, GstVideoMeta *meta,
               guint index, GstMapFlags flags, GError **error)
{
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  GstCclPlaneSize size = gst_ccl_plane_get_size (info, index);
  guint64 x = crop ? crop->x : 0;
  guint64 y = crop ? crop->y : 0;
  gsize start, offset;
  gint stride;

  if (meta->format != GST_VIDEO_INFO_FORMAT (info) || meta->n_planes <= index ||
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
    return map_with_function (plane, info, meta, index, x, y, flags, error);

  stride = meta->stride[index];
  if (!check_stride (info, &size, stride, error))
    return FALSE;

  start = gst_ccl_plane_get_start (info, index, (guint64) stride, x, y);
  offset = meta->offset[index];
  if (start > G_MAXSIZE - offset) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame starts at byte %" G_GSIZE_FORMAT " of a buffer of only %" G_GSIZE_FORMAT
                 " bytes.",
                 offset, gst_buffer_get_size (buffer));
    return FALSE;
  }
  plane->image.stride = (gsize) stride;

  return map_range (plane, buffer, offset + start, extent (&size, stride), flags, error);
}

static gboolean
map_without_meta (GstCclPlane *plane, const GstVideoInfo *info, GstBuffer *buffer, guint index,
                  GstMapFlags flags, GError **error)
{
  GstCclPlaneSize size = gst_ccl_plane_get_size (info, index);
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, index);
  gsize available = gst_buffer_get_size (buffer);

  if (available < GST_VIDEO_INFO_SIZE (info)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame needs %" G_GSIZE_FORMAT
                 " bytes, but its buffer has only %" G_GSIZE_FORMAT ".",
                 GST_VIDEO_INFO_SIZE (info), available);
    return FALSE;
  }
  plane->image.stride = (gsize) stride;

  return check_stride (info, &size, stride, error) &&
         map_range (plane, buffer, GST_VIDEO_INFO_PLANE_OFFSET (info, index),
                    extent (&size, stride), flags, error);
}

gboolean
gst_ccl_frame_map (GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, guint n_planes,
                   GstMapFlags flags, GError **error)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  guint i;

  frame->buffer = buffer;
  for (i = 0; i < n_planes; i++) {
    GstCclPlane *plane = &frame->planes[i];

    *plane = (GstCclPlane){ .image.memory = CCL_MEMORY_HOST };
    if (!(meta ? map_with_meta (plane, info, buffer, meta, i, flags, error)
               : map_without_meta (plane, info, buffer, i, flags, error))) {
      frame->n_planes = i;
      gst_ccl_frame_unmap (frame);
      return FALSE;
    }
  }
  frame->n_planes = n_planes;

  return TRUE;
}

void
gst_ccl_frame_unmap (GstCclFrame *frame)
{
  while (frame->n_planes > 0) {
    GstCclPlane *plane = &frame->planes[--frame->n_planes];

    if (plane->meta)
      gst_video_meta_unmap (plane->meta, frame->n_planes, &plane->map);
    else
      gst_buffer_unmap (frame->buffer, &plane->map);
  }
}

/* Returns the engine's value for an interleaved format. Other formats have luma in their first
 * plane. */
static CclFormat
get_format (GstVideoFormat format)
{
  switch (format) {
  case GST_VIDEO_FORMAT_RGB:
    return CCL_FORMAT_RGB;
  case GST_VIDEO_FORMAT_BGR:
    return CCL_FORMAT_BGR;
  case GST_VIDEO_FORMAT_RGBx:
  case GST_VIDEO_FORMAT_RGBA:
    return CCL_FORMAT_RGBX;
  case GST_VIDEO_FORMAT_BGRx:
  case GST_VIDEO_FORMAT_BGRA:
    return CCL_FORMAT_BGRX;
  case GST_VIDEO_FORMAT_xRGB:
  case GST_VIDEO_FORMAT_ARGB:
    return CCL_FORMAT_XRGB;
  case GST_VIDEO_FORMAT_xBGR:
  case GST_VIDEO_FORMAT_ABGR:
    return CCL_FORMAT_XBGR;
  case GST_VIDEO_FORMAT_YUY2:
    return CCL_FORMAT_YUYV;
  case GST_VIDEO_FORMAT_UYVY:
    return CCL_FORMAT_UYVY;
  case GST_VIDEO_FORMAT_GRAY16_LE:
    return CCL_FORMAT_GRAY16_LE;
  case GST_VIDEO_FORMAT_GRAY16_BE:
    return CCL_FORMAT_GRAY16_BE;
  default:
    return CCL_FORMAT_BYTES;
  }
}

void
gst_ccl_frame_set_image (GstCclFrame *frame, const GstVideoInfo *info, guint n_planes)
{
  const GstVideoFormatInfo *format = info->finfo;
  CclChroma *chroma = &frame->chroma;
  guint i;

  frame->image = frame->planes[0].image;
  frame->image.format = get_format (GST_VIDEO_FORMAT_INFO_FORMAT (format));
  frame->image.chroma = n_planes > 1 ? chroma : NULL;
  for (i = 0; i < 2 && n_planes > 1; i++) {
    guint component = GST_VIDEO_COMP_U + i;
    CclImage *image = &chroma->planes[i];

    *image = frame->planes[GST_VIDEO_INFO_COMP_PLANE (info, component)].image;
    chroma->step = (guint) GST_VIDEO_INFO_COMP_PSTRIDE (info, component)
                   << (1 - GST_VIDEO_FORMAT_INFO_W_SUB (format, component));
    if (image->memory == CCL_MEMORY_ARRAY)
      continue;
    image->data += GST_VIDEO_FORMAT_INFO_POFFSET (format, component);
    image->stride <<= 1 - GST_VIDEO_FORMAT_INFO_H_SUB (format, component);
  }
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
