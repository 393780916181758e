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

/* What is searched for in the grid, twice each: the first and the last corner of a range. */
typedef struct
{
  gfloat centre[4], half[4];
  gfloat per_reach[4]; /* inverse of the reach of centres */
} Search;

static inline Lanes
load_lanes (const gfloat *values)
{
  return *(const Lanes *) values;
}

static inline void
store_lanes (gfloat *values, Lanes lanes)
{
  *(Lanes *) values = lanes;
}

static inline Lanes
get_absolute (Lanes lanes)
{
  return (Lanes) ((LanesMask) lanes & G_MAXINT32);
}

/* The first two lanes are those of @a, the others those of @b. */
static inline Lanes
to_lanes (Vector a, Vector b)
{
#ifdef __SSE2__
  return (Lanes) _mm_movelh_ps (_mm_cvtpd_ps ((__m128d) a), _mm_cvtpd_ps ((__m128d) b));
#else
  return (Lanes){ (gfloat) a[0], (gfloat) a[1], (gfloat) b[0], (gfloat) b[1] };
#endif
}

static inline Lanes
choose_lanes (LanesMask mask, Lanes a, Lanes b)
{
  return (Lanes) (((LanesMask) a & mask) | ((LanesMask) b & ~mask));
}

static inline guint
get_bits (LanesMask mask)
{
#ifdef __SSE2__
  return (guint) _mm_movemask_ps ((__m128) mask);
#else
  LanesMask bits = mask & (LanesMask){ 1, 2, 4, 8 };

  return (guint) (bits[0] | bits[1] | bits[2] | bits[3]);
#endif
}

/* The cells of two positions. Clamps them before the conversion: predicted positions may be too
 * large for integers. */
static inline LanesMask
get_cells (Lanes positions, Lanes per_cell, Lanes last)
{
  const Lanes first = { 0.0f, 0.0f, 0.0f, 0.0f };
  Lanes cells = positions * per_cell;

  cells = choose_lanes (cells < last, cells, last);

  return __builtin_convertvector(choose_lanes (cells > first, cells, first), LanesMask);
}

/* Sets the cells to a size that is larger than the root mean square of the sizes of detections: not
 * more than a quarter of them is large. Where they are few, there are fewer rows of cells: a cell
 * has one on average. */
static void
set_up_grid (GstCclTracker *self)
{
  Vector sum = { 0.0, 0.0 }, low = sum + G_MAXDOUBLE, high = -low;
  const Blob *blobs = (const Blob *) self->blobs->data;
  guint n = self->blobs->len, i, k;

  for (i = 0; i < n; i++) {
    Vector blob_low = load (blobs[i].low), blob_high = load (blobs[i].high);
    Vector size = blob_high - blob_low;

    sum += size * size;
    low = get_least (low, blob_low);
    high = get_most (high, blob_high);
  }

  for (k = 0; k < 2; k++) {
    gdouble size = sqrt (sum[k] / n);
    gdouble n_cells = CLAMP ((high[k] - low[k]) / size / CELL_SIZE, 1.0, 2.0 * sqrt (n));

    self->n_cells[k] = (guint) n_cells;
    self->large[k] = (gfloat) (2.0 * size) / 2.0f;
    self->origin[k] = self->origin[k + 2] = (gfloat) low[k];
    self->last_order[k] = self->last_order[k + 2] = (gfloat) (self->n_cells[k] - 1);
    self->per_order[k] = self->per_order[k + 2] = (gfloat) (self->n_cells[k] / (high[k] - low[k]));
  }
  self->n_order = self->n_cells[0];
  self->n_cells[1] = CLAMP (n / self->n_cells[0], 1, self->n_cells[1]);
  for (k = 0; k < 2; k++) {
    self->last_cell[k] = self->last_cell[k + 2] = (gfloat) (self->n_cells[k] - 1);
    self->per_cell[k] = self->per_cell[k + 2] = (gfloat) (self->n_cells[k] / (high[k] - low[k]));
  }
}

static void
resize_entries (Entries *entries, guint n)
{
  guint k;

  if (n + LANES > entries->size) {
    entries->size = 2 * (n + LANES);
    for (k = 0; k < 2; k++) {
      entries->centre[k] = g_renew (gfloat, entries->centre[k], entries->size);
      entries->half[k] = g_renew (gfloat, entries->half[k], entries->size);
    }
    entries->boxes = g_renew (Box, entries->boxes, entries->size);
    entries->blobs = g_renew (guint, entries->blobs, entries->size);
    entries->near = g_renew (gint32, entries->near, entries->size);
  }
  for (k = 0; k < 2; k++) {
    memset (&entries->centre[k][n], 0, sizeof (gfloat) * LANES);
    memset (&entries->half[k][n], 0, sizeof (gfloat) * LANES);
  }
}

