/* cudaccl - which frame of one branch belongs to which frame of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_MATCH_H__
#define __GST_CCL_MERGE_MATCH_H__

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

/* A frame of the components' branch. */
typedef struct
{
  GstBuffer *buffer; /* NULL for none */
  GstClockTimeDiff time;
  guint width;
  guint height;
} GstCclMergeFrame;

typedef struct
{
  guint width, height;   /* of the frames that come now */
  GstCclMergeFrame last; /* the latest one that is not after the video; has only components */
  GMutex lock; /* for @last: the pad is flushed by another thread than the streaming one */
} GstCclMergeMatcher;

void gst_ccl_merge_matcher_init (GstCclMergeMatcher *matcher);
void gst_ccl_merge_matcher_finalize (GstCclMergeMatcher *matcher);

/* Forgets the frames that came. */
void gst_ccl_merge_matcher_clear (GstCclMergeMatcher *matcher);

/* Finds the frame of @pad that is nearest to @time, no farther away than @tolerance, and drops what
 * is of no more use to later frames; @pad may be NULL. @partner gets a reference to its buffer.
 * FALSE if it can only be told when there is more data. */
gboolean gst_ccl_merge_matcher_find (GstCclMergeMatcher *matcher, GstAggregatorPad *pad,
                                     GstClockTimeDiff time, GstClockTimeDiff tolerance,
                                     gboolean timeout, GstCclMergeFrame *partner);

/* Drops all that came on @pad, which may be NULL. TRUE if no more will come. */
gboolean gst_ccl_merge_matcher_drain (GstCclMergeMatcher *matcher, GstAggregatorPad *pad);

/* GstAggregator makes empty buffers of gap events. A flagged frame with pixels is a frame:
 * videorate flags the copies that it makes. */
gboolean gst_ccl_merge_is_gap (GstBuffer *buffer);

/* The running time of @timestamp, which is negative before the segment; FALSE if it has none. */
gboolean gst_ccl_merge_get_time (GstAggregatorPad *pad, GstClockTime timestamp,
                                 GstClockTimeDiff *time);

G_END_DECLS

#endif /* __GST_CCL_MERGE_MATCH_H__ */
