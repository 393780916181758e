/* cudaccl - small objects beside near ones
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where near objects are, most of what is small is noise, or a part of one of them. But noise goes
 * nowhere: it comes and ends at its place. So small components are followed, by their boxes alone,
 * and a place of the picture has far objects if most of the components that were seen there went a
 * way of twice their size. There, all small components count, also those that stand. Elsewhere none
 * do.
 *
 * All is integer arithmetic on components, which are the same on all backends. */

#include "engine/mask/places.h"

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C (1000000000)

/* A search costs a part of each frame's time, so it is not made all the time until there is a place
 * with far objects: in the first ten seconds of each minute. */
#define SEARCH_PERIOD (60 * SECOND)
#define SEARCH_TIME (10 * SECOND)

#define FORGET_AFTER (600 * SECOND) /* half of what was seen */
#define LOST_AFTER (SECOND / 2)     /* a track without a component */

#define MOST_CELLS 64 /* of a row or a column */
#define CELLS                                                                         \
  16 /* of the frame's shorter side, unless that is more than MOST_CELLS of the other \
      */
#define MOST_TRACKS 64 /* more components in a frame are noise */
#define MOST_SEEN 8    /* cells of a track before it has gone its way */

#define WAY 2 /* in sizes of the object */

/* The closest to a near object that a small one may be, in thousandths of the side: closer are its
 * parts, and its shadows. */
#define MARGIN 16

/* How often a component was in a cell: of tracks that went somewhere, and of others. */
typedef struct Cell
{
  uint32_t far, noise;
} Cell;

typedef struct Seen
{
  uint32_t cell, times;
} Seen;

/* Coordinates are centres, doubled. */
typedef struct Track
{
  int64_t x, y, first_x, first_y;
  uint32_t size; /* the longer side */
  uint32_t n_seen;
  Seen seen[MOST_SEEN];
  uint64_t time; /* when it was last seen */
  bool gone;     /* it went somewhere */
} Track;

struct CclPlaces
{
  uint32_t cell, columns, rows, margin;
  uint64_t small;                    /* pixels: less is small */
  uint64_t now, searched, forgotten; /* times: of this frame, in the period, since the last half */
  uint32_t n_far;                    /* cells with far objects */
  Cell cells[MOST_CELLS * MOST_CELLS];
  uint32_t n_tracks;
  Track tracks[MOST_TRACKS]; /* the oldest first */
  uint32_t capacity;         /* of components */
  CclComponents near;        /* in: */
  CclComponent *kept;
  CclComponent *items; /* the result */
};

static uint32_t
divide_up (uint32_t a, uint32_t b)
{
  return a / b + (a % b > 0);
}

