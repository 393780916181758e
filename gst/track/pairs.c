/* cudaccl - finds the pairs of tracks and detections near each other
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tracker-private.h"

#include <string.h>

/* Sizes of cells, in root mean squares of the sizes of detections. Most tracks reach two rows of
 * cells; cells side by side are searched together, so that they may be narrow. */
#define CELL_HEIGHT 2.5
#define CELL_WIDTH 0.5

/* Same, of the cells that pairs are sorted by. */
#define ORDER_SIZE 1.5

/* Detections below this share of the minimum area that starts a track belong to no track. */
#define NOISE_SHARE 0.25

/* Largest ratio of areas of a track and a detection that are near, but do not overlap. */
#define GATE_AREA 4.0

/* What LANES tracks search for. */
typedef struct
{
  gfloat centre[2][LANES], half[2][LANES];
  gfloat per_reach[2][LANES];             /* inverse of the reach of centres */
  gint32 first[2][LANES], last[2][LANES]; /* cells */
} Search;

/* One track of a Search, repeated in all lanes. */
typedef struct
{
  Vector4 centre[2], half[2], per_reach[2];
  Mask4 index;
} Query;

/* The cells of positions. Clamps them before the conversion: predicted positions may be too large
 * for integers. */
static inline Mask4
get_cells (Vector4 positions, Vector4 per_cell, Vector4 last)
{
  Vector4 cells = vector4_max (vector4_min (positions * per_cell, last), vector4_set (0.0f));

  return __builtin_convertvector(cells, Mask4);
}

/* The centre of a detection, and half of its size. */
static inline Vector4
get_values (const Blob *blob)
{
  Vector2 low = vector2_load (blob->low), high = vector2_load (blob->high);

  return vector4_from_vector2 (low + high, high - low) / 2.0f;
}

static inline gboolean
is_large (const GstCclTracker *self, Vector4 values)
{
  return (values[2] > self->large[0]) | (values[3] > self->large[1]);
}

/* Sets up the grid by the root mean square of the sizes of detections: not more than a quarter of
 * them is large. There are about as many cells as detections. */
static void
set_up_grid (GstCclTracker *self)
{
  Vector2 sum = { 0.0, 0.0 }, low = sum + G_MAXDOUBLE, high = -low;
  const Blob *blobs = (const Blob *) self->blobs->data;
  gdouble lengths[2], most;
  guint n = self->blobs->len, i, k;

  for (i = 0; i < n; i++) {
    Vector2 blob_low = vector2_load (blobs[i].low), blob_high = vector2_load (blobs[i].high);
    Vector2 size = blob_high - blob_low;

    sum += size * size;
    low = vector2_min (low, blob_low);
    high = vector2_max (high, blob_high);
  }

  for (k = 0; k < 2; k++) {
    gdouble size = sqrt (sum[k] / n);

    lengths[k] = (high[k] - low[k]) / size;
    self->large[k] = (gfloat) (2.0 * size) / 2.0f;
    self->origin[k] = (gfloat) low[k];
    most = 2.0 * sqrt (n);
    self->n_order[k] = (guint) MAX (1.0, MIN (lengths[k] / ORDER_SIZE, most));
    self->per_order[k] = (gfloat) (self->n_order[k] / (high[k] - low[k]));
  }

  self->n_cells[1] = (guint) MAX (1.0, MIN (lengths[1] / CELL_HEIGHT, most));
  most = 2.0 * n / self->n_cells[1];
  self->n_cells[0] = (guint) MAX (1.0, MIN (lengths[0] / CELL_WIDTH, most));
  for (k = 0; k < 2; k++)
    self->per_cell[k] = (gfloat) (self->n_cells[k] / (high[k] - low[k]));
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
    entries->blobs = g_renew (guint, entries->blobs, entries->size);
  }
}

void
gst_ccl_tracker_free_pairs (GstCclTracker *self)
{
  Entries *entries = &self->entries;
  guint k;

  for (k = 0; k < 2; k++) {
    g_free (entries->centre[k]);
    g_free (entries->half[k]);
  }
  g_free (entries->blobs);
  g_free (self->pairs.entries);
  g_free (self->pairs.tracks);
  g_free (self->pairs.edges);
  g_free (self->pairs.common);
}

/* Two neighbouring rows of cells are searched together: row i of the grid has the detections of
 * rows i - 1 and i of the frame. Two more cells follow: one for large detections, and one that is
 * never searched. */
