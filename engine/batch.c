/* cudaccl - batches: many frames as one, or one for each thread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A device analyses the frames of a batch as one, stacked with a row of background between them. On
 * the CPU each frame has an analyzer of its own, and the threads share the frames: they need not
 * wait for each other, and nothing is copied. */

#include <cudaccl/batch.h>
#include "engine/backend.h"
#include "engine/cpu/clock.h"
#include "engine/cpu/pool.h"
#include "engine/cpu/runs/foreground.h"
#include "engine/cpu/tuning.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A frame of the batch within the result of all frames. */
typedef struct BatchFrame
{
  uint32_t first; /* entry of the frame's first component in items */
  uint32_t count; /* entries kept, side by side */
  uint32_t found;
} BatchFrame;

struct CclBatch
{
  CclConfig config;   /* of one frame */
  uint32_t frames, n; /* capacity, and the number in the last batch */

  /* On the CPU: */
  CclAnalyzer **each;     /* [frames] one for each frame; NULL on a device */
  CclStatus *statuses;    /* [frames] of the last analyses */
  CclComponents *results; /* [frames] likewise */
  CclPool *pool;          /* NULL: one thread */
  CclAccount account;     /* of the pool */
  CclTiming timing;       /* of the last batch */
  char *fallback;         /* see CclInfo, or NULL */
  CclStatus fallback_status;

  /* On a device: */
  CclAnalyzer *analyzer; /* analyses the frame that they form together */
  int device;            /* whose pinned memory @pixels is */
  void *pixels;          /* [frames * (height + 1)] rows of @width bytes, or of as many bits */
  CclComponent *items;   /* [capacity] the components kept of all frames */
  uint32_t capacity;
  uint32_t *result_labels; /* [capacity] the analyzer's components' labels in their frame, or 0 */
  uint32_t *result_areas;  /* [capacity] their areas, or 0 */
  uint32_t n_result_labels;
  uint64_t *areas;  /* [capacity] scratch, to find the largest */
  uint32_t *labels; /* [frames * height * width], with config.labels */
  bool labels_are_here;
  BatchFrame *parts; /* [frames] */
};

static uint32_t
rows_of_frame (const CclBatch *self)
{
  return self->config.height + 1;
}

/* The maximum number of components of a frame; analyzer.c clamps larger numbers. */
static uint64_t
frame_components_bound (const CclConfig *config)
{
  return ((uint64_t) config->width * config->height + 1) / 2;
}

static CclStatus
check_batch_config (const CclConfig *config, uint32_t frames)
{
  uint64_t pixels;

  if (frames == 0)
    return ccl_fail (CCL_ERROR_INVALID, "a batch must have at least 1 frame");
  if (config->width == 0 || config->height == 0)
    return ccl_fail (CCL_ERROR_INVALID, "a frame of %" PRIu32 "x%" PRIu32 " has no pixels",
                     config->width, config->height);
  if (config->max_components == 0)
    return ccl_fail (CCL_ERROR_INVALID, "max_components is 0; it must be at least 1");
  pixels = ((uint64_t) config->height + 1) * config->width;
  if (pixels > UINT32_MAX / frames)
    return ccl_fail (CCL_ERROR_INVALID,
                     "%" PRIu32 " frames of %" PRIu32 "x%" PRIu32
                     " have more than 2^32 - 1 pixels; make the batch smaller",
                     frames, config->width, config->height);
  return ccl_check_cleaning (config, config->height);
}

static CclStatus
allocate (CclBatch *self)
{
  size_t rows = (size_t) self->frames * rows_of_frame (self), width = self->config.width;
  size_t bytes = ccl_mask_words (self->config.width) * sizeof (uint64_t);
  CclStatus status =
      ccl_pinned_alloc (self->device, rows * (bytes > width ? bytes : width), &self->pixels);

  if (status != CCL_OK)
    return status;
  self->items = malloc (self->capacity * sizeof *self->items);
  self->result_labels = malloc (self->capacity * sizeof *self->result_labels);
  self->result_areas = malloc (self->capacity * sizeof *self->result_areas);
  self->areas = malloc (self->capacity * sizeof *self->areas);
  self->parts = calloc (self->frames, sizeof *self->parts);
  if (self->config.labels)
    self->labels = malloc (rows * width * sizeof *self->labels);
  if (!self->pixels || !self->items || !self->result_labels || !self->result_areas ||
      !self->areas || !self->parts || (self->config.labels && !self->labels))
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a batch of %" PRIu32 " frames",
                     self->frames);
  return CCL_OK;
}

