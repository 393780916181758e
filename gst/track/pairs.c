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

/* Each track has its share of the pairs of a frame, and of the large detections that tracks are
 * compared with, so that a frame takes milliseconds whatever is in it. Only crowds of objects in
 * one place are affected. */
#define MOST_PAIRS 65536
#define LEAST_NEAR 16 /* pairs of a track */
#define MOST_NEAR 1024
#define MOST_TESTS 4194304

/* Largest ratio of areas of a track and a detection that are near, but overlap little. */
#define GATE_AREA 4.0

/* Doubtful boxes of detectors are for tracks that have no better one, and only if they overlap that
 * much (Zhang 2022, ByteTrack). */
#define DOUBTFUL_WEIGHT 0.5
#define DOUBTFUL_IOU 0.5

/* A detector's box is that of a track that the detector knows, rather than that of a component. */
#define NEW_WEIGHT 0.3

/* Boxes of different classes are the same object only if they overlap that much: the detector was
 * wrong about one of them. */
#define OTHER_CLASS_IOU 0.7

/* Largest ratio of areas of a component and a track, if a detector that looks at some frames only
 * knows its size. They must overlap, too. */
#define KNOWN_AREA 2.5

/* Both axes at once. Compilers make branches of scalar comparisons, but not of these. */
typedef gdouble V2 __attribute__ ((vector_size (16)));
typedef gint64 M2 __attribute__ ((vector_size (16)));

static inline V2
load2 (const gdouble values[2])
{
  return (V2){ values[0], values[1] };
}

static inline V2
select2 (M2 mask, V2 a, V2 b)
{
  return (V2) ((mask & (M2) a) | (~mask & (M2) b));
}

static inline V2
min2 (V2 a, V2 b)
{
  return select2 (a < b, a, b);
}

static inline V2
max2 (V2 a, V2 b)
{
  return select2 (a > b, a, b);
}

/* A detection in a cell. */
typedef struct
{
  Box box;
  gdouble centre[2];
  guint blob;
  gboolean doubtful, component;
  guint class_id;
} Entry;

/* What is compared with detections. */
typedef struct
{
  Box box;
  gdouble centre[2], per_reach[2];
  gdouble farthest[2]; /* distance of centres */
  gdouble area, confidence, iou_threshold;
  gboolean known; /* by a detector that looks at some frames only */
  guint class_id;
  gdouble order; /* 0...1: place of the track among all */
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

/* There are between one and four cells for each detection; within that, they are as large as
 * typical detections. */
static void
set_up_grid (GstCclTracker *self)
{
  const guint n = self->blobs->len;
  const gdouble root = sqrt (n);
  Grid *grid = &self->grid;
  guint i, k;

  for (k = 0; k < 2; k++) {
    gdouble low = G_MAXDOUBLE, high = -G_MAXDOUBLE, sum = 0.0, size, length;

    for (i = 0; i < n; i++) {
      const Box *box = &get_blob (self, i)->box;

      low = MIN (low, get_middle (box, k));
      high = MAX (high, get_middle (box, k));
      sum += square (get_length (box, k));
    }
    size = sqrt (sum / n);
    length = MAX (high - low, 1.0);
    grid->origin[k] = low;
    grid->n_cells[k] = (guint) CLAMP (length / size, root, 2.0 * root);
    grid->per_cell[k] = grid->n_cells[k] / length;
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
                          i,
                          is_doubtful (self, blob),
                          !blob->object,
                          blob->class_id };

    if (blob->area >= noise)
      g_array_index (grid->entries, Entry, --cells[blob->cell]) = entry;
  }
}

typedef struct
{
  const Entry *first, *end;
} Span;

/* The detections in some cells. If they are more than @most, sets @crowded, and leaves some out:
 * each track sees another part of a crowd. */