void
gst_ccl_tracker_free_entries (GstCclTracker *self)
{
  Entries *entries = &self->entries;
  guint k;

  for (k = 0; k < 2; k++) {
    g_free (entries->centre[k]);
    g_free (entries->half[k]);
  }
  g_free (entries->boxes);
  g_free (entries->blobs);
  g_free (entries->near);
}

/* Finds the cells of the detections by their centres. Those that are large have a cell for
 * themselves, and noise has the last one, which is never searched. Counts them per cell. */
static void
find_places (GstCclTracker *self, Place *places, guint *cells)
{
  const Blob *blobs = (const Blob *) self->blobs->data;
  const Lanes origin = load_lanes (self->origin);
  const Lanes per_cell = load_lanes (self->per_cell), last_cell = load_lanes (self->last_cell);
  const Lanes per_order = load_lanes (self->per_order), last_order = load_lanes (self->last_order);
  const guint width = self->n_cells[0], total = width * self->n_cells[1], n = self->blobs->len;
  const gfloat most[2] = { self->large[0], self->large[1] };
  const gdouble noise = NOISE_SHARE * self->min_area;
  gfloat small[2] = { 0.0f, 0.0f };
  guint i, k;

  for (i = 0; i < n; i++) {
    Vector low = load (blobs[i].low), high = load (blobs[i].high);
    Lanes values = to_lanes (low + high, high - low) / 2.0f;
    LanesMask at = get_cells (values - origin, per_cell, last_cell);
    LanesMask order = get_cells (values - origin, per_order, last_order);
    guint cell = (guint) at[1] * width + (guint) at[0];

    places[i].order = (guint) order[1] * self->n_order + (guint) order[0];
    store_lanes (places[i].values, values);
    if ((values[2] > most[0]) | (values[3] > most[1])) {
      cell = total;
      places[i].order = G_MAXUINT;
    } else {
      for (k = 0; k < 2; k++)
        small[k] = MAX (small[k], values[2 + k]);
    }
    if (blobs[i].area < noise)
      cell = total + 1;
    places[i].cell = cell;
    cells[cell]++;
  }
  for (k = 0; k < 2; k++)
    self->small[k] = self->small[k + 2] = small[k];
}

/* Sorts the detections by their cells. */
static void
build_grid (GstCclTracker *self)
{
  const Blob *blobs = (const Blob *) self->blobs->data;
  guint n = self->blobs->len, i, total, sum = 0, *cells;
  Entries entries;
  Place *places;

  set_up_grid (self);
  resize_entries (&self->entries, n);
  entries = self->entries;
  total = self->n_cells[0] * self->n_cells[1];
  g_array_set_size (self->places, n);
  g_array_set_size (self->cells, total + 3);
  places = (Place *) self->places->data;
  cells = (guint *) self->cells->data;
  memset (cells, 0, sizeof (guint) * (total + 3));

  find_places (self, places, cells);
  for (i = 0; i < total + 3; i++) {
    sum += cells[i];
    cells[i] = sum;
  }
  for (i = n; i-- > 0;) {
    guint entry = --cells[places[i].cell];

    entries.centre[0][entry] = places[i].values[0];
    entries.centre[1][entry] = places[i].values[1];
    entries.half[0][entry] = places[i].values[2];
    entries.half[1][entry] = places[i].values[3];
    store (entries.boxes[entry].low, load (blobs[i].low));
    store (entries.boxes[entry].high, load (blobs[i].high));
    entries.blobs[entry] = i;
  }
}

/* Adds the entries to `near` that overlap with the track or are within its reach, an ellipse. There
 * are no branches, as the CPU would mispredict most of them. Always writes LANES numbers, also
 * where fewer are near. */
static inline guint
collect (const Entries *entries, guint entry, guint end, const Search *search, guint n)
{
  /* Where the bits of a number are, and how many there are. */
  static const LanesMask places[16] = {
    { 0 }, { 0 },    { 1 },    { 0, 1 },    { 2 },    { 0, 2 },    { 1, 2 },    { 0, 1, 2 },
    { 3 }, { 0, 3 }, { 1, 3 }, { 0, 1, 3 }, { 2, 3 }, { 0, 2, 3 }, { 1, 2, 3 }, { 0, 1, 2, 3 },
  };
  static const guint8 counts[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };

  do {
    Lanes x = get_absolute (load_lanes (&entries->centre[0][entry]) - search->centre[0]);
    Lanes y = get_absolute (load_lanes (&entries->centre[1][entry]) - search->centre[1]);
    Lanes far_x = x * search->per_reach[0], far_y = y * search->per_reach[1];
    LanesMask is_near = ((x < load_lanes (&entries->half[0][entry]) + search->half[0]) &
                         (y < load_lanes (&entries->half[1][entry]) + search->half[1])) |
                        (far_x * far_x + far_y * far_y < 1.0f);
    guint bits = get_bits (is_near), left = end - entry;

    bits &= left < LANES ? (1u << left) - 1 : 15;
    *(LanesMask *) &entries->near[n] = places[bits] + (gint) entry;
    n += counts[bits];
    entry += LANES;
  } while (entry < end);

  return n;
}

