/* cudaccl - mapping the pixels of buffers, with checks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmapping.h"

GstCclPlaneSize
gst_ccl_plane_get_size (const GstVideoInfo *info, guint index)
{
  GstCclPlaneSize plane = { .component = 0 };
  guint i;

  while (GST_VIDEO_INFO_COMP_PLANE (info, plane.component) != index)
    plane.component++;
  /* In YUY2 and UYVY, two pixels share chroma, whose last sample may end after the last luma. */
  for (i = plane.component; i < GST_VIDEO_INFO_N_COMPONENTS (info); i++) {
    if (GST_VIDEO_INFO_COMP_PLANE (info, i) == index)
      plane.row = MAX (plane.row, (gsize) GST_VIDEO_INFO_COMP_WIDTH (info, i) *
                                      (gsize) GST_VIDEO_INFO_COMP_PSTRIDE (info, i));
  }
  plane.rows = (gsize) GST_VIDEO_INFO_COMP_HEIGHT (info, plane.component);

  return plane;
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

/* The bytes of a plane. */
typedef struct
{
  gsize offset; /* of the first row in the buffer */
  gssize stride;
  gsize before; /* bytes in front of the first row, if rows are stored bottom up */
  gsize size;   /* from the first byte to the last */
} Range;

/* Sets the bytes of rows that are @stride bytes apart. */
static gboolean
set_rows (Range *range, const GstCclPlaneSize *plane, gint stride, GError **error)
{
  gsize distance = (gsize) ABS ((gint64) stride);

  if (distance < plane->row || plane->rows == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The stride of the frame is %d bytes, too small for rows of %" G_GSIZE_FORMAT
                 " bytes.",
                 stride, plane->row);
    return FALSE;
  }
  range->stride = stride;
  range->size = (plane->rows - 1) * distance + plane->row;
  range->before = stride < 0 ? range->size - plane->row : 0;

  return TRUE;
}

static gboolean
check_top_down (gint stride, GError **error)
{
  if (stride >= 0)
    return TRUE;

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "The frame is stored bottom up (stride %d), which is not supported. Put "
               "videoconvert before this element.",
               stride);

  return FALSE;
}

/* Sets the bytes of a plane of tiles, whose number in each direction is the stride. */
static gboolean
set_tiles (Range *range, const GstVideoInfo *packed, guint index, gint stride, GError **error)
{
  gint least = GST_VIDEO_INFO_PLANE_STRIDE (packed, index);
  gsize end = index + 1 < GST_VIDEO_INFO_N_PLANES (packed)
                  ? GST_VIDEO_INFO_PLANE_OFFSET (packed, index + 1)
                  : GST_VIDEO_INFO_SIZE (packed);
  gsize tile = (end - GST_VIDEO_INFO_PLANE_OFFSET (packed, index)) /
               ((gsize) GST_VIDEO_TILE_X_TILES (least) * (gsize) GST_VIDEO_TILE_Y_TILES (least));

  if (stride < 0 || GST_VIDEO_TILE_X_TILES (stride) < GST_VIDEO_TILE_X_TILES (least) ||
      GST_VIDEO_TILE_Y_TILES (stride) < GST_VIDEO_TILE_Y_TILES (least)) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "The frame has fewer than %dx%d tiles.", GST_VIDEO_TILE_X_TILES (least),
                 GST_VIDEO_TILE_Y_TILES (least));
    return FALSE;
  }
  range->stride = stride;
  range->before = 0;
  range->size =
      (gsize) GST_VIDEO_TILE_X_TILES (stride) * (gsize) GST_VIDEO_TILE_Y_TILES (stride) * tile;

  return TRUE;
}

