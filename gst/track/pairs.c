/* cudaccl - finds the pairs of tracks and detections near each other
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Detections are sorted into the cells of a grid by their centres. A track is compared with those
 * in the cells that it reaches, four at a time. Where objects overlap, CPUs mispredict every second
 * branch on what is near: there is none. */

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

/* Four detections at once. */
#define LANES 4
typedef gfloat V4 __attribute__ ((vector_size (16)));
typedef gint32 M4 __attribute__ ((vector_size (16)));

static inline V4
load4 (const gfloat values[LANES])
{
  V4 result;

  memcpy (&result, values, sizeof (result));

  return result;
}

static inline V4
select4 (M4 mask, V4 a, V4 b)
{
  return (V4) ((mask & (M4) a) | (~mask & (M4) b));
}

static inline V4
splat4 (gfloat value)
{
  return (V4){ value, value, value, value };
}

/* Compilers make one instruction of each of these loops. */
static inline V4
min4 (V4 a, V4 b)
{
  guint i;

  for (i = 0; i < LANES; i++)
    a[i] = a[i] < b[i] ? a[i] : b[i];

  return a;
}

static inline V4
max4 (V4 a, V4 b)
{
  guint i;

  for (i = 0; i < LANES; i++)
    a[i] = a[i] > b[i] ? a[i] : b[i];

  return a;
}

static inline V4
sqrt4 (V4 values)
{
  guint i;

  for (i = 0; i < LANES; i++)
    values[i] = sqrtf (values[i]);

  return values;
}

/* What is compared with detections. */
typedef struct
{
  gfloat low[2], high[2], middle[2], per_reach[2];
  gdouble centre[2], farthest[2]; /* distance of centres */
  gfloat area, confidence, iou_threshold;
  gboolean known; /* by a detector that looks at some frames only */
  guint class_id;
  gdouble order; /* 0...1: place of the track among all */
} Query;

void
gst_ccl_tracker_init_pairs (GstCclTracker *self)
{
  self->grid.blobs = g_array_new (FALSE, FALSE, sizeof (guint));
  self->grid.values = g_array_new (FALSE, FALSE, sizeof (gfloat));
  self->grid.cells = g_array_new (FALSE, TRUE, sizeof (guint));
  self->pairs.starts = g_array_new (FALSE, FALSE, sizeof (guint));
}

void
gst_ccl_tracker_free_pairs (GstCclTracker *self)
{
  g_array_unref (self->grid.blobs);
  g_array_unref (self->grid.values);
  g_array_unref (self->grid.cells);
  g_free (self->pairs.edges);
  g_free (self->pairs.common);
  g_array_unref (self->pairs.starts);
}

/* Of each entry, by field. */
enum
{
  LOW,
  HIGH = LOW + 2,
  AREA = HIGH + 2,
  N_VALUES
};

static inline gfloat *
get_values (const Grid *grid, guint field)
{
  return &g_array_index (grid->values, gfloat, field * grid->n);
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

  grid->n = n + LANES;
  g_array_set_size (grid->blobs, grid->n);
  g_array_set_size (grid->values, N_VALUES * grid->n);
  grid->has_rules = self->looking;
  for (i = self->blobs->len; i-- > 0;) {
    const Blob *blob = get_blob (self, i);
    guint entry;

    if (blob->area < noise)
      continue;
    entry = --cells[blob->cell];
    g_array_index (grid->blobs, guint, entry) = i;
    for (k = 0; k < 2; k++) {
      get_values (grid, LOW + k)[entry] = (gfloat) blob->box.low[k];
      get_values (grid, HIGH + k)[entry] = (gfloat) blob->box.high[k];
    }
    get_values (grid, AREA)[entry] = (gfloat) get_area (&blob->box);
    grid->has_rules |= blob->class_id != 0 || is_doubtful (self, blob);
  }
}

