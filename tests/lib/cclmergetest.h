/* cudaccl - helpers for the tests of cclmerge
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_MERGE_TEST_H__
#define __CCL_MERGE_TEST_H__

#include "tests/lib/ccltest.h"

/* The sizes of the frames, unless caps say otherwise. */
#define VIDEO_WIDTH 128
#define VIDEO_HEIGHT 96
#define MASK_WIDTH 64
#define MASK_HEIGHT 48

/* cclmerge with its two branches. */
typedef struct
{
  GstHarness *video;
  GstHarness *mask; /* pushes to the pad "components" */
} Pair;

/* One frame per second. */
void pair_init (Pair *pair, gboolean live);
void pair_clear (Pair *pair);

/* Pushes the same segment or flush to both branches. */
void pair_push_segment (Pair *pair, guint64 start);
void pair_flush (Pair *pair);

/* A frame of the video. */
GstBuffer *video_new (GstClockTime pts);

/* A frame of the mask with one component of that label, in a GstCclMeta and as region of
 * interest. */
GstBuffer *mask_new (GstClockTime pts, guint label);

/* Adds a component's region of interest as cudaccl does, plus a field and a parameter. */
void add_roi (GstBuffer *buffer, const gchar *type, gint id, const GstCclComponent *component);

/* Pulls a frame of the video and returns the label of its component, or 0. */
guint pair_pull_label (Pair *pair, GstClockTime pts);

/* Pushes a mask and a frame of that time, and asserts that the frame gets the mask's component. */
void pair_push_partners (Pair *pair, GstClockTime pts, guint label);

#endif /* __CCL_MERGE_TEST_H__ */
