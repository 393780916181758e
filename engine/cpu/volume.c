/* cudaccl - CPU backend: volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Each slice is labelled as a frame is (runs/runs.c), with labels behind those of all slices
 * before. Its runs join labels of the slice before that they touch. What touches nothing keeps a
 * label of its own; the rest is added to the label that it joined, and its place is free for the
 * next slice. So labels are few and stay in the cache. They are numbered in raster order of their
 * first voxels and the smaller one survives a union, so that one sweep over them adds up the
 * components in canonical order.
 *
 * The volume is divided into slabs of slices, which any thread may label, joined afterwards. */

#include <cudaccl/volume.h>
#include "engine/backend.h"
#include "engine/aligned.h"
#include "engine/cpu/clock.h"
#include "engine/cpu/runs/foreground.h"
#include "engine/cpu/pool.h"
#include "engine/cpu/runs/unite.h"
#include "engine/cpu/tuning.h"
#include "engine/shared/topk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More slabs than threads: slabs differ in their number of runs. */
#define SLABS_PER_THREAD 4

/* A slab keeps the tables of its first slice and of the last two, which alternate. */
#define SLICES_KEPT 3

/* The third dimension of a label's component; y and bottom of its CclRunsLabel are rows of a slice.
 */
typedef struct Depth
{
  uint64_t sum_z;
  uint32_t z, back, top; /* back past the last */
  uint32_t reserved;
} Depth;

/* The rows of a slice; rows equal to the one above share its tables. */
typedef struct Slice
{
  CclRow *rows; /* [height] */
  uint64_t *bits;
  CclRowEdges *words;
  uint32_t *edges, *labels; /* of all runs, one row after another */
} Slice;

typedef struct Slab
{
  uint32_t z, back;    /* slices, back past the last */
  uint32_t base, next; /* labels, next past the last that the volume needed */
  uint32_t *places;    /* of a slice's labels: what they become */
  Slice slices[SLICES_KEPT];
  Slice *last;
  uint32_t *edges, *labels; /* with config.labels, of the runs of all slices */
} Slab;

/* The runs of a row, among those of its slab. */
typedef struct Span
{
  uint32_t first, end;
} Span;

typedef struct CpuVolume
{
  CclSession base;
  const CclCpuFunctions *functions;
  CclPool *pool;
  uint32_t width, height; /* of a slice */
  Slab *slabs;
  uint32_t n_slabs;
  CclRow nothing; /* a row without runs */
  CclTable table; /* after the analysis, with config.labels, parents are result labels */
  Depth *depths;
  Span *spans; /* [height * depth] with config.labels */
  uint32_t *map;
  bool map_is_current;
  bool swaps; /* classes have the other byte order */
  CclParams params;
  CclTopKSearch search;
  CclComponent *items; /* [max_components] */
  CclSlices *extents;  /* [max_components] */
  CclComponents result;
} CpuVolume;

typedef struct Job
{
  CpuVolume *volume;
  const CclForeground *foreground;
} Job;

static const CclAlgorithm algorithms[] = {
  { "runs", "Run-based union-find over bit-packed rows, slice by slice", CCL_BACKEND_CPU,
    CCL_VOLUME_CONNECTIVITIES (6, 18, 26) },
};

static const CclAlgorithm *
volume_algorithm (size_t index)
{
  return index < sizeof algorithms / sizeof algorithms[0] ? &algorithms[index] : NULL;
}

static int
volume_device_count (void)
{
  return 1;
}

static bool
volume_has_classes (const CclAlgorithm *algorithm)
{
  return true;
}

static size_t
row_words (const CpuVolume *self)
{
  return self->width / 64 + 1;
}

/* Runs of foreground do not touch, those of classes may. */
static uint64_t
slice_runs (const CpuVolume *self)
{
  if (self->base.config.values == CCL_VALUES_EQUAL)
    return (uint64_t) self->width * self->height;
  return (uint64_t) ccl_runs_per_row (self->width) * self->height;
}

