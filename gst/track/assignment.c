/* cudaccl - optimal assignment on sparse graphs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Successive shortest augmenting paths with potentials, as Jonker and Volgenant (1987) describe
 * them, on adjacency lists: a search visits only what is connected to its row, nearest first, with
 * a heap. Costs are 1 - score, and each row has a dummy column of cost 1 for itself. No path leads
 * through a dummy column, so it needs no potential. */

#include "assignment.h"

/* Of staying alone: that of a pair with a score of 0. */
#define DUMMY_COST 1.0

typedef struct
{
  gdouble potential;
  gint row; /* matched row, or -1 */

  /* Set by a search. */
  guint search;     /* the last one that reached it */
  gboolean closed;  /* the distance is final */
  guint from;       /* row before this column on the shortest path */
  gdouble distance; /* length of that path */
} Column;

typedef struct
{
  gint column;
  gdouble distance;
} Visit;

struct _GstCclAssignment
{
  GArray *columns;    /* Column */
  GArray *potentials; /* gdouble, of rows */
  GArray *open;       /* Visit: a heap; columns may be in it more than once */
  GArray *rows;       /* Visit: the columns whose rows a search has visited */
  guint search;
  guint work; /* edges that searches looked at */
};

GstCclAssignment *
gst_ccl_assignment_new (void)
{
  GstCclAssignment *self = g_new0 (GstCclAssignment, 1);

  self->columns = g_array_new (FALSE, FALSE, sizeof (Column));
  self->potentials = g_array_new (FALSE, FALSE, sizeof (gdouble));
  self->open = g_array_new (FALSE, FALSE, sizeof (Visit));
  self->rows = g_array_new (FALSE, FALSE, sizeof (Visit));

  return self;
}

void
gst_ccl_assignment_free (GstCclAssignment *self)
{
  g_array_unref (self->columns);
  g_array_unref (self->potentials);
  g_array_unref (self->open);
  g_array_unref (self->rows);
  g_free (self);
}

/* Ties go to the lowest column. */
static gboolean
is_before (const Visit *a, const Visit *b)
{
  return a->distance < b->distance || (a->distance == b->distance && a->column < b->column);
}

static void
push (GArray *heap, Visit visit)
{
  guint i = heap->len;
  Visit *visits;

  g_array_append_val (heap, visit);
  visits = (Visit *) heap->data;
  for (; i > 0 && is_before (&visit, &visits[(i - 1) / 2]); i = (i - 1) / 2)
    visits[i] = visits[(i - 1) / 2];
  visits[i] = visit;
}

static Visit
pop (GArray *heap)
{
  Visit *visits = (Visit *) heap->data;
  const Visit first = visits[0], last = visits[heap->len - 1];
  guint i = 0, child;

  g_array_set_size (heap, heap->len - 1);
  while ((child = 2 * i + 1) < heap->len) {
    if (child + 1 < heap->len && is_before (&visits[child + 1], &visits[child]))
      child++;
    if (!is_before (&visits[child], &last))
      break;
    visits[i] = visits[child];
    i = child;
  }
  if (heap->len > 0)
    visits[i] = last;

  return first;
}

/* Removes and returns the nearest open column, or -1. */
static gint
pop_nearest (GstCclAssignment *self)
{
  while (self->open->len > 0) {
    const Visit visit = pop (self->open);
    Column *column = &g_array_index (self->columns, Column, visit.column);

    if (!column->closed) {
      column->closed = TRUE;
      return visit.column;
    }
  }

  return -1;
}

static void
relax (GstCclAssignment *self, guint row, gdouble distance, const GstCclAssignmentEdge *edges,
       guint n_edges)
{
  const gdouble potential = g_array_index (self->potentials, gdouble, row);
  guint i;

  self->work += n_edges;
  for (i = 0; i < n_edges; i++) {
    Column *column = &g_array_index (self->columns, Column, edges[i].column);
    Visit visit = { (gint) edges[i].column, 0.0 };

    if (edges[i].score < 0.0)
      continue;
    visit.distance = distance + (1.0 - edges[i].score) - potential - column->potential;

    if (column->search != self->search) {
      column->search = self->search;
      column->closed = FALSE;
    } else if (column->closed || visit.distance >= column->distance) {
      continue;
    }
    column->distance = visit.distance;
    column->from = row;
    push (self->open, visit);
  }
}

