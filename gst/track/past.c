/* cudaccl - where tracks and components were in the last seconds
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "past.h"

/* Components of a frame that are kept, to bound the memory; the first ones, in raster order. */
#define MOST_COMPONENTS 1024

static void
frame_free (gpointer data)
{
  PastFrame *frame = data;

  g_free (frame->components);
  g_free (frame);
}

void
gst_ccl_past_init (GstCclPast *self)
{
  g_queue_init (&self->frames);
}

void
gst_ccl_past_clear (GstCclPast *self)
{
  g_queue_clear_full (&self->frames, frame_free);
}

static void
keep_components (PastFrame *frame, const GArray *blobs)
{
  guint i;

  frame->components = g_new (Component, MIN (blobs->len, MOST_COMPONENTS));
  frame->n_components = 0;
  for (i = 0; i < blobs->len && frame->n_components < MOST_COMPONENTS; i++) {
    const Blob *blob = &g_array_index (blobs, Blob, i);

    if (!blob->object)
      frame->components[frame->n_components++] =
          (Component){ blob->box, MIN (blob->area / get_area (&blob->box), 1.0) };
  }
}

void
gst_ccl_past_keep (GstCclPast *self, GstClockTime time, const GArray *tracks, const GArray *blobs)
{
  const guint n = tracks->len;
  PastFrame *frame = g_malloc (sizeof (PastFrame) + n * sizeof (Place));
  guint i, k;

  frame->time = time;
  keep_components (frame, blobs);
  frame->n = n;
  for (i = 0; i < n; i++) {
    const Track *track = &g_array_index (tracks, Track, i);

    frame->places[i].serial = track->serial;
    for (k = 0; k < 2; k++)
      frame->places[i].centre[k] = (gfloat) track->centre[k].position;
  }
  g_queue_push_tail (&self->frames, frame);
  while (((PastFrame *) g_queue_peek_head (&self->frames))->time + LONGEST_PAST * GST_SECOND < time)
    frame_free (g_queue_pop_head (&self->frames));
}

const PastFrame *
gst_ccl_past_find (const GstCclPast *self, GstClockTime time, GstClockTimeDiff most)
{
  const PastFrame *best = NULL;
  GstClockTimeDiff least = most;
  GList *l;

  for (l = self->frames.head; l; l = l->next) {
    const PastFrame *frame = l->data;
    GstClockTimeDiff away = ABS (GST_CLOCK_DIFF (frame->time, time));

    if (away <= least) {
      least = away;
      best = frame;
    }
  }

  return best;
}