/* An upper bound of the labels of a slice: see labels_bound() in runs/runs.c. */
static uint64_t
slice_labels (const CpuVolume *self)
{
  if (self->base.config.connectivity == 6 || self->base.config.values == CCL_VALUES_EQUAL)
    return slice_runs (self) + 1;
  return ((uint64_t) self->width + 1) * ((uint64_t) self->height + 1) / 4 + 1;
}

static void
volume_close (CclSession *session)
{
  CpuVolume *self = (CpuVolume *) session;

  for (uint32_t s = 0; self->slabs && s < self->n_slabs; s++) {
    Slab *slab = &self->slabs[s];

    for (int i = 0; i < SLICES_KEPT; i++) {
      Slice *slice = &slab->slices[i];

      free (slice->rows);
      ccl_aligned_free (slice->bits);
      free (slice->words);
      if (!session->config.labels) {
        free (slice->edges);
        free (slice->labels);
      }
    }
    free (slab->places);
    free (slab->edges);
    free (slab->labels);
  }
  ccl_pool_free (self->pool);
  free (self->slabs);
  ccl_aligned_free (self->nothing.bits);
  free (self->nothing.words);
  free (self->nothing.labels);
  free (self->table.parents);
  free (self->table.labels);
  free (self->table.values);
  free (self->depths);
  free (self->spans);
  free (self->map);
  free (self->items);
  free (self->extents);
  free (self);
}

#define ALLOCATE(field, count)                                                  \
  ((field) = ccl_account_malloc (&self->base.account, (count), sizeof *(field), \
                                 "the labels of a volume"))
#define ALLOCATE_ZEROS(field, count)                                             \
  ((field) = ccl_account_aligned (&self->base.account, (count), sizeof *(field), \
                                  "the labels of a volume"))

static CclStatus
open_slab (CpuVolume *self, Slab *slab)
{
  const bool labels = self->base.config.labels;
  uint64_t runs = slice_runs (self), words = (uint64_t) row_words (self) * self->height;
  uint64_t all = runs * (slab->back - slab->z);

  if (!ALLOCATE (slab->places, slice_labels (self)) ||
      (labels && (!ALLOCATE (slab->edges, 2 * all + CCL_ROW_SLACK) ||
                  !ALLOCATE (slab->labels, all + CCL_ROW_SLACK / 2))))
    return CCL_ERROR_NO_MEMORY;
  for (int i = 0; i < SLICES_KEPT; i++) {
    Slice *slice = &slab->slices[i];

    if (!ALLOCATE (slice->rows, self->height) || !ALLOCATE_ZEROS (slice->bits, words) ||
        !ALLOCATE (slice->words, words) ||
        (!labels && (!ALLOCATE (slice->edges, 2 * runs + CCL_ROW_SLACK) ||
                     !ALLOCATE (slice->labels, runs + CCL_ROW_SLACK / 2))))
      return CCL_ERROR_NO_MEMORY;
  }
  return CCL_OK;
}

static CclStatus
open_tables (CpuVolume *self)
{
  const CclConfig *config = &self->base.config;
  uint32_t depth = self->base.slices;
  uint64_t most = 0;

  if (!ALLOCATE (self->slabs, self->n_slabs))
    return CCL_ERROR_NO_MEMORY;
  memset (self->slabs, 0, self->n_slabs * sizeof *self->slabs);
  for (uint32_t s = 0; s < self->n_slabs; s++) {
    Slab *slab = &self->slabs[s];

    slab->z = (uint32_t) ((uint64_t) depth * s / self->n_slabs);
    slab->back = (uint32_t) ((uint64_t) depth * (s + 1) / self->n_slabs);
    slab->base = slab->next = (uint32_t) most;
    most += slice_labels (self) * (slab->back - slab->z);
    if (open_slab (self, slab) != CCL_OK)
      return CCL_ERROR_NO_MEMORY;
  }
  if (most > UINT32_MAX)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for the labels of a volume; split it");
  if (!ALLOCATE (self->nothing.labels, 1) ||
      !ALLOCATE_ZEROS (self->nothing.bits, row_words (self)) ||
      !ALLOCATE (self->nothing.words, row_words (self)) || !ALLOCATE (self->table.parents, most) ||
      !ALLOCATE (self->table.labels, most) || !ALLOCATE (self->depths, most) ||
      (config->values == CCL_VALUES_EQUAL && !ALLOCATE (self->table.values, most)) ||
      !ALLOCATE (self->items, config->max_components) ||
      !ALLOCATE (self->extents, config->max_components) ||
      (config->labels && (!ALLOCATE (self->spans, config->height) ||
                          !ALLOCATE (self->map, (uint64_t) config->width * config->height))))
    return CCL_ERROR_NO_MEMORY;
  self->nothing.labels[0] = 0;
  memset (self->nothing.words, 0, row_words (self) * sizeof *self->nothing.words);
  return CCL_OK;
}

