/* cudaccl - Python: analyses the arrays of an engine
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nothing here needs the GIL. */

#include "run.h"

#include <stdlib.h>

/* In the order of the flags. */
static const size_t part_sizes[] = { sizeof (SumsPart),  sizeof (EllipsePart),
                                     sizeof (HolesPart), sizeof (PerimeterPart),
                                     sizeof (LumaPart),  sizeof (BoxPart),
                                     sizeof (ValuePart) };

size_t
engine_record_size (unsigned features)
{
  size_t size = sizeof (Record);

  for (unsigned i = 0; i < sizeof part_sizes / sizeof *part_sizes; i++)
    size += features >> i & 1 ? part_sizes[i] : 0;
  return size;
}

void
engine_close (Engine *self)
{
  ccl_analyzer_free (self->analyzer);
  ccl_batch_free (self->batch);
  ccl_volume_free (self->volume);
  self->analyzer = NULL;
  self->batch = NULL;
  self->volume = NULL;
}

static CclStatus
engine_open (Engine *self, const Run *run, int device)
{
  CclConfig *config = &self->config;
  CclVolumeConfig volume;
  CclMask region = { NULL };
  CclStatus status = CCL_OK;

  engine_close (self);
  config->width = run->width;
  config->height = run->height;
  config->device = device;
  if (self->kind == KIND_VOLUME) {
    ccl_volume_config_init (&volume, run->width, run->height, run->n);
    volume.connectivity = config->connectivity;
    volume.backend = config->backend;
    volume.algorithm = config->algorithm;
    volume.threads = config->threads;
    volume.device = device;
    volume.max_components = config->max_components;
    volume.labels = config->labels;
    volume.values = config->values;
    return ccl_volume_new (&volume, &self->volume);
  }
  if (self->include || self->exclude) {
    status = ccl_mask_alloc (run->width, run->height, &region);
    if (status == CCL_OK)
      status = ccl_region_parse (self->include, self->exclude, &region);
    config->region = &region;
  }
  if (status == CCL_OK)
    status = self->depth > 0 ? ccl_batch_new (config, self->depth, &self->batch)
                             : ccl_analyzer_new (config, &self->analyzer);
  config->region = NULL;
  ccl_mask_free (&region);
  return status;
}

/* Makes room for @n more records. */
static CclStatus
reserve (Run *run, size_t n)
{
  size_t room = run->room;
  uint8_t *records;

  if (run->used + n <= room)
    return CCL_OK;
  while (room < run->used + n)
    room = room > 0 ? 2 * room : 256;
  records = realloc (run->records, room * run->record_size);
  if (!records)
    return CCL_ERROR_NO_MEMORY;
  run->records = records;
  run->room = room;
  return CCL_OK;
}

/* Writes the parts behind a record. */
static void
add_parts (const Engine *self, uint8_t *to, const CclComponent *c, const CclShape *shape,
           uint16_t value)
{
  const unsigned features = self->features;
  CclEllipse e;

#define ADD(type, ...) (*(type *) to = (type){ __VA_ARGS__ }, to += sizeof (type))
  if (features & FEATURE_SUMS)
    ADD (SumsPart, (int64_t) c->sum_x, (int64_t) c->sum_y, (int64_t) c->sum_xx, (int64_t) c->sum_yy,
         (int64_t) c->sum_xy);
  if (features & FEATURE_ELLIPSE) {
    ccl_component_ellipse (c, &e);
    ADD (EllipsePart, e.orientation, e.major, e.minor, e.eccentricity);
  }
  if (features & FEATURE_HOLES)
    ADD (HolesPart, 1 - shape->euler, shape->euler);
  if (features & FEATURE_PERIMETER)
    ADD (PerimeterPart, ccl_shape_perimeter (shape));
  if (features & FEATURE_LUMA)
    ADD (LumaPart, ccl_shape_luma_mean (shape, c), shape->luma_min, shape->luma_max);
  if (features & FEATURE_BOX)
    ADD (BoxPart, ccl_component_extent (c),
         ccl_component_touches_border (c, self->config.width, self->config.height), { 0 });
  if (features & FEATURE_VALUE)
    ADD (ValuePart, value);
#undef ADD
}

