/* cudaccl - finds the pairs of tracks and detections near each other
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Detections are sorted into the cells of a grid by their centres. A track is compared with those
 * in the cells that it reaches, four at a time, without branches: where objects overlap, CPUs
 * mispredict every second one. */

#include "pairs.h"

#include <string.h>

/* Larger detections, in typical sizes, share a cell of their own that all tracks look at. As the
 * typical size is the root mean square, at most half of them are that large. */
#define LARGE_SIZE 2.0

/* Most pairs of a frame. Each track has its share of them, so that a frame takes milliseconds
 * whatever it shows; only crowds of objects in one place are affected. */
#define MOST_PAIRS 65536
#define LEAST_NEAR 16  /* of a track, however many tracks there are */
#define MOST_NEAR 1024 /* of a track, however few there are */

/* Largest ratio of areas of a track and a detection that are near but overlap little: a speck
 * beside an object is not the object. */
#define GATE_AREA 4.0

/* Doubtful boxes of detectors are for tracks that have no better one, hence the share of their
 * score, and only from this IoU on (Zhang 2022, ByteTrack). */
#define DOUBTFUL_WEIGHT 0.5
#define DOUBTFUL_IOU 0.5

/* IoU from which on boxes of different classes are the same object: the detector was wrong about
 * one of them. */
#define OTHER_CLASS_IOU 0.7

/* Largest ratio of areas of a component and a track whose size is known: others are a part of it,
 * or several objects. They must overlap, too. */
#define SIZED_AREA 2.5

/* Vectors of four detections. */
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

/* A track, as it is compared with detections. */
typedef struct
{
  gfloat low[2], high[2], middle[2], per_reach[2];
  gdouble centre[2], farthest[2]; /* distance of centres */
  gfloat area, confidence, iou_threshold;
  gboolean has_rules; /* some pairs have rules of their own */
  gboolean sized;     /* see Rules */
  guint class_id;
  gdouble order; /* 0...1: place of the track among all */
  const Blob *blobs;
} Query;

void
gst_ccl_pairs_init (GstCclPairs *self)
{
  self->grid.blobs = g_array_new (FALSE, FALSE, sizeof (guint));
  self->grid.values = g_array_new (FALSE, FALSE, sizeof (gfloat));
  self->grid.cells = g_array_new (FALSE, TRUE, sizeof (guint));
  self->starts = g_array_new (FALSE, FALSE, sizeof (guint));
}

void
gst_ccl_pairs_clear (GstCclPairs *self)
{
  g_array_unref (self->grid.blobs);
  g_array_unref (self->grid.values);
  g_array_unref (self->grid.cells);
  g_free (self->edges);
  g_free (self->common);
  g_array_unref (self->starts);
}

/* Fields of an entry. */
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

