/* cudaccl - where the pixels of a buffer are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FRAME_H__
#define __GST_CCL_FRAME_H__

#include <gst/video/video.h>
#include <ccl/ccl.h>

G_BEGIN_DECLS

#define GST_CCL_SYSTEM_FORMATS "{ GRAY8, NV12, NV21, I420, YV12, Y42B, Y444 }"

/* Where frames can be read: what CclConfig says of an analyzer for them. */
typedef struct
{
  gint device;           /* CUDA device number, -1: any */
  gpointer cuda_context; /* a CUcontext of that device, NULL: its primary one */
} GstCclPlace;

/* A buffer whose luma plane is mapped. */
typedef struct
{
  CclImage image;    /* the visible part of the plane */
  GstCclPlace place; /* set before it is mapped: where the last one was read, or what open() said;
                      * map() changes it when this one must be read elsewhere, which takes a new
                      * analyzer */

  GstBuffer *buffer;
  GstVideoMeta *meta; /* the one that mapped the plane, NULL when the buffer itself did */
  GstMapInfo map;
  gpointer priv; /* the mapper's */
} GstCclFrame;

typedef struct _GstCclMapperClass GstCclMapperClass;

/* What an element keeps for one kind of memory; mappers with more to keep begin with it. Unless it
 * says otherwise, a function is called by the streaming thread, or while there is none. Functions
 * that fail leave an error that can be posted as it is. */
typedef struct
{
  const GstCclMapperClass *klass;
  GstElement *element;
} GstCclMapper;

/* A kind of memory that frames come in. What comes after unmap() may be NULL. */
struct _GstCclMapperClass
{
  const gchar *feature; /* of the caps, as "memory:CUDAMemory" */
  const gchar *formats; /* with 8-bit luma in the first plane, as a list of caps */
  gboolean needs_cuda;  /* the CPU cannot read it */

  /* The image of @buffer, whose size is that of @info, without moving a pixel. It stays until
   * unmap(), which is called before the next map() and after every one that did not fail. */
  gboolean (*map) (GstCclMapper *self, GstCclFrame *frame, const GstVideoInfo *info,
                   GstBuffer *buffer, GError **error);
  void (*unmap) (GstCclMapper *self, GstCclFrame *frame);

  gsize size; /* of what begins with a GstCclMapper and is zeroed; 0: nothing follows it */

  /* After the element was made, and before it is gone. */
  void (*init) (GstCclMapper *self);
  void (*finalize) (GstCclMapper *self);

  /* Caps with this memory are set: says where their frames are likely to be. @place->device is the
   * user's, or -1, and stays as it is when it is not -1. */
  gboolean (*open) (GstCclMapper *self, const GstVideoInfo *info, GstCclPlace *place,
                    GError **error);
  /* Other caps are set, or the element stops: then of all mappers, open or not, as threads may have
   * given them something. No analyzer is there any more. */
  void (*close) (GstCclMapper *self);

  /* The element's context functions; called by any thread. @device is the user's. */
  void (*set_context) (GstCclMapper *self, GstContext *context, gint device);
  gboolean (*query_context) (GstCclMapper *self, GstQuery *query);
};

extern const GstCclMapperClass gst_ccl_system_mapper;

/* The mappers of an element, one of each kind that this build knows, up to a NULL. */
GstCclMapper **gst_ccl_mappers_new (GstElement *element);
void gst_ccl_mappers_close (GstCclMapper **mappers);
void gst_ccl_mappers_free (GstCclMapper **mappers);

/* The one for the memory of @caps, which are fixed. */
GstCclMapper *gst_ccl_mappers_find (GstCclMapper **mappers, const GstCaps *caps);

/* Caps of all kinds, for pad templates. */
GstCaps *gst_ccl_mappers_get_caps (void);

/* Removes from @caps, which are consumed, what only CUDA can read. */
GstCaps *gst_ccl_mappers_remove_cuda (GstCaps *caps);

/* For mappers: maps the luma plane with @flags, in the layout of the buffer's GstVideoMeta or, if
 * it has none, of @info, and checks that it holds the pixels. The image is one in host memory, for
 * the mapper to change. */
gboolean gst_ccl_frame_map_plane (GstCclFrame *frame, const GstVideoInfo *info, GstBuffer *buffer,
                                  GstMapFlags flags, GError **error);
void gst_ccl_frame_unmap_plane (GstCclFrame *frame);

/* For mappers: whether frames on @device may be read by who wants to work on @wanted, -1: any. */
gboolean gst_ccl_frame_check_device (gint device, gint wanted, GError **error);

G_END_DECLS

#endif /* __GST_CCL_FRAME_H__ */
