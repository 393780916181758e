/* cudaccl - Python: outlines of the regions of a label map
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* An outline follows the sides of pixels, its region on the right, so it ends where it began. Each
 * upright side of a region's pixels belongs to one outline of the region. The first one of an
 * outline in raster order is on the left of its pixel if the outline is an outer one, and on the
 * right if it is a hole's. What an outline is inside of follows from the outline met before it in
 * the row, as with S. Suzuki and K. Abe: Topological Structural Analysis of Digitized Binary Images
 * by Border Following. */

#include "regions.h"

#include <stdlib.h>
#include <string.h>

/* The directions of a step along a side. */
typedef enum Direction
{
  UP,
  RIGHT,
  DOWN,
  LEFT,
} Direction;

typedef struct Point
{
  int32_t x, y; /* of a corner of pixels */
} Point;

typedef struct Outline
{
  int64_t label, parent, is_hole; /* parent -1: none */
  int64_t first;                  /* of its points */
  int64_t area;                   /* of a hole negative */
} Outline;

typedef struct Tracer
{
  const int32_t *labels;
  int32_t highest; /* label */
  size_t width, height;
  size_t steps;  /* that are left: a side of a pixel belongs to one outline of its region */
  bool diagonal; /* pixels that touch at a corner are connected */
  uint32_t
      *sides[2]; /* [height * width] the outline at a pixel's left or right side; 0: none yet */
  Outline *outlines;
  Point *points;
  size_t n, room, n_points, points_room;
} Tracer;

static bool
is_in (const Tracer *self, size_t x, size_t y, int32_t label)
{
  return x < self->width && y < self->height && self->labels[y * self->width + x] == label;
}

/* The direction behind corner @p, which follows from the two pixels ahead. */
static Direction
turn (const Tracer *self, Point p, Direction direction, int32_t label)
{
  static const int8_t ahead[4][2][2] = {
    /* left and right pixel ahead */
    [UP] = { { -1, -1 }, { 0, -1 } },
    [RIGHT] = { { 0, -1 }, { 0, 0 } },
    [DOWN] = { { 0, 0 }, { -1, 0 } },
    [LEFT] = { { -1, 0 }, { -1, -1 } },
  };
  bool in[2];

  for (int i = 0; i < 2; i++) /* left of 0 wraps around */
    in[i] = is_in (self, (size_t) p.x + (size_t) ahead[direction][i][0],
                   (size_t) p.y + (size_t) ahead[direction][i][1], label);
  if (in[0] && (in[1] || self->diagonal))
    return (direction + 3) % 4;
  return in[1] ? direction : (direction + 1) % 4;
}

/* Makes room for one more entry; NULL without memory. */
static void *
grow (void *array, size_t used, size_t *room, size_t size)
{
  size_t more = *room > 0 ? 2 * *room : 1024;
  void *bigger;

  if (used < *room)
    return array;
  bigger = realloc (array, more * size);
  if (bigger)
    *room = more;
  return bigger;
}

static bool
add_point (Tracer *self, Point p)
{
  Point *points = grow (self->points, self->n_points, &self->points_room, sizeof *points);

  if (!points)
    return false;
  self->points = points;
  self->points[self->n_points++] = p;
  return true;
}

/* Follows the outline from @start on, and marks the sides. The pixel on the right of a step is
 * within the map even if labels change meanwhile, as turn() has looked at it; but then the outline
 * may not come back to its start. */
static bool
follow (Tracer *self, Point start, Direction direction, int32_t label)
{
  static const int8_t steps[4][2] = { { 0, -1 }, { 1, 0 }, { 0, 1 }, { -1, 0 } };
  const Direction first = direction;
  Point p = start;

  do {
    Direction next;

    if (direction == UP) {
      self->sides[0][(size_t) (p.y - 1) * self->width + (size_t) p.x] = (uint32_t) self->n;
      self->outlines[self->n - 1].area -= p.x;
    } else if (direction == DOWN) {
      self->sides[1][(size_t) p.y * self->width + (size_t) p.x - 1] = (uint32_t) self->n;
      self->outlines[self->n - 1].area += p.x;
    }
    p.x += steps[direction][0];
    p.y += steps[direction][1];
    next = turn (self, p, direction, label);
    if (next != direction && !add_point (self, p))
      return false;
    direction = next;
    self->steps -= self->steps > 0;
  } while (self->steps > 0 && (p.x != start.x || p.y != start.y || direction != first));
  return true;
}

