/* cudaccl - mapping frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclframe.h"

gboolean
gst_ccl_frame_map (GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, guint n_planes,
                   GstMapFlags flags, GError **error)
{
  guint i;

  frame->buffer = buffer;
  for (i = 0; i < n_planes; i++) {
    GstCclPlane *plane = &frame->planes[i];
    GstCclMapping mapping;

    if (!gst_ccl_mapping_map (&mapping, info, buffer, i, flags, error)) {
      frame->n_planes = i;
      gst_ccl_frame_unmap (frame);
      return FALSE;
    }
    *plane = (GstCclPlane){ .map = mapping.map, .meta = mapping.meta };
    plane->image = (CclImage){ .data = mapping.data,
                               .stride = (gsize) mapping.stride,
                               .memory = CCL_MEMORY_HOST };
  }
  frame->n_planes = n_planes;

  return TRUE;
}

void
gst_ccl_frame_unmap (GstCclFrame *frame)
{
  while (frame->n_planes > 0) {
    GstCclPlane *plane = &frame->planes[--frame->n_planes];

    gst_ccl_mapping_unmap (frame->buffer, plane->meta, frame->n_planes, &plane->map);
  }
}

/* Returns the engine's value for samples of 16 bits, by how many of them are used. */
static CclFormat
get_samples_format (const GstVideoFormatInfo *format)
{
  guint depth = GST_VIDEO_FORMAT_INFO_DEPTH (format, 0);

  if (GST_VIDEO_FORMAT_INFO_SHIFT (format, 0) + depth == 16)
    return GST_VIDEO_FORMAT_INFO_IS_LE (format) ? CCL_FORMAT_GRAY16_LE : CCL_FORMAT_GRAY16_BE;

  return depth == 10 ? CCL_FORMAT_GRAY10_LE : CCL_FORMAT_GRAY12_LE;
}

/* Returns the engine's value for an interleaved format, or one of 16-bit samples. Other formats
 * have luma in their first plane. */
static CclFormat
get_format (const GstVideoFormatInfo *format)
{
  if (GST_VIDEO_FORMAT_INFO_DEPTH (format, 0) > 8)
    return get_samples_format (format);

  switch (GST_VIDEO_FORMAT_INFO_FORMAT (format)) {
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
  default:
    return CCL_FORMAT_BYTES;
  }
}

/* Returns the bytes from a pixel to its sample of @component. GStreamer (1.22) has those of NV12
 * for P010, too: an odd number. */
static guint
get_offset (const GstVideoFormatInfo *format, guint component)
{
  guint offset = (guint) GST_VIDEO_FORMAT_INFO_POFFSET (format, component);

  return GST_VIDEO_FORMAT_INFO_DEPTH (format, component) > 8 ? (offset + 1) / 2 * 2 : offset;
}

void
gst_ccl_frame_set_image (GstCclFrame *frame, const GstVideoInfo *info, guint n_planes)
{
  const GstVideoFormatInfo *format = info->finfo;
  CclChroma *chroma = &frame->chroma;
  guint i;

  frame->image = frame->planes[0].image;
  frame->image.format = get_format (format);
  frame->image.chroma = n_planes > 1 ? chroma : NULL;
  for (i = 0; i < 2 && n_planes > 1; i++) {
    guint component = GST_VIDEO_COMP_U + i;
    CclImage *image = &chroma->planes[i];

    *image = frame->planes[GST_VIDEO_INFO_COMP_PLANE (info, component)].image;
    chroma->step = (guint) GST_VIDEO_INFO_COMP_PSTRIDE (info, component)
                   << (1 - GST_VIDEO_FORMAT_INFO_W_SUB (format, component));
    image->format = frame->image.format;
    if (image->memory == CCL_MEMORY_ARRAY)
      continue;
    image->data += get_offset (format, component);
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