#undef ALLOCATE
#undef ALLOCATE_ZEROS

static uint32_t
count_slabs (const CclConfig *config, uint32_t depth)
{
  uint64_t most = (uint64_t) config->width * config->height / ccl_cpu_tuning.strip_pixels;
  uint64_t wanted = (uint64_t) SLABS_PER_THREAD * config->threads;

  if (config->threads <= 1 || most <= 1)
    return 1;
  wanted = wanted < most ? wanted : most;
  return (uint32_t) (wanted < depth ? wanted : depth);
}

static CclStatus
volume_open (const CclSession *wanted, CclSession **session)
{
  CclAccount account = { 0, 0 };
  CpuVolume *self = ccl_account_malloc (&account, 1, sizeof *self, "a volume");
  CclStatus status = CCL_OK;

  if (!self)
    return CCL_ERROR_NO_MEMORY;
  *self = (CpuVolume){
    .base = *wanted,
    .functions = ccl_cpu_functions_chosen (),
    .width = wanted->config.width,
    .height = wanted->config.height / wanted->slices,
  };
  self->base.account = account;
  if (self->base.config.threads == 0)
    self->base.config.threads = ccl_pool_cpus ();
  self->n_slabs = count_slabs (&self->base.config, wanted->slices);
  if (self->n_slabs > 1)
    status = ccl_pool_new (self->base.config.threads, &self->base.account, &self->pool);
  if (status == CCL_OK)
    status = open_tables (self);
  if (status != CCL_OK) {
    volume_close (&self->base);
    return status;
  }
  snprintf (self->base.device_name, sizeof self->base.device_name, "CPU (%s)",
            self->functions->name);
  *session = &self->base;
  return CCL_OK;
}

/* The row of classes @y of the volume, which is slice by slice. */
static CclClassRow
class_row (const CclImage *image, uint32_t y)
{
  return (CclClassRow){ image->data + y * image->stride, ccl_class_size (image->format) };
}

/* As label_slice(), of classes. */
static uint32_t
label_class_slice (const Job *job, const Slab *slab, Slice *slice, uint32_t z, uint32_t *n)
{
  const CpuVolume *self = job->volume;
  const CclImage *image = job->foreground->image;
  const bool diagonal = self->base.config.connectivity != 6;
  CclRow above = self->nothing;
  uint32_t next = slab->next, n_runs = 0, bottom;

  for (uint32_t y = 0; y < self->height; y = bottom) {
    CclClassRow classes = class_row (image, z * self->height + y);
    CclRow row = {
      .bits = slice->bits,
      .edges = slice->edges + 2 * (size_t) n_runs,
      .labels = slice->labels + n_runs,
    };

    for (bottom = y + 1; bottom < self->height; bottom++)
      if (memcmp (classes.pixels, class_row (image, z * self->height + bottom).pixels,
                  (size_t) self->width * classes.size) != 0)
        break;
    next = self->functions->label_classes (&self->table, &above, &row, &classes, self->width, y,
                                           bottom, diagonal, next);
    n_runs += row.count;
    for (uint32_t i = y; i < bottom; i++)
      slice->rows[i] = row;
    above = row;
  }
  *n = n_runs;
  return next;
}