/* Makes an analyzer for each frame instead of the one for all, which was opened to check the
 * configuration and to choose a backend. */
static CclStatus
open_each (CclBatch *self, const CclConfig *config)
{
  CclConfig one = *config;
  unsigned threads = config->threads > 0 ? config->threads : ccl_pool_cpus ();
  CclInfo info;
  CclStatus status = CCL_OK;

  ccl_analyzer_info (self->analyzer, &info);
  self->fallback_status = info.fallback_status;
  if (info.fallback && !(self->fallback = strdup (info.fallback)))
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a batch");
  ccl_analyzer_free (self->analyzer);
  self->analyzer = NULL;
  self->each = calloc (self->frames, sizeof *self->each);
  self->statuses = calloc (self->frames, sizeof *self->statuses);
  self->results = calloc (self->frames, sizeof *self->results);
  if (!self->each || !self->statuses || !self->results)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a batch of %" PRIu32 " frames",
                     self->frames);
  one.backend = CCL_BACKEND_CPU;
  one.threads = 1;
  for (uint32_t i = 0; status == CCL_OK && i < self->frames; i++)
    status = ccl_analyzer_new (&one, &self->each[i]);
  if (threads > self->frames)
    threads = self->frames;
  if (status == CCL_OK && threads > 1)
    status = ccl_pool_new (threads, &self->account, &self->pool);
  return status;
}

CclStatus
ccl_batch_new (const CclConfig *config, uint32_t frames, CclBatch **batch)
{
  CclBatch *self;
  CclConfig all;
  CclInfo info;
  CclStatus status;

  if (!config || !batch)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_batch_new: config or batch is NULL");
  *batch = NULL;
  status = check_batch_config (config, frames);
  if (status != CCL_OK)
    return status;
  self = calloc (1, sizeof *self);
  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a batch");
  self->config = *config;
  self->frames = frames;
  self->device = -1;
  /* As many as all frames can have, so that top-k applies to each on its own. */
  self->capacity = (uint32_t) (frames * frame_components_bound (config));
  all = self->config;
  all.height = frames * rows_of_frame (self);
  all.max_components = self->capacity;
  status = ccl_analyzer_open (&all, config->height, &self->analyzer);
  if (status == CCL_OK) {
    ccl_analyzer_info (self->analyzer, &info);
    self->device = info.device;
    self->config.region = NULL;
    self->config.operations = NULL;
    self->config.n_operations = 0;
    status = info.backend == CCL_BACKEND_CPU ? open_each (self, config) : allocate (self);
  }
  if (status != CCL_OK) {
    ccl_batch_free (self);
    return status;
  }
  *batch = self;
  return CCL_OK;
}

void
ccl_batch_free (CclBatch *batch)
{
  if (!batch)
    return;
  for (uint32_t i = 0; batch->each && i < batch->frames; i++)
    ccl_analyzer_free (batch->each[i]);
  free (batch->each);
  free (batch->statuses);
  free (batch->results);
  ccl_pool_free (batch->pool);
  free (batch->fallback);
  ccl_analyzer_free (batch->analyzer);
  if (batch->pixels)
    ccl_pinned_free (batch->device, batch->pixels);
  free (batch->items);
  free (batch->result_labels);
  free (batch->result_areas);
  free (batch->areas);
  free (batch->labels);
  free (batch->parts);
  free (batch);
}

static CclStatus
check_images (const CclBatch *self, const CclImage *images, uint32_t n)
{
  if (n == 0 || n > self->frames)
    return ccl_fail (CCL_ERROR_INVALID, "%" PRIu32 " frames; this batch takes 1 to %" PRIu32, n,
                     self->frames);
  for (uint32_t i = 0; i < n; i++) {
    CclStatus status;

    if (!images[i].data)
      return ccl_fail (CCL_ERROR_INVALID, "frame %" PRIu32 " of a batch has no pixels", i);
    if (images[i].memory == CCL_MEMORY_ARRAY ||
        (images[i].memory == CCL_MEMORY_DEVICE) != (images[0].memory == CCL_MEMORY_DEVICE))
      return ccl_fail (CCL_ERROR_UNSUPPORTED,
                       "frame %" PRIu32
                       " is in other memory than the first, or in an array; batches "
                       "take frames that are all in host memory or all in device memory",
                       i);
    status = ccl_check_image (&images[i], self->config.width);
    if (status != CCL_OK)
      return status;
    if (images[i].format != images[0].format)
      return ccl_fail (CCL_ERROR_UNSUPPORTED,
                       "frame %" PRIu32 " has another format than the first; batches take frames "
                       "that are all bytes or all bits",
                       i);
  }
  return CCL_OK;
}

