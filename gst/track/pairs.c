/* cudaccl - finds the pairs of tracks and detections near each other
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Detections are sorted into the cells of a grid by their centres. A track looks for detections
 * near it in the cells that it reaches, and is compared with those. Where objects overlap, CPUs
 * mispredict every second branch on what is near: neither loop has one. */

#include "tracker-private.h"

#include <string.h>

/* Detections of more than this many typical sizes are in a cell of their own, which all tracks look
 * at: at most half of them, as the typical size is the root mean square. */
#define LARGE_SIZE 2.0

/* Largest ratio of areas of a track and a detection that are near, but overlap little. */
#define GATE_AREA 4.0

/* A detection in a cell. */
typedef struct
{
  Box box;
  gdouble centre[2];
  guint blob;
} Entry;

/* What is compared with detections. */
typedef struct
{
  Box box;
  gdouble centre[2], per_reach[2];
  gdouble farthest[2]; /* distance of centres */
  gdouble area, confidence;
} Query;

void
gst_ccl_tracker_init_pairs (GstCclTracker *self)
{
  self->grid.entries = g_array_new (FALSE, FALSE, sizeof (Entry));
  self->grid.near = g_array_new (FALSE, FALSE, sizeof (const Entry *));
  self->grid.cells = g_array_new (FALSE, TRUE, sizeof (guint));
  self->pairs.starts = g_array_new (FALSE, FALSE, sizeof (guint));
}

void
gst_ccl_tracker_free_pairs (GstCclTracker *self)
{
  g_array_unref (self->grid.entries);
  g_array_unref (self->grid.near);
  g_array_unref (self->grid.cells);
  g_free (self->pairs.edges);
  g_free (self->pairs.common);
  g_array_unref (self->pairs.starts);
}

/* Cells are as large as typical detections, but not many more than there are detections. */
static void
set_up_grid (GstCclTracker *self)
{
  const guint n = self->blobs->len;
  Grid *grid = &self->grid;
  guint i, k;

  for (k = 0; k < 2; k++) {
    gdouble low = G_MAXDOUBLE, high = -G_MAXDOUBLE, sum = 0.0, size;

    for (i = 0; i < n; i++) {
      const Box *box = &get_blob (self, i)->box;

      low = MIN (low, box->low[k]);
      high = MAX (high, box->high[k]);
      sum += square (get_length (box, k));
    }
    size = sqrt (sum / n);
    grid->origin[k] = low;
    grid->n_cells[k] = (guint) CLAMP ((high - low) / size, 1.0, 2.0 * sqrt (n));
    grid->per_cell[k] = grid->n_cells[k] / (high - low);
    grid->large[k] = LARGE_SIZE * size;
    grid->most[k] = 0.0;
  }
}

/* The column or row of a position. Predicted ones may be too large for integers. */
static guint
get_cell (const Grid *grid, guint k, gdouble position)
{
  gdouble cell = (position - grid->origin[k]) * grid->per_cell[k];

  return (guint) MAX (0.0, MIN (cell, grid->n_cells[k] - 1.0));
}

/* Counts of cells become the first entries of each, then the entries are filled in from the end. */
static void
build_grid (GstCclTracker *self, gdouble noise)
{
  Grid *grid = &self->grid;
  guint n_cells, n = 0, i, k, *cells;

  set_up_grid (self);
  n_cells = grid->n_cells[0] * grid->n_cells[1] + 1;
  g_array_set_size (grid->cells, 0);
  g_array_set_size (grid->cells, n_cells + 1);
  cells = (guint *) grid->cells->data;

  for (i = 0; i < self->blobs->len; i++) {
    Blob *blob = get_blob (self, i);
    guint cell = n_cells - 1;

    if (blob->area < noise)
      continue;
    if (get_length (&blob->box, 0) <= grid->large[0] &&
        get_length (&blob->box, 1) <= grid->large[1]) {
      cell = get_cell (grid, 1, get_middle (&blob->box, 1)) * grid->n_cells[0] +
             get_cell (grid, 0, get_middle (&blob->box, 0));
      for (k = 0; k < 2; k++)
        grid->most[k] = MAX (grid->most[k], get_length (&blob->box, k));
    }
    blob->cell = cell;
    cells[cell]++;
    n++;
  }
  for (i = 1; i < n_cells; i++)
    cells[i] += cells[i - 1];
  cells[n_cells] = n;

  g_array_set_size (grid->entries, n);
  for (i = self->blobs->len; i-- > 0;) {
    const Blob *blob = get_blob (self, i);
    const Entry entry = { blob->box,
                          { get_middle (&blob->box, 0), get_middle (&blob->box, 1) },
                          i };

    if (blob->area >= noise)
      g_array_index (grid->entries, Entry, --cells[blob->cell]) = entry;
  }
}

