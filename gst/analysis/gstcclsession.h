/* cudaccl - a session: the analysis of one stream of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SESSION_H__
#define __GST_CCL_SESSION_H__

#include <gst/video/video.h>
#include <cudaccl/ccl.h>
#include <cudaccl/mask.h>

#include "gstcclregion.h"
#include "gstcclsettings.h"
#include "gstcclstats.h"
#include "memory/gstcclframe.h"

G_BEGIN_DECLS

/* Everything for the analysis of a stream: configuration, video format, mapper, analyzer,
 * statistics. Posts nothing: errors are returned, ready to be posted. Unless noted otherwise,
 * functions are called and fields read from the streaming thread, or while it is stopped. */
typedef struct
{
  GstCclMapper **mappers;
  GstElement *element;

  /* Since the start. */
  CclConfig config;       /* the frame size is that of @info */
  CclMotionConfig motion; /* the format is that of @info */
  CclOperation operations[CCL_MAX_OPERATIONS];
  GstCclRegion *region;
  GstCclClassNames *class_names; /* of CCL_VALUES_EQUAL; NULL if there are none */

  /* What goes with the caps, all set together. Without caps, @mapper and @analyzer are NULL. With
   * caps, @analyzer is NULL after an error, until the next frame. */
  GstVideoInfo info;
  GstCclMapper *mapper;
  GstCclDevice device; /* of the analyzer */
  CclAnalyzer *analyzer;

  gboolean fell_back; /* the analyzer is the CPU's because a device failed, until the next caps */
  GError *warning;    /* to be posted after setting caps or analysing a frame, or NULL */

  GMutex stats_lock;
  GstCclStats stats; /* protected by @stats_lock */
} GstCclSession;

/* Initializes a session, all 0, of @element. No reference to it is kept. */
void gst_ccl_session_init (GstCclSession *session, GstElement *element);
void gst_ccl_session_clear (GstCclSession *session);

/* What an element needs of the analyzer beside components. */
typedef enum
{
  GST_CCL_NEEDS_LABELS = 1 << 0, /* ccl_analyzer_labels() */
  GST_CCL_NEEDS_MODEL = 1 << 1,  /* a background model */
  GST_CCL_NEEDS_MASKS = 1 << 2,  /* with one: ccl_analyzer_mask(), ccl_analyzer_shadows() */
} GstCclNeeds;

/* Starts with @settings, which are not kept, and resets the statistics. Fails if no frame could
 * ever be analysed. */
gboolean gst_ccl_session_start (GstCclSession *session, const GstCclSettings *settings,
                                GstCclNeeds needs, GError **error);

/* Frees the analyzer and closes all mappers. */
void gst_ccl_session_stop (GstCclSession *session);

/* Prepares for frames with @caps. On failure, the session has no caps. */
gboolean gst_ccl_session_set_caps (GstCclSession *session, GstCaps *caps, GError **error);

/* The CUDA device that frames are uploaded to from system memory, -1 if they are not uploaded. */
gint gst_ccl_session_get_upload_device (const GstCclSession *session);

/* Analyses a frame. Caps must be set. @components stays valid until the next call. */
gboolean gst_ccl_session_analyze (GstCclSession *session, GstBuffer *buffer,
                                  const CclParams *params, CclComponents *components,
                                  GError **error);

/* Sets @error to what the analyzer reported with @status, and drops it: it is unusable after a
 * device failure. The next frame gets a new one. */
void gst_ccl_session_fail (GstCclSession *session, CclStatus status, GError **error);

/* Returns the statistics since the last start. May be called from any thread. */
GstStructure *gst_ccl_session_get_stats (GstCclSession *session);

G_END_DECLS

#endif /* __GST_CCL_SESSION_H__ */