typedef struct
{
  guint first, end;
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

  return (Span){ start, start + n };
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

static inline gboolean
is_other (guint class_id, guint other)
{
  return (class_id != other) & (class_id != 0) & (other != 0);
}

/* Up to four pairs. */
typedef struct
{
  V4 overlap; /* IoU */
  V4 score;
  M4 similar, known_similar; /* areas, by GATE_AREA and KNOWN_AREA */
  M4 same;                   /* may be the same object */
} Scores;

/* Boxes of detectors, and components of what a detector knows, have rules of their own. */
static void
apply_rules (const GstCclTracker *self, const Query *query, const guint *blobs, guint n,
             Scores *scores)
{
  guint i;

  for (i = 0; i < MIN (n, LANES); i++) {
    const Blob *blob = get_blob (self, blobs[i]);
    const gfloat overlap = scores->overlap[i];

    if (is_doubtful (self, blob)) {
      scores->score[i] *= (gfloat) DOUBTFUL_WEIGHT;
      scores->same[i] &= -(overlap >= (gfloat) DOUBTFUL_IOU);
    }
    if (is_other (query->class_id, blob->class_id))
      scores->same[i] &= -(overlap >= (gfloat) OTHER_CLASS_IOU);
    if (!blob->object && query->known)
      scores->same[i] = scores->known_similar[i] & -(overlap >= query->iou_threshold);
  }
}

/* Compares a track with @n detections, four at most, and adds the pairs of those near it: their
 * boxes overlap, or the centre of the detection is within the track's reach, an ellipse. */
static inline void
add_pairs (GstCclTracker *self, const Query *query, guint first, guint n)
{
  const Grid *grid = &self->grid;
  const guint *blobs = &g_array_index (grid->blobs, guint, first);
  const V4 area = load4 (get_values (grid, AREA) + first);
  GstCclAssignmentEdge *edges = self->pairs.edges;
  gfloat *common = self->pairs.common;
  V4 away[2], both[2], distance, shared, least, most;
  guint end = self->pairs.n, k, i;
  M4 reached, near;
  Scores scores;

  for (k = 0; k < 2; k++) {
    V4 low = load4 (get_values (grid, LOW + k) + first);
    V4 high = load4 (get_values (grid, HIGH + k) + first);

    away[k] = ((low + high) * 0.5f - query->middle[k]) * query->per_reach[k];
    both[k] = max4 (min4 (high, splat4 (query->high[k])) - max4 (low, splat4 (query->low[k])),
                    splat4 (0.0f));
  }
  distance = away[0] * away[0] + away[1] * away[1];
  shared = both[0] * both[1];
  least = min4 (area, splat4 (query->area));
  most = max4 (area, splat4 (query->area));
  reached = distance < 1.0f;
  near = (reached | (shared > 0.0f)) & ((M4){ 0, 1, 2, 3 } < (gint32) n);

  scores.overlap = shared / (least + most - shared);
  scores.score = 0.6f * scores.overlap + 0.1f * least / most +
                 0.3f * (1.0f - sqrt4 (min4 (distance, splat4 (1.0f))));
  scores.similar = least * (gfloat) GATE_AREA >= most;
  scores.known_similar = least * (gfloat) KNOWN_AREA >= most;
  scores.same = (scores.overlap >= query->iou_threshold) | (scores.similar & reached);
  if (G_UNLIKELY (grid->has_rules))
    apply_rules (self, query, blobs, n, &scores);
  scores.score =
      select4 (scores.same, min4 (scores.score * query->confidence, splat4 (1.0f)), splat4 (-1.0f));

  for (i = 0; i < LANES; i++) {
    edges[end].column = blobs[i];
    edges[end].score = scores.score[i];
    common[end] = shared[i];
    end += (guint) (near[i] & 1);
  }
  self->pairs.n = end;
}

/* Adds the pairs of a track with detections that are not large: at most @most. Where there are
 * more, those in the nearest cells count. */
static void
add_near (GstCclTracker *self, const Query *query, guint most, gboolean *crowded)
{
  const Grid *grid = &self->grid;
  guint first[2], last[2], y;
  gdouble share = 1.0;

  while (is_crowded (grid, query, share, most, first, last) &&
         (first[0] != last[0] || first[1] != last[1])) {
    *crowded = TRUE;
    share /= 2.0;
  }
  for (y = first[1]; y <= last[1]; y++) {
    const guint row = y * grid->n_cells[0];
    Span span = get_span (grid, query, row + first[0], row + last[0], most, crowded);

    for (; span.first < span.end; span.first += LANES)
      add_pairs (self, query, span.first, span.end - span.first);
  }
}

/* Adds the pairs of a track: at most @most, and as many with large detections. Returns whether some
 * were left out. */
static gboolean
add_track_pairs (GstCclTracker *self, const Query *query, guint most)
{
  const guint large = self->grid.n_cells[0] * self->grid.n_cells[1];
  gboolean crowded = FALSE;
  Pairs *pairs = &self->pairs;
  Span span;
  guint end;

  if (pairs->n + 2 * (most + LANES) > pairs->allocated) {
    pairs->allocated = 2 * (pairs->n + 2 * (most + LANES));
    pairs->edges = g_renew (GstCclAssignmentEdge, pairs->edges, pairs->allocated);
    pairs->common = g_renew (gfloat, pairs->common, pairs->allocated);
  }
  add_near (self, query, most, &crowded);
  span = get_span (&self->grid, query, large, large, MOST_TESTS / self->tracks->len, &crowded);
  for (end = pairs->n + most; span.first < span.end && pairs->n < end; span.first += LANES)
    add_pairs (self, query, span.first, span.end - span.first);

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

  for (i = 0; i < n_tracks; i++) {
    const Track *track = get_track (self, i);
    Query query = { .area = (gfloat) (track->size[0] * track->size[1]),
                    .confidence = (gfloat) (track->confidence *
                                            (self->at_look && !track->known ? NEW_WEIGHT : 1.0)),
                    .iou_threshold = (gfloat) self->params.iou_threshold,
                    .known = self->looking && track->known,
                    .class_id = gst_ccl_votes_get (&track->votes),
                    .order = (gdouble) i / n_tracks };

    g_array_append_val (self->pairs.starts, self->pairs.n);
    if (self->blobs->len == 0)
      continue;
    for (k = 0; k < 2; k++) {
      query.centre[k] = track->centre[k].position;
      query.farthest[k] = MAX (track->reach[k], (track->size[k] + self->grid.most[k]) / 2.0);
      query.per_reach[k] = (gfloat) (1.0 / track->reach[k]);
      query.middle[k] = (gfloat) query.centre[k];
      query.low[k] = (gfloat) track->box.low[k];
      query.high[k] = (gfloat) track->box.high[k];
    }
    self->crowded += add_track_pairs (self, &query, most);
  }
  g_array_append_val (self->pairs.starts, self->pairs.n);
}
