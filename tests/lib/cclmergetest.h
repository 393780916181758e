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

/* cclmerge and its two branches, both at one frame per second. */
typedef struct
{
  GstHarness *video;
  GstHarness *mask; /* pushes to the pad "components" */
} Pair;

void pair_init (Pair *pair);

/* The same, live, with a video that has this latency. */
void pair_init_live (Pair *pair, GstClockTime latency);
void pair_clear (Pair *pair);

/* Pushes the same segment or flush to both branches. */
void pair_push_segment (Pair *pair, guint64 start);
void pair_flush (Pair *pair);

/* Flushes the mask's branch alone. */
void pair_flush_mask (Pair *pair);

/* A frame of the video. */
GstBuffer *video_new (GstClockTime pts);

/* A frame of the mask with one component of that label, in a GstCclMeta and as region of
 * interest. */
GstBuffer *mask_new (GstClockTime pts, guint label);

/* A frame of the mask without metadata. */
GstBuffer *empty_mask_new (GstClockTime pts);

/* mask_new() with the tripwire "gate", whose count is @number, and @n_events events of track
 * @number. */
GstBuffer *zones_new (GstClockTime pts, guint number, guint n_events);

/* Adds a tripwire across the middle of the mask, whose count is @number, and events of track
 * @number. */
void add_events (GstBuffer *buffer, const gchar *name, guint number, guint n_events);

/* Adds a component's region of interest as cudaccl does, plus a field and a parameter. */
void add_roi (GstBuffer *buffer, const gchar *type, gint id, const GstCclComponent *component);

/* The label of the component of a video frame, which is consumed; 0 without components. */
guint take_label (GstBuffer *buffer);

/* Pulls a frame of the video and returns its label. */
guint pair_pull_label (Pair *pair, GstClockTime pts);

/* Pushes a mask and a frame, and returns the frame that comes out. */
GstBuffer *pair_merge (Pair *pair, GstBuffer *mask, GstBuffer *video);

/* Pushes a frame of the video, or a mask and a frame of that time, and asserts that the frame comes
 * out with that label. */
void pair_push_video (Pair *pair, GstClockTime pts, guint label);
void pair_push_partners (Pair *pair, GstClockTime pts, guint label);

/* Appends the label and the events of a video frame, as `label` or `label:track@age,…`; label is 0
 * without components, ages are in milliseconds. */
void append_frame (GString *text, GstBuffer *buffer);

/* Waits until the element has dropped the mask's frames after the end of the video. */
void pair_wait_for_end (Pair *pair);

/* A frame or a gap of a branch; times are in milliseconds. */
typedef struct
{
  guint time;
  guint gap; /* its duration, or 0 for a frame */
  guint n_events;
} PairItem;

#define PAIR_MAX_ITEMS 64

typedef struct
{
  PairItem items[PAIR_MAX_ITEMS];
  guint n;
} PairBranch;

/* Parses times; "+DURATION" makes a gap, each "!" is an event. */
void pair_branch_parse (PairBranch *branch, const gchar *text);

/* Feeds each branch from its own thread, so that the output must depend on the timestamps alone.
 * Masks are numbered from 1: their labels, and the tracks of their events. Returns the frames of
 * the video as append_frame() writes them. */
gchar *pair_run (Pair *pair, const PairBranch *video, const PairBranch *mask);

#endif /* __CCL_MERGE_TEST_H__ */
