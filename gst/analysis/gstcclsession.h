/* cudaccl - a session: the analysis of one stream of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SESSION_H__
#define __GST_CCL_SESSION_H__

#include <gst/video/video.h>
#include <cudaccl/ccl.h>

#include "gstcclcleaning.h"
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

/* Replaces @frame->image, the luma of a frame, with the image that @analyzer analyses instead: a
 * mask of the frame's size, valid until the next call. @frame->place is where the analyzer is.
 * Called again with an analyzer on the CPU if it or the analysis fails with a device error and the
 * session falls back to the CPU. Returns CCL_OK, or sets @error. */
typedef CclStatus (*GstCclForegroundFunc) (gpointer user_data, CclAnalyzer *analyzer,
                                           GstCclFrame *frame, GError **error);

/* Calls @func for every frame from now on. */
void gst_ccl_session_set_foreground (GstCclSession *session, GstCclForegroundFunc func,
                                     gpointer user_data);

/* Whether the next frame may go on with the CPU, for now that a device failed with @status. */
gboolean gst_ccl_session_may_fall_back (const GstCclSession *session, CclStatus status);

/* Sets @error, ready to be posted, to what the engine reports with @status. */
void gst_ccl_set_error (GError **error, CclStatus status);

/* Starts with @config, whose frame size, operations and region are ignored, and resets the
 * statistics. Fails if no frame could ever be analysed with it, or @cleaning is invalid. */
gboolean gst_ccl_session_start (GstCclSession *session, const CclConfig *config,
                                const GstCclCleaningSettings *cleaning, GError **error);

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

/* For the foreground function: maps the chroma of @frame until gst_ccl_chroma_unmap(). */
gboolean gst_ccl_session_map_chroma (GstCclSession *session, GstCclFrame *frame,
                                     GstCclChroma *chroma, GError **error);

/* Adds allocations of a background model, which holds @bytes now, to the statistics. */
void gst_ccl_session_add_model_usage (GstCclSession *session, guint64 allocations, guint64 bytes);

/* Returns the analyzer and its place; NULL if there is none. */
CclAnalyzer *gst_ccl_session_get_analyzer (GstCclSession *session, GstCclPlace *place);

/* Gets the label map of the last frame; needs CclConfig.labels. */
gboolean gst_ccl_session_get_labels (GstCclSession *session, CclLabels *labels, GError **error);

/* Returns the statistics since the last start. May be called from any thread. */
GstStructure *gst_ccl_session_get_stats (GstCclSession *session);

G_END_DECLS

#endif /* __GST_CCL_SESSION_H__ */
