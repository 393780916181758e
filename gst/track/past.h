/* cudaccl - where tracks and components were in the last seconds
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PAST_H__
#define __GST_CCL_PAST_H__

#include <gst/gst.h>

#include "track.h"

G_BEGIN_DECLS

#define LONGEST_PAST 2.0 /* s of frames that are kept: results of networks are not that late */

/* A component of a past frame. */
typedef struct
{
  Box box;
  gdouble fill; /* share of the box that are pixels of it */
} Component;

/* Where a track was. */
typedef struct
{
  guint serial;
  gfloat centre[2];
} Place;

typedef struct
{
  GstClockTime time;
  Component *components;
  guint n_components;
  guint n;
  Place places[]; /* by serial */
} PastFrame;

typedef struct
{
  GQueue frames; /* PastFrame, oldest first */
} GstCclPast;

void gst_ccl_past_init (GstCclPast *self);

void gst_ccl_past_clear (GstCclPast *self);

/* Keeps the frame at @time, its @tracks (Track) and the components among @blobs (Blob). */
void gst_ccl_past_keep (GstCclPast *self, GstClockTime time, const GArray *tracks,
                        const GArray *blobs);

/* The frame nearest to @time, NULL if all are more than @most later or earlier. */
const PastFrame *gst_ccl_past_find (const GstCclPast *self, GstClockTime time,
                                    GstClockTimeDiff most);

G_END_DECLS

#endif /* __GST_CCL_PAST_H__ */
