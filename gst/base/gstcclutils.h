/* cudaccl - helpers for caps, allocation queries and buffers that the plugins share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_UTILS_H__
#define __GST_CCL_UTILS_H__

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* Intersects @caps with @filter, keeping the order of @filter; @filter may be NULL. Takes ownership
 * of @caps. */
GstCaps *gst_ccl_caps_filter (GstCaps *caps, GstCaps *filter);

/* Gets the frame size from fixed caps of any format. Returns FALSE, and leaves @width and @height
 * as they are, if the caps have no valid size. */
gboolean gst_ccl_caps_get_size (GstCaps *caps, guint *width, guint *height);

/* Same, but posts an error on @element if the caps have no valid size. */
gboolean gst_ccl_caps_require_size (GstElement *element, GstCaps *caps, guint *width,
                                    guint *height);

/* Gets the format of frames from fixed video caps. On failure, @info stays as it is, and @error
 * says what to do. */
gboolean gst_ccl_caps_get_video_info (GstCaps *caps, GstVideoInfo *info, GError **error);

/* Answers an allocation @query of a pad that handles any strides, offsets and cropping. */
void gst_ccl_allow_any_layout (GstQuery *query);

/* GstBaseTransformClass::propose_allocation that does the same. */
gboolean gst_ccl_propose_any_layout (GstBaseTransform *trans, GstQuery *decide_query,
                                     GstQuery *query);

/* GstBaseTransformClass::propose_allocation of elements whose frames pass through: downstream
 * decides. */
gboolean gst_ccl_propose_downstream (GstBaseTransform *trans, GstQuery *decide_query,
                                     GstQuery *query);

/* GstBaseTransformClass::prepare_output_buffer of elements that change only metadata: a shared
 * frame is copied without its pixels. */
GstFlowReturn gst_ccl_prepare_metadata (GstBaseTransform *trans, GstBuffer *inbuf,
                                        GstBuffer **outbuf);

/* Whether @buffer is a gap without pixels. A frame flagged as a gap that has pixels is a normal
 * frame: videorate flags the frames it repeats. */
gboolean gst_ccl_buffer_is_gap (GstBuffer *buffer);

/* Copies one metadata of @source to @dest, if it can be copied. */
void gst_ccl_buffer_copy_meta (GstBuffer *dest, GstBuffer *source, GstMeta *meta);

/* Creates a buffer that shares the memory of @buffer and has a copy of its metadata, for elements
 * that change only metadata. Unlike gst_buffer_copy(), this never copies memory, not even
 * GST_MEMORY_FLAG_NO_SHARE: the original is dropped once the copy is passed on. */
GstBuffer *gst_ccl_buffer_copy_shallow (GstBuffer *buffer);

/* Converts @timestamp to stream time and running time, GST_CLOCK_TIME_NONE if @segment is not in
 * time format. */
void gst_ccl_segment_get_times (const GstSegment *segment, GstClockTime timestamp,
                                GstClockTime *stream_time, GstClockTime *running_time);

/* @a - @b, or the nearest value that fits. */
GstClockTimeDiff gst_ccl_time_diff (GstClockTimeDiff a, GstClockTimeDiff b);

G_END_DECLS

#endif /* __GST_CCL_UTILS_H__ */
