/* cudaccl-watch - the schedule of a synopsis
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/synopsis/private.h"

#include <math.h>

/* Side of a cell in pixels; frames between samples of a tube, and between possible starts. */
#define CELL 16
#define FRAME_STEP 3
#define START_STEP 3
/* Share of its cells in which an object may overlap others. */
#define MAX_OVERLAP 0.05

const WatchCut *
watch_tube_get_cut (const WatchTube *tube, gint64 time)
{
  guint low = 0, high = tube->cuts->len;

  while (high - low > 1) {
    guint middle = (low + high) / 2;

    if (g_array_index (tube->cuts, WatchCut, middle).time <= time)
      low = middle;
    else
      high = middle;
  }
  return &g_array_index (tube->cuts, WatchCut, low);
}

guint
watch_tube_get_length (const WatchTube *tube)
{
  const WatchCut *last = &g_array_index (tube->cuts, WatchCut, tube->cuts->len - 1);

  return last->time * WATCH_SYNOPSIS_RATE / G_TIME_SPAN_SECOND + 1;
}

/* The number of objects in each cell, every FRAME_STEP frames. */
typedef struct
{
  guint columns, rows;
  guint8 *cells;
} Plan;

/* Returns the share of the tube's cells that are occupied if it starts at @start. @add: occupies
 * them. */
static gdouble
visit (const Plan *plan, const WatchTube *tube, guint start, gboolean add)
{
  guint length = watch_tube_get_length (tube), taken = 0, all = 0;

  for (guint frame = 0; frame < length; frame += FRAME_STEP) {
    const WatchCut *cut =
        watch_tube_get_cut (tube, frame * G_TIME_SPAN_SECOND / WATCH_SYNOPSIS_RATE);
    guint8 *cells = plan->cells + (gsize) (start + frame) / FRAME_STEP * plan->columns * plan->rows;

    for (guint y = cut->y / CELL; y <= (cut->y + cut->height - 1u) / CELL; y++) {
      for (guint x = cut->x / CELL; x <= (cut->x + cut->width - 1u) / CELL; x++) {
        guint8 *cell = &cells[y * plan->columns + x];

        all++;
        taken += *cell > 0;
        if (add && *cell < G_MAXUINT8)
          (*cell)++;
      }
    }
  }
  return (gdouble) taken / all;
}

guint
watch_scenes_plan (WatchScenes *self, guint max_frames)
{
  Plan plan = { (self->width + CELL - 1) / CELL, (self->height + CELL - 1) / CELL, NULL };
  guint n_frames = 0;

  plan.cells = g_new0 (guint8, (gsize) (max_frames / FRAME_STEP + 1) * plan.columns * plan.rows);
  for (guint i = 0; i < self->tubes->len; i++) {
    WatchTube *tube = g_ptr_array_index (self->tubes, i);
    guint length = watch_tube_get_length (tube);
    gdouble least = G_MAXDOUBLE;

    /* The earliest start with little overlap keeps objects roughly in the order of the day. */
    for (guint start = 0; start + length <= max_frames; start += START_STEP) {
      gdouble overlap = visit (&plan, tube, start, FALSE);

      if (overlap < least) {
        least = overlap;
        tube->start = start;
      }
      if (overlap <= MAX_OVERLAP)
        break;
    }
    visit (&plan, tube, tube->start, TRUE);
    n_frames = MAX (n_frames, tube->start + length);
  }
  g_free (plan.cells);
  return n_frames;
}
