/* cudaccl - volumes: checks arguments, and converts a session's components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/volume.h>
#include "engine/backend.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct CclVolume
{
  const CclBackendClass *backend;
  CclSession *session; /* of a frame of height * depth rows */
  uint32_t width;
  bool collected;
  CclVolumeComponent *items; /* [max_components] */
};

void
ccl_volume_config_init (CclVolumeConfig *config, uint32_t width, uint32_t height, uint32_t depth)
{
  *config = (CclVolumeConfig){
    .width = width,
    .height = height,
    .depth = depth,
    .connectivity = 26,
    .device = -1,
    .threads = 1,
    .max_components = 1024,
  };
}

/* The backends with volumes, the best first. */
static const CclBackendClass *const backends[] = {
#ifdef HAVE_CUDA
  &ccl_backend_cuda,
#endif
  &ccl_backend_cpu_volumes,
};

#define N_BACKENDS (sizeof backends / sizeof *backends)

const CclAlgorithm *
ccl_volume_algorithm (size_t index)
{
  for (size_t b = 0; b < N_BACKENDS; b++) {
    const CclAlgorithm *algorithm;

    for (size_t i = 0; (algorithm = backends[b]->volume_algorithm (i)); i++) {
      if (index-- == 0)
        return algorithm;
    }
  }
  return NULL;
}

/* An upper bound of the components of a volume: what fits in each cube of 2 x 2 x 2 voxels; of
 * classes, any voxels. */
static uint64_t
volume_components_bound (const CclVolumeConfig *config)
{
  uint64_t each = config->connectivity == 26 ? 1 : config->connectivity == 18 ? 2 : 4;

  if (config->values == CCL_VALUES_EQUAL)
    return (uint64_t) config->width * config->height * config->depth;
  return each * (((uint64_t) config->width + 1) / 2) * (((uint64_t) config->height + 1) / 2) *
         (((uint64_t) config->depth + 1) / 2);
}

static CclStatus
check_volume_config (const CclVolumeConfig *config)
{
  uint64_t slice = (uint64_t) config->width * config->height;

  if (slice == 0 || config->depth == 0)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a volume of %" PRIu32 "x%" PRIu32 "x%" PRIu32 " has no voxels", config->width,
                     config->height, config->depth);
  if (slice > UINT32_MAX / config->depth)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a volume of %" PRIu32 "x%" PRIu32 "x%" PRIu32
                     " has more than 2^32 - 1 voxels; split it",
                     config->width, config->height, config->depth);
  if ((unsigned) config->features > CCL_FEATURES_RUNS_CD)
    return ccl_fail (CCL_ERROR_INVALID, "unknown feature stage %d", (int) config->features);
  if (config->connectivity != 6 && config->connectivity != 18 && config->connectivity != 26)
    return ccl_fail (CCL_ERROR_INVALID, "connectivity %u of a volume; use 6, 18 or 26",
                     config->connectivity);
  if (config->values != CCL_VALUES_ABOVE && config->values != CCL_VALUES_EQUAL)
    return ccl_fail (CCL_ERROR_INVALID,
                     "values of a volume have meaning %d; use CCL_VALUES_ABOVE or CCL_VALUES_EQUAL",
                     (int) config->values);
  if ((unsigned) config->backend > CCL_BACKEND_CPU)
    return ccl_fail (CCL_ERROR_INVALID, "unknown backend %d", (int) config->backend);
  if (config->threads > CCL_MAX_THREADS)
    return ccl_fail (CCL_ERROR_INVALID, "%u threads; use at most %d, or 0 for one for each CPU",
                     config->threads, CCL_MAX_THREADS);
  if (config->max_components == 0)
    return ccl_fail (CCL_ERROR_INVALID, "max_components is 0; it must be at least 1");
  if (config->device < -1)
    return ccl_fail (CCL_ERROR_INVALID, "device %d is invalid; use 0 or more, or -1 for any",
                     config->device);
  return CCL_OK;
}