/* Stacks frames in host memory. */
static CclImage
stack_on_host (CclBatch *self, const CclStack *stack)
{
  size_t width = self->config.width;
  uint8_t *to = self->pixels;

  for (uint32_t i = 0; i < self->frames; i++) {
    for (size_t y = 0; y < stack->height; y++, to += width) {
      if (i < stack->n && !stack->all_set)
        memcpy (to, stack->images[i].data + y * stack->images[i].stride, width);
      else
        memset (to, i < stack->n ? 1 : stack->fill, width);
    }
    memset (to, stack->fill, width);
    to += width;
  }
  return (CclImage){
    .data = self->pixels,
    .stride = width,
    .memory = CCL_MEMORY_PINNED,
  };
}

/* Stacks the masks of frames in host memory. */
static CclImage
stack_masks (CclBatch *self, const CclImage *images, uint32_t n, const CclParams *params)
{
  CclMask mask = {
    .words = self->pixels,
    .pitch = ccl_mask_words (self->config.width),
    .width = self->config.width,
    .height = self->config.height,
  };
  CclForeground foreground = {
    .functions = ccl_cpu_functions_chosen (),
    .width = self->config.width,
    .cut = ccl_cut (CCL_VALUES_ABOVE, params, images[0].format),
  };
  size_t row = mask.pitch * sizeof *mask.words;
  CclImage image = ccl_mask_image (&mask);

  for (uint32_t i = 0; i < self->frames; i++) {
    uint64_t *below = mask.words + mask.height * mask.pitch;

    foreground.image = &images[i];
    for (uint32_t y = 0; i < n && y < mask.height; y++)
      ccl_foreground_row (&foreground, y, mask.words + y * mask.pitch);
    if (i >= n)
      memset (mask.words, 0, mask.height * row);
    memset (below, 0, row);
    mask.words = below + mask.pitch;
  }
  image.memory = CCL_MEMORY_PINNED;
  return image;
}

/* Stacks the frames, with background where there is none. Changes @params so that they tell
 * foreground from background there. */
static CclStatus
stack_frames (CclBatch *self, const CclImage *images, uint32_t n, CclParams *params,
              CclImage *stacked)
{
  /* With these parameters no value is background, so two other values stand for all. */
  bool bytes = images[0].format == CCL_FORMAT_BYTES;
  bool all_set = bytes && params->invert && params->threshold == 255;
  CclStack stack = { images, n, self->frames, self->config.height, 0, all_set };

  if (images[0].memory != CCL_MEMORY_DEVICE &&
      (!bytes || self->config.upload != CCL_UPLOAD_PIXELS)) {
    *stacked = stack_masks (self, images, n, params);
    params->invert = false;
    return CCL_OK;
  }
  if (all_set) {
    params->threshold = 0;
    params->invert = false;
  }
  stack.fill = params->invert ? 255 : 0;
  if (images[0].memory == CCL_MEMORY_DEVICE)
    return ccl_analyzer_stack (self->analyzer, &stack, stacked);
  *stacked = stack_on_host (self, &stack);
  return CCL_OK;
}

static int
compare_areas (const void *a, const void *b)
{
  uint64_t aa = *(const uint64_t *) a, ab = *(const uint64_t *) b;

  return (aa < ab) - (aa > ab);
}

/* The smallest area among the frame's top-k; @ties: how many components of that area are kept. */
static uint64_t
find_top_k_area (CclBatch *self, const CclComponent *components, uint32_t found, uint32_t *ties)
{
  uint32_t most = self->config.max_components;
  uint64_t least;

  for (uint32_t i = 0; i < found; i++)
    self->areas[i] = components[i].area;
  qsort (self->areas, found, sizeof *self->areas, compare_areas);
  least = self->areas[most - 1];
  *ties = 0;
  for (uint32_t i = most; i > 0 && self->areas[i - 1] == least; i--)
    ++*ties;
  return least;
}