static guint
get_large_cell (const GstCclTracker *self)
{
  return self->n_cells[0] * (self->n_cells[1] + 1);
}

/* Finds the two cells of each detection by its centre. Counts them per cell. */
static void
find_places (GstCclTracker *self, Place *places, guint *cells)
{
  const Blob *blobs = (const Blob *) self->blobs->data;
  const guint width = self->n_cells[0], large = get_large_cell (self), unused = large + 1;
  const guint n = self->blobs->len;
  const Vector4 origin = { self->origin[0], self->origin[1] };
  const Vector4 per_cell = { self->per_cell[0], self->per_cell[1] };
  const Vector4 last = { (gfloat) (width - 1), (gfloat) (self->n_cells[1] - 1) };
  const gdouble noise = NOISE_SHARE * self->min_area;
  Vector4 most = vector4_set (0.0f);
  guint i;

  for (i = 0; i < n; i++) {
    Vector4 values = get_values (&blobs[i]);
    Mask4 at = get_cells (values - origin, per_cell, last);
    guint first = (guint) at[1] * width + (guint) at[0], second = first + width;

    if (is_large (self, values)) {
      first = large;
      second = unused;
    } else {
      most = vector4_max (most, values);
    }
    if (blobs[i].area < noise)
      first = second = unused;
    vector4_store (places[i].values, values);
    places[i].cells[0] = first;
    places[i].cells[1] = second;
    cells[first]++;
    cells[second]++;
  }
  self->small[0] = most[2];
  self->small[1] = most[3];
}

/* Sorts the detections by their cells. */
static void
build_grid (GstCclTracker *self)
{
  guint n = self->blobs->len, i, k, n_cells, sum = 0, *cells;
  Entries entries;
  Place *places;

  set_up_grid (self);
  resize_entries (&self->entries, 2 * n);
  entries = self->entries;
  n_cells = get_large_cell (self) + 2;
  g_array_set_size (self->places, n);
  g_array_set_size (self->cells, n_cells + 1);
  places = (Place *) self->places->data;
  cells = (guint *) self->cells->data;
  memset (cells, 0, sizeof (guint) * (n_cells + 1));

  find_places (self, places, cells);
  for (i = 0; i <= n_cells; i++) {
    sum += cells[i];
    cells[i] = sum;
  }
  for (i = n; i-- > 0;) {
    for (k = 0; k < 2; k++)
      entries.blobs[--cells[places[i].cells[k]]] = i;
  }
  for (i = 0; i < LANES; i++)
    entries.blobs[2 * n + i] = 0; /* not searched */
  for (i = 0; i < 2 * n; i += LANES) {
    Vector4 rows[LANES];

    for (k = 0; k < LANES; k++)
      rows[k] = vector4_load (places[entries.blobs[i + k]].values);
    vector4_transpose (rows);
    vector4_store (&entries.centre[0][i], rows[0]);
    vector4_store (&entries.centre[1][i], rows[1]);
    vector4_store (&entries.half[0][i], rows[2]);
    vector4_store (&entries.half[1][i], rows[3]);
  }
}

static void
reserve_pairs (Pairs *pairs, guint more)
{
  if (pairs->n + more <= pairs->allocated)
    return;

  pairs->allocated = 2 * (pairs->n + more);
  pairs->tracks = g_renew (gint32, pairs->tracks, pairs->allocated);
  pairs->entries = g_renew (gint32, pairs->entries, pairs->allocated);
  pairs->edges = g_renew (GstCclAssignmentEdge, pairs->edges, pairs->allocated);
  pairs->common = g_renew (gdouble, pairs->common, pairs->allocated);
}

/* Adds the entries that overlap with a track or are within its reach, an ellipse, to the pairs.
 * There are no branches, as the CPU would mispredict most of them. Always writes LANES pairs, also
 * where fewer are near. */
