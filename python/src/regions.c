/* cudaccl - Python: what is measured of the regions of a label map
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Regions need not be connected, and may touch. The map is read once for each kind of measures,
 * run by run; nothing is done for regions one by one but what their hulls and holes need. */

#include "engine.h"
#include "regions.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_AXES 3
#define ORDERS 4                /* of moments: 0 to 3 in each axis */
#define EXTENTS_AT_ONCE 4194304 /* rows of regions that are kept at the same time */

typedef enum Parts
{
  PART_MOMENTS = 1 << 0,
  PART_OUTLINE = 1 << 1,
  PART_HULL = 1 << 2,
} Parts;

/* A run of equal labels other than 0. */
typedef struct Run
{
  uint32_t region; /* from 0 on; until they are numbered, the label */
  uint32_t row;    /* of the map, slice by slice */
  uint32_t x, end;
} Run;

/* A label map, slice by slice, and its regions by rising labels. */
typedef struct Regions
{
  const int32_t *labels;
  const double *intensity; /* of the same shape, or NULL */
  size_t width, height, depth;
  int axes;        /* 2 or 3 */
  int32_t highest; /* label */
  uint32_t *index; /* [highest + 1] of a label's region, from 1 on */
  Run *runs;       /* [n_runs] */
  size_t n, n_runs;
  int32_t *names;   /* [n] their labels */
  int64_t *area;    /* [n] */
  int64_t *box;     /* [n][2 * axes] first, then behind the last, from the slowest axis on */
  int64_t *sums;    /* [n][axes] of coordinates */
  double *central;  /* [n][ORDERS ^ axes] around the centroid, or NULL, as what follows */
  int64_t *outline; /* [n][OUTLINE_COUNTS] */
  double *hull;     /* [n][2] pixels inside, and the squared diameter */
  double *values;   /* [n][4] of the intensity: sum, lowest, highest, squares of deviations */
  double *weighted; /* [n][2 * ORDERS ^ axes] moments from the box's corner, and central ones */
  double spacing[2];
} Regions;

/* Configurations of 2 x 2 pixels, then pixels of the border by their share of the perimeter: 1,
 * sqrt(2) and their mean. */
#define QUADS 16
#define OUTLINE_COUNTS (QUADS + 3)

typedef void (*VisitRun) (Regions *self, const Run *run);

static void
for_each_run (Regions *self, VisitRun visit)
{
  for (size_t i = 0; i < self->n_runs; i++)
    visit (self, &self->runs[i]);
}

static size_t
n_moments (const Regions *self)
{
  return self->axes == 2 ? ORDERS * ORDERS : ORDERS * ORDERS * ORDERS;
}

static void
add_run (Regions *self, const Run *run)
{
  const int axes = self->axes;
  const int64_t n = (int64_t) (run->end - run->x);
  const int64_t at[] = { run->row / (int64_t) self->height, run->row % (int64_t) self->height,
                         run->x };
  int64_t *box = self->box + run->region * 2 * (size_t) axes;
  int64_t *sums = self->sums + run->region * (size_t) axes;
  const bool first = self->area[run->region] == 0;

  self->area[run->region] += n;
  for (int i = 0; i < axes; i++) {
    const int64_t place = at[3 - axes + i], stop = i == axes - 1 ? (int64_t) run->end : place + 1;

    box[i] = first || place < box[i] ? place : box[i];
    box[axes + i] = first || stop > box[axes + i] ? stop : box[axes + i];
    sums[i] += n * place;
  }
  sums[axes - 1] += n * (n - 1) / 2;
}

/* Powers 0 to 3 of @x. */
static void
powers_of (double x, double powers[ORDERS])
{
  powers[0] = 1;
  powers[1] = x;
  powers[2] = x * x;
  powers[3] = x * x * x;
}

/* Adds the products of powers of three coordinates. */
static void
add_moments (double *to, int axes, const double z[ORDERS], const double y[ORDERS],
             const double x[ORDERS])
{
  for (int r = 0; r < (axes == 3 ? ORDERS : 1); r++)
    for (int p = 0; p < ORDERS; p++)
      for (int q = 0; q < ORDERS; q++)
        *to++ += (axes == 3 ? z[r] : 1) * y[p] * x[q];
}