/* Labels the runs of a slice, from the slab's next label on; returns the first unused one, and the
 * number of runs in @n. */
static uint32_t
label_slice (const Job *job, const Slab *slab, Slice *slice, uint32_t z, uint32_t *n)
{
  const CpuVolume *self = job->volume;
  const CclCpuFunctions *functions = self->functions;
  const CclTable *table = &self->table;
  const bool diagonal = self->base.config.connectivity != 6;
  size_t words = row_words (self);
  CclRow above = self->nothing;
  uint32_t next = slab->next, n_runs = 0, labelled = 0; /* rows above have all their features */

  for (uint32_t y = 0; y < self->height; y++) {
    CclRow row = {
      .bits = slice->bits + y * words,
      .words = slice->words + y * words,
      .edges = slice->edges + 2 * (size_t) n_runs,
      .labels = slice->labels + n_runs,
    };

    if (!ccl_foreground_row (job->foreground, z * self->height + y, row.bits))
      row = self->nothing;
    if (row.bits != above.bits && memcmp (row.bits, above.bits, words * sizeof *row.bits) != 0) {
      if (labelled < y)
        functions->repeat_row (table, &above, labelled, y);
      if (row.bits != self->nothing.bits) {
        functions->find_runs (&row, self->width);
        next = functions->label_row (table, &above, &row, self->width, y, y + 1, diagonal, next);
      }
      n_runs += row.count;
      above = row;
      labelled = y + 1;
    }
    slice->rows[y] = above;
  }
  if (labelled < self->height)
    functions->repeat_row (table, &above, labelled, self->height);
  *n = n_runs;
  return next;
}

/* Marks the labels from @first on that others took the features of, with an area of 0. */
static void
mark_children (const CclTable *table, uint32_t first, uint32_t end)
{
  for (uint32_t i = first; i < end; i++) {
    if (table->parents[i] != i)
      table->labels[i].area = 0;
  }
}

/* Adds the features of label @i to @root's. */
static inline void
add_label (const CpuVolume *self, uint32_t root, uint32_t i)
{
  CclRunsLabel *to = &self->table.labels[root];
  const CclRunsLabel *from = &self->table.labels[i];

  to->area += from->area;
  to->sum_x += from->sum_x;
  to->sum_y += from->sum_y;
  to->left = min_u32 (to->left, from->left);
  to->right = max_u32 (to->right, from->right);
  to->bottom = max_u32 (to->bottom, from->bottom);
}

static inline void
add_depth (Depth *to, uint32_t top, uint32_t back, uint64_t sum_z)
{
  to->sum_z += sum_z;
  to->top = min_u32 (to->top, top);
  to->back = max_u32 (to->back, back);
}

/* Keeps those labels of slice @z, from the slab's next one up to @end, that joined no other, and
 * adds the rest to the labels that they joined, which are in slices before. */
static void
settle_slice (CpuVolume *self, Slab *slab, const Slice *slice, uint32_t z, uint32_t n_runs,
              uint32_t end)
{
  const CclTable *table = &self->table;
  const uint32_t first = slab->next;

  for (uint32_t i = first; i < end; i++) {
    uint32_t parent = table->parents[i], area = table->labels[i].area, place;

    if (parent == i) {
      place = slab->next++;
      table->parents[place] = place;
      table->labels[place] = table->labels[i];
      if (table->values)
        table->values[place] = table->values[i];
      self->depths[place] = (Depth){ (uint64_t) z * area, z, z + 1, table->labels[i].y, 0 };
    } else if (parent >= first) {
      place = slab->places[parent - first];
    } else {
      place = find_root (table->parents, parent);
    }
    if (parent != i && area > 0) {
      add_label (self, place, i);
      add_depth (&self->depths[place], table->labels[i].y, z + 1, (uint64_t) z * area);
    }
    slab->places[i - first] = place;
  }
  for (uint32_t i = 0; i < n_runs; i++)
    slice->labels[i] = slab->places[slice->labels[i] - first];
}