/* Writes the detections in some cells whose centres @query reaches to @near, and returns their
 * number. */
static guint
search_cells (const Grid *grid, const Query *query, guint first, guint last, const Entry **near)
{
  const guint *cells = (const guint *) grid->cells->data;
  const Entry *entry = &g_array_index (grid->entries, Entry, cells[first]);
  const Entry *end = &g_array_index (grid->entries, Entry, cells[last + 1]);
  guint n = 0;

  for (; entry < end; entry++) {
    near[n] = entry;
    n += (fabs (entry->centre[0] - query->centre[0]) <= query->farthest[0]) &
         (fabs (entry->centre[1] - query->centre[1]) <= query->farthest[1]);
  }

  return n;
}

/* Compares a track and a detection. They are near each other if their boxes overlap, or the centre
 * of the detection is within the track's reach, an ellipse. */
static inline gboolean
compare (const Query query, gdouble iou_threshold, const Entry *entry, GstCclAssignmentEdge *edge,
         gdouble *common)
{
  gdouble distance = square ((entry->centre[0] - query.centre[0]) * query.per_reach[0]) +
                     square ((entry->centre[1] - query.centre[1]) * query.per_reach[1]);
  gdouble area = get_area (&entry->box), shared = get_common (&query.box, &entry->box);
  gdouble all = query.area + area - shared;
  gdouble least = MIN (query.area, area), most = MAX (query.area, area);

  gdouble score =
      0.6 * shared / all + 0.1 * least / most + 0.3 * (1.0 - sqrt (MIN (distance, 1.0)));
  gboolean same =
      (shared >= iou_threshold * all) | ((distance < 1.0) & (GATE_AREA * least >= most));

  edge->column = entry->blob;
  edge->score = same ? MIN (score * query.confidence, 1.0) : -1.0;
  *common = shared;

  return (shared > 0.0) | (distance < 1.0);
}

static void
add_pairs (GstCclTracker *self, const Track *track, const Entry **near)
{
  const gdouble iou_threshold = self->params.iou_threshold;
  const guint width = self->grid.n_cells[0], large = width * self->grid.n_cells[1];
  Pairs *pairs = &self->pairs;
  guint first[2], last[2], n = 0, i, k;
  Query query = { .box = track->box,
                  .area = track->size[0] * track->size[1],
                  .confidence = track->confidence };

  for (k = 0; k < 2; k++) {
    const gdouble centre = track->centre[k].position;
    const gdouble farthest = MAX (track->reach[k], (track->size[k] + self->grid.most[k]) / 2.0);

    query.centre[k] = centre;
    query.farthest[k] = farthest;
    query.per_reach[k] = 1.0 / track->reach[k];
    first[k] = get_cell (&self->grid, k, centre - farthest);
    last[k] = get_cell (&self->grid, k, centre + farthest);
  }
  for (i = first[1]; i <= last[1]; i++)
    n += search_cells (&self->grid, &query, i * width + first[0], i * width + last[0], &near[n]);
  query.farthest[0] = query.farthest[1] = G_MAXDOUBLE;
  n += search_cells (&self->grid, &query, large, large, &near[n]);

  if (pairs->n + n > pairs->allocated) {
    pairs->allocated = 2 * (pairs->n + n);
    pairs->edges = g_renew (GstCclAssignmentEdge, pairs->edges, pairs->allocated);
    pairs->common = g_renew (gdouble, pairs->common, pairs->allocated);
  }
  k = pairs->n;
  for (i = 0; i < n; i++)
    k += compare (query, iou_threshold, near[i], &pairs->edges[k], &pairs->common[k]);
  pairs->n = k;
}

void
gst_ccl_tracker_find_pairs (GstCclTracker *self, gdouble noise)
{
  guint i;

  self->pairs.n = 0;
  g_array_set_size (self->pairs.starts, 0);
  if (self->blobs->len > 0)
    build_grid (self, noise);
  g_array_set_size (self->grid.near, self->blobs->len + 1);

  for (i = 0; i < self->tracks->len; i++) {
    g_array_append_val (self->pairs.starts, self->pairs.n);
    if (self->blobs->len > 0)
      add_pairs (self, get_track (self, i), (const Entry **) self->grid.near->data);
  }
  g_array_append_val (self->pairs.starts, self->pairs.n);
}