/* A component of the stack as one of its own frame, whose rows begin with row @top. */
static CclComponent
move_component (const CclComponent *component, uint64_t top, uint32_t label)
{
  CclComponent c = *component;

  c.label = label;
  c.y -= (uint32_t) top;
  if (c.sum_yy > 0)
    c.sum_yy = c.sum_yy - 2 * top * c.sum_y + top * top * c.area;
  if (c.sum_xy > 0)
    c.sum_xy -= top * c.sum_x;
  c.sum_y -= top * c.area;
  return c;
}

/* Copies the components of frame @index, those from @from to @to - 1 of @all. Returns the number of
 * entries of items in use, which was @used before. */
static uint32_t
split_frame (CclBatch *self, const CclComponents *all, uint32_t index, uint32_t from, uint32_t to,
             uint32_t used)
{
  BatchFrame *part = &self->parts[index];
  uint32_t found = to - from, ties = found;
  uint64_t least = 0; /* area of a component that is kept */

  if (found > self->config.max_components)
    least = find_top_k_area (self, &all->items[from], found, &ties);
  *part = (BatchFrame){ .first = used, .found = found };
  for (uint32_t i = from; i < to; i++) {
    const CclComponent *c = &all->items[i];

    self->result_labels[i] = self->result_areas[i] = 0;
    if (c->area < least || (c->area == least && ties == 0))
      continue;
    if (c->area == least)
      ties--;
    self->result_labels[i] = ++part->count;
    self->result_areas[i] = (uint32_t) c->area;
    self->items[used++] = move_component (c, (uint64_t) index * rows_of_frame (self), part->count);
  }
  return used;
}

static void
split (CclBatch *self, const CclComponents *all)
{
  uint32_t i = 0, used = 0;

  self->n_result_labels = all->count;
  for (uint32_t index = 0; index < self->n; index++) {
    uint32_t from = i;

    while (i < all->count && all->items[i].y / rows_of_frame (self) == index)
      i++;
    used = split_frame (self, all, index, from, i, used);
  }
}

static CclStatus
analyze_stack (CclBatch *self, const CclImage *images, uint32_t n, const CclParams *params,
               CclComponents *components)
{
  CclComponents all;
  CclParams stacked = *params;
  CclImage image;
  CclStatus status = stack_frames (self, images, n, &stacked, &image);

  self->labels_are_here = false;
  if (status == CCL_OK)
    status = ccl_analyzer_analyze (self->analyzer, &image, &stacked, &all);
  if (status != CCL_OK)
    return status;
  self->n = n;
  split (self, &all);
  for (uint32_t i = 0; i < n; i++)
    components[i] = (CclComponents){
      .items = &self->items[self->parts[i].first],
      .count = self->parts[i].count,
      .found = self->parts[i].found,
    };
  return CCL_OK;
}

typedef struct AnalyzeJob
{
  CclBatch *batch;
  const CclImage *images;
  const CclParams *params;
  CclComponents *components;
} AnalyzeJob;

static void
analyze_one (void *data, uint32_t index)
{
  const AnalyzeJob *job = data;

  job->batch->statuses[index] = ccl_analyzer_analyze (job->batch->each[index], &job->images[index],
                                                      job->params, &job->components[index]);
  job->batch->results[index] = job->components[index];
}

/* Runs @task for the frames of @job. The reason of an error is that of its thread: what failed is
 * tried again in this one. */
static CclStatus
run_each (CclBatch *self, CclTask task, void *job, uint32_t n)
{
  ccl_pool_run (self->pool, task, job, n);
  for (uint32_t i = 0; i < n; i++) {
    if (self->statuses[i] != CCL_OK)
      task (job, i);
    if (self->statuses[i] != CCL_OK)
      return self->statuses[i];
  }
  return CCL_OK;
}

static CclStatus
analyze_each (CclBatch *self, const CclImage *images, uint32_t n, const CclParams *params,
              CclComponents *components)
{
  const uint64_t start = self->config.timing ? ccl_cpu_now () : 0;
  AnalyzeJob job = { self, images, params, components };
  CclStatus status = run_each (self, analyze_one, &job, n);

  if (status != CCL_OK)
    return status;
  if (self->config.timing)
    self->timing = (CclTiming){ .measured = true, .analysis = ccl_cpu_now () - start };
  self->n = n;
  return CCL_OK;
}