static const CclAlgorithm *
find_algorithm (const CclBackendClass *backend, const CclVolumeConfig *config)
{
  const char *name = config->algorithm;
  const CclAlgorithm *algorithm;

  for (size_t i = 0; (algorithm = backend->volume_algorithm (i)); i++) {
    if ((!name || strcmp (name, "auto") == 0 || strcmp (name, algorithm->name) == 0) &&
        ccl_volume_algorithm_has (algorithm, config->connectivity) &&
        (config->values != CCL_VALUES_EQUAL || backend->has_classes (algorithm)))
      return algorithm;
  }
  return NULL;
}

/* Tries the backends; @self->backend is the one that has it. */
static CclStatus
find_backend (CclVolume *self, const CclVolumeConfig *config, const CclAlgorithm **algorithm)
{
  CclStatus status =
      ccl_fail (CCL_ERROR_UNSUPPORTED,
                "this build has no algorithm '%s' for volumes%s with %u-connectivity on backend "
                "%s; choose auto or a listed one",
                config->algorithm ? config->algorithm : "auto",
                config->values == CCL_VALUES_EQUAL ? " of classes" : "", config->connectivity,
                ccl_backend_name (config->backend));

  for (size_t b = 0; b < N_BACKENDS; b++) {
    const CclBackendClass *backend = backends[b];
    int devices;

    if (!ccl_backend_is_allowed (config->backend, config->device, NULL, backend->id))
      continue;
    *algorithm = find_algorithm (backend, config);
    if (!*algorithm) {
      if (backend->lacks && config->algorithm && backend->lacks (config->algorithm, true))
        status = ccl_fail_without_papers (config->algorithm);
      continue;
    }
    devices = backend->device_count ();
    if (devices == 0) {
      status = CCL_ERROR_NO_DEVICE;
      continue;
    }
    if (backend->id == CCL_BACKEND_CUDA && config->device >= devices)
      return ccl_fail (CCL_ERROR_NO_DEVICE,
                       "no CUDA device %d; devices 0 to %d exist, and -1 takes any", config->device,
                       devices - 1);
    self->backend = backend;
    return CCL_OK;
  }
  return status;
}

static CclStatus
open_session (CclVolume *self, const CclVolumeConfig *config)
{
  CclSession wanted = { .device = -1, .slices = config->depth };
  uint64_t bound = volume_components_bound (config);
  CclStatus status = find_backend (self, config, &wanted.algorithm);

  if (status != CCL_OK)
    return status;
  ccl_config_init (&wanted.config, config->width, config->height * config->depth);
  wanted.config.connectivity = config->connectivity;
  wanted.config.backend = self->backend->id;
  wanted.config.algorithm = wanted.algorithm->name;
  wanted.config.device = config->device;
  wanted.config.threads = config->threads;
  wanted.config.max_components =
      bound < config->max_components ? (uint32_t) bound : config->max_components;
  wanted.config.labels = config->labels;
  wanted.config.timing = config->timing;
  wanted.config.stages = config->stages;
  wanted.config.features = config->features;
  wanted.config.values = config->values;
  self->width = config->width;
  return self->backend->open (&wanted, &self->session);
}

CclStatus
ccl_volume_new (const CclVolumeConfig *config, CclVolume **volume)
{
  CclVolume *self;
  CclStatus status;

  if (!config || !volume)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_volume_new: config or volume is NULL");
  *volume = NULL;
  status = check_volume_config (config);
  if (status != CCL_OK)
    return status;
  self = calloc (1, sizeof *self);
  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a volume");
  status = open_session (self, config);
  if (status == CCL_OK) {
    self->items = ccl_account_malloc (&self->session->account, self->session->config.max_components,
                                      sizeof *self->items, "the components of a volume");
    if (!self->items)
      status = CCL_ERROR_NO_MEMORY;
  }
  if (status != CCL_OK) {
    ccl_volume_free (self);
    return status;
  }
  *volume = self;
  return CCL_OK;
}

void
ccl_volume_free (CclVolume *volume)
{
  if (!volume)
    return;
  if (volume->session)
    volume->backend->close (volume->session);
  free (volume->items);
  free (volume);
}