static Span
get_span (const Grid *grid, const Query *query, guint first, guint last, guint most,
          gboolean *crowded)
{
  const guint *cells = (const guint *) grid->cells->data;
  guint start = cells[first], n = cells[last + 1] - start;

  if (n > most) {
    *crowded = TRUE;
    start += (guint) (query->order * (n - most));
    n = most;
  }

  return (Span){ &g_array_index (grid->entries, Entry, start),
                 &g_array_index (grid->entries, Entry, start + n) };
}

/* Sets @first and @last to the columns and rows within @share of what a track reaches. Returns
 * whether more than @most detections are there. */
static gboolean
is_crowded (const Grid *grid, const Query *query, gdouble share, guint most, guint first[2],
            guint last[2])
{
  const guint *cells = (const guint *) grid->cells->data;
  guint n = 0, k, y;

  for (k = 0; k < 2; k++) {
    first[k] = get_cell (grid, k, query->centre[k] - share * query->farthest[k]);
    last[k] = get_cell (grid, k, query->centre[k] + share * query->farthest[k]);
  }
  for (y = first[1]; y <= last[1] && n <= most; y++)
    n += cells[y * grid->n_cells[0] + last[0] + 1] - cells[y * grid->n_cells[0] + first[0]];

  return n > most;
}

static inline guint
is_near (const Query *query, const Entry *entry)
{
  V2 away = load2 (entry->centre) - load2 (query->centre), most = load2 (query->farthest);
  M2 near = (away <= most) & (away >= -most);

  return (guint) (near[0] & near[1] & 1);
}

/* Writes at most @most detections that are not large to @near, and returns their number. Where
 * there are more, those in the nearest cells count. */
static guint
search (const Grid *grid, const Query *query, guint most, const Entry **near, gboolean *crowded)
{
  guint first[2], last[2], n = 0, y;
  gdouble share = 1.0;

  while (is_crowded (grid, query, share, most, first, last) &&
         (first[0] != last[0] || first[1] != last[1])) {
    *crowded = TRUE;
    share /= 2.0;
  }
  for (y = first[1]; y <= last[1]; y++) {
    const guint row = y * grid->n_cells[0];
    Span span = get_span (grid, query, row + first[0], row + last[0], most, crowded);

    for (; span.first < span.end; span.first++) {
      near[n] = span.first;
      n += is_near (query, span.first);
    }
  }

  return n;
}

static inline gboolean
is_other (guint class_id, guint other)
{
  return (class_id != other) & (class_id != 0) & (other != 0);
}

/* Compares a track and a detection. They are near each other if their boxes overlap, or the centre
 * of the detection is within the track's reach, an ellipse. */
static inline guint
compare (const Query *query, const Entry *entry, GstCclAssignmentEdge *edge, gdouble *common)
{
  const V2 zero = { 0.0, 0.0 };
  V2 away = (load2 (entry->centre) - load2 (query->centre)) * load2 (query->per_reach);
  V2 both = min2 (load2 (query->box.high), load2 (entry->box.high)) -
            max2 (load2 (query->box.low), load2 (entry->box.low));
  V2 size = load2 (entry->box.high) - load2 (entry->box.low);
  gdouble distance = away[0] * away[0] + away[1] * away[1];
  gdouble shared = max2 (both, zero)[0] * max2 (both, zero)[1], area = size[0] * size[1];
  gdouble all = query->area + area - shared;
  V2 areas = { query->area, area }, swapped = { area, query->area };
  gdouble least = min2 (areas, swapped)[0], most = max2 (areas, swapped)[0];

  V2 shares = (V2){ 0.6 * shared, 0.1 * least } / (V2){ all, most };
  V2 nearness = min2 ((V2){ distance, 0.0 }, (V2){ 1.0, 1.0 });
  gdouble score = shares[0] + shares[1] + 0.3 * (1.0 - sqrt (nearness[0]));
  M2 alike = (V2){ shared, GATE_AREA * least } >= (V2){ query->iou_threshold * all, most };
  M2 near = (V2){ distance, 0.0 } < (V2){ 1.0, shared };
  gint64 same = alike[0] | (alike[1] & near[0]);

  if (G_UNLIKELY (entry->doubtful)) {
    score *= DOUBTFUL_WEIGHT;
    same &= -(gint64) (shared >= DOUBTFUL_IOU * all);
  }
  if (G_UNLIKELY (is_other (query->class_id, entry->class_id)))
    same &= -(gint64) (shared >= OTHER_CLASS_IOU * all);
  if (G_UNLIKELY (entry->component && query->known))
    same = alike[0] & -(gint64) (KNOWN_AREA * least >= most);
  score *= query->confidence;
  edge->column = entry->blob;
  edge->score =
      select2 ((M2){ same, same }, min2 ((V2){ score, 0.0 }, (V2){ 1.0, 1.0 }), zero - 1.0)[0];
  *common = shared;

  return (guint) ((near[0] | near[1]) & 1);
}

