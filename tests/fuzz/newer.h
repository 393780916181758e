/* cudaccl - fuzzing: what GStreamer 1.24 and 1.28 add for metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* With an older GStreamer, the metadata has no serialisation and no transform by a matrix. meta.c
 * and zonesmeta.c compile its code with these declarations, so that both are fuzzed everywhere. */

#ifndef TESTS_FUZZ_NEWER_H
#define TESTS_FUZZ_NEWER_H

#include <gst/video/video.h>

#if !GST_CHECK_VERSION(1, 28, 0)
typedef struct
{
  GstVideoInfo *in_info;
  GstVideoRectangle in_rectangle;
  GstVideoInfo *out_info;
  GstVideoRectangle out_rectangle;
  gfloat matrix[3][3];
} GstVideoMetaTransformMatrix;

#define gst_video_meta_transform_matrix_get_quark() g_quark_from_static_string ("fuzz-matrix")
#define GST_VIDEO_META_TRANSFORM_IS_MATRIX(type) \
  ((type) == gst_video_meta_transform_matrix_get_quark ())
#endif

#if !GST_CHECK_VERSION(1, 24, 0)
typedef struct _GstByteArrayInterface GstByteArrayInterface;

struct _GstByteArrayInterface
{
  guint8 *data;
  gsize len;
  gboolean (*resize) (GstByteArrayInterface *self, gsize length);
};

static inline guint8 *
gst_byte_array_interface_append (GstByteArrayInterface *self, guint size)
{
  gsize before = self->len;

  return self->resize (self, before + size) ? self->data + before : NULL;
}

typedef struct _FuzzMetaInfo FuzzMetaInfo;

struct _FuzzMetaInfo
{
  GType api;
  const gchar *name;
  gsize size;
  GstMetaInitFunction init_func;
  GstMetaFreeFunction free_func;
  GstMetaTransformFunction transform_func;
  gboolean (*serialize_func) (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version);
  GstMeta *(*deserialize_func) (const FuzzMetaInfo *info, GstBuffer *buffer, const guint8 *data,
                                gsize size, guint8 version);
  const GstMetaInfo *real;
};

static inline FuzzMetaInfo *
fuzz_meta_info_new (GType api, const gchar *name, gsize size)
{
  FuzzMetaInfo *info = g_new0 (FuzzMetaInfo, 1);

  info->api = api;
  info->name = name;
  info->size = size;

  return info;
}

static inline const FuzzMetaInfo *
fuzz_meta_info_register (FuzzMetaInfo *info)
{
  info->real = gst_meta_register (info->api, info->name, info->size, info->init_func,
                                  info->free_func, info->transform_func);

  return info;
}

#define gst_meta_info_new(api, name, size) fuzz_meta_info_new (api, name, size)
#define gst_meta_info_register(info) fuzz_meta_info_register (info)
#define gst_buffer_add_meta(buffer, info, params) \
  gst_buffer_add_meta (buffer, ((const FuzzMetaInfo *) (info))->real, params)
#define GstMetaInfo FuzzMetaInfo
#endif

#undef GST_CHECK_VERSION
#define GST_CHECK_VERSION(major, minor, micro) 1

#include <gst/ccl/gstcclmeta.h>
#include <gst/ccl/gstcclzonesmeta.h>

#endif
