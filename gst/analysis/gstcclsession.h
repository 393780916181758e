/* cudaccl - a session: the analysis of one stream of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SESSION_H__
#define __GST_CCL_SESSION_H__

#include <gst/video/video.h>
#include <cudaccl/ccl.h>
#include <cudaccl/mask.h>
#include <cudaccl/signature.h>

#include "gstcclregion.h"
#include "gstcclsettings.h"
#include "gstcclstats.h"
#include "memory/gstcclframe.h"

G_BEGIN_DECLS

/* The analysis of a stream: configuration, video format, mapper, analyzer and statistics. Posts
 * no messages: errors are returned, ready to be posted. Unless noted otherwise, functions and
 * fields are for the streaming thread, or any thread while it is stopped. */
typedef struct
{
  GstCclMapper **mappers;
  GstElement *element;

  /* Fixed at start. */
  CclConfig config;       /* its frame size is that of @info */
  CclMotionConfig motion; /* its format is that of @info */
  CclOperation operations[CCL_MAX_OPERATIONS];
  GstCclRegion *region;
  GstCclClassNames *class_names; /* for CCL_VALUES_EQUAL; may be NULL */

  /* Set together with the caps. Without caps, @mapper and @analyzer are NULL. With caps,
   * @analyzer is NULL from an error to the next frame. */
  GstVideoInfo info;
  GstCclMapper *mapper;
  GstCclDevice device; /* device of the analyzer */
  CclAnalyzer *analyzer;

  gint wants_signatures; /* atomic; an element behind this one has asked for them */
  GArray *signatures;    /* CclSignature: of the components of the last frame, or empty */

  gboolean fell_back; /* a device failed: the analyzer is the CPU's until the next caps */
  GError *warning;    /* to be posted after setting caps or analysing a frame; may be NULL */

  GMutex stats_lock;
  GstCclStats stats; /* protected by @stats_lock */
} GstCclSession;

/* Initializes a zeroed session. @element is borrowed. */
void gst_ccl_session_init (GstCclSession *session, GstElement *element);
void gst_ccl_session_clear (GstCclSession *session);

/* Results that an element needs besides components. */
typedef enum
{
  GST_CCL_NEEDS_LABELS = 1 << 0, /* ccl_analyzer_labels() */
  GST_CCL_NEEDS_MODEL = 1 << 1,  /* a background model */
  GST_CCL_NEEDS_MASKS = 1 << 2,  /* with a model: ccl_analyzer_mask(), ccl_analyzer_shadows() */
} GstCclNeeds;

/* Starts with @settings, which need not outlive the call, and resets the statistics. Fails if no
 * frame could ever be analysed. */
gboolean gst_ccl_session_start (GstCclSession *session, const GstCclSettings *settings,
                                GstCclNeeds needs, GError **error);

/* Frees the analyzer and closes all mappers. */
void gst_ccl_session_stop (GstCclSession *session);

/* Prepares for frames with @caps. On failure, the session has no caps. */
gboolean gst_ccl_session_set_caps (GstCclSession *session, GstCaps *caps, GError **error);

/* Returns the CUDA device that frames in system memory are uploaded to, or -1. */
gint gst_ccl_session_get_upload_device (const GstCclSession *session);

/* Analyses a frame. Caps must be set. @components stays valid until the next call. */
gboolean gst_ccl_session_analyze (GstCclSession *session, GstBuffer *buffer,
                                  const CclParams *params, CclComponents *components,
                                  GError **error);

/* Sets @error from the analyzer's @status and drops the analyzer, which is unusable after a
 * device failure. The next frame gets a new one. */
void gst_ccl_session_fail (GstCclSession *session, CclStatus status, GError **error);

/* Returns the statistics since the last start. May be called from any thread. */
GstStructure *gst_ccl_session_get_stats (GstCclSession *session);

G_END_DECLS

#endif /* __GST_CCL_SESSION_H__ */