/* Sets the bytes of a whole plane of any format. */
static gboolean
set_plane (Range *range, const GstVideoInfo *info, guint index, gint stride, GError **error)
{
  const GstVideoFormatInfo *format = info->finfo;
  GstCclPlaneSize size;
  GstVideoInfo packed;

  if (GST_VIDEO_FORMAT_INFO_HAS_PALETTE (format) && index > 0) {
    size = (GstCclPlaneSize){ .row = 256 * 4, .rows = 1 };
    return set_rows (range, &size, stride, error);
  }

  size = gst_ccl_plane_get_size (info, index);
  if (size.row > 0 && !GST_VIDEO_FORMAT_INFO_IS_TILED (format))
    return set_rows (range, &size, stride, error);

  /* Only GStreamer knows how much such a format needs. */
  if (!gst_video_info_set_format (&packed, GST_VIDEO_INFO_FORMAT (info),
                                  (guint) GST_VIDEO_INFO_WIDTH (info),
                                  (guint) GST_VIDEO_INFO_HEIGHT (info))) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Frames of %dx%d pixels are not supported. Use smaller frames.",
                 GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
    return FALSE;
  }
  if (GST_VIDEO_FORMAT_INFO_IS_TILED (format))
    return set_tiles (range, &packed, index, stride, error);
  size.row = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&packed, index);

  return set_rows (range, &size, stride, error);
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

static gboolean
check_range (const Range *range, gsize available, GError **error)
{
  if (range->before <= range->offset && range->offset - range->before <= available &&
      range->size <= available - (range->offset - range->before))
    return TRUE;

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "A plane of the frame, with rows %" G_GSSIZE_FORMAT
               " bytes apart, needs %" G_GSIZE_FORMAT " bytes, %" G_GSIZE_FORMAT
               " of them before byte %" G_GSIZE_FORMAT ", but its memory has only %" G_GSIZE_FORMAT
               ".",
               range->stride, range->size, range->before, range->offset, available);

  return FALSE;
}

/* Maps only the memories that hold the plane; several are copied to a temporary one. */
static gboolean
map_range (GstCclMapping *mapping, GstBuffer *buffer, const Range *range, GstMapFlags flags,
           GError **error)
{
  guint index, length;
  gboolean mapped;
  gsize skip;

  if (!check_range (range, gst_buffer_get_size (buffer), error))
    return FALSE;

  if (!gst_buffer_find_memory (buffer, range->offset - range->before, range->size, &index, &length,
                               &skip))
    return set_map_error (flags, error);

  /* A writable buffer would keep the temporary memory instead of its own. */
  if (!(flags & GST_MAP_WRITE))
    gst_buffer_ref (buffer);
  mapped = gst_buffer_map_range (buffer, index, (gint) length, &mapping->map, flags);
  if (!(flags & GST_MAP_WRITE))
    gst_buffer_unref (buffer);
  if (!mapped)
    return set_map_error (flags, error);

  mapping->meta = NULL;
  mapping->data = mapping->map.data + skip + range->before;
  mapping->stride = range->stride;

  return TRUE;
}

/* For metadata with its own map function, which may set only the data pointer and the stride. */
static gboolean
call_map (GstCclMapping *mapping, GstVideoMeta *meta, guint index, GstMapFlags flags,
          GError **error)
{
  gpointer data = NULL;
  gint stride = 0;

  mapping->map = (GstMapInfo) GST_MAP_INFO_INIT;
  if (!gst_video_meta_map (meta, index, &mapping->map, &data, &stride, flags))
    return set_map_error (flags, error);
  mapping->meta = meta;
  mapping->data = data;
  mapping->stride = stride;

  return TRUE;
}

/* Checks what a map function set. */
static gboolean
check_mapping (const GstCclMapping *mapping, Range *range, GError **error)
{
  if (!mapping->map.data)
    return TRUE;
  range->offset = (gsize) (mapping->data - mapping->map.data);

  return check_range (range, mapping->map.size, error);
}