/* Adds the pairs of a track: at most @most, and as many with large detections. Returns whether some
 * were left out. */
static gboolean
add_pairs (GstCclTracker *self, const Query query, guint most)
{
  const Grid *grid = &self->grid;
  const guint large = grid->n_cells[0] * grid->n_cells[1];
  const Entry **near = (const Entry **) grid->near->data;
  gboolean crowded = FALSE;
  guint n_near = search (grid, &query, most, near, &crowded);
  Span span = get_span (grid, &query, large, large, MOST_TESTS / self->tracks->len, &crowded);
  Pairs *pairs = &self->pairs;
  guint n = pairs->n, end, i;

  if (n + n_near + most > pairs->allocated) {
    pairs->allocated = 2 * (n + n_near + most);
    pairs->edges = g_renew (GstCclAssignmentEdge, pairs->edges, pairs->allocated);
    pairs->common = g_renew (gdouble, pairs->common, pairs->allocated);
  }
  for (i = 0; i < n_near; i++)
    n += compare (&query, near[i], &pairs->edges[n], &pairs->common[n]);
  for (end = n + most; span.first < span.end && n < end; span.first++)
    n += compare (&query, span.first, &pairs->edges[n], &pairs->common[n]);
  pairs->n = n;

  return crowded || span.first < span.end;
}

void
gst_ccl_tracker_find_pairs (GstCclTracker *self, gdouble noise)
{
  const guint n_tracks = self->tracks->len;
  const guint most = CLAMP (MOST_PAIRS / MAX (n_tracks, 1), LEAST_NEAR, MOST_NEAR);
  guint i, k;

  self->pairs.n = 0;
  g_array_set_size (self->pairs.starts, 0);
  if (self->blobs->len > 0)
    build_grid (self, noise);
  g_array_set_size (self->grid.near, MIN (most, self->blobs->len) + 1);

  for (i = 0; i < n_tracks; i++) {
    const Track *track = get_track (self, i);
    Query query = { .box = track->box,
                    .area = track->size[0] * track->size[1],
                    .confidence =
                        track->confidence * (self->at_look && !track->known ? NEW_WEIGHT : 1.0),
                    .iou_threshold = self->params.iou_threshold,
                    .known = self->looking && track->known,
                    .class_id = gst_ccl_votes_get (&track->votes),
                    .order = (gdouble) i / n_tracks };

    g_array_append_val (self->pairs.starts, self->pairs.n);
    if (self->blobs->len == 0)
      continue;
    for (k = 0; k < 2; k++) {
      query.centre[k] = track->centre[k].position;
      query.farthest[k] = MAX (track->reach[k], (track->size[k] + self->grid.most[k]) / 2.0);
      query.per_reach[k] = 1.0 / track->reach[k];
    }
    self->crowded += add_pairs (self, query, most);
  }
  g_array_append_val (self->pairs.starts, self->pairs.n);
}
