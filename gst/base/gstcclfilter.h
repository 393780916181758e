/* cudaccl - the base class of the elements that work on metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FILTER_H__
#define __GST_CCL_FILTER_H__

#include <gst/base/gstbasetransform.h>

#include "gstccltime.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_FILTER (gst_ccl_filter_get_type ())
#define GST_CCL_FILTER(obj) (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CCL_FILTER, GstCclFilter))
#define GST_CCL_FILTER_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CCL_FILTER, GstCclFilterClass))
#define GST_CCL_FILTER_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_CCL_FILTER, GstCclFilterClass))

/* An element that reads or changes the metadata of frames in any memory. It keeps the size and the
 * time of the frames, and initializes and clears the fields of properties (gstcclproperties.h).
 * Frames pass in place: only their metadata needs to be writable. Streaming thread only. */
typedef struct
{
  GstBaseTransform parent;

  GstCclTime time;
  GstClockTimeDiff last_running; /* time.running before the current frame */
  guint width, height;           /* of frames, 0 before the first caps */
} GstCclFilter;

/* Why what is remembered of earlier frames ends. */
typedef enum
{
  GST_CCL_RESTART_STREAM, /* another stream starts */
  GST_CCL_RESTART_FLUSH,
  GST_CCL_RESTART_SIZE, /* the frame size has changed, or is known now */
} GstCclRestart;

typedef struct
{
  GstBaseTransformClass parent_class;

  /* Processes a frame, which is not a gap, after the time has advanced to it. */
  GstFlowReturn (*process) (GstCclFilter *self, GstBuffer *buffer);

  /* Forgets earlier frames; may be NULL. */
  void (*restart) (GstCclFilter *self, GstCclRestart why);

  /* Completes the output at the end of the stream; may be NULL. */
  void (*finish) (GstCclFilter *self);
} GstCclFilterClass;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclFilter, gst_object_unref)

GType gst_ccl_filter_get_type (void);

/* Advances the time to that of @buffer, and returns it. For elements without process(). */
GstClockTime gst_ccl_filter_advance (GstCclFilter *self, GstBuffer *buffer);

G_END_DECLS

#endif /* __GST_CCL_FILTER_H__ */