static inline void
collect (const Entries *all, guint entry, guint end, const Query *track, Pairs *pairs)
{
  /* For each mask, the indices of its set bits, and their number. */
  static const Mask4 places[16] = {
    { 0 }, { 0 },    { 1 },    { 0, 1 },    { 2 },    { 0, 2 },    { 1, 2 },    { 0, 1, 2 },
    { 3 }, { 0, 3 }, { 1, 3 }, { 0, 1, 3 }, { 2, 3 }, { 0, 2, 3 }, { 1, 2, 3 }, { 0, 1, 2, 3 },
  };
  static const guint8 counts[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };

  for (; entry < end; entry += LANES) {
    Vector4 x = vector4_abs (vector4_load (&all->centre[0][entry]) - track->centre[0]);
    Vector4 y = vector4_abs (vector4_load (&all->centre[1][entry]) - track->centre[1]);
    Vector4 far_x = x * track->per_reach[0], far_y = y * track->per_reach[1];
    Mask4 is_near = ((x < vector4_load (&all->half[0][entry]) + track->half[0]) &
                     (y < vector4_load (&all->half[1][entry]) + track->half[1])) |
                    (far_x * far_x + far_y * far_y < 1.0f);
    guint bits = mask4_bits (is_near), left = end - entry;

    bits &= left < LANES ? (1u << left) - 1 : 15;
    *(Mask4 *) &pairs->tracks[pairs->n] = track->index;
    *(Mask4 *) &pairs->entries[pairs->n] = places[bits] + (gint32) entry;
    pairs->n += counts[bits];
  }
}

/* Sets up the search for LANES tracks. */
static void
set_up_search (const GstCclTracker *self, guint track, Search *search)
{
  guint i, k;

  for (k = 0; k < 2; k++) {
    Vector4 centre = vector4_load_doubles (&self->tracks.p[k][track]);
    Vector4 half = vector4_load_doubles (&self->tracks.size[k][track]) / 2.0f;
    Vector4 reach = vector4_load_doubles (&self->tracks.reach[k][track]);
    Vector4 farthest = vector4_max (reach, half + self->small[k]);
    Vector4 per_cell = vector4_set (self->per_cell[k]),
            last = vector4_set ((gfloat) (self->n_cells[k] - 1));

    vector4_store (search->centre[k], centre);
    vector4_store (search->half[k], half);
    for (i = 0; i < LANES; i++)
      search->per_reach[k][i] = (gfloat) self->predictions[track + i].per_reach[k];
    *(Mask4 *) search->first[k] = get_cells (centre - farthest - self->origin[k], per_cell, last);
    *(Mask4 *) search->last[k] = get_cells (centre + farthest - self->origin[k], per_cell, last);
  }
}

static void
collect_all (GstCclTracker *self, guint *starts)
{
  const guint *cells = (const guint *) self->cells->data;
  const guint width = self->n_cells[0], large = get_large_cell (self);
  Entries entries = self->entries;
  Pairs pairs = self->pairs;
  Search search;
  guint i, j, k;
  gint32 y;

  pairs.n = 0;
  for (i = 0; i < self->tracks.len; i++) {
    Query track;

    j = i % LANES;
    if (j == 0)
      set_up_search (self, i, &search);
    for (k = 0; k < 2; k++) {
      track.centre[k] = vector4_set (search.centre[k][j]);
      track.half[k] = vector4_set (search.half[k][j]);
      track.per_reach[k] = vector4_set (search.per_reach[k][j]);
    }
    track.index = (Mask4){ 0 } + (gint32) i;
    starts[i] = pairs.n;
    reserve_pairs (&pairs, self->blobs->len + LANES);

    /* Cells side by side have their entries one after the other. */
    for (y = search.first[1][j]; y <= search.last[1][j]; y += 2) {
      const guint *row = &cells[(guint) (y + 1) * width];

      collect (&entries, row[search.first[0][j]], row[search.last[0][j] + 1], &track, &pairs);
    }
    collect (&entries, cells[large], cells[large + 1], &track, &pairs);
  }
  starts[i] = pairs.n;
  self->pairs = pairs;
}

/* A pair, in both directions. */
typedef struct
{
  Vector2 overlap; /* of the boxes, 0 if there is none */
  Vector2 away;    /* distance of the centres; the gate is at 1 */
  Vector2 size;    /* of the detection */
} Comparison;

static inline Comparison
compare (const Prediction *predicted, const Blob *blob)
{
  const Vector2 none = { 0.0, 0.0 };
  Vector2 low = vector2_load (blob->low), high = vector2_load (blob->high);
  Vector2 overlap = vector2_min (high, vector2_load (predicted->box.high)) - //
                    vector2_max (low, vector2_load (predicted->box.low));

  return (Comparison){
    .overlap = vector2_max (overlap, none),
    .away = ((low + high) / 2.0 - vector2_load (predicted->centre)) *
            vector2_load (predicted->per_reach),
    .size = high - low,
  };
}

static inline Vector2
get_products (Vector2 a, Vector2 b)
{
  return (Vector2){ a[0], b[0] } * (Vector2){ a[1], b[1] };
}

