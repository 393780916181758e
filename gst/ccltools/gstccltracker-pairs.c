/* cudaccl - finds the pairs of tracks and detections near each other
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltracker-private.h"

#include <string.h>

/* Length of a cell of the grid, in root mean squares of the sizes of detections. */
#define CELL_SIZE 1.5

/* Detections below this share of the minimum area that starts a track belong to no track. */
#define NOISE_SHARE 0.25

/* Largest ratio of areas of a track and a detection that are near, but do not overlap. */
#define GATE_AREA 4.0

static inline gint
get_cell (const GstCclTracker *self, guint k, gfloat position)
{
  gfloat cell = (position - self->origin[k]) * self->per_cell[k], last = self->n_cells[k] - 1;

  /* Before the conversion: predicted positions may be too large for integers. */
  return (gint) CLAMP (cell, 0, last);
}

/* Sets the cells to a size that is larger than the root mean square of the sizes of detections: not
 * more than a quarter of them is large. */
static void
set_up_grid (GstCclTracker *self)
{
  guint n = self->blobs->len, i, k;

  for (k = 0; k < 2; k++) {
    gdouble low = G_MAXDOUBLE, high = -G_MAXDOUBLE, sum = 0.0, size;

    for (i = 0; i < n; i++) {
      const Blob *blob = get_blob (self, i);

      sum += square (blob->high[k] - blob->low[k]);
      low = MIN (low, blob->low[k]);
      high = MAX (high, blob->high[k]);
    }
    size = sqrt (sum / n);
    self->large[k] = (gfloat) (2.0 * size);
    self->small[k] = 0.0f;
    self->origin[k] = (gfloat) low;
    self->n_cells[k] = (gint) CLAMP ((high - low) / size / CELL_SIZE, 1.0, 2.0 * sqrt (n));
    self->per_cell[k] = (gfloat) (self->n_cells[k] / (high - low));
  }
}

/* Sorts the detections into cells by their centres, large ones into a cell of their own, and noise
 * into the last cell, which is never searched. Within a cell they keep their order. */
static void
build_grid (GstCclTracker *self)
{
  guint n = self->blobs->len, i, k, total, *cells, *cell_of;

  set_up_grid (self);
  total = (guint) self->n_cells[0] * (guint) self->n_cells[1];
  g_array_set_size (self->entries, n);
  g_array_set_size (self->cell_of, n);
  g_array_set_size (self->cells, total + 3);
  cell_of = (guint *) self->cell_of->data;
  cells = (guint *) self->cells->data;
  memset (cells, 0, sizeof (guint) * (total + 3));

  for (i = 0; i < n; i++) {
    const Blob *blob = get_blob (self, i);
    guint cell[2];
    gfloat half[2];
    gboolean large = FALSE;

    for (k = 0; k < 2; k++) {
      half[k] = (gfloat) (blob->high[k] - blob->low[k]) / 2.0f;
      large |= 2.0f * half[k] > self->large[k];
      cell[k] = (guint) get_cell (self, k, (gfloat) (blob->low[k] + blob->high[k]) / 2.0f);
    }
    for (k = 0; k < 2 && !large; k++)
      self->small[k] = MAX (self->small[k], half[k]);
    if (blob->area < NOISE_SHARE * self->min_area)
      cell_of[i] = total + 1;
    else
      cell_of[i] = large ? total : cell[1] * (guint) self->n_cells[0] + cell[0];
    cells[cell_of[i]]++;
  }
  for (i = 1; i <= total + 2; i++)
    cells[i] += cells[i - 1];
  for (i = n; i-- > 0;) {
    const Blob *blob = get_blob (self, i);
    Entry *entry = &g_array_index (self->entries, Entry, --cells[cell_of[i]]);

    entry->blob = i;
    for (k = 0; k < 2; k++) {
      entry->centre[k] = (gfloat) (blob->low[k] + blob->high[k]) / 2.0f;
      entry->half[k] = (gfloat) (blob->high[k] - blob->low[k]) / 2.0f;
    }
  }
}

/* Square of the distance of centres, 1 at the gate. */
static inline gdouble
get_distance (const Track *track, const Blob *blob)
{
  gdouble x = (blob->low[0] + blob->high[0]) / 2.0 - track->axis[0].p;
  gdouble y = (blob->low[1] + blob->high[1]) / 2.0 - track->axis[1].p;

  return square (x * track->per_reach[0]) + square (y * track->per_reach[1]);
}

/* Adds the pair of a track and a detection to the edges if one may be a part of the other, and to
 * the candidates if they may be the same object. Most pairs are neither: divisions come last. */