static double
centre (const Regions *self, size_t region, int axis)
{
  return (double) self->sums[region * (size_t) self->axes + (size_t) axis] /
         (double) self->area[region];
}

/* The sums of powers of x over the run follow from those around its middle. */
static void
add_central (Regions *self, const Run *run)
{
  const int axes = self->axes;
  const double n = (double) (run->end - run->x), square = n * (n * n - 1) / 12;
  const double d = (double) (run->x + run->end - 1) / 2 - centre (self, run->region, axes - 1);
  const double xs[ORDERS] = { n, n * d, n * d * d + square, n * d * d * d + 3 * d * square };
  double ys[ORDERS], zs[ORDERS];

  powers_of ((double) (run->row % self->height) - centre (self, run->region, axes - 2), ys);
  powers_of (axes == 3 ? (double) (run->row / self->height) - centre (self, run->region, 0) : 0,
             zs);
  add_moments (self->central + run->region * n_moments (self), axes, zs, ys, xs);
}

static const double *
values_at (const Regions *self, const Run *run)
{
  return self->intensity + run->row * self->width;
}

static void
add_values (Regions *self, const Run *run)
{
  const double *values = values_at (self, run);
  double *to = self->values + 4 * run->region;

  for (size_t x = run->x; x < run->end; x++) {
    to[0] += values[x];
    to[1] = values[x] < to[1] || isnan (values[x]) ? values[x] : to[1];
    to[2] = values[x] > to[2] || isnan (values[x]) ? values[x] : to[2];
  }
}

static void
add_deviations (Regions *self, const Run *run)
{
  const double *values = values_at (self, run);
  double *to = self->values + 4 * run->region, mean = to[0] / (double) self->area[run->region];

  for (size_t x = run->x; x < run->end; x++)
    to[3] += (values[x] - mean) * (values[x] - mean);
}

/* Adds the moments of a run's values around @origin. */
static void
add_values_around (const Regions *self, const Run *run, const double origin[MAX_AXES], double *to)
{
  const int axes = self->axes;
  const double *values = values_at (self, run);
  double ys[ORDERS], zs[ORDERS], xs[ORDERS], sums[ORDERS] = { 0 };

  powers_of (axes == 3 ? (double) (run->row / self->height) - origin[0] : 0, zs);
  powers_of ((double) (run->row % self->height) - origin[axes - 2], ys);
  for (size_t x = run->x; x < run->end; x++) {
    powers_of ((double) x - origin[axes - 1], xs);
    for (int q = 0; q < ORDERS; q++)
      sums[q] += values[x] * xs[q];
  }
  add_moments (to, axes, zs, ys, sums);
}

static void
add_weighted (Regions *self, const Run *run)
{
  const int64_t *box = self->box + run->region * 2 * (size_t) self->axes;
  double origin[MAX_AXES];

  for (int i = 0; i < self->axes; i++)
    origin[i] = (double) box[i];
  add_values_around (self, run, origin, self->weighted + run->region * 2 * n_moments (self));
}

static void
add_weighted_central (Regions *self, const Run *run)
{
  const size_t n = n_moments (self);
  const int64_t *box = self->box + run->region * 2 * (size_t) self->axes;
  double *moments = self->weighted + run->region * 2 * n, origin[MAX_AXES];
  size_t step = n;

  for (int i = 0; i < self->axes; i++) {
    step /= ORDERS;
    origin[i] = (double) box[i] + moments[step] / moments[0];
  }
  add_values_around (self, run, origin, moments + n);
}

/* A row of the map, of background above and below it. */
static const int32_t *
row_at (const Regions *self, const int32_t *background, size_t y)
{
  return y < self->height ? self->labels + y * self->width : background;
}

/* A region's counts of its outline; NULL of a label that was written after regions were numbered.
 */
static int64_t *
outline_of (Regions *self, int32_t label)
{
  const uint32_t number = self->index[regions_label (&label, self->highest)];

  return number > 0 ? self->outline + (number - 1) * (size_t) OUTLINE_COUNTS : NULL;
}