static CclStatus
add_records (const Engine *self, Run *run, uint32_t index, const CclComponents *components)
{
  const CclShape *shapes = NULL;
  const uint16_t *values = NULL;
  CclStatus status = reserve (run, components->count);

  if (status == CCL_OK && self->config.shapes)
    status = ccl_analyzer_shapes (self->analyzer, &shapes);
  if (status == CCL_OK && self->features & FEATURE_VALUE)
    status = ccl_analyzer_values (self->analyzer, &values);
  if (status != CCL_OK)
    return status;
  run->counts[index] = components->count;
  run->found[index] = components->found;
  for (uint32_t i = 0; i < components->count; i++) {
    const CclComponent *c = &components->items[i];
    Record record = {
      (int32_t) c->label,  (int32_t) c->x,
      (int32_t) c->y,      (int32_t) c->width,
      (int32_t) c->height, (int32_t) c->first_x,
      (int64_t) c->area,   { ccl_component_centroid_x (c), ccl_component_centroid_y (c) },
    };
    uint8_t *to = run->records + run->used++ * run->record_size;

    *(Record *) to = record;
    if (self->features)
      add_parts (self, to + sizeof record, c, shapes ? &shapes[i] : NULL, values ? values[i] : 0);
  }
  return CCL_OK;
}

static CclStatus
add_volume_records (const Engine *self, Run *run, const CclVolumeComponents *components)
{
  CclStatus status = reserve (run, components->count);

  if (status != CCL_OK)
    return status;
  run->counts[0] = components->count;
  run->found[0] = components->found;
  for (uint32_t i = 0; i < components->count; i++) {
    const CclVolumeComponent *c = &components->items[i];
    VolumeRecord *to = (VolumeRecord *) (run->records + run->used++ * run->record_size);

    *to = (VolumeRecord){ (int32_t) c->label,  (int32_t) c->x,
                          (int32_t) c->y,      (int32_t) c->z,
                          (int32_t) c->width,  (int32_t) c->height,
                          (int32_t) c->depth,  0,
                          (int64_t) c->volume, { 0, 0, 0 } };
    ccl_volume_component_centroid (c, to->centroid);
    run->highest = c->value > run->highest ? c->value : run->highest;
    if (self->features & FEATURE_VALUE)
      *(ValuePart *) (to + 1) = (ValuePart){ c->value };
  }
  return CCL_OK;
}

/* Whether the result has all components; else the engine has to be opened with more capacity. */
static bool
has_all (Engine *self, const CclComponents *components)
{
  uint32_t capacity = self->config.max_components;

  if (!self->all || components->found <= components->count)
    return true;
  while (capacity < components->found)
    capacity = capacity < UINT32_MAX / 2 ? 2 * capacity : UINT32_MAX;
  self->config.max_components = capacity;
  return false;
}

/* Writes the areas of a frame's components as a picture, for which the CPU reads no label map. */
static CclStatus
write_areas (const Engine *self, const Run *run, uint32_t index, const CclComponents *components)
{
  const uint32_t n = components->count < 1 ? 2 : components->count + 1;
  uint32_t *areas = calloc (n, sizeof *areas);
  CclPalette palette = { .values = (const uint8_t *) areas, .n = n, .size = sizeof *areas };
  CclStatus status = CCL_ERROR_NO_MEMORY;

  for (uint32_t i = 0; areas && i < components->count; i++)
    areas[i + 1] = (uint32_t) components->items[i].area;
  if (areas)
    status = ccl_analyzer_paint (self->analyzer, &palette,
                                 run->areas.data + index * run->areas.step, run->areas.stride);
  free (areas);
  return status;
}