static inline void
add_edge (GstCclTracker *self, const Track *track, const Blob *blob, guint index)
{
  gdouble common = get_common (track->low, track->high, blob->low, blob->high);
  gdouble distance = get_distance (track, blob);
  gdouble track_area = track->size[0] * track->size[1];
  gdouble blob_area = get_box_area (blob->low, blob->high);
  gdouble least = MIN (track_area, blob_area), most = MAX (track_area, blob_area), score;
  gdouble all = track_area + blob_area - common;
  GstCclAssignmentEdge *candidate;

  if (common >= FRAGMENT_COVER * blob_area || common > MEMBER_COVER * track_area) {
    Edge *edge = &self->edges[self->n_edges++];

    edge->detection = index;
    edge->track_cover = common / track_area;
    edge->detection_cover = common / blob_area;
  }

  if (common < self->params.iou_threshold * all && (distance >= 1.0 || GATE_AREA * least < most))
    return;

  score = 0.6 * common / all + 0.1 * least / most;
  if (distance < 1.0)
    score += 0.3 * (1.0 - sqrt (distance));
  if (!track->out.id)
    score *= 0.6;
  else if (track->missed > 0.0)
    score *= 0.9;
  candidate = &self->candidates[self->n_candidates++];
  candidate->column = index;
  candidate->score = MIN (score, 1.0);
}

/* Adds those of the entries to @near that overlap with the track or are within its reach, an
 * ellipse. Without branches, most of which the CPU would predict wrongly. */
static inline guint
collect (const Entry *entry, const Entry *end, const Reach *reach, guint *near, guint n)
{
  for (; entry < end; entry++) {
    gfloat x = fabsf (entry->centre[0] - reach->centre[0]);
    gfloat y = fabsf (entry->centre[1] - reach->centre[1]);
    gfloat far_x = x * reach->per_reach[0], far_y = y * reach->per_reach[1];
    gint overlaps = (x < reach->half[0] + entry->half[0]) & (y < reach->half[1] + entry->half[1]);

    near[n] = entry->blob;
    n += (guint) (overlaps | (far_x * far_x + far_y * far_y < 1.0f));
  }

  return n;
}

static void
find_edges_of (GstCclTracker *self, const Track *track)
{
  const guint *cells = (const guint *) self->cells->data;
  const Entry *entries = (const Entry *) self->entries->data;
  const guint large = (guint) (self->n_cells[0] * self->n_cells[1]);
  guint *near = (guint *) self->near->data;
  gint first[2], last[2], y;
  guint n = 0, j, k;
  Reach reach;

  for (k = 0; k < 2; k++) {
    gfloat farthest;

    reach.centre[k] = (gfloat) track->axis[k].p;
    reach.half[k] = (gfloat) track->size[k] / 2.0f;
    reach.per_reach[k] = (gfloat) track->per_reach[k];
    farthest = MAX ((gfloat) track->reach[k], reach.half[k] + self->small[k]);
    first[k] = get_cell (self, k, reach.centre[k] - farthest);
    last[k] = get_cell (self, k, reach.centre[k] + farthest);
  }

  /* Cells side by side have their entries one after the other. */
  for (y = first[1]; y <= last[1]; y++) {
    const guint *row = &cells[y * self->n_cells[0]];

    n = collect (&entries[row[first[0]]], &entries[row[last[0] + 1]], &reach, near, n);
  }
  n = collect (&entries[cells[large]], &entries[cells[large + 1]], &reach, near, n);

  if (MAX (self->n_edges, self->n_candidates) + n > self->max_edges) {
    self->max_edges = 2 * (MAX (self->n_edges, self->n_candidates) + n);
    self->edges = g_renew (Edge, self->edges, self->max_edges);
    self->candidates = g_renew (GstCclAssignmentEdge, self->candidates, self->max_edges);
  }
  for (j = 0; j < n; j++)
    add_edge (self, track, get_blob (self, near[j]), near[j]);
}

void
gst_ccl_tracker_find_edges (GstCclTracker *self)
{
  guint i, *starts, *candidate_starts;

  self->n_edges = self->n_candidates = 0;
  g_array_set_size (self->starts, self->tracks->len + 1);
  g_array_set_size (self->candidate_starts, self->tracks->len + 1);
  starts = (guint *) self->starts->data;
  candidate_starts = (guint *) self->candidate_starts->data;

  g_array_set_size (self->near, self->blobs->len + 1);
  if (self->blobs->len > 0)
    build_grid (self);
  for (i = 0; i < self->tracks->len; i++) {
    starts[i] = self->n_edges;
    candidate_starts[i] = self->n_candidates;
    if (self->blobs->len > 0)
      find_edges_of (self, get_track (self, i));
  }
  starts[i] = self->n_edges;
  candidate_starts[i] = self->n_candidates;
}