/* Counts the configurations of 2 x 2 pixels around a corner, for each label in it: bit 0 is the
 * pixel itself, 1 the one above, 2 the one on the left, 3 the one above that. */
static void
add_quad (Regions *self, const int32_t quad[4])
{
  for (int i = 0; i < 4; i++) {
    unsigned bits = 0;
    bool seen = quad[i] == 0;
    int64_t *counts;

    for (int k = 0; k < 4; k++) {
      seen |= k < i && quad[k] == quad[i];
      bits |= (unsigned) (quad[k] == quad[i]) << k;
    }
    counts = seen ? NULL : outline_of (self, quad[i]);
    if (counts)
      counts[bits]++;
  }
}

static void
add_quads (Regions *self, const int32_t *row, const int32_t *above)
{
  int32_t quad[4] = { 0, 0, 0, 0 };

  for (size_t x = 0; x <= self->width; x++) {
    quad[2] = quad[0];
    quad[3] = quad[1];
    quad[0] = x < self->width ? regions_label (row + x, self->highest) : 0;
    quad[1] = x < self->width ? regions_label (above + x, self->highest) : 0;
    if ((quad[0] ^ quad[1]) | (quad[0] ^ quad[2]) | (quad[0] ^ quad[3]))
      add_quad (self, quad);
  }
}

/* Sets the labels of the row's pixels with a neighbour of another label at a side, else 0; a pixel
 * more on either side is 0. */
static void
find_border (const Regions *self, const int32_t *row, const int32_t *above, const int32_t *below,
             int32_t *border)
{
  const size_t last = self->width - 1;

  border[0] = border[last + 2] = 0;
  border[1] = row[0];
  border[last + 1] = row[last];
  for (size_t x = 1; x < last; x++) {
    const int32_t label = row[x];
    const int32_t differs =
        (row[x - 1] ^ label) | (row[x + 1] ^ label) | (above[x] ^ label) | (below[x] ^ label);

    border[x + 1] = differs ? label : 0;
  }
}

/* Classifies the border's pixels as scikit-image does, after K. Benkrid and D. Crookes: by their
 * neighbours on the border at sides and at corners. */
static void
add_border (Regions *self, int32_t *const rows[3])
{
  static const uint8_t classes[50] = {
    [5] = 1,  [7] = 1,  [15] = 1, [17] = 1, [25] = 1,
    [27] = 1, [21] = 2, [33] = 2, [13] = 3, [23] = 3,
  };

  for (size_t x = 1; x <= self->width; x++) {
    const int32_t label = rows[1][x];
    unsigned sides, corners, class;
    int64_t *counts;

    if (label == 0)
      continue;
    sides = (unsigned) (rows[1][x - 1] == label) + (rows[1][x + 1] == label) +
            (rows[0][x] == label) + (rows[2][x] == label);
    corners = (unsigned) (rows[0][x - 1] == label) + (rows[0][x + 1] == label) +
              (rows[2][x - 1] == label) + (rows[2][x + 1] == label);
    class = classes[1 + 2 * sides + 10 * corners];
    counts = class > 0 ? outline_of (self, label) : NULL;
    if (counts)
      counts[QUADS + class - 1]++;
  }
}

static bool
find_outline (Regions *self)
{
  const size_t padded = self->width + 2;
  int32_t *buffer = calloc (4 * padded, sizeof *buffer), *rows[3], *background;

  if (!buffer)
    return false;
  background = buffer + 3 * padded;
  for (size_t i = 0; i < 3; i++)
    rows[i] = buffer + i * padded;
  for (size_t y = 0; y <= self->height && self->width > 0; y++) {
    const int32_t *row = row_at (self, background, y), *above = row_at (self, background, y - 1);
    int32_t *last = rows[0];

    rows[0] = rows[1];
    rows[1] = rows[2];
    rows[2] = last;
    find_border (self, row, above, row_at (self, background, y + 1), rows[2]);
    if (y > 0)
      add_border (self, rows);
    add_quads (self, row, above);
  }
  free (buffer);
  return true;
}