static CclStatus
analyze_frames (Engine *self, Run *run, bool *again)
{
  CclStatus status = CCL_OK;

  for (uint32_t i = 0; status == CCL_OK && i < (run->batched ? run->n : 1); i++) {
    CclComponents components;

    status = ccl_analyzer_analyze (self->analyzer, &run->images[i], &self->params, &components);
    if (status != CCL_OK)
      break;
    *again = !has_all (self, &components);
    if (*again)
      break;
    status = add_records (self, run, i, &components);
    if (status == CCL_OK && run->labels.data)
      status = ccl_analyzer_write_labels (self->analyzer,
                                          (uint32_t *) (run->labels.data + i * run->labels.step),
                                          run->labels.stride, run->labels.memory);
    if (status == CCL_OK && run->areas.data)
      status = write_areas (self, run, i, &components);
  }
  return status;
}

static CclStatus
analyze_batch (Engine *self, Run *run, bool *again)
{
  CclComponents *components = calloc (run->n, sizeof *components);
  CclStatus status;

  if (!components)
    return CCL_ERROR_NO_MEMORY;
  status = ccl_batch_analyze (self->batch, run->images, run->n, &self->params, components);
  for (uint32_t i = 0; status == CCL_OK && i < run->n && !*again; i++)
    *again = !has_all (self, &components[i]);
  for (uint32_t i = 0; status == CCL_OK && i < run->n && !*again; i++)
    status = add_records (self, run, i, &components[i]);
  if (status == CCL_OK && run->labels.data && !*again)
    status = ccl_batch_write_labels (self->batch, (uint32_t *) run->labels.data, run->labels.stride,
                                     run->labels.step, run->labels.memory);
  if (status == CCL_OK && run->areas.data && !*again)
    status = ccl_batch_write_areas (self->batch, (uint32_t *) run->areas.data, run->areas.stride,
                                    run->areas.step, run->areas.memory);
  free (components);
  return status;
}

static CclStatus
analyze_volume (Engine *self, Run *run, bool *again)
{
  CclVolumeComponents components;
  CclComponents counts;
  CclStatus status = ccl_volume_analyze (self->volume, &run->images[0], &self->params, &components);

  if (status != CCL_OK)
    return status;
  counts = (CclComponents){ NULL, components.count, components.found };
  *again = !has_all (self, &counts);
  if (*again)
    return CCL_OK;
  status = add_volume_records (self, run, &components);
  if (status == CCL_OK && run->labels.data)
    status = ccl_volume_write_labels (self->volume, (uint32_t *) run->labels.data,
                                      run->labels.stride, run->labels.memory);
  return status;
}

CclStatus
engine_run (Engine *self, Run *run, CclBackend backend, int device)
{
  CclConfig *config = &self->config;
  const bool stacks = !config->motion && !config->shapes && config->values == CCL_VALUES_ABOVE;
  /* One thread takes frames one after the other, with the memory of one. */
  const bool batches = device >= 0 || (backend == CCL_BACKEND_CPU && config->threads != 1);
  /* On a device only a batch has areas. */
  const bool batched = run->batched || (run->areas.data && device >= 0);
  uint32_t depth = self->kind == KIND_VOLUME || (batched && batches && stacks) ? run->n : 0;
  bool open = self->analyzer || self->batch || self->volume;
  bool again = !open || config->width != run->width || config->height != run->height ||
               config->device != device || config->backend != backend ||
               (self->volume && depth != self->depth) ||
               (!self->volume && ((depth > 0) != (self->depth > 0) || depth > self->depth)) ||
               (run->labels.data && !config->labels);
  CclStatus status = CCL_OK;

  config->labels |= run->labels.data != NULL;
  config->backend = backend;
  do {
    run->used = 0;
    if (again) {
      self->depth = depth;
      status = engine_open (self, run, device);
    }
    again = false;
    if (status == CCL_OK)
      status = self->volume  ? analyze_volume (self, run, &again)
               : self->batch ? analyze_batch (self, run, &again)
                             : analyze_frames (self, run, &again);
  } while (status == CCL_OK && again);
  /* A background model has no second chance; others are made anew. */
  if (status != CCL_OK)
    engine_close (self);
  return status;
}