CclStatus
ccl_batch_analyze (CclBatch *batch, const CclImage *images, uint32_t n, const CclParams *params,
                   CclComponents *components)
{
  CclStatus status;

  if (!batch || !images || !params || !components)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_batch_analyze: an argument is NULL");
  status = check_images (batch, images, n);
  if (status != CCL_OK)
    return status;
  batch->n = 0;
  return batch->each ? analyze_each (batch, images, n, params, components)
                     : analyze_stack (batch, images, n, params, components);
}

/* Fetches the stack's label map and gives it the labels of each frame. */
static CclStatus
fetch_labels (CclBatch *self)
{
  size_t width = self->config.width, rows = (size_t) self->n * rows_of_frame (self);
  CclLabels all;
  CclStatus status = ccl_analyzer_labels (self->analyzer, &all);

  if (status != CCL_OK)
    return status;
  for (size_t y = 0; y < rows; y++) {
    const uint32_t *from = (const uint32_t *) ((const char *) all.data + y * all.stride);
    uint32_t *to = self->labels + y * width;

    for (size_t x = 0; x < width; x++)
      to[x] = from[x] > 0 ? self->result_labels[from[x] - 1] : 0;
  }
  self->labels_are_here = true;
  return CCL_OK;
}

CclStatus
ccl_batch_labels (CclBatch *batch, uint32_t index, CclLabels *labels)
{
  CclStatus status = CCL_OK;

  if (!batch || !labels)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_batch_labels: an argument is NULL");
  *labels = (CclLabels){ NULL, 0 };
  if (!batch->config.labels)
    return ccl_fail (CCL_ERROR_INVALID, "this batch makes no label maps; set CclConfig.labels");
  if (index >= batch->n)
    return ccl_fail (CCL_ERROR_INVALID, "the last batch had %" PRIu32 " frames, not %" PRIu32,
                     batch->n, index + 1);
  if (batch->each)
    return ccl_analyzer_labels (batch->each[index], labels);
  if (!batch->labels_are_here)
    status = fetch_labels (batch);
  if (status == CCL_OK)
    *labels = (CclLabels){
      .data = batch->labels + (size_t) index * rows_of_frame (batch) * batch->config.width,
      .stride = batch->config.width * sizeof *batch->labels,
    };
  return status;
}

typedef struct WriteJob
{
  CclBatch *batch;
  uint32_t *labels;
  size_t stride, step;
  CclMemory memory;
} WriteJob;

static void
write_one (void *data, uint32_t index)
{
  const WriteJob *job = data;

  job->batch->statuses[index] = ccl_analyzer_write_labels (
      job->batch->each[index], (uint32_t *) ((char *) job->labels + index * job->step), job->stride,
      job->memory);
}

/* Checks where label maps or areas of the last batch go. */
static CclStatus
check_write (const CclBatch *batch, const uint32_t *labels, size_t stride, size_t step,
             CclMemory memory)
{
  CclStatus status;
  CclInfo info;

  if (!batch->config.labels)
    return ccl_fail (CCL_ERROR_INVALID, "this batch makes no label maps; set CclConfig.labels");
  if (batch->n == 0)
    return ccl_fail (CCL_ERROR_INVALID, "no batch to write labels of; analyse one first");
  ccl_batch_info (batch, &info);
  status = ccl_check_labels (labels, batch->config.width, stride, memory, info.backend);
  if (status == CCL_OK && (step / stride < batch->config.height || step % sizeof *labels != 0))
    return ccl_fail (CCL_ERROR_INVALID,
                     "a step of %zu bytes; label maps are at least their rows apart, and a "
                     "multiple of 4",
                     step);
  return status;
}

/* Writes @values of the analyzer's components in device memory. */
static CclStatus
write_to_device (CclBatch *batch, const uint32_t *values, uint32_t *to, size_t stride, size_t step)
{
  const CclUnstack unstack = {
    .result_labels = values,
    .count = batch->n_result_labels,
    .n = batch->n,
    .labels = to,
    .stride = stride,
    .step = step,
  };

  return ccl_analyzer_unstack (batch->analyzer, &unstack);
}