/* Joins the runs of two rows of classes that touch, with @diagonal also at corners. */
static void
join_class_rows (const CclTable *table, const CclRow *row, const CclRow *lower, bool diagonal)
{
  uint32_t first = 0, *parents = table->parents;

  for (uint32_t i = 0; i < row->count; i++) {
    const uint32_t label = row->labels[i];

    first = skip_runs (lower, first, row->edges[2 * (size_t) i], diagonal);
    for (uint32_t j = first; begins_before (lower, j, row->edges[2 * (size_t) i + 1], diagonal);
         j++) {
      uint32_t a, b;

      if (!are_alike (table, label, lower->labels[j]))
        continue;
      a = find_root (parents, label);
      b = find_root (parents, lower->labels[j]);
      if (a != b)
        parents[max_u32 (a, b)] = min_u32 (a, b);
    }
  }
}

/* Whether two rows of a slice share their runs. */
static bool
is_same_row (const CclRow *a, const CclRow *b)
{
  return a->labels == b->labels && a->count == b->count; /* the next row begins where none are */
}

/* Joins the labels of two neighbouring slices of classes. A row of the slice before that equals its
 * neighbour adds no contacts to those of the neighbour. */
static void
join_class_slices (const CpuVolume *self, const Slice *slice, const Slice *before)
{
  const unsigned connectivity = self->base.config.connectivity;
  const CclRow *rows = slice->rows, *lower = before->rows;

  for (uint32_t y = 0; y < self->height; y++) {
    bool repeats = y > 0 && is_same_row (&lower[y], &lower[y - 1]);

    if (!repeats || !is_same_row (&rows[y], &rows[y - 1]))
      join_class_rows (&self->table, &rows[y], &lower[y], connectivity != 6);
    if (connectivity == 6)
      continue;
    if (y > 0 && !repeats)
      join_class_rows (&self->table, &rows[y], &lower[y - 1], connectivity == 26);
    if (y + 1 < self->height && !is_same_row (&lower[y], &lower[y + 1]))
      join_class_rows (&self->table, &rows[y], &lower[y + 1], connectivity == 26);
  }
}

/* Joins the labels of two neighbouring slices. */
static void
join_with_slice (const CpuVolume *self, const Slice *slice, const Slice *before)
{
  uint32_t height = self->height;

  if (self->table.values) {
    join_class_slices (self, slice, before);
    return;
  }
  for (uint32_t y = 0; y < height; y++) {
    const CclRow *above = y > 0 ? &slice->rows[y - 1] : &self->nothing;
    CclRow lower[3] = {
      y > 0 ? before->rows[y - 1] : self->nothing,
      before->rows[y],
      y + 1 < height ? before->rows[y + 1] : self->nothing,
    };

    if (slice->rows[y].count > 0 && lower[0].count + lower[1].count + lower[2].count > 0)
      self->functions->join_slices (self->table.parents, &slice->rows[y], above, lower, self->width,
                                    self->base.config.connectivity);
  }
}

/* Records where the runs of a slice's rows are; the slice begins with run @first. */
static void
note_spans (const CpuVolume *self, const Slice *slice, uint32_t z, uint32_t first)
{
  for (uint32_t y = 0; y < self->height; y++) {
    const CclRow *row = &slice->rows[y];
    uint32_t run = row->count > 0 ? first + (uint32_t) (row->labels - slice->labels) : 0;

    self->spans[(size_t) z * self->height + y] = (Span){ run, run + row->count };
  }
}

static void
label_slab (void *data, uint32_t index)
{
  const Job *job = data;
  CpuVolume *self = job->volume;
  Slab *slab = &self->slabs[index];
  uint32_t first = 0;

  slab->next = slab->base;
  for (uint32_t z = slab->z; z < slab->back; z++) {
    Slice *slice = &slab->slices[z == slab->z ? 0 : 1 + (z - slab->z) % 2];
    uint32_t n_runs, end;

    if (self->spans) {
      slice->edges = slab->edges + 2 * (size_t) first;
      slice->labels = slab->labels + first;
    }
    end = self->table.values ? label_class_slice (job, slab, slice, z, &n_runs)
                             : label_slice (job, slab, slice, z, &n_runs);
    mark_children (&self->table, slab->next, end);
    if (z > slab->z)
      join_with_slice (self, slice, slab->last);
    settle_slice (self, slab, slice, z, n_runs, end);
    if (self->spans)
      note_spans (self, slice, z, first);
    slab->last = slice;
    first += n_runs;
  }
}