static bool
find_hulls (Regions *self)
{
  const size_t tallest = self->height;
  RegionRow *rows;
  size_t *at;
  size_t room = EXTENTS_AT_ONCE > tallest ? EXTENTS_AT_ONCE : tallest, needed = 0;
  bool done = false;
  RegionHull *hull = region_hull_new (tallest);

  for (size_t i = 0; i < self->n; i++)
    needed += (size_t) (self->box[4 * i + 2] - self->box[4 * i]);
  room = needed < room ? needed : room;
  rows = malloc ((room > 0 ? room : 1) * sizeof *rows);
  at = malloc ((self->n + 1) * sizeof *at);
  for (size_t first = 0, end; rows && at && hull && first < self->n; first = end) {
    size_t used = 0;

    for (end = first; end < self->n; end++) {
      size_t height = (size_t) (self->box[4 * end + 2] - self->box[4 * end]);

      if (used + height > room)
        break;
      at[end] = used;
      used += height;
    }
    for (size_t i = 0; i < used; i++)
      rows[i] = (RegionRow){ INT_MAX, INT_MIN };
    for (size_t i = 0; i < self->n_runs; i++) {
      const Run *run = &self->runs[i];
      RegionRow *row;

      if (run->region < first || run->region >= end)
        continue;
      row = &rows[at[run->region] + run->row - (size_t) self->box[4 * run->region]];
      row->first = (int) run->x < row->first ? (int) run->x : row->first;
      row->last = (int) run->end - 1 > row->last ? (int) run->end - 1 : row->last;
    }
    for (size_t i = first; i < end; i++)
      region_hull_measure (hull, rows + at[i], (size_t) (self->box[4 * i + 2] - self->box[4 * i]),
                           self->spacing, self->hull + 2 * i);
  }
  done = rows && at && hull;
  region_hull_free (hull);
  free (at);
  free (rows);
  return done;
}

/* Finds the runs, whose regions are labels still; returns false without memory. */
static bool
find_runs (Regions *self)
{
  size_t room = 0;

  for (size_t row = 0; row < self->height * self->depth; row++) {
    const int32_t *labels = self->labels + row * self->width;

    if (room - self->n_runs < self->width) {
      size_t more = 2 * room + self->width;
      Run *runs = realloc (self->runs, more * sizeof *runs);

      if (!runs)
        return false;
      self->runs = runs;
      room = more;
    }
    for (size_t x = 0, end; x < self->width; x = end) {
      const int32_t label = regions_label (labels + x, self->highest);

      for (end = x + 1; end < self->width && labels[end] == label;)
        end++;
      if (label != 0)
        self->runs[self->n_runs++] =
            (Run){ (uint32_t) label, (uint32_t) row, (uint32_t) x, (uint32_t) end };
    }
  }
  return true;
}

/* Numbers the labels. */
static bool
find_regions (Regions *self)
{
  const int32_t highest = self->highest;

  self->index = calloc ((size_t) highest + 1, sizeof *self->index);
  if (!self->index || !find_runs (self))
    return false;
  for (size_t i = 0; i < self->n_runs; i++)
    self->index[self->runs[i].region] = 1;
  for (size_t i = 1; i <= (size_t) highest; i++)
    if (self->index[i])
      self->index[i] = (uint32_t) ++self->n;
  for (size_t i = 0; i < self->n_runs; i++)
    self->runs[i].region = self->index[self->runs[i].region] - 1;
  return true;
}

static bool
measure (Regions *self, unsigned parts)
{
  bool done = true;

  for_each_run (self, add_run);
  if (parts & PART_MOMENTS)
    for_each_run (self, add_central);
  if (parts & PART_OUTLINE)
    done &= find_outline (self);
  if (done && parts & PART_HULL)
    done &= find_hulls (self);
  if (done && self->intensity) {
    for (size_t i = 0; i < self->n; i++) {
      self->values[4 * i + 1] = INFINITY;
      self->values[4 * i + 2] = -INFINITY;
    }
    for_each_run (self, add_values);
    for_each_run (self, add_deviations);
    if (parts & PART_MOMENTS) {
      for_each_run (self, add_weighted);
      for_each_run (self, add_weighted_central);
    }
  }
  return done;
}