/* Compares the tracks and detections of all pairs, two at a time and again without branches. */
static void
compare_all (GstCclTracker *self)
{
  const Blob *blobs = (const Blob *) self->blobs->data;
  const Vector2 one = { 1.0, 1.0 }, no = { -1.0, -1.0 };
  const Vector2 iou_threshold = { self->params.iou_threshold, self->params.iou_threshold };
  const Pairs pairs = self->pairs;
  guint i, j;

  for (i = 0; i < pairs.n; i += 2) {
    const Prediction *predicted[2];
    Vector2 track_area, area, common, all, least, most, away_x, away_y, distance, score;
    Mask2 part, same;
    Comparison both[2];

    for (j = 0; j < 2; j++) {
      const guint pair = MIN (i + j, pairs.n - 1);
      const guint index = self->entries.blobs[pairs.entries[pair]];

      predicted[j] = &self->predictions[pairs.tracks[pair]];
      both[j] = compare (predicted[j], &blobs[index]);
      pairs.edges[i + j].column = index;
    }

    track_area = (Vector2){ predicted[0]->area, predicted[1]->area };
    area = get_products (both[0].size, both[1].size);
    common = get_products (both[0].overlap, both[1].overlap);
    least = vector2_min (track_area, area);
    most = vector2_max (track_area, area);
    all = track_area + area - common;
    away_x = (Vector2){ both[0].away[0], both[1].away[0] };
    away_y = (Vector2){ both[0].away[1], both[1].away[1] };
    distance = away_x * away_x + away_y * away_y;

    /* One may be a part of the other. */
    part = mask2_or (common >= FRAGMENT_COVER * area, common > MEMBER_COVER * track_area);
    vector2_store (&pairs.common[i], vector2_select (part, common, no));

    /* They may be the same object. */
    score = 0.6 * common / all + 0.1 * least / most +
            0.3 * (1.0 - vector2_sqrt (vector2_min (distance, one)));
    score *= (Vector2){ predicted[0]->confidence, predicted[1]->confidence };
    same = mask2_or (common >= iou_threshold * all,
                     mask2_and (distance < 1.0, GATE_AREA * least >= most));
    score = vector2_select (same, vector2_min (score, one), no);
    for (j = 0; j < 2; j++)
      pairs.edges[i + j].score = score[j];
  }
}

/* Pairs of a track are sorted by cells, and by their detections where they share one. */
static guint
get_order (const GstCclTracker *self, guint index)
{
  Vector4 values = vector4_load (g_array_index (self->places, Place, index).values);
  const Vector4 origin = { self->origin[0], self->origin[1] };
  const Vector4 per_order = { self->per_order[0], self->per_order[1] };
  const Vector4 last = { (gfloat) (self->n_order[0] - 1), (gfloat) (self->n_order[1] - 1) };
  Mask4 at = get_cells (values - origin, per_order, last);

  return is_large (self, values) ? G_MAXUINT : (guint) at[1] * self->n_order[0] + (guint) at[0];
}

static gboolean
is_before (const GstCclTracker *self, guint a, guint b)
{
  const guint order_a = get_order (self, a), order_b = get_order (self, b);

  return order_a < order_b || (order_a == order_b && a < b);
}

void
gst_ccl_tracker_sort_pairs (GstCclTracker *self, guint track)
{
  const guint *starts = &g_array_index (self->starts, guint, track);
  GstCclAssignmentEdge *edges = self->pairs.edges;
  gdouble *common = self->pairs.common;
  guint i, j;

  for (i = starts[0] + 1; i < starts[1]; i++) {
    const GstCclAssignmentEdge edge = edges[i];
    const gdouble edge_common = common[i];

    for (j = i; j > starts[0] && is_before (self, edge.column, edges[j - 1].column); j--) {
      edges[j] = edges[j - 1];
      common[j] = common[j - 1];
    }
    edges[j] = edge;
    common[j] = edge_common;
  }
}

void
gst_ccl_tracker_find_pairs (GstCclTracker *self)
{
  const guint n = self->tracks.len;
  guint *starts;

  g_array_set_size (self->starts, n + 1);
  starts = (guint *) self->starts->data;
  if (self->blobs->len > 0) {
    build_grid (self);
    collect_all (self, starts);
    compare_all (self);
  } else {
    memset (starts, 0, sizeof (guint) * (n + 1));
  }
}