/* Adds the features of all labels to their roots' features. */
static void
add_labels (const CpuVolume *self, const Slab *slab)
{
  uint32_t *parents = self->table.parents;

  for (uint32_t i = slab->base; i < slab->next; i++) {
    const Depth *depth = &self->depths[i];

    if (parents[i] == i)
      continue;
    parents[i] = parents[parents[i]]; /* the root, since the parent has been here */
    add_label (self, parents[i], i);
    add_depth (&self->depths[parents[i]], depth->top, depth->back, depth->sum_z);
  }
}

static inline bool
passes (const CpuVolume *self, uint32_t i)
{
  const CclParams *params = &self->params;
  const CclRunsLabel *label = &self->table.labels[i];

  return self->table.parents[i] == i && label->area >= params->min_area &&
         label->area <= params->max_area && label->right - label->left >= params->min_width &&
         label->bottom - self->depths[i].top >= params->min_height;
}

/* Counts the components that pass and, if there are too many, finds the limits of top-k. */
static uint32_t
find_limits (CpuVolume *self)
{
  uint32_t keep = self->base.config.max_components, found = 0;

  self->search.top_k = (CclTopK){ 0, 0 };
  for (uint32_t s = 0; s < self->n_slabs; s++)
    for (uint32_t i = self->slabs[s].base; i < self->slabs[s].next; i++)
      found += passes (self, i);
  if (found <= keep)
    return found;
  ccl_topk_begin (&self->search, keep);
  for (unsigned round = 0; round < CCL_TOPK_ROUNDS; round++) {
    uint32_t histogram[CCL_TOPK_BINS] = { 0 };

    for (uint32_t s = 0; s < self->n_slabs; s++) {
      for (uint32_t i = self->slabs[s].base; i < self->slabs[s].next; i++) {
        int bin = passes (self, i) ? ccl_topk_bin (&self->search, self->table.labels[i].area) : -1;

        if (bin >= 0)
          histogram[bin]++;
      }
    }
    ccl_topk_narrow (&self->search, histogram);
  }
  return found;
}

static bool
stays (CpuVolume *self, uint32_t i)
{
  CclTopK *top_k = &self->search.top_k;
  uint32_t volume = self->table.labels[i].area;

  if (!passes (self, i) || volume < top_k->area || (volume == top_k->area && top_k->ties == 0))
    return false;
  top_k->ties -= volume == top_k->area;
  return true;
}

/* The class of a label's voxels. */
static uint32_t
class_of (const CpuVolume *self, uint32_t i)
{
  uint32_t value = self->table.values ? self->table.values[i] : 0;

  return self->swaps ? (value & 0xff) << 8 | value >> 8 : value;
}

static void
fill_component (CpuVolume *self, uint32_t i, uint32_t index)
{
  const CclRunsLabel *label = &self->table.labels[i];
  const Depth *depth = &self->depths[i];

  self->items[index] = (CclComponent){
    .area = label->area,
    .sum_x = label->sum_x,
    .label = index + 1,
    .x = label->left,
    .width = label->right - label->left,
    .first_x = label->first_x,
  };
  self->extents[index] = (CclSlices){
    .sum_y = label->sum_y,
    .sum_z = depth->sum_z,
    .y = depth->top,
    .height = label->bottom - depth->top,
    .z = depth->z,
    .depth = depth->back - depth->z,
    .first_y = label->y,
    .value = class_of (self, i),
  };
}

