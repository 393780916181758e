/* cudaccl - optimal assignment on sparse graphs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Successive shortest augmenting paths with potentials, as Jonker and Volgenant (1987) describe
 * them, on adjacency lists: a search visits only what is connected to its row. Costs are
 * 1 - score, and each row has a dummy column of cost 1 for itself. No path leads through a dummy
 * column, so that it needs no potential. */

#include "assignment.h"

#define DUMMY_COST 1.0

typedef struct
{
  gdouble potential;
  gint row;     /* matched row, or -1 */
  guint search; /* the last one that reached it */
} Column;

/* What the search knows about a column. */
typedef struct
{
  gdouble distance;
  guint from;      /* row before this column on the shortest path */
  gboolean closed; /* the distance is final */
} Reached;

typedef struct
{
  gint column;
  gdouble distance;
} Visit;

struct _GstCclAssignment
{
  GArray *columns;    /* Column */
  GArray *reached;    /* Reached: columns of a search */
  GArray *potentials; /* gdouble, of rows */
  GArray *open;       /* guint: columns with a distance that is not final */
  GArray *rows;       /* Visit: rows visited by a search, as column is */
  guint search;
};

GstCclAssignment *
gst_ccl_assignment_new (void)
{
  GstCclAssignment *self = g_new0 (GstCclAssignment, 1);

  self->columns = g_array_new (FALSE, FALSE, sizeof (Column));
  self->reached = g_array_new (FALSE, FALSE, sizeof (Reached));
  self->potentials = g_array_new (FALSE, FALSE, sizeof (gdouble));
  self->open = g_array_new (FALSE, FALSE, sizeof (guint));
  self->rows = g_array_new (FALSE, FALSE, sizeof (Visit));

  return self;
}

void
gst_ccl_assignment_free (GstCclAssignment *self)
{
  g_array_unref (self->columns);
  g_array_unref (self->reached);
  g_array_unref (self->potentials);
  g_array_unref (self->open);
  g_array_unref (self->rows);
  g_free (self);
}

/* Removes the nearest column from the open ones; of equal columns the lowest. */
static gint
pop_nearest (GstCclAssignment *self)
{
  const Reached *reached = (const Reached *) self->reached->data;
  guint *open = (guint *) self->open->data;
  guint best = 0, i;
  gint column;

  if (self->open->len == 0)
    return -1;

  for (i = 1; i < self->open->len; i++) {
    gdouble distance = reached[open[i]].distance, least = reached[open[best]].distance;

    if (distance < least || (distance == least && open[i] < open[best]))
      best = i;
  }
  column = (gint) open[best];
  g_array_remove_index_fast (self->open, best);

  return column;
}

static void
relax (GstCclAssignment *self, guint row, gdouble distance, const GstCclAssignmentEdge *edges,
       guint n_edges)
{
  const gdouble potential = g_array_index (self->potentials, gdouble, row);
  guint i;

  for (i = 0; i < n_edges; i++) {
    Column *column = &g_array_index (self->columns, Column, edges[i].column);
    Reached *reached = &g_array_index (self->reached, Reached, edges[i].column);
    gdouble total;

    if (edges[i].score < 0.0)
      continue;
    total = distance + (1.0 - edges[i].score) - potential - column->potential;

    if (column->search != self->search) {
      column->search = self->search;
      reached->closed = FALSE;
      g_array_append_val (self->open, edges[i].column);
    } else if (reached->closed || total >= reached->distance) {
      continue;
    }
    reached->distance = total;
    reached->from = row;
  }
}

/* Moves the matches along the path that ends at @column: each row on it takes the next column. */
static void
augment (GstCclAssignment *self, gint column, guint first, gint *matches)
{
  for (;;) {
    guint row = g_array_index (self->reached, Reached, column).from;
    gint next = matches[row];

    g_array_index (self->columns, Column, column).row = (gint) row;
    matches[row] = column;
    if (row == first)
      break;
    column = next;
  }
}

/* Most rows get their nearest column at once; of equal columns the lowest. Returns FALSE, and does
 * nothing, if another row has it. */
static inline gboolean
match_nearest (Column *columns, guint row, const GstCclAssignmentEdge *edges, guint n_edges,
               gdouble *potential, gint *match)
{
  gdouble least = 1.0 - edges[0].score - columns[edges[0].column].potential;
  gint best = least < DUMMY_COST ? (gint) edges[0].column : -1;
  guint i;

  least = MIN (least, DUMMY_COST);
  for (i = 1; i < n_edges; i++) {
    const gint column = (gint) edges[i].column;
    const gdouble distance = 1.0 - edges[i].score - columns[column].potential;

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
  Reached *reached = (Reached *) self->reached->data;
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
    if (column < 0 || reached[column].distance >= alone) {
      column = -1;
      distance = alone;
      break;
    }
    reached[column].closed = TRUE;
    distance = reached[column].distance;
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

void
gst_ccl_assignment_solve (GstCclAssignment *self, guint n_rows, guint n_columns,
                          const guint *starts, const GstCclAssignmentEdge *edges, gint *matches)
{
  const Column none = { 0.0, -1, 0 };
  gdouble *potentials;
  Column *columns;
  guint i;

  g_array_set_size (self->columns, n_columns);
  g_array_set_size (self->reached, n_columns);
  g_array_set_size (self->potentials, n_rows);
  columns = (Column *) self->columns->data;
  potentials = (gdouble *) self->potentials->data;
  self->search = 0;
  for (i = 0; i < n_columns; i++)
    columns[i] = none;

  for (i = 0; i < n_rows; i++) {
    guint n = starts[i + 1] - starts[i];

    potentials[i] = 0.0;
    matches[i] = -1;
    if (n == 0) /* if all rows are like that, @edges is NULL */
      continue;
    if (!match_nearest (columns, i, &edges[starts[i]], n, &potentials[i], &matches[i]))
      match_row (self, i, starts, edges, matches);
  }
}