/* Cells are as large as typical detections, but there are one to four for each detection. */
static void
set_up_grid (Grid *grid, const Blob *blobs, guint n)
{
  const gdouble root = sqrt (n);
  guint i, k;

  for (k = 0; k < 2; k++) {
    gdouble low = G_MAXDOUBLE, high = -G_MAXDOUBLE, sum = 0.0, size, length;

    for (i = 0; i < n; i++) {
      const Box *box = &blobs[i].box;

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

/* The column or row of a position. A predicted one may not fit an integer. */
static guint
get_cell (const Grid *grid, guint k, gdouble position)
{
  gdouble cell = (position - grid->origin[k]) * grid->per_cell[k];

  return (guint) MAX (0.0, MIN (cell, grid->n_cells[k] - 1.0));
}

/* A counting sort: the counts of cells become their ends, and filling in from the end turns these
 * into their first entries. */
static void
build_grid (Grid *grid, Blob *blobs, guint n_blobs, gdouble noise)
{
  guint n_cells, n = 0, i, k, *cells;

  set_up_grid (grid, blobs, n_blobs);
  n_cells = grid->n_cells[0] * grid->n_cells[1] + 1;
  g_array_set_size (grid->cells, 0);
  g_array_set_size (grid->cells, n_cells + 1);
  cells = (guint *) grid->cells->data;

  for (i = 0; i < n_blobs; i++) {
    Blob *blob = &blobs[i];
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
  grid->has_rules = FALSE;
  for (i = n_blobs; i-- > 0;) {
    const Blob *blob = &blobs[i];
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
    grid->has_rules |= blob->class_id != 0 || blob->doubtful;
  }
}

typedef struct
{
  guint first, end;
} Span;

/* The detections in some cells. If there are more than @most, sets @crowded and leaves some out;
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
  M4 similar, sized_similar; /* areas, by GATE_AREA and SIZED_AREA */
  M4 same;                   /* may be the same object */
} Scores;

/* Boxes of detectors have rules of their own, and so have components near tracks of known size. */
static void
apply_rules (const Query *query, const guint *entries, guint n, Scores *scores)
{
  guint i;

  for (i = 0; i < MIN (n, LANES); i++) {
    const Blob *blob = &query->blobs[entries[i]];
    const gfloat overlap = scores->overlap[i];

    if (blob->doubtful) {
      scores->score[i] *= (gfloat) DOUBTFUL_WEIGHT;
      scores->same[i] &= -(overlap >= (gfloat) DOUBTFUL_IOU);
    }
    if (is_other (query->class_id, blob->class_id))
      scores->same[i] &= -(overlap >= (gfloat) OTHER_CLASS_IOU);
    if (!blob->object && query->sized)
      scores->same[i] = scores->sized_similar[i] & -(overlap >= query->iou_threshold);
  }
}

/* Compares a track with the first four of @n detections, and adds the pairs of those near it: their
 * boxes overlap, or the centre of the detection is within the track's reach, an ellipse. */
static inline void
add_pairs (GstCclPairs *self, const Query *query, guint first, guint n)
{
  const Grid *grid = &self->grid;
  const guint *entries = &g_array_index (grid->blobs, guint, first);
  const V4 area = load4 (get_values (grid, AREA) + first);
  GstCclAssignmentEdge *edges = self->edges;
  gfloat *common = self->common;
  V4 away[2], both[2], distance, shared, least, most;
  guint end = self->n, k, i;
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
  scores.sized_similar = least * (gfloat) SIZED_AREA >= most;
  scores.same = (scores.overlap >= query->iou_threshold) | (scores.similar & reached);
  if (G_UNLIKELY (query->has_rules))
    apply_rules (query, entries, n, &scores);
  scores.score =
      select4 (scores.same, min4 (scores.score * query->confidence, splat4 (1.0f)), splat4 (-1.0f));

  for (i = 0; i < LANES; i++) {
    edges[end].column = entries[i];
    edges[end].score = scores.score[i];
    common[end] = shared[i];
    end += (guint) (near[i] & 1);
  }
  self->n = end;
}

/* Adds up to @most pairs of a track with detections that are not large, those in the nearest
 * cells. */
static void
add_near (GstCclPairs *self, const Query *query, guint most, gboolean *crowded)
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
add_track_pairs (GstCclPairs *self, const Query *query, guint n_tracks, guint most)
{
  const guint large = self->grid.n_cells[0] * self->grid.n_cells[1];
  gboolean crowded = FALSE;
  Span span;
  guint end;

  if (self->n + 2 * (most + LANES) > self->allocated) {
    self->allocated = 2 * (self->n + 2 * (most + LANES));
    self->edges = g_renew (GstCclAssignmentEdge, self->edges, self->allocated);
    self->common = g_renew (gfloat, self->common, self->allocated);
  }
  add_near (self, query, most, &crowded);
  span = get_span (&self->grid, query, large, large, MOST_TESTS / n_tracks, &crowded);
  for (end = self->n + most; span.first < span.end && self->n < end; span.first += LANES)
    add_pairs (self, query, span.first, span.end - span.first);

  return crowded || span.first < span.end;
}

guint
gst_ccl_pairs_find (GstCclPairs *self, const GArray *tracks, GArray *blobs, gdouble noise,
                    gdouble iou_threshold)
{
  const guint n_tracks = tracks->len;
  const guint most = CLAMP (MOST_PAIRS / MAX (n_tracks, 1), LEAST_NEAR, MOST_NEAR);
  guint n_crowded = 0, i, k;

  self->n = 0;
  g_array_set_size (self->starts, 0);
  if (blobs->len > 0)
    build_grid (&self->grid, (Blob *) blobs->data, blobs->len, noise);

  for (i = 0; i < n_tracks; i++) {
    const Track *track = &g_array_index (tracks, Track, i);
    Query query = { .area = (gfloat) (track->size[0] * track->size[1]),
                    .confidence = (gfloat) track->confidence,
                    .iou_threshold = (gfloat) iou_threshold,
                    .has_rules = self->grid.has_rules || track->rules.sized,
                    .sized = track->rules.sized,
                    .class_id = gst_ccl_votes_get (&track->votes),
                    .order = (gdouble) i / n_tracks,
                    .blobs = (const Blob *) blobs->data };

    g_array_append_val (self->starts, self->n);
    if (blobs->len == 0)
      continue;
    for (k = 0; k < 2; k++) {
      query.centre[k] = track->centre[k].position;
      query.farthest[k] = MAX (track->reach[k], (track->size[k] + self->grid.most[k]) / 2.0);
      query.per_reach[k] = (gfloat) (1.0 / track->reach[k]);
      query.middle[k] = (gfloat) query.centre[k];
      query.low[k] = (gfloat) track->box.low[k];
      query.high[k] = (gfloat) track->box.high[k];
    }
    n_crowded += add_track_pairs (self, &query, n_tracks, most);
  }
  g_array_append_val (self->starts, self->n);

  return n_crowded;
}