/* The outline @number, from 1 on, if it is a hole's as @hole says, else the one around it; -1 if
 * there is none. */
static int64_t
enclosing (const Tracer *self, uint32_t number, bool hole)
{
  if (number == 0)
    return -1;
  return self->outlines[number - 1].is_hole == hole ? (int64_t) number - 1
                                                    : self->outlines[number - 1].parent;
}

static bool
begin (Tracer *self, int32_t label, bool hole, int64_t parent, Point start)
{
  Outline *outlines = grow (self->outlines, self->n, &self->room, sizeof *outlines);

  if (!outlines)
    return false;
  self->outlines = outlines;
  self->outlines[self->n++] = (Outline){ label, parent, hole, (int64_t) self->n_points, 0 };
  return follow (self, start, hole ? DOWN : UP, label);
}

static bool
trace_row (Tracer *self, size_t y)
{
  const int32_t *row = self->labels + y * self->width;
  uint32_t *left = self->sides[0] + y * self->width, *right = self->sides[1] + y * self->width;
  uint32_t before = 0; /* the outline at the right side of the run before */

  for (size_t x = 0, end; x < self->width; x = end) {
    const int32_t label = regions_label (row + x, self->highest);

    for (end = x + 1; end < self->width && row[end] == label;)
      end++;
    if (label == 0)
      continue;
    if (!left[x] && !begin (self, label, false, enclosing (self, before, true),
                            (Point){ (int32_t) x, (int32_t) y + 1 }))
      return false;
    if (!right[end - 1] && !begin (self, label, true, enclosing (self, left[x], false),
                                   (Point){ (int32_t) end, (int32_t) y }))
      return false;
    before = right[end - 1];
  }
  return true;
}

static bool
trace (Tracer *self)
{
  for (int i = 0; i < 2; i++)
    self->sides[i] = calloc (self->width * self->height + 1, sizeof **self->sides);
  for (size_t y = 0; self->sides[0] && self->sides[1] && y < self->height; y++)
    if (!trace_row (self, y))
      return false;
  return self->sides[0] && self->sides[1];
}

static PyObject *
make_memory (const void *data, size_t n, size_t columns, char format, size_t itemsize)
{
  Py_ssize_t shape[] = { (Py_ssize_t) n, (Py_ssize_t) columns };
  Memory *memory = memory_new (2, shape, format, (Py_ssize_t) itemsize);

  if (memory && n > 0)
    memcpy (memory->data, data, n * columns * itemsize);
  return (PyObject *) memory;
}

PyObject *
regions_trace (PyObject *module, PyObject *args)
{
  PyObject *input, *result = NULL;
  Array array = { .device = -1 };
  Tracer tracer = { 0 };
  int diagonal;
  bool done;

  if (!PyArg_ParseTuple (args, "Op:trace", &input, &diagonal))
    return NULL;
  if (array_get (&array, input, "the label map", false, Py_None) != 0 ||
      regions_get (&array, "the label map", &tracer.highest) != 0)
    goto out;
  if (array.ndim != 2 || array.shape[0] >= INT32_MAX || array.shape[1] >= INT32_MAX) {
    PyErr_SetString (PyExc_ValueError, "outlines are of label maps (height, width)");
    goto out;
  }
  tracer.labels = (const int32_t *) array.data;
  tracer.height = (size_t) array.shape[0];
  tracer.width = (size_t) array.shape[1];
  tracer.steps = 4 * tracer.width * tracer.height;
  tracer.diagonal = diagonal;
  Py_BEGIN_ALLOW_THREADS;
  done = trace (&tracer);
  Py_END_ALLOW_THREADS;
  if (done)
    result =
        Py_BuildValue ("(NN)", make_memory (tracer.outlines, tracer.n, 5, 'q', sizeof (int64_t)),
                       make_memory (tracer.points, tracer.n_points, 2, 'i', sizeof (int32_t)));
  else
    PyErr_NoMemory ();

out:
  free (tracer.sides[0]);
  free (tracer.sides[1]);
  free (tracer.outlines);
  free (tracer.points);
  array_release (&array);
  return result;
}