static uint32_t
max (uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

CclPlaces *
ccl_places_new (uint32_t width, uint32_t height, uint64_t small, uint32_t capacity,
                CclAccount *account)
{
  const uint32_t side = width < height ? width : height, longer = max (width, height);
  CclPlaces *self = ccl_account_malloc (account, 1, sizeof *self, "the places of far objects");

  if (!self)
    return NULL;
  *self = (CclPlaces){ .small = small, .capacity = capacity };
  self->cell = max (divide_up (side, CELLS), divide_up (longer, MOST_CELLS));
  self->columns = divide_up (width, self->cell);
  self->rows = divide_up (height, self->cell);
  self->margin = (uint32_t) ((uint64_t) side * MARGIN / 1000);
  self->kept = ccl_account_malloc (account, capacity, sizeof *self->kept, "near objects");
  self->items = ccl_account_malloc (account, capacity, sizeof *self->items, "objects");
  if (self->kept && self->items)
    return self;
  ccl_places_free (self);
  return NULL;
}

void
ccl_places_free (CclPlaces *self)
{
  if (!self)
    return;
  free (self->kept);
  free (self->items);
  free (self);
}

void
ccl_places_reset (CclPlaces *self)
{
  memset (self->cells, 0, sizeof self->cells);
  self->n_far = self->n_tracks = 0;
  self->now = self->searched = self->forgotten = 0;
}

uint32_t
ccl_places_count (const CclPlaces *self)
{
  return self->n_far;
}

static void
add (uint32_t *sum, uint32_t times)
{
  *sum = times < UINT32_MAX - *sum ? *sum + times : UINT32_MAX;
}

static void
add_far (CclPlaces *self, uint32_t cell, uint32_t times)
{
  self->n_far += self->cells[cell].far == 0;
  add (&self->cells[cell].far, times);
}

/* Forgets half of what was seen. */
static void
forget (CclPlaces *self)
{
  self->n_far = 0;
  for (uint32_t i = 0; i < self->columns * self->rows; i++) {
    self->cells[i].far /= 2;
    self->cells[i].noise /= 2;
    self->n_far += self->cells[i].far > 0;
  }
}

bool
ccl_places_advance (CclPlaces *self, uint64_t elapsed)
{
  bool looks = self->n_far > 0 || self->searched < SEARCH_TIME;

  self->now += elapsed;
  self->searched = (self->searched + elapsed % SEARCH_PERIOD) % SEARCH_PERIOD;
  self->forgotten += elapsed < FORGET_AFTER ? elapsed : FORGET_AFTER;
  if (self->forgotten >= FORGET_AFTER) {
    self->forgotten = 0;
    forget (self);
  }
  return looks;
}

void
ccl_places_keep (CclPlaces *self, const CclComponents *near)
{
  self->near = *near;
  self->near.items = self->kept;
  if (self->near.count > self->capacity)
    self->near.count = self->capacity;
  if (self->near.count > 0)
    memcpy (self->kept, near->items, self->near.count * sizeof *near->items);
}

static bool
are_close (uint32_t a, uint32_t a_size, uint32_t b, uint32_t b_size, uint32_t margin)
{
  return a < (uint64_t) b + b_size + margin && b < (uint64_t) a + a_size + margin;
}

static bool
is_beside_near (const CclPlaces *self, const CclComponent *c)
{
  for (uint32_t i = 0; i < self->near.count; i++) {
    const CclComponent *near = &self->near.items[i];

    if (are_close (c->x, c->width, near->x, near->width, self->margin) &&
        are_close (c->y, c->height, near->y, near->height, self->margin))
      return true;
  }
  return false;
}

static int64_t
centre (uint32_t start, uint32_t size)
{
  return 2 * (int64_t) start + size;
}

static int64_t
distance (int64_t x0, int64_t y0, int64_t x1, int64_t y1)
{
  int64_t x = llabs (x1 - x0), y = llabs (y1 - y0);

  return x > y ? x : y;
}

static uint32_t
cell_of (const CclPlaces *self, const CclComponent *c)
{
  const int64_t size = 2 * (int64_t) self->cell;

  return (uint32_t) (centre (c->y, c->height) / size) * self->columns +
         (uint32_t) (centre (c->x, c->width) / size);
}

static void
see (Track *track, uint32_t cell)
{
  for (uint32_t i = 0; i < track->n_seen; i++) {
    if (track->seen[i].cell == cell) {
      add (&track->seen[i].times, 1);
      return;
    }
  }
  if (track->n_seen < MOST_SEEN)
    track->seen[track->n_seen++] = (Seen){ cell, 1 };
}

/* Removes tracks that have ended, and counts those that went nowhere as noise. */
static void
end_tracks (CclPlaces *self)
{
  uint32_t n = 0;

  for (uint32_t i = 0; i < self->n_tracks; i++) {
    const Track *track = &self->tracks[i];

    if (self->now - track->time <= LOST_AFTER) {
      self->tracks[n++] = *track;
      continue;
    }
    for (uint32_t k = 0; k < track->n_seen && !track->gone; k++)
      add (&self->cells[track->seen[k].cell].noise, track->seen[k].times);
  }
  self->n_tracks = n;
}

/* The nearest of the components that no track has, within the larger size of both; @n: none. */
static uint32_t
find_next (const Track *track, const CclComponent *const *small, const bool *taken, uint32_t n)
{
  int64_t least = INT64_MAX;
  uint32_t best = n;

  for (uint32_t i = 0; i < n; i++) {
    const CclComponent *c = small[i];
    int64_t reach = 2 * (int64_t) max (max (c->width, c->height), track->size);
    int64_t d = distance (track->x, track->y, centre (c->x, c->width), centre (c->y, c->height));

    if (taken[i] || d >= reach || d >= least)
      continue;
    least = d;
    best = i;
  }
  return best;
}

static void
follow (CclPlaces *self, Track *track, const CclComponent *c)
{
  track->x = centre (c->x, c->width);
  track->y = centre (c->y, c->height);
  track->size = max (c->width, c->height);
  track->time = self->now;
  if (track->gone) {
    add_far (self, cell_of (self, c), 1);
    return;
  }
  see (track, cell_of (self, c));
  track->gone = distance (track->first_x, track->first_y, track->x, track->y) >=
                2 * WAY * (int64_t) track->size;
  for (uint32_t i = 0; i < track->n_seen && track->gone; i++)
    add_far (self, track->seen[i].cell, track->seen[i].times);
}

static void
begin (CclPlaces *self, const CclComponent *c)
{
  Track *track;

  if (self->n_tracks == MOST_TRACKS)
    return;
  track = &self->tracks[self->n_tracks++];
  *track = (Track){
    .x = centre (c->x, c->width),
    .y = centre (c->y, c->height),
    .size = max (c->width, c->height),
    .time = self->now,
  };
  track->first_x = track->x;
  track->first_y = track->y;
  see (track, cell_of (self, c));
}

/* Whether most that was seen in the cell, and in those around it, was far. */
static bool
is_far (const CclPlaces *self, uint32_t cell)
{
  const uint32_t x = cell % self->columns, y = cell / self->columns;
  uint64_t far = 0, noise = 0;

  for (uint32_t row = y > 0 ? y - 1 : 0; row <= y + 1 && row < self->rows; row++) {
    for (uint32_t column = x > 0 ? x - 1 : 0; column <= x + 1 && column < self->columns; column++) {
      far += self->cells[row * self->columns + column].far;
      noise += self->cells[row * self->columns + column].noise;
    }
  }
  return far > noise;
}

/* Follows the components, and returns how many of them count, which come first then. */
static uint32_t
choose (CclPlaces *self, const CclComponent **small, uint32_t n)
{
  bool taken[MOST_TRACKS] = { false };
  uint32_t before = self->n_tracks, chosen = 0;

  for (uint32_t i = 0; i < before; i++) {
    uint32_t next = find_next (&self->tracks[i], small, taken, n);

    if (next == n)
      continue;
    taken[next] = true;
    follow (self, &self->tracks[i], small[next]);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (!taken[i])
      begin (self, small[i]);
  }
  for (uint32_t i = 0; i < n; i++) {
    if (is_far (self, cell_of (self, small[i])))
      small[chosen++] = small[i];
  }
  return chosen;
}

static bool
is_first (const CclComponent *a, const CclComponent *b)
{
  return a->y != b->y ? a->y < b->y : a->x < b->x;
}

CclComponents
ccl_places_add (CclPlaces *self, const CclComponents *small)
{
  const CclComponent *chosen[MOST_TRACKS];
  CclComponents all = self->near;
  uint32_t n = 0, near = 0, next = 0;

  end_tracks (self);
  for (uint32_t i = 0; i < small->count && n <= MOST_TRACKS; i++) {
    if (small->items[i].area >= self->small || is_beside_near (self, &small->items[i]))
      continue;
    if (n < MOST_TRACKS)
      chosen[n] = &small->items[i];
    n++;
  }
  n = n <= MOST_TRACKS ? choose (self, chosen, n) : 0;
  all.found += n;
  if (n > self->capacity - all.count)
    n = self->capacity - all.count;
  if (n == 0)
    return all;
  all.items = self->items;
  all.count += n;
  for (uint32_t i = 0; i < all.count; i++) {
    bool is_near =
        next == n || (near < self->near.count && is_first (&self->near.items[near], chosen[next]));

    self->items[i] = is_near ? self->near.items[near++] : *chosen[next++];
    self->items[i].label = i + 1;
  }
  return all;
}
