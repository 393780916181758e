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

/* Does not map the other planes, which may be in other memory. */
static gboolean
map_with_meta (GstCclFrame *frame, const GstVideoInfo *info, const Plane *plane, GstMapFlags flags,
               GError **error)
{
  GstVideoMeta *meta = frame->meta;
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (frame->buffer);
  guint64 x = crop ? crop->x : 0;
  guint64 y = crop ? crop->y : 0;
  gpointer data = NULL;
  gsize start;
  gint stride = 0;

  if (meta->format != GST_VIDEO_INFO_FORMAT (info) ||
      x + GST_VIDEO_INFO_WIDTH (info) > meta->width ||
      y + GST_VIDEO_INFO_HEIGHT (info) > meta->height) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Got a frame of %ux%u pixels in %s, but %dx%d in %s was negotiated.", meta->width,
                 meta->height, gst_video_format_to_string (meta->format),
                 GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                 gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));
    return FALSE;
  }

  if (!gst_video_meta_map (meta, plane->plane, &frame->map, &data, &stride, flags)) {
    /* Either the offset is past the end, or the memory cannot be read. */
    if (meta->offset[plane->plane] >= gst_buffer_get_size (frame->buffer))
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "The frame starts at byte %" G_GSIZE_FORMAT
                   " of a buffer of only %" G_GSIZE_FORMAT " bytes.",
                   meta->offset[plane->plane], gst_buffer_get_size (frame->buffer));
    else
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                   "Could not map the memory of the frame for reading.");
    return FALSE;
  }

  if (!check_stride (info, plane, stride, error))
    goto unmap;

  /* A meta with its own map function may set the data pointer and nothing else. */
  if (!frame->map.data) {
    frame->image.data = (const guint8 *) data + offset_of (info, plane, stride, x, y);
    frame->image.stride = (gsize) stride;
    return TRUE;
  }

  start = (gsize) ((const guint8 *) data - frame->map.data) + offset_of (info, plane, stride, x, y);
  if (start > frame->map.size || extent (plane, stride) > frame->map.size - start) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame with a stride of %d bytes needs %" G_GSIZE_FORMAT
                 " bytes, but its memory has only %" G_GSIZE_FORMAT ".",
                 stride, start + extent (plane, stride), frame->map.size);
    goto unmap;
  }

  frame->image.data = frame->map.data + start;
  frame->image.stride = (gsize) stride;

  return TRUE;

unmap:
  gst_video_meta_unmap (meta, plane->plane, &frame->map);
  return FALSE;
}

static gboolean
map_without_meta (GstCclFrame *frame, const GstVideoInfo *info, const Plane *plane,
                  GstMapFlags flags, GError **error)
{
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, plane->plane);
  gsize offset = GST_VIDEO_INFO_PLANE_OFFSET (info, plane->plane);
  gsize size = gst_buffer_get_size (frame->buffer);
  gsize skip;
  guint index, length;

  if (size < GST_VIDEO_INFO_SIZE (info)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame needs %" G_GSIZE_FORMAT
                 " bytes, but its buffer has only %" G_GSIZE_FORMAT ".",
                 GST_VIDEO_INFO_SIZE (info), size);
    return FALSE;
  }

  if (!check_stride (info, plane, stride, error))
    return FALSE;

  /* The size was checked, so this fails only if the memory cannot be read. Maps only the memories
   * that hold the plane: mapping all of them would merge, that is copy, them. */
  if (!gst_buffer_find_memory (frame->buffer, offset, extent (plane, stride), &index, &length,
                               &skip) ||
      !gst_buffer_map_range (frame->buffer, index, (gint) length, &frame->map, flags)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "Could not map the memory of the frame for reading.");
    return FALSE;
  }

  frame->image.data = frame->map.data + skip;
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
