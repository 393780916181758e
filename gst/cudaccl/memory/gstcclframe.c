/* cudaccl - where the pixels of a buffer are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclframe.h"
#include "gstcclpool.h"

/* All formats of the element have 8-bit luma, one byte a pixel, in their first plane. */
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
    g_set_error (
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "A frame is stored bottom up, with a stride of %d bytes, which cannot be analysed. "
        "Put a videoconvert before this element.",
        stride);
  else
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The rows of a frame are %d bytes apart, which is not enough for %d pixels.",
                 stride, GST_VIDEO_INFO_WIDTH (info));

  return FALSE;
}

/* The chroma planes are not mapped: they may be memory of their own, and nobody looks at them. */
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
                 "A frame of %ux%u pixels in %s came where %dx%d in %s was negotiated.",
                 meta->width, meta->height, gst_video_format_to_string (meta->format),
                 GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                 gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));
    return FALSE;
  }

  if (!gst_video_meta_map (meta, LUMA, &frame->map, &data, &stride, flags)) {
    /* Either nothing is at that offset, or something is and cannot be read. */
    if (meta->offset[LUMA] >= gst_buffer_get_size (frame->buffer))
      g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                   "A frame should begin at byte %" G_GSIZE_FORMAT
                   " of a buffer of %" G_GSIZE_FORMAT " bytes.",
                   meta->offset[LUMA], gst_buffer_get_size (frame->buffer));
    else
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                   "The memory of a frame could not be mapped for reading.");
    return FALSE;
  }

  if (!check_stride (info, stride, error))
    goto unmap;

  /* A meta with a way of its own to map may tell where the pixels are and nothing else. */
  if (!frame->map.data) {
    frame->image.data = (const guint8 *) data + y * (gsize) stride + x;
    frame->image.stride = (gsize) stride;
    return TRUE;
  }

  start = (gsize) ((const guint8 *) data - frame->map.data) + y * (gsize) stride + x;
  if (start > frame->map.size || extent (info, stride) > frame->map.size - start) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "A frame with %d bytes a row needs %" G_GSIZE_FORMAT
                 " bytes, but its memory has %" G_GSIZE_FORMAT ".",
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
                 "A frame needs %" G_GSIZE_FORMAT " bytes, but its buffer has %" G_GSIZE_FORMAT ".",
                 GST_VIDEO_INFO_SIZE (info), size);
    return FALSE;
  }

  if (!check_stride (info, stride, error))
    return FALSE;

  /* The size was checked, so this fails only where memory cannot be read. Only the memories that
   * the plane is in: mapping several would merge, that is copy, them. */
  if (!gst_buffer_find_memory (frame->buffer, offset, extent (info, stride), &index, &length,
                               &skip) ||
      !gst_buffer_map_range (frame->buffer, index, (gint) length, &frame->map, flags)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
                 "The memory of a frame could not be mapped for reading.");
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

  g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
               "A frame is in the memory of CUDA device %d, and cuda-device-id asks for device %d: "
               "set it to %d or -1, or have the frames made on device %d.",
               device, wanted, device, wanted);

  return FALSE;
}

static gboolean
system_map (GstCclMapper *mapper, GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
            GError **error)
{
  if (!gst_ccl_frame_map_plane (frame, info, buffer, GST_MAP_READ, error))
    return FALSE;
  if (frame->map.memory && gst_ccl_pool_is_pinned (frame->map.memory))
    frame->image.memory = CCL_MEMORY_PINNED;

  return TRUE;
}

static void
system_unmap (GstCclMapper *mapper, GstCclFrame *frame)
{
  gst_ccl_frame_unmap_plane (frame);
}

const GstCclMapperClass gst_ccl_system_mapper = {
  .feature = GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY,
  .formats = GST_CCL_SYSTEM_FORMATS,
  .map = system_map,
  .unmap = system_unmap,
};