static gboolean
map_with_function (GstCclMapping *mapping, const GstVideoInfo *info, GstVideoMeta *meta,
                   guint index, guint64 x, guint64 y, GstMapFlags flags, GError **error)
{
  GstCclPlaneSize size = gst_ccl_plane_get_size (info, index);
  Range range;

  if (!call_map (mapping, meta, index, flags, error))
    return FALSE;
  if (check_top_down ((gint) mapping->stride, error) &&
      set_rows (&range, &size, (gint) mapping->stride, error)) {
    mapping->data += gst_ccl_plane_get_start (info, index, (guint64) mapping->stride, x, y);
    if (check_mapping (mapping, &range, error))
      return TRUE;
  }
  gst_video_meta_unmap (meta, index, &mapping->map);

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

static gboolean
set_meta_error (const GstVideoInfo *info, const GstVideoMeta *meta, GError **error)
{
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "Got a frame of %ux%u pixels in %u planes of %s, but %dx%d in %s was negotiated.",
               meta->width, meta->height, meta->n_planes, get_format_name (meta->format),
               GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
               gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));

  return FALSE;
}

/* Leaves out the other planes, which may be in other memory. */
static gboolean
map_with_meta (GstCclMapping *mapping, const GstVideoInfo *info, GstBuffer *buffer,
               GstVideoMeta *meta, guint index, GstMapFlags flags, GError **error)
{
  GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  GstCclPlaneSize size = gst_ccl_plane_get_size (info, index);
  guint64 x = crop ? crop->x : 0;
  guint64 y = crop ? crop->y : 0;
  Range range;
  gsize start;

  if (meta->format != GST_VIDEO_INFO_FORMAT (info) || meta->n_planes <= index ||
      meta->n_planes > GST_VIDEO_MAX_PLANES || x + GST_VIDEO_INFO_WIDTH (info) > meta->width ||
      y + GST_VIDEO_INFO_HEIGHT (info) > meta->height)
    return set_meta_error (info, meta, error);

  if ((gpointer) meta->map != get_default_map ())
    return map_with_function (mapping, info, meta, index, x, y, flags, error);

  if (!check_top_down (meta->stride[index], error) ||
      !set_rows (&range, &size, meta->stride[index], error))
    return FALSE;
  start = gst_ccl_plane_get_start (info, index, (guint64) range.stride, x, y);
  range.offset = meta->offset[index] > G_MAXSIZE - start ? G_MAXSIZE : meta->offset[index] + start;

  return map_range (mapping, buffer, &range, flags, error);
}

static gboolean
check_size (const GstVideoInfo *info, GstBuffer *buffer, GError **error)
{
  gsize available = gst_buffer_get_size (buffer);

  if (available >= GST_VIDEO_INFO_SIZE (info))
    return TRUE;

  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
               "The frame needs %" G_GSIZE_FORMAT " bytes, but its buffer has only %" G_GSIZE_FORMAT
               ".",
               GST_VIDEO_INFO_SIZE (info), available);

  return FALSE;
}

gboolean
gst_ccl_mapping_map (GstCclMapping *mapping, const GstVideoInfo *info, GstBuffer *buffer,
                     guint index, GstMapFlags flags, GError **error)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstCclPlaneSize size = gst_ccl_plane_get_size (info, index);
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, index);
  Range range = { .offset = GST_VIDEO_INFO_PLANE_OFFSET (info, index) };

  if (meta)
    return map_with_meta (mapping, info, buffer, meta, index, flags, error);

  return check_size (info, buffer, error) && check_top_down (stride, error) &&
         set_rows (&range, &size, stride, error) &&
         map_range (mapping, buffer, &range, flags, error);
}

void
gst_ccl_mapping_unmap (GstBuffer *buffer, GstVideoMeta *meta, guint index, GstMapInfo *map)
{
  if (meta)
    gst_video_meta_unmap (meta, index, map);
  else
    gst_buffer_unmap (buffer, map);
}

/* Sets the layout of the frame up to the end of its visible part. */
static gboolean
find_layout (GstVideoInfo *layout, const GstVideoInfo *info, GstBuffer *buffer, GError **error)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (buffer);
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  guint i;

  *layout = *info;
  if (!meta)
    return check_size (info, buffer, error);
  if (meta->format != GST_VIDEO_INFO_FORMAT (info) ||
      meta->n_planes < GST_VIDEO_INFO_N_PLANES (info) || meta->n_planes > GST_VIDEO_MAX_PLANES ||
      meta->width == 0 || meta->height == 0)
    return set_meta_error (info, meta, error);

  layout->width =
      (gint) MIN (MIN (meta->width, (guint64) info->width + (crop ? crop->x : 0)), G_MAXINT);
  layout->height =
      (gint) MIN (MIN (meta->height, (guint64) info->height + (crop ? crop->y : 0)), G_MAXINT);
  for (i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++) {
    layout->stride[i] = meta->stride[i];
    layout->offset[i] = meta->offset[i];
  }

  return TRUE;
}

