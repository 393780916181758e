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

/* An element that reads or changes the metadata of frames in any memory. Tracks the size and the
 * time of frames, and initializes and frees the fields of properties (gstcclproperties.h). Frames
 * pass in place and only need writable metadata.
 *
 * All fields and functions: streaming thread only. */
typedef struct
{
  GstBaseTransform parent;

  GstCclTime time;
  GstClockTimeDiff last_running; /* running time before the current frame */
  guint width, height;           /* of frames; 0 before the first caps */
  gboolean batches;              /* buffers are batches, which pass as they are */
  gboolean warned_batches;       /* since the start */
  gboolean fed;                  /* has had metadata to work on, or has warned that it has none */
  GstClockTime first;            /* time of the first frame; GST_CLOCK_TIME_NONE before it */
} GstCclFilter;

/* Why an element must forget earlier frames. */
typedef enum
{
  GST_CCL_RESTART_STREAM, /* a new stream starts */
  GST_CCL_RESTART_FLUSH,
  GST_CCL_RESTART_SIZE, /* the first caps, or a new frame size */
} GstCclRestart;

typedef struct
{
  GstBaseTransformClass parent_class;

  /* Processes a frame that is not a gap. The time is already that of @buffer. */
  GstFlowReturn (*process) (GstCclFilter *self, GstBuffer *buffer);

  /* Forgets earlier frames; may be NULL. */
  void (*restart) (GstCclFilter *self, GstCclRestart why);

  /* Handles EOS before it is passed on; may be NULL. */
  void (*finish) (GstCclFilter *self);
} GstCclFilterClass;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclFilter, gst_object_unref)

GType gst_ccl_filter_get_type (void);

/* Lets the element pass batches of several streams (GstAnalyticsBatchMeta) as they are, with one
 * warning: their frames are to be processed before they are combined, or after they are split. */
void gst_ccl_filter_class_pass_batches (GstCclFilterClass *klass);

/* Call it for each frame, with whether it has metadata that the element works on. Posts @missing as
 * a warning, once, if the frames of a second had none, unless an element before this one finds
 * objects later (gst_ccl_query_is_finding()). */
void gst_ccl_filter_feed (GstCclFilter *self, gboolean has_metadata, const gchar *missing);

/* Advances the time to @buffer and returns it. Only for elements without process(). */
GstClockTime gst_ccl_filter_advance (GstCclFilter *self, GstBuffer *buffer);

G_END_DECLS

#endif /* __GST_CCL_FILTER_H__ */