/* Finds the detections near a track: the entries of the grid are written to `near`. */
static guint
find_near (const GstCclTracker *self, const Track *track)
{
  const guint *cells = (const guint *) self->cells->data;
  const guint width = self->n_cells[0], large = width * self->n_cells[1];
  Vector p = load (track->p), size = load (track->size);
  Vector per_reach = load (track->per_reach), reach = load (track->reach);
  Lanes centre = to_lanes (p, p), half = to_lanes (size, size) / 2.0f;
  Lanes farthest = to_lanes (reach, reach), least = half + load_lanes (self->small);
  const LanesMask lower = { G_MININT32, G_MININT32, 0, 0 }; /* signs */
  Search search;
  LanesMask range;
  guint n = 0, y;

  farthest = choose_lanes (farthest > least, farthest, least);
  farthest = (Lanes) ((LanesMask) farthest ^ lower);
  range = get_cells (centre + farthest - load_lanes (self->origin), load_lanes (self->per_cell),
                     load_lanes (self->last_cell));
  store_lanes (search.centre, centre);
  store_lanes (search.half, half);
  store_lanes (search.per_reach, to_lanes (per_reach, per_reach));

  /* Cells side by side have their entries one after the other. */
  for (y = (guint) range[1]; y <= (guint) range[3]; y++) {
    const guint *row = &cells[y * width];

    n = collect (&self->entries, row[range[0]], row[range[2] + 1], &search, n);
  }
  if (cells[large] < cells[large + 1])
    n = collect (&self->entries, cells[large], cells[large + 1], &search, n);

  return n;
}

/* Adds the pair of a track and a detection to the edges if one may be a part of the other, and to
 * the candidates if they may be the same object. Again without branches: both are always written,
 * and count if they are wanted. */
static inline void
add_edge (GstCclTracker *self, const Track *track, gdouble confidence, const Box *box, guint index)
{
  Vector low = load (box->low), high = load (box->high), box_size = high - low;
  Vector common_size = get_least (high, load (track->high)) - get_most (low, load (track->low));
  Vector away = ((low + high) / 2.0 - load (track->p)) * load (track->per_reach), parts;
  VectorMask overlaps = common_size > 0.0;
  gdouble common = overlaps[0] & overlaps[1] ? common_size[0] * common_size[1] : 0.0;
  gdouble distance = square (away[0]) + square (away[1]); /* 1 at the gate */
  gdouble track_area = track->size[0] * track->size[1], box_area = box_size[0] * box_size[1];
  gdouble least = MIN (track_area, box_area), most = MAX (track_area, box_area);
  gdouble all = track_area + box_area - common, score;
  Edge *edge = &self->edges[self->n_edges];
  GstCclAssignmentEdge *candidate = &self->candidates[self->n_candidates];

  edge->detection = index;
  edge->common = common;
  self->n_edges += (common >= FRAGMENT_COVER * box_area) | (common > MEMBER_COVER * track_area);

  parts = (Vector){ 0.6 * common, 0.1 * least } / (Vector){ all, most };
  score = parts[0] + parts[1] + 0.3 * (1.0 - sqrt (MIN (distance, 1.0)));
  candidate->column = index;
  candidate->score = MIN (score * confidence, 1.0);
  self->n_candidates += (common >= self->params.iou_threshold * all) |
                        ((distance < 1.0) & (GATE_AREA * least >= most));
}

/* Sorts the edges of a track from the first of them on, so that which one comes first does not
 * depend on the grid. Most have one. */
static void
sort_edges (GstCclTracker *self, guint first)
{
  const Place *places = (const Place *) self->places->data;
  guint i, j;

  for (i = first + 1; i < self->n_edges; i++) {
    Edge edge = self->edges[i];
    guint order = places[edge.detection].order;

    for (j = i; j > first; j--) {
      guint before = self->edges[j - 1].detection;

      if (places[before].order < order ||
          (places[before].order == order && before < edge.detection))
        break;
      self->edges[j] = self->edges[j - 1];
    }
    self->edges[j] = edge;
  }
}

static void
find_edges_of (GstCclTracker *self, const Track *track)
{
  gdouble confidence = !track->id ? 0.6 : track->missed > 0.0 ? 0.9 : 1.0;
  guint n = find_near (self, track), first = self->n_edges, i;

  if (MAX (self->n_edges, self->n_candidates) + n > self->max_edges) {
    self->max_edges = 2 * (MAX (self->n_edges, self->n_candidates) + n);
    self->edges = g_renew (Edge, self->edges, self->max_edges);
    self->candidates = g_renew (GstCclAssignmentEdge, self->candidates, self->max_edges);
  }
  for (i = 0; i < n; i++) {
    gint32 entry = self->entries.near[i];

    add_edge (self, track, confidence, &self->entries.boxes[entry], self->entries.blobs[entry]);
  }
  if (self->n_edges > first + 1)
    sort_edges (self, first);
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
