/* cudaccl - the arrays of the tracker's tracks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tracker-private.h"

#include <string.h>

/* The arrays lie one after the other in a block of memory. Their distance is no multiple of 4096
 * bytes: the same entries of all arrays, which loops use together, would compete for a few cache
 * lines. Loops may access the first entries between two arrays. */
#define LEAST_ALLOCATED 32
#define SPACING 16

G_STATIC_ASSERT (SPACING >= LANES - 1);

G_STATIC_ASSERT (G_STRUCT_OFFSET (Tracks, id) - G_STRUCT_OFFSET (Tracks, p) ==
                 sizeof (((Tracks *) NULL)->values));
G_STATIC_ASSERT (sizeof (Tracks) - G_STRUCT_OFFSET (Tracks, id) ==
                 sizeof (((Tracks *) NULL)->numbers));

static void
allocate (Tracks *tracks, guint n)
{
  const guint n_values = G_N_ELEMENTS (tracks->values);
  gdouble *block = g_new0 (gdouble, (gsize) n * (n_values + G_N_ELEMENTS (tracks->numbers)));
  guint i;

  for (i = 0; i < n_values; i++)
    tracks->values[i] = &block[(gsize) n * i];
  for (i = 0; i < G_N_ELEMENTS (tracks->numbers); i++)
    tracks->numbers[i] = (gint *) &block[(gsize) n * (n_values + i)];
  tracks->allocated = n;
}

void
gst_ccl_tracker_free_tracks (GstCclTracker *self)
{
  g_free (self->tracks.values[0]);
  g_free (self->predictions);
}

/* Copies tracks from one place to another, which may overlap. */
static void
move_tracks (const Tracks *to, guint first, const Tracks *from, guint start, guint n)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (to->values); i++)
    memmove (&to->values[i][first], &from->values[i][start], sizeof (gdouble) * n);
  for (i = 0; i < G_N_ELEMENTS (to->numbers); i++)
    memmove (&to->numbers[i][first], &from->numbers[i][start], sizeof (gint) * n);
}

guint
gst_ccl_tracker_add_track (GstCclTracker *self)
{
  Tracks *tracks = &self->tracks;
  guint index = tracks->len++, i;

  if (tracks->len > tracks->allocated) {
    Tracks before = *tracks;
    guint n = LEAST_ALLOCATED;

    while (n < tracks->len)
      n *= 2;
    allocate (tracks, n + SPACING);
    if (index > 0) /* there are no arrays before the first track */
      move_tracks (tracks, 0, &before, 0, index);
    g_free (before.values[0]);
    g_free (self->predictions);
    self->predictions = g_new0 (Prediction, tracks->allocated);
  }
  for (i = 0; i < G_N_ELEMENTS (tracks->values); i++)
    tracks->values[i][index] = 0.0;
  for (i = 0; i < G_N_ELEMENTS (tracks->numbers); i++)
    tracks->numbers[i][index] = 0;

  return index;
}

/* Moves each run of tracks that go on at once. */
void
gst_ccl_tracker_remove_tracks (GstCclTracker *self)
{
  Tracks *tracks = &self->tracks;
  guint first, end = 0, n = 0;

  while (end < tracks->len) {
    for (first = end; end < tracks->len && !tracks->over[end]; end++)
      ;
    if (n != first)
      move_tracks (tracks, n, tracks, first, end - first);
    n += end - first;
    for (; end < tracks->len && tracks->over[end]; end++)
      ;
  }
  tracks->len = n;
}