/* The lowest and the highest label. */
static void
find_range (const int32_t *labels, size_t n, int32_t *lowest, int32_t *highest)
{
  int32_t low = 0, high = 0;

  for (size_t i = 0; i < n; i++) {
    low = labels[i] < low ? labels[i] : low;
    high = labels[i] > high ? labels[i] : high;
  }
  *lowest = low;
  *highest = high;
}

/* Memory of @n rows of @columns, of zeros. */
static void *
add_table (PyObject *list, size_t n, size_t columns, char format, size_t itemsize)
{
  Py_ssize_t shape[] = { (Py_ssize_t) n, (Py_ssize_t) columns };
  Memory *memory = memory_new (2, shape, format, (Py_ssize_t) itemsize);
  void *data = NULL;

  if (memory && PyList_Append (list, (PyObject *) memory) == 0) {
    data = memory->data;
    memset (data, 0, n * columns * itemsize);
  }
  Py_XDECREF ((PyObject *) memory);
  return data;
}

/* The tables of the result, in the order of regions_measure(). */
static bool
add_tables (Regions *self, unsigned parts, PyObject *list)
{
  const size_t axes = (size_t) self->axes, n = self->n;
  bool made = true;

#define ADD(field, wanted, columns, format)                                                   \
  if (made && (wanted))                                                                       \
    made = (self->field = add_table (list, n, columns, format, sizeof *self->field)) != NULL; \
  else if (made)                                                                              \
  made = PyList_Append (list, Py_None) == 0
  ADD (names, true, 1, 'i');
  ADD (area, true, 1, 'q');
  ADD (box, true, 2 * axes, 'q');
  ADD (sums, true, axes, 'q');
  ADD (central, parts & PART_MOMENTS, n_moments (self), 'd');
  ADD (outline, parts & PART_OUTLINE, OUTLINE_COUNTS, 'q');
  ADD (hull, parts & PART_HULL, 2, 'd');
  ADD (values, self->intensity, 4, 'd');
  ADD (weighted, self->intensity && parts & PART_MOMENTS, 2 * n_moments (self), 'd');
#undef ADD
  return made;
}

/* Checks that an array has no gaps, and is in host memory. */
static int
check_map (const Array *array, const char *kinds, Py_ssize_t itemsize, const char *what)
{
  if (array_check_type (array, kinds, itemsize, what, "convert it") != 0 ||
      array_check_rows (array, 1, array->shape[array->ndim - 1] * itemsize, what) != 0)
    return -1;
  for (int i = 0; i < array->ndim; i++)
    if (array->shape[i] > 1 &&
        array->strides[i] !=
            (i + 1 < array->ndim ? array->shape[i + 1] * array->strides[i + 1] : itemsize))
      goto invalid;
  if ((array->ndim == 2 || array->ndim == 3) && array->device < 0 &&
      (uintptr_t) array->data % (uintptr_t) itemsize == 0)
    return 0;

invalid:
  PyErr_Format (PyExc_ValueError, "%s is (height, width) or (depth, height, width) without gaps",
                what);
  return -1;
}

int
regions_get (const Array *array, const char *what, int32_t *highest)
{
  size_t n = 1;
  int32_t lowest;

  if (check_map (array, "i", sizeof (int32_t), what) != 0)
    return -1;
  for (int i = 0; i < array->ndim; i++)
    n *= (size_t) array->shape[i];
  Py_BEGIN_ALLOW_THREADS;
  find_range ((const int32_t *) array->data, n, &lowest, highest);
  Py_END_ALLOW_THREADS;
  if (lowest >= 0)
    return 0;
  PyErr_Format (PyExc_ValueError, "labels are 0 to 2**31 - 1, not %d; 0 is background", lowest);
  return -1;
}