/* If planes span several memories, they become one before the first plane is mapped: mapping a
 * later plane would replace the memory of an earlier one. */
static gboolean
join_memories (GstBuffer *buffer, const Range *ranges, guint n, GError **error)
{
  guint i, index, length;
  gsize skip;

  for (i = 0; i < n; i++) {
    GstMemory *all;

    if (!check_range (&ranges[i], gst_buffer_get_size (buffer), error))
      return FALSE;
    if (!gst_buffer_find_memory (buffer, ranges[i].offset - ranges[i].before, ranges[i].size,
                                 &index, &length, &skip) ||
        length == 1)
      continue;
    all = gst_buffer_get_all_memory (buffer);
    if (!all)
      return set_map_error (GST_MAP_WRITE, error);
    gst_buffer_replace_all_memory (buffer, all);
    break;
  }

  return TRUE;
}

/* Returns the metadata if it has its own map function. */
static GstVideoMeta *
find_own_map (const GstVideoFrame *frame)
{
  GstVideoMeta *meta = frame->meta;

  return meta && (gpointer) meta->map != get_default_map () ? meta : NULL;
}

static gboolean
map_plane (GstCclMapping *mapping, GstVideoFrame *frame, Range *range, guint index,
           GstMapFlags flags, GError **error)
{
  if (!find_own_map (frame))
    return map_range (mapping, frame->buffer, range, flags, error);

  if (!call_map (mapping, frame->meta, index, flags, error))
    return FALSE;
  if (set_plane (range, &frame->info, index, (gint) mapping->stride, error) &&
      check_mapping (mapping, range, error))
    return TRUE;
  gst_video_meta_unmap (frame->meta, index, &mapping->map);

  return FALSE;
}

static void
unmap_planes (GstVideoFrame *frame, guint n)
{
  GstVideoMeta *own = find_own_map (frame);

  while (n-- > 0)
    gst_ccl_mapping_unmap (frame->buffer, own, n, &frame->map[n]);
}

gboolean
gst_ccl_video_frame_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                         GstMapFlags flags, GError **error)
{
  guint i, n = GST_VIDEO_INFO_N_PLANES (info);
  Range ranges[GST_VIDEO_MAX_PLANES];
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  gboolean own;

  *frame = (GstVideoFrame){ .buffer = buffer, .meta = meta };
  own = find_own_map (frame) != NULL;
  if (!find_layout (&frame->info, info, buffer, error))
    return FALSE;
  frame->id = meta ? meta->id : -1;
  frame->flags = meta ? meta->flags : GST_VIDEO_FRAME_FLAG_NONE;
  for (i = 0; i < n && !own; i++) {
    ranges[i].offset = GST_VIDEO_INFO_PLANE_OFFSET (&frame->info, i);
    if (!set_plane (&ranges[i], &frame->info, i, GST_VIDEO_INFO_PLANE_STRIDE (&frame->info, i),
                    error))
      return FALSE;
  }
  if (!own && flags & GST_MAP_WRITE && !join_memories (buffer, ranges, n, error))
    return FALSE;

  for (i = 0; i < n; i++) {
    GstCclMapping mapping;

    if (!map_plane (&mapping, frame, &ranges[i], i, flags, error)) {
      unmap_planes (frame, i);
      return FALSE;
    }
    frame->data[i] = mapping.data;
    frame->map[i] = mapping.map;
    GST_VIDEO_INFO_PLANE_STRIDE (&frame->info, i) = (gint) mapping.stride;
  }

  return TRUE;
}

void
gst_ccl_video_frame_unmap (GstVideoFrame *frame)
{
  unmap_planes (frame, GST_VIDEO_FRAME_N_PLANES (frame));
}
