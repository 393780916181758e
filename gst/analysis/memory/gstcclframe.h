/* cudaccl - frames, and the interface of mappers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FRAME_H__
#define __GST_CCL_FRAME_H__

#include <gst/video/video.h>
#include <cudaccl/ccl.h>
#include <gst/base/gstcclmapping.h>

G_BEGIN_DECLS

/* Interleaved formats that the engine converts, as in caps. */
#define GST_CCL_RGB_FORMATS "RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR"

/* Formats of planes with more than 8 bits, as decoders make them from 10-bit and 12-bit video. */
#define GST_CCL_DEEP_FORMATS                                                               \
  "I420_10LE, I422_10LE, Y444_10LE, P010_10LE, I420_12LE, I422_12LE, Y444_12LE, P012_LE, " \
  "P016_LE, Y444_16LE"

/* The CUDA device that can read a frame. */
typedef struct
{
  gint number;      /* -1: any */
  gpointer context; /* a CUcontext; NULL: the primary one */
} GstCclDevice;

/* A mapped plane. */
typedef struct
{
  CclImage image; /* visible part, in host memory unless the mapper changes that */
  GstMapInfo map;
  GstVideoMeta *meta; /* metadata whose own function mapped it, or NULL */
} GstCclPlane;

/* A mapped frame. */
typedef struct
{
  CclImage image;      /* visible part: luma, and chroma if the other planes are mapped, too */
  GstCclDevice device; /* in: the analyzer's; out: the one that must read this frame. A new analyzer
                          is needed if they differ. */

  GstBuffer *buffer;
  GstCclPlane planes[3];
  guint n_planes;   /* mapped planes */
  CclChroma chroma; /* chroma of @image */
  gpointer priv;    /* owned by the mapper */
} GstCclFrame;

typedef struct _GstCclMapperClass GstCclMapperClass;

/* An element's state for one memory type. Mappers with more state embed this as first field. */
typedef struct
{
  const GstCclMapperClass *klass;
  GstElement *element;
} GstCclMapper;

/* A memory type. The functions after unmap() may be NULL. Unless noted otherwise, functions
 * are called from the streaming thread, or while it is stopped. Errors are set ready to be posted.
 */
struct _GstCclMapperClass
{
  const gchar *feature; /* caps feature, such as "memory:CUDAMemory" */
  const gchar *formats; /* as in caps; the first plane has 8-bit luma, or the engine converts it */
  gboolean needs_cuda;  /* the CPU cannot read this memory */

  /* Fills @frame with the image of @buffer, of the size in @info, without copying pixels: with
   * @n_planes 1 luma alone, else all planes. unmap() must be called after every successful map(),
   * before the next one. */
  gboolean (*map) (GstCclMapper *self, GstCclFrame *frame, const GstVideoInfo *info,
                   GstBuffer *buffer, guint n_planes, GError **error);
  void (*unmap) (GstCclMapper *self, GstCclFrame *frame);

  gsize size; /* size of the zero-initialized mapper; 0: a plain GstCclMapper */

  /* Called once each, when the element is created and finalized. */
  void (*init) (GstCclMapper *self);
  void (*finalize) (GstCclMapper *self);

  /* Caps with this memory type were set: predicts the device of their frames. @device->number is
   * the user's setting, which may only be changed if it is -1. */
  gboolean (*open) (GstCclMapper *self, const GstVideoInfo *info, GstCclDevice *device,
                    GError **error);
  /* Caps with another memory type are set, open() failed, or the element stops. When the element
   * stops, all mappers are closed, even those never opened: they may hold a context. The analyzer
   * was freed before. */
  void (*close) (GstCclMapper *self);

  /* The element's context functions, called from any thread. @device is the user's setting. */
  void (*set_context) (GstCclMapper *self, GstContext *context, gint device);
  gboolean (*query_context) (GstCclMapper *self, GstQuery *query, gint device, gboolean may_share);
};

/* Maps the first @n_planes planes with @flags and checks that all of their pixels are in the mapped
 * memory. The visible part of chroma begins with the sample that the first pixel has. The layout is
 * that of the buffer's GstVideoMeta, or of @info if it has none. If a plane spans several memories,
 * the mapped one is a copy, which may be of another type. Does not set the frame's image. */
gboolean gst_ccl_frame_map (GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                            guint n_planes, GstMapFlags flags, GError **error);
void gst_ccl_frame_unmap (GstCclFrame *frame);

/* Sets the frame's image from its planes: with chroma, half the samples of luma in each direction,
 * if @n_planes is not 1. Formats with more chroma are subsampled. Interleaved formats have one
 * plane, from which the engine takes chroma. */
void gst_ccl_frame_set_image (GstCclFrame *frame, const GstVideoInfo *info, guint n_planes);

/* For mappers: checks that frames on @device match the user's setting @wanted (-1: any). */
gboolean gst_ccl_frame_check_device (gint device, gint wanted, GError **error);

G_END_DECLS

#endif /* __GST_CCL_FRAME_H__ */