/* A component of the frame and its extent over slices. */
static CclVolumeComponent
make_component (const CclComponent *c, const CclSlices *s)
{
  return (CclVolumeComponent){
    .volume = c->area,
    .sum_x = c->sum_x,
    .sum_y = s->sum_y,
    .sum_z = s->sum_z,
    .label = c->label,
    .x = c->x,
    .y = s->y,
    .z = s->z,
    .width = c->width,
    .height = s->height,
    .depth = s->depth,
    .first_x = c->first_x,
    .first_y = s->first_y,
    .value = s->value,
  };
}

static CclStatus
check_volume_image (const CclImage *image, CclValues values, uint32_t width)
{
  if (values != CCL_VALUES_EQUAL)
    return ccl_check_image (image, width);
  if (image->format != CCL_FORMAT_GRAY32)
    return ccl_check_classes (image, width);
  if ((unsigned) image->memory > CCL_MEMORY_DEVICE)
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "classes of 32 bits cannot be in arrays");
  if (image->stride / 4 < width || image->stride % 4 != 0 || (uintptr_t) image->data % 4 != 0)
    return ccl_fail (CCL_ERROR_INVALID,
                     "classes of 32 bits at %p with a stride of %zu bytes; both are multiples of "
                     "4, and the width is %" PRIu32,
                     (const void *) image->data, image->stride, width);
  return CCL_OK;
}

CclStatus
ccl_volume_analyze (CclVolume *volume, const CclImage *image, const CclParams *params,
                    CclVolumeComponents *components)
{
  CclComponents flat = { 0 };
  const CclSlices *slices = NULL;
  CclStatus status;

  if (!volume || !image || !image->data || !params || !components)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_volume_analyze: an argument is NULL");
  *components = (CclVolumeComponents){ NULL, 0, 0 };
  status = check_volume_image (image, volume->session->config.values, volume->width);
  if (status != CCL_OK)
    return status;
  volume->collected = false;
  volume->session->cut = ccl_cut (volume->session->config.values, params, image->format);
  status = volume->backend->submit (volume->session, image, params);
  if (status == CCL_OK)
    status = volume->backend->collect (volume->session, &flat);
  if (status == CCL_OK)
    status = volume->backend->slices (volume->session, flat.count, &slices);
  if (status != CCL_OK)
    return status;
  for (uint32_t i = 0; i < flat.count; i++)
    volume->items[i] = make_component (&flat.items[i], &slices[i]);
  volume->collected = true;
  *components = (CclVolumeComponents){ volume->items, flat.count, flat.found };
  return CCL_OK;
}

CclStatus
ccl_volume_labels (CclVolume *volume, CclLabels *labels)
{
  if (!volume || !labels)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_volume_labels: an argument is NULL");
  *labels = (CclLabels){ NULL, 0 };
  if (!volume->session->config.labels)
    return ccl_fail (CCL_ERROR_INVALID,
                     "this volume makes no label maps; set CclVolumeConfig.labels");
  if (!volume->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no volume to return labels of; analyse one first");
  return volume->backend->labels (volume->session, labels);
}

CclStatus
ccl_volume_write_labels (CclVolume *volume, uint32_t *labels, size_t stride, CclMemory memory)
{
  CclStatus status;

  if (!volume)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_volume_write_labels: volume is NULL");
  if (!volume->session->config.labels)
    return ccl_fail (CCL_ERROR_INVALID,
                     "this volume makes no label maps; set CclVolumeConfig.labels");
  if (!volume->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no volume to write labels of; analyse one first");
  status =
      ccl_check_labels (labels, volume->session->config.width, stride, memory, volume->backend->id);
  return status == CCL_OK ? volume->backend->write_labels (volume->session, labels, stride, memory)
                          : status;
}

void
ccl_volume_info (const CclVolume *volume, CclInfo *info)
{
  const CclSession *session = volume->session;

  *info = (CclInfo){
    .backend = volume->backend->id,
    .algorithm = session->algorithm->name,
    .device = session->device,
    .device_name = session->device_name,
    .allocations = session->account.allocations,
    .bytes = session->account.bytes,
    .upload = session->upload ? session->upload : "none",
  };
}

void
ccl_volume_timing (const CclVolume *volume, CclTiming *timing)
{
  *timing = volume->session->timing;
}
