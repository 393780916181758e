/* cudaccl - fuzzing and tests: what GStreamer 1.24 and 1.28 add for metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* With an older GStreamer, the metadata has no serialisation and no transform by a matrix. meta.c
 * and zonesmeta.c compile its code with these declarations, so that both are fuzzed everywhere; and
 * so are the tests of metadata. */

#ifndef TESTS_FUZZ_NEWER_H
#define TESTS_FUZZ_NEWER_H

#include <string.h>
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

/* Scales from one rectangle to the other; coordinates are those in the rectangles. */
static inline void
gst_video_meta_transform_matrix_init (GstVideoMetaTransformMatrix *trans,
                                      const GstVideoInfo *in_info, const GstVideoRectangle *in,
                                      const GstVideoInfo *out_info, const GstVideoRectangle *out)
{
  const gfloat x = (gfloat) out->w / (gfloat) in->w, y = (gfloat) out->h / (gfloat) in->h;

  *trans = (GstVideoMetaTransformMatrix){
    .in_info = (GstVideoInfo *) in_info,
    .in_rectangle = *in,
    .out_info = (GstVideoInfo *) out_info,
    .out_rectangle = *out,
    .matrix = { { x, 0.0f, 0.0f }, { 0.0f, y, 0.0f }, { 0.0f, 0.0f, 1.0f } },
  };
}
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

/* All files of a program share what was registered, by its type. */
#define FUZZ_META_INFO g_quark_from_static_string ("fuzz-meta-info")

static inline const FuzzMetaInfo *
fuzz_meta_info_find (const GstMetaInfo *real)
{
  return real ? g_type_get_qdata (real->api, FUZZ_META_INFO) : NULL;
}

static inline const FuzzMetaInfo *
fuzz_meta_info_register (FuzzMetaInfo *info)
{
  info->real = gst_meta_register (info->api, info->name, info->size, info->init_func,
                                  info->free_func, info->transform_func);
  g_type_set_qdata (info->api, FUZZ_META_INFO, info);

  return info;
}

static inline gboolean
fuzz_bytes_resize (GstByteArrayInterface *self, gsize length)
{
  self->data = g_realloc (self->data, length);
  self->len = length;

  return TRUE;
}

/* Writes the type and the version, as GStreamer does it in its way, in front of the bytes. */
static inline gboolean
gst_meta_serialize_simple (const GstMeta *meta, GByteArray *data)
{
  const FuzzMetaInfo *info = fuzz_meta_info_find (meta->info);
  GstByteArrayInterface bytes = { NULL, 0, fuzz_bytes_resize };
  guint8 version = 0;
  gboolean written = info->serialize_func (meta, &bytes, &version);

  g_byte_array_append (data, (const guint8 *) &info, sizeof (info));
  g_byte_array_append (data, &version, 1);
  g_byte_array_append (data, bytes.data, (guint) bytes.len);
  g_free (bytes.data);

  return written;
}

static inline GstMeta *
gst_meta_deserialize (GstBuffer *buffer, const guint8 *data, gsize size, guint32 *consumed)
{
  const FuzzMetaInfo *info;
  const gsize head = sizeof (info) + 1;

  memcpy (&info, data, sizeof (info));
  *consumed = (guint32) size;

  return info->deserialize_func (info, buffer, data + head, size - head, data[head - 1]);
}

#define gst_meta_get_info(name) fuzz_meta_info_find (gst_meta_get_info (name))
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