PyObject *
regions_measure (PyObject *module, PyObject *args)
{
  PyObject *input, *weights, *list = NULL;
  Array array = { .device = -1 }, intensity = { .device = -1 };
  Number parts = { "parts", 0, 2 * PART_HULL - 1, 0 };
  Regions regions = { 0 };
  bool done = false;

  if (!PyArg_ParseTuple (args, "OOO&dd:measure", &input, &weights, number_convert, &parts,
                         &regions.spacing[0], &regions.spacing[1]))
    return NULL;
  if (array_get (&array, input, "the label map", false, Py_None) != 0 ||
      regions_get (&array, "the label map", &regions.highest) != 0)
    goto out;
  if (weights != Py_None) {
    if (array_get (&intensity, weights, "the intensity", false, Py_None) != 0 ||
        check_map (&intensity, "f", sizeof (double), "the intensity") != 0)
      goto out;
    if (intensity.ndim != array.ndim ||
        memcmp (intensity.shape, array.shape, (size_t) array.ndim * sizeof *array.shape) != 0) {
      PyErr_SetString (PyExc_ValueError, "the intensity has not the label map's shape");
      goto out;
    }
    regions.intensity = (const double *) intensity.data;
  }
  regions.labels = (const int32_t *) array.data;
  regions.axes = array.ndim;
  regions.depth = array.ndim == 3 ? (size_t) array.shape[0] : 1;
  regions.height = (size_t) array.shape[array.ndim - 2];
  regions.width = (size_t) array.shape[array.ndim - 1];
  if (regions.width >= INT_MAX || regions.height >= INT_MAX ||
      (double) regions.height * (double) regions.depth > UINT32_MAX ||
      (regions.axes == 3 && parts.value & ~(unsigned long long) PART_MOMENTS)) {
    PyErr_SetString (PyExc_ValueError, "a label map of this size has no such measures");
    goto out;
  }
  Py_BEGIN_ALLOW_THREADS;
  done = find_regions (&regions);
  Py_END_ALLOW_THREADS;
  if (!done) {
    PyErr_NoMemory ();
    goto out;
  }
  list = PyList_New (0);
  if (!list || !add_tables (&regions, (unsigned) parts.value, list)) {
    Py_CLEAR (list);
    goto out;
  }
  Py_BEGIN_ALLOW_THREADS;
  for (size_t i = 1; i <= (size_t) regions.highest; i++)
    if (regions.index[i])
      regions.names[regions.index[i] - 1] = (int32_t) i;
  done = measure (&regions, (unsigned) parts.value);
  Py_END_ALLOW_THREADS;
  if (!done) {
    Py_CLEAR (list);
    PyErr_NoMemory ();
  }

out:
  free (regions.runs);
  free (regions.index);
  array_release (&intensity);
  array_release (&array);
  return list;
}

PyObject *
regions_rename (PyObject *module, PyObject *args)
{
  PyObject *input, *names;
  Memory *result = NULL;
  Array array = { .device = -1 }, table = { .device = -1 };
  int32_t highest;

  if (!PyArg_ParseTuple (args, "OO:rename", &input, &names))
    return NULL;
  if (array_get (&array, input, "the label map", false, Py_None) != 0 ||
      regions_get (&array, "the label map", &highest) != 0 ||
      array_get (&table, names, "the table", false, Py_None) != 0)
    goto out;
  if (table.ndim != 1 || table.kind != 'i' || table.itemsize != sizeof (int32_t) ||
      table.strides[0] != sizeof (int32_t) || table.shape[0] <= highest || table.device >= 0) {
    PyErr_SetString (PyExc_ValueError, "the table has an int32 for each label");
    goto out;
  }
  result = memory_new (array.ndim, array.shape, 'i', sizeof (int32_t));
  if (result) {
    const int32_t *labels = (const int32_t *) array.data, *to = (const int32_t *) table.data;
    int32_t *out = result->data;
    size_t n = 1;

    for (int i = 0; i < array.ndim; i++)
      n *= (size_t) array.shape[i];
    Py_BEGIN_ALLOW_THREADS;
    for (size_t i = 0; i < n; i++)
      out[i] = to[regions_label (labels + i, highest)];
    Py_END_ALLOW_THREADS;
  }

out:
  array_release (&table);
  array_release (&array);
  return (PyObject *) result;
}
