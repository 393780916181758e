/* cudaccl - a session: the analysis of one stream of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SESSION_H__
#define __GST_CCL_SESSION_H__

#include <gst/video/video.h>
#include <cudaccl/ccl.h>

#include "gstcclproperties.h"
#include "memory/gstcclchroma.h"

G_BEGIN_DECLS

/* Holds everything for the analysis of a stream: configuration, video format, mapper, analyzer,
 * statistics. Independent of the element that uses it: errors are returned, ready to be posted.
 * Unless noted otherwise, a function is called from the streaming thread, or while it is stopped.
 */
typedef struct _GstCclSession GstCclSession;

/* Creates a session that reads frames through @mappers, which must outlive it. @log_object is named
 * in log lines; no reference is kept. */
GstCclSession *gst_ccl_session_new (GstCclMapper **mappers, GObject *log_object);
void gst_ccl_session_free (GstCclSession *session);

/* Starts with @config, to which operations and region of @settings are added, and resets the
 * statistics. The frame size of @config and its model's format are ignored. Fails if no frame could
 * ever be analysed. */
gboolean gst_ccl_session_start (GstCclSession *session, const CclConfig *config,
                                const GstCclSettings *settings, GError **error);

/* Frees the analyzer and closes all mappers. */
void gst_ccl_session_stop (GstCclSession *session);

/* Prepares for frames with @caps. On failure, the session has no caps. */
gboolean gst_ccl_session_set_caps (GstCclSession *session, GstCaps *caps, GError **error);

/* Forgets the caps, as after a failure: frees the analyzer and closes the mapper. */
void gst_ccl_session_unset_caps (GstCclSession *session);

/* Whether caps are set. */
gboolean gst_ccl_session_has_caps (const GstCclSession *session);

/* The format of the frames; valid while caps are set. */
const GstVideoInfo *gst_ccl_session_get_video_info (const GstCclSession *session);

/* The CUDA device that frames are uploaded to from system memory, -1 if they are not uploaded. */
gint gst_ccl_session_get_upload_device (const GstCclSession *session);

/* Analyses a frame. Caps must be set. @components stays valid until the next call. */
gboolean gst_ccl_session_analyze (GstCclSession *session, GstBuffer *buffer,
                                  const CclParams *params, CclComponents *components,
                                  GError **error);

/* To be called after setting caps and after analysing a frame: returns a warning to be posted, or
 * NULL. With backend auto, the session falls back to the CPU if a device fails. */
GError *gst_ccl_session_take_warning (GstCclSession *session);

/* Lets the next frame be the first of the background model, if there is one. */
void gst_ccl_session_reset_model (GstCclSession *session);

/* Gets the label map of the last frame; needs CclConfig.labels. */
gboolean gst_ccl_session_get_labels (GstCclSession *session, CclLabels *labels, GError **error);

/* Gets the mask or the shadows of the last frame; needs CclConfig.mask or CclMotionConfig.shadows.
 */
gboolean gst_ccl_session_get_mask (GstCclSession *session, gboolean shadows, CclMask *mask,
                                   GError **error);

/* Returns the statistics since the last start. May be called from any thread. */
GstStructure *gst_ccl_session_get_stats (GstCclSession *session);

G_END_DECLS

#endif /* __GST_CCL_SESSION_H__ */
