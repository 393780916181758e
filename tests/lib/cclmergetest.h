/* cudaccl - what the tests of cclmerge share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_MERGE_TEST_H__
#define __CCL_MERGE_TEST_H__

#include "tests/lib/ccltest.h"

/* The sizes of the frames, unless caps say otherwise. */
#define VIDEO_WIDTH 128
#define VIDEO_HEIGHT 96
#define MASK_WIDTH 64
#define MASK_HEIGHT 48

/* cclmerge with both of its branches. */
typedef struct
{
  GstHarness *video;
  GstHarness *mask; /* to the pad for components */
} Pair;

/* Not live unless asked for; at 1 frame a second. */
void pair_init (Pair *pair, gboolean live);
void pair_clear (Pair *pair);

/* Pushes the same new segment or flush to both. */
void pair_push_segment (Pair *pair, guint64 start);
void pair_flush (Pair *pair);

/* A frame of the video. */
GstBuffer *video_new (GstClockTime pts);

/* A frame of the mask, with one component of that label in both kinds of metadata. */
GstBuffer *mask_new (GstClockTime pts, guint label);

/* Adds a component's region of interest as cudaccl does, with one field and one parameter more. */
void add_roi (GstBuffer *buffer, const gchar *type, gint id, const GstCclComponent *component);

/* Pulls a frame of the video, and returns the label of its component; 0 when it has none. */
guint pair_pull_label (Pair *pair, GstClockTime pts);

#endif /* __CCL_MERGE_TEST_H__ */