/* Moves the matches along the path that ends at @column: each row on it takes the next column. */
static void
augment (GstCclAssignment *self, gint column, guint first, gint *matches)
{
  for (;;) {
    guint row = g_array_index (self->columns, Column, column).from;
    gint next = matches[row];

    g_array_index (self->columns, Column, column).row = (gint) row;
    matches[row] = column;
    if (row == first)
      break;
    column = next;
  }
}

/* Matches a row with its nearest column, the lowest of equal ones; most rows keep it. With @free,
 * looks only at columns without a row. Returns FALSE, and does nothing, if another row has it. */
static inline gboolean
match_nearest (Column *columns, guint row, const GstCclAssignmentEdge *edges, guint n_edges,
               gboolean free, gdouble *potential, gint *match)
{
  gdouble least = DUMMY_COST;
  gint best = -1;
  guint i;

  for (i = 0; i < n_edges; i++) {
    const gint column = (gint) edges[i].column;
    const gdouble distance = 1.0 - edges[i].score - columns[column].potential;

    if (free && columns[column].row >= 0)
      continue;
    best = (distance < least) | ((distance == least) & (column < best)) ? column : best;
    least = MIN (distance, least);
  }

  if (best >= 0) {
    if (columns[best].row >= 0)
      return FALSE;
    columns[best].row = (gint) row;
  }
  *potential = least;
  *match = best;

  return TRUE;
}

static void
match_row (GstCclAssignment *self, guint first, const guint *starts,
           const GstCclAssignmentEdge *edges, gint *matches)
{
  Column *columns = (Column *) self->columns->data;
  gdouble *potentials = (gdouble *) self->potentials->data;
  gdouble distance = 0.0, alone = G_MAXDOUBLE;
  guint row = first, loner = first, i;
  gint column = -1;

  self->search++;
  g_array_set_size (self->open, 0);
  g_array_set_size (self->rows, 0);

  for (;;) {
    Visit visit = { column, distance };

    g_array_append_val (self->rows, visit);
    if (distance + DUMMY_COST - potentials[row] < alone) {
      alone = distance + DUMMY_COST - potentials[row];
      loner = row;
    }
    relax (self, row, distance, &edges[starts[row]], starts[row + 1] - starts[row]);

    column = pop_nearest (self);
    if (column < 0 || columns[column].distance >= alone) {
      column = -1;
      distance = alone;
      break;
    }
    distance = columns[column].distance;
    if (columns[column].row < 0)
      break;
    row = (guint) columns[column].row;
  }

  /* The first entry is the row itself, the others are rows matched to visited columns. */
  potentials[first] += distance;
  for (i = 1; i < self->rows->len; i++) {
    const Visit *visit = &g_array_index (self->rows, Visit, i);

    potentials[columns[visit->column].row] += distance - visit->distance;
    columns[visit->column].potential -= distance - visit->distance;
  }

  if (column < 0) {
    column = matches[loner];
    matches[loner] = -1;
    if (loner == first)
      return;
  }
  augment (self, column, first, matches);
}

guint
gst_ccl_assignment_solve (GstCclAssignment *self, guint n_rows, guint n_columns,
                          const guint *starts, const GstCclAssignmentEdge *edges, guint most_work,
                          gint *matches)
{
  const Column none = { .row = -1 };
  guint n_greedy = 0, i;
  gdouble *potentials;
  Column *columns;

  g_array_set_size (self->columns, n_columns);
  g_array_set_size (self->potentials, n_rows);
  columns = (Column *) self->columns->data;
  potentials = (gdouble *) self->potentials->data;
  self->search = self->work = 0;
  for (i = 0; i < n_columns; i++)
    columns[i] = none;

  for (i = 0; i < n_rows; i++) {
    guint n = starts[i + 1] - starts[i];

    potentials[i] = 0.0;
    matches[i] = -1;
    if (n == 0) /* if all rows are like that, @edges is NULL */
      continue;
    if (match_nearest (columns, i, &edges[starts[i]], n, FALSE, &potentials[i], &matches[i]))
      continue;
    if (self->work < most_work) {
      match_row (self, i, starts, edges, matches);
    } else {
      match_nearest (columns, i, &edges[starts[i]], n, TRUE, &potentials[i], &matches[i]);
      n_greedy++;
    }
  }

  return n_greedy;
}
