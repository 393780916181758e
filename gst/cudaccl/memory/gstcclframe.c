/* cudaccl - mapping the luma plane of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclframe.h"

/* All formats of the element have 8-bit luma, one byte per pixel, in their first plane. */
#define LUMA 0

/* Bytes from the first pixel to the last. */
static gsize
extent (const GstVideoInfo *info, gint stride)
{
  return (gsize) (GST_VIDEO_INFO_HEIGHT (info) - 1) * (gsize) stride + GST_VIDEO_INFO_WIDTH (info);
}

static gboolean
check_stride (const GstVideoInfo *info, gint stride, GError **error)
{
  if (stride >= GST_VIDEO_INFO_WIDTH (info))
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

/* Does not map the chroma planes, which are not needed and may be in other memory. */
static gboolean
map_with_meta (GstCclFrame *frame, const GstVideoInfo *info, GstMapFlags flags, GError **error)
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

  if (!gst_video_meta_map (meta, LUMA, &frame->map, &data, &stride, flags)) {
    /* Either the offset is past the end, or the memory cannot be read. */
    if (meta->offset[LUMA] >= gst_buffer_get_size (frame->buffer))
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "The frame starts at byte %" G_GSIZE_FORMAT
                   " of a buffer of only %" G_GSIZE_FORMAT " bytes.",
                   meta->offset[LUMA], gst_buffer_get_size (frame->buffer));
    else
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                   "Could not map the memory of the frame for reading.");
    return FALSE;
  }

  if (!check_stride (info, stride, error))
    goto unmap;

  /* A meta with its own map function may set the data pointer and nothing else. */
  if (!frame->map.data) {
    frame->image.data = (const guint8 *) data + y * (gsize) stride + x;
    frame->image.stride = (gsize) stride;
    return TRUE;
  }

  start = (gsize) ((const guint8 *) data - frame->map.data) + y * (gsize) stride + x;
  if (start > frame->map.size || extent (info, stride) > frame->map.size - start) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame with a stride of %d bytes needs %" G_GSIZE_FORMAT
                 " bytes, but its memory has only %" G_GSIZE_FORMAT ".",
                 stride, start + extent (info, stride), frame->map.size);
    goto unmap;
  }

  frame->image.data = frame->map.data + start;
  frame->image.stride = (gsize) stride;

  return TRUE;

unmap:
  gst_video_meta_unmap (meta, LUMA, &frame->map);
  return FALSE;
}

static gboolean
map_without_meta (GstCclFrame *frame, const GstVideoInfo *info, GstMapFlags flags, GError **error)
{
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, LUMA);
  gsize offset = GST_VIDEO_INFO_PLANE_OFFSET (info, LUMA);
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

  if (!check_stride (info, stride, error))
    return FALSE;

  /* The size was checked, so this fails only if the memory cannot be read. Maps only the memories
   * that hold the plane: mapping all of them would merge, that is copy, them. */
  if (!gst_buffer_find_memory (frame->buffer, offset, extent (info, stride), &index, &length,
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
                         GstMapFlags flags, GError **error)
{
  frame->buffer = buffer;
  frame->meta = gst_buffer_get_video_meta (buffer);
  frame->image.memory = CCL_MEMORY_HOST;
  frame->image.stream = NULL;

  return frame->meta ? map_with_meta (frame, info, flags, error)
                     : map_without_meta (frame, info, flags, error);
}

void
gst_ccl_frame_unmap_plane (GstCclFrame *frame)
{
  if (frame->meta)
    gst_video_meta_unmap (frame->meta, LUMA, &frame->map);
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