/* Writes the result and, with config.labels, result labels over their parents. */
static void
fill_result (CpuVolume *self)
{
  uint32_t *parents = self->table.parents, found = find_limits (self), count = 0;

  for (uint32_t s = 0; s < self->n_slabs; s++) {
    for (uint32_t i = self->slabs[s].base; i < self->slabs[s].next; i++) {
      bool is_root = parents[i] == i, is_in = is_root && stays (self, i);

      if (is_in)
        fill_component (self, i, count++);
      if (self->spans)
        parents[i] = is_in ? count : is_root ? 0 : parents[parents[i]];
    }
  }
  self->result = (CclComponents){ self->items, count, found };
}

static CclStatus
volume_submit (CclSession *session, const CclImage *image, const CclParams *params)
{
  CpuVolume *self = (CpuVolume *) session;
  uint64_t start = session->config.timing ? ccl_cpu_now () : 0;
  CclForeground foreground = {
    .functions = self->functions,
    .image = image,
    .width = self->width,
    .cut = session->cut,
  };
  Job job = { self, &foreground };

  if (image->memory >= CCL_MEMORY_DEVICE)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "backend cpu cannot read device memory; use backend cuda or download volumes");
  self->params = *params;
  self->swaps = image->format == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? CCL_FORMAT_GRAY16_BE
                                                                            : CCL_FORMAT_GRAY16_LE);
  self->map_is_current = false;
  ccl_pool_run (self->pool, label_slab, &job, self->n_slabs);
  for (uint32_t s = 1; s < self->n_slabs; s++)
    join_with_slice (self, &self->slabs[s].slices[0], self->slabs[s - 1].last);
  for (uint32_t s = 0; s < self->n_slabs; s++)
    add_labels (self, &self->slabs[s]);
  fill_result (self);
  if (session->config.timing) {
    session->timing.measured = true;
    session->timing.analysis = ccl_cpu_now () - start;
  }
  return CCL_OK;
}

static CclStatus
volume_collect (CclSession *session, CclComponents *components)
{
  *components = ((CpuVolume *) session)->result;
  return CCL_OK;
}

static CclStatus
volume_slices (CclSession *session, uint32_t count, const CclSlices **slices)
{
  *slices = ((CpuVolume *) session)->extents;
  return CCL_OK;
}

/* Where the label map goes. */
typedef struct WriteJob
{
  const CpuVolume *volume;
  uint32_t *labels;
  size_t stride;
} WriteJob;

static void
write_slab (void *data, uint32_t index)
{
  const WriteJob *job = data;
  const CpuVolume *self = job->volume;
  const Slab *slab = &self->slabs[index];

  for (size_t y = (size_t) slab->z * self->height; y < (size_t) slab->back * self->height; y++) {
    const Span *span = &self->spans[y];

    self->functions->write_labels ((uint32_t *) ((char *) job->labels + y * job->stride),
                                   self->width, slab->edges + 2 * (size_t) span->first,
                                   slab->labels + span->first, span->end - span->first,
                                   self->table.parents, 0);
  }
}

static CclStatus
volume_write_labels (CclSession *session, uint32_t *labels, size_t stride, CclMemory memory)
{
  const CpuVolume *self = (const CpuVolume *) session;
  WriteJob job = { self, labels, stride };

  ccl_pool_run (self->pool, write_slab, &job, self->n_slabs);
  return CCL_OK;
}

static CclStatus
volume_labels (CclSession *session, CclLabels *labels)
{
  CpuVolume *self = (CpuVolume *) session;

  *labels = (CclLabels){ self->map, session->config.width * sizeof *self->map };
  if (!self->map_is_current)
    volume_write_labels (session, self->map, labels->stride, CCL_MEMORY_HOST);
  self->map_is_current = true;
  return CCL_OK;
}

const CclBackendClass ccl_backend_cpu_volumes = {
  .id = CCL_BACKEND_CPU,
  .has_classes = volume_has_classes,
  .device_count = volume_device_count,
  .open = volume_open,
  .submit = volume_submit,
  .collect = volume_collect,
  .labels = volume_labels,
  .write_labels = volume_write_labels,
  .close = volume_close,
  .volume_algorithm = volume_algorithm,
  .slices = volume_slices,
};
