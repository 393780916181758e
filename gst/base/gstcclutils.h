/* cudaccl - helpers for caps, allocation queries and buffers that the plugins share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_UTILS_H__
#define __GST_CCL_UTILS_H__

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* Intersects @caps with @filter in the order of @filter, which may be NULL. Takes ownership of
 * @caps. */
GstCaps *gst_ccl_caps_filter (GstCaps *caps, GstCaps *filter);

/* Gets the frame size from fixed caps of any format. Returns FALSE and leaves @width and @height
 * unchanged if the caps have no valid size. */
gboolean gst_ccl_caps_get_size (GstCaps *caps, guint *width, guint *height);

/* Same, but posts an error on @element if the caps have no valid size. */
gboolean gst_ccl_caps_require_size (GstElement *element, GstCaps *caps, guint *width,
                                    guint *height);

/* Gets the format of frames from fixed video caps. On failure, leaves @info unchanged. */
gboolean gst_ccl_caps_get_video_info (GstCaps *caps, GstVideoInfo *info, GError **error);

/* Answers an allocation @query for a pad that handles any strides, offsets and cropping. */
void gst_ccl_allow_any_layout (GstQuery *query);

/* GstBaseTransformClass::propose_allocation that does the same. */
gboolean gst_ccl_propose_any_layout (GstBaseTransform *trans, GstQuery *decide_query,
                                     GstQuery *query);

/* GstBaseTransformClass::propose_allocation for elements that pass frames on: downstream
 * decides. */
gboolean gst_ccl_propose_downstream (GstBaseTransform *trans, GstQuery *decide_query,
                                     GstQuery *query);

/* GstBaseTransformClass::prepare_output_buffer for elements that change only metadata: copies a
 * shared buffer without its pixels. */
GstFlowReturn gst_ccl_prepare_metadata (GstBaseTransform *trans, GstBuffer *inbuf,
                                        GstBuffer **outbuf);

/* An element that finds objects answers this custom query, since its first results may be late. */
gboolean gst_ccl_query_is_finding (GstQuery *query);

/* Returns whether an element before the sink pad @pad answers it. */
gboolean gst_ccl_peer_is_finding (GstPad *pad);

/* Returns whether @buffer is a gap without pixels. A buffer flagged as a gap that has pixels is
 * a normal frame: videorate flags the frames that it repeats. */
gboolean gst_ccl_buffer_is_gap (GstBuffer *buffer);

/* Copies @meta of @source to @dest, unless its type does not allow it. */
void gst_ccl_buffer_copy_meta (GstBuffer *dest, GstBuffer *source, GstMeta *meta);

/* Creates a buffer that shares the memory of @buffer and has a copy of its metadata, for elements
 * that change only metadata. Unlike gst_buffer_copy(), this never copies memory, not even
 * GST_MEMORY_FLAG_NO_SHARE: the original is dropped once the copy is passed on. */
GstBuffer *gst_ccl_buffer_copy_shallow (GstBuffer *buffer);

/* Converts @timestamp to stream time and running time, GST_CLOCK_TIME_NONE if @segment is not in
 * time format. */
void gst_ccl_segment_get_times (const GstSegment *segment, GstClockTime timestamp,
                                GstClockTime *stream_time, GstClockTime *running_time);

/* Returns @a - @b, saturated. */
GstClockTimeDiff gst_ccl_time_diff (GstClockTimeDiff a, GstClockTimeDiff b);

/* An element that tells objects apart by what they look like pushes this event upstream from its
 * sink @pad: the first element that can find signatures (gst_ccl_meta_set_signatures()) does so
 * from then on. Returns whether there is one. */
gboolean gst_ccl_event_wants_signatures (GstEvent *event);
gboolean gst_ccl_pad_ask_for_signatures (GstPad *pad);

G_END_DECLS

#endif /* __GST_CCL_UTILS_H__ */