CclStatus
ccl_batch_write_labels (CclBatch *batch, uint32_t *labels, size_t stride, size_t step,
                        CclMemory memory)
{
  CclStatus status;

  if (!batch)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_batch_write_labels: batch is NULL");
  status = check_write (batch, labels, stride, step, memory);
  if (status == CCL_OK && batch->each) {
    WriteJob job = { batch, labels, stride, step, memory };

    return run_each (batch, write_one, &job, batch->n);
  }
  if (status == CCL_OK && memory == CCL_MEMORY_DEVICE)
    return write_to_device (batch, batch->result_labels, labels, stride, step);
  for (uint32_t i = 0; status == CCL_OK && i < batch->n; i++) {
    CclLabels from;

    status = ccl_batch_labels (batch, i, &from);
    for (size_t y = 0; status == CCL_OK && y < batch->config.height; y++)
      memcpy ((char *) labels + i * step + y * stride, (const char *) from.data + y * from.stride,
              batch->config.width * sizeof *labels);
  }
  return status;
}

/* The areas of frame @index by their labels, and 0 for the background; NULL without memory. */
static uint32_t *
areas_of (const CclBatch *self, uint32_t index, uint32_t *n)
{
  const BatchFrame *part = self->each ? NULL : &self->parts[index];
  const CclComponent *items = part ? self->items + part->first : self->results[index].items;
  const uint32_t count = part ? part->count : self->results[index].count;
  uint32_t *areas;

  *n = count < 1 ? 2 : count + 1; /* a palette has two values at least */
  areas = calloc (*n, sizeof *areas);
  for (uint32_t i = 0; areas && i < count; i++)
    areas[i + 1] = (uint32_t) items[i].area;
  return areas;
}

/* Writes the areas of a frame to host memory. */
static CclStatus
write_areas_of_one (const WriteJob *job, uint32_t index)
{
  CclBatch *self = job->batch;
  CclPalette palette = { .size = sizeof (uint32_t) };
  uint32_t *areas = areas_of (self, index, &palette.n);
  CclStatus status = CCL_OK;
  CclLabels from;

  palette.values = (const uint8_t *) areas;
  if (!areas)
    status = ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for the areas of a batch");
  else if (self->each)
    status = ccl_analyzer_paint (self->each[index], &palette,
                                 (uint8_t *) job->labels + index * job->step, job->stride);
  else
    status = ccl_batch_labels (self, index, &from);
  for (size_t y = 0; status == CCL_OK && !self->each && y < self->config.height; y++) {
    const uint32_t *row = (const uint32_t *) ((const char *) from.data + y * from.stride);
    uint32_t *to = (uint32_t *) ((char *) job->labels + index * job->step + y * job->stride);

    for (size_t x = 0; x < self->config.width; x++)
      to[x] = areas[row[x]];
  }
  free (areas);
  return status;
}

static void
write_areas_task (void *data, uint32_t index)
{
  const WriteJob *job = data;

  job->batch->statuses[index] = write_areas_of_one (job, index);
}

CclStatus
ccl_batch_write_areas (CclBatch *batch, uint32_t *areas, size_t stride, size_t step,
                       CclMemory memory)
{
  WriteJob job = { batch, areas, stride, step, memory };
  CclStatus status;

  if (!batch)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_batch_write_areas: batch is NULL");
  status = check_write (batch, areas, stride, step, memory);
  if (status == CCL_OK && memory == CCL_MEMORY_DEVICE)
    return write_to_device (batch, batch->result_areas, areas, stride, step);
  if (status == CCL_OK && batch->each)
    return run_each (batch, write_areas_task, &job, batch->n);
  for (uint32_t i = 0; status == CCL_OK && i < batch->n; i++)
    status = write_areas_of_one (&job, i);
  return status;
}

void
ccl_batch_info (const CclBatch *batch, CclInfo *info)
{
  CclInfo one;

  ccl_analyzer_info (batch->each ? batch->each[0] : batch->analyzer, info);
  if (!batch->each)
    return;
  info->fallback = batch->fallback;
  info->fallback_status = batch->fallback_status;
  info->allocations = batch->account.allocations;
  info->bytes = batch->account.bytes;
  for (uint32_t i = 0; i < batch->frames; i++) {
    ccl_analyzer_info (batch->each[i], &one);
    info->allocations += one.allocations;
    info->bytes += one.bytes;
  }
}

void
ccl_batch_timing (const CclBatch *batch, CclTiming *timing)
{
  if (batch->each)
    *timing = batch->timing;
  else
    ccl_analyzer_timing (batch->analyzer, timing);
}
