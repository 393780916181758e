/* cudaccl - the analyzer: checks arguments, chooses a backend and an algorithm, forwards to them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/backend.h"
#include "engine/color.h"
#include "engine/mask/mask.h"
#include "engine/mask/places.h"

#include <cudaccl/eglimage.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Each may be a component, and strips need some labels more. */
#define MOST_CLASS_PIXELS (UINT64_C (1) << 31)

#define ALL_SHAPES (CCL_SHAPES_TOPOLOGY | CCL_SHAPES_PERIMETER | CCL_SHAPES_LUMA)

struct CclAnalyzer
{
  const CclBackendClass *backend;
  CclSession *session;
  bool in_flight;
  CclParams params; /* of the frame in flight */
  bool collected;   /* and nothing was submitted since */
  char *fallback;   /* why the preferred backend is not used, or NULL */
  CclStatus fallback_status;
  CclColorPlanes planes; /* of frames of interleaved colours in host memory */
  CclPlaces *places;     /* of small objects beside near ones, or NULL */
};

/* In the order in which CCL_BACKEND_AUTO tries them. */
static const CclBackendClass *const backends[] = {
#ifdef HAVE_CUDA
  &ccl_backend_cuda,
#endif
  &ccl_backend_cpu,
};

#define N_BACKENDS (sizeof backends / sizeof backends[0])

void
ccl_config_init (CclConfig *config, uint32_t width, uint32_t height)
{
  *config = (CclConfig){
    .width = width,
    .height = height,
    .connectivity = 8,
    .backend = CCL_BACKEND_AUTO,
    .device = -1,
    .max_components = 1024,
    .threads = 1,
  };
}

void
ccl_params_init (CclParams *params)
{
  *params = (CclParams){
    .threshold = 127,
    .min_area = 1,
    .max_area = UINT64_MAX,
    .min_width = 1,
    .min_height = 1,
    .elapsed = 40000000,
    .low = 1,
    .high = UINT16_MAX,
  };
  ccl_motion_params_init (&params->motion);
}

const char *
ccl_backend_name (CclBackend backend)
{
  switch (backend) {
  case CCL_BACKEND_CUDA:
    return "cuda";
  case CCL_BACKEND_CPU:
    return "cpu";
  default:
    return "auto";
  }
}

const CclAlgorithm *
ccl_algorithm (size_t index)
{
  for (size_t b = 0; b < N_BACKENDS; b++) {
    const CclAlgorithm *algorithm;

    for (size_t i = 0; (algorithm = backends[b]->algorithm (i)); i++) {
      if (index-- == 0)
        return algorithm;
    }
  }
  return NULL;
}

int
ccl_cuda_device_count (void)
{
#ifdef HAVE_CUDA
  return ccl_backend_cuda.device_count ();
#else
  ccl_fail_without_cuda ();
  return 0;
#endif
}

CclStatus
ccl_cuda_primary_context (int device, void **context)
{
  *context = NULL;
#ifdef HAVE_CUDA
  return ccl_backend_cuda.primary_context (device, context);
#else
  return ccl_fail_without_cuda ();
#endif
}

CclStatus
ccl_cuda_synchronize (int device, void *stream)
{
#ifdef HAVE_CUDA
  return ccl_backend_cuda.synchronize (device, stream);
#else
  return ccl_fail_without_cuda ();
#endif
}

/* The maximum number of components of a frame: isolated pixels, in a checkerboard or on every
 * second pixel of every second row; of classes, any pixels. */
static uint64_t
components_bound (const CclConfig *config)
{
  if (config->values == CCL_VALUES_EQUAL)
    return (uint64_t) config->width * config->height;
  if (config->connectivity == 4)
    return ((uint64_t) config->width * config->height + 1) / 2;
  return (((uint64_t) config->width + 1) / 2) * (((uint64_t) config->height + 1) / 2);
}

/* Whether the sums of squares of any image of this size fit in 64 bits. */
static bool
second_order_fits (const CclConfig *config)
{
  double width = config->width, height = config->height;
  double longest = width > height ? width : height;

  return width * height * longest * longest / 3 < 0x1p64;
}

CclStatus
ccl_check_cleaning (const CclConfig *config, uint32_t height)
{
  const CclMask *region = config->region;
  CclStatus status = ccl_operations_check (config->operations, config->n_operations);

  if (status == CCL_OK && region)
    status = ccl_check_mask (region, "CclConfig.region");
  if (status == CCL_OK && region && (region->width != config->width || region->height != height))
    return ccl_fail (CCL_ERROR_INVALID,
                     "a region of %" PRIu32 "x%" PRIu32 " does not fit frames of %" PRIu32
                     "x%" PRIu32 "; use the same size",
                     region->width, region->height, config->width, height);
  return status;
}

/* Whether what the values mean goes together with the rest. */
static CclStatus
check_values (const CclConfig *config, uint32_t frame_height)
{
  if ((unsigned) config->values > CCL_VALUES_EQUAL)
    return ccl_fail (CCL_ERROR_INVALID, "unknown meaning of values %d", (int) config->values);
  if (config->values != CCL_VALUES_ABOVE && config->motion)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a background model finds the foreground itself; use CCL_VALUES_ABOVE");
  if (config->values != CCL_VALUES_ABOVE && frame_height > 0)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "batches have neither bands nor classes; analyse the frames one by one");
  if (config->values == CCL_VALUES_EQUAL &&
      (uint64_t) config->width * config->height > MOST_CLASS_PIXELS)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "classes in a frame of %" PRIu32 "x%" PRIu32
                     ", which has more than 2^31 pixels; split it",
                     config->width, config->height);
  if (config->values == CCL_VALUES_EQUAL &&
      (config->n_operations > 0 || config->auto_operations || config->mask || config->shapes))
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "classes have no operations, masks and shapes: those are of foreground and "
                     "background; leave them out");
  return CCL_OK;
}

static CclStatus
check_config (const CclConfig *config, uint32_t frame_height)
{
  CclStatus status;

  if (config->width == 0 || config->height == 0)
    return ccl_fail (CCL_ERROR_INVALID, "a frame of %" PRIu32 "x%" PRIu32 " has no pixels",
                     config->width, config->height);
  if ((uint64_t) config->width * config->height > UINT32_MAX)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a frame of %" PRIu32 "x%" PRIu32 " has more than 2^32 - 1 pixels; split it",
                     config->width, config->height);
  if (config->connectivity != 4 && config->connectivity != 8)
    return ccl_fail (CCL_ERROR_INVALID, "connectivity %u is neither 4 nor 8", config->connectivity);
  if ((unsigned) config->features > CCL_FEATURES_RUNS_CD)
    return ccl_fail (CCL_ERROR_INVALID, "unknown feature stage %d", (int) config->features);
  if (config->max_components == 0)
    return ccl_fail (CCL_ERROR_INVALID, "max_components is 0; it must be at least 1");
  if (config->threads > CCL_MAX_THREADS)
    return ccl_fail (CCL_ERROR_INVALID, "%u threads exceed the maximum of %d; use fewer, or 0",
                     config->threads, CCL_MAX_THREADS);
  if (config->device < -1)
    return ccl_fail (CCL_ERROR_INVALID, "device %d is invalid; use 0 or more, or -1 for any",
                     config->device);
  if ((unsigned) config->sync > CCL_SYNC_BLOCK)
    return ccl_fail (CCL_ERROR_INVALID, "unknown synchronisation mode %d", (int) config->sync);
  if ((unsigned) config->upload > CCL_UPLOAD_BITS)
    return ccl_fail (CCL_ERROR_INVALID, "unknown upload mode %d", (int) config->upload);
  if (config->second_order && !second_order_fits (config))
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "second-order sums of %" PRIu32 "x%" PRIu32
                     " pixels do not fit in 64 bits; disable them or split the frame",
                     config->width, config->height);
  if (config->shapes & ~ALL_SHAPES)
    return ccl_fail (CCL_ERROR_INVALID, "unknown shapes 0x%x", config->shapes & ~ALL_SHAPES);
  if (frame_height > 0 && (config->motion || config->mask || config->shapes || config->signatures))
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "batches have no background models, no masks, no shapes and no signatures");
  if (config->signatures && config->values == CCL_VALUES_EQUAL)
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "classes have no signatures: those are of colours");
  if (config->auto_operations && (frame_height > 0 || config->n_operations > 0))
    return ccl_fail (CCL_ERROR_INVALID, frame_height > 0
                                            ? "batches have no automatic operations"
                                            : "automatic operations leave no room for others");
  status = check_values (config, frame_height);
  if (status == CCL_OK && config->motion)
    status = ccl_model_check_config (config->motion);
  return status == CCL_OK
             ? ccl_check_cleaning (config, frame_height > 0 ? frame_height : config->height)
             : status;
}

static bool
any_algorithm (const CclConfig *config)
{
  return !config->algorithm || strcmp (config->algorithm, "auto") == 0;
}

/* The algorithm of @backend that @config asks for, NULL if it has none. */
static const CclAlgorithm *
find_algorithm (const CclBackendClass *backend, const CclConfig *config)
{
  const CclAlgorithm *algorithm;

  for (size_t i = 0; (algorithm = backend->algorithm (i)); i++) {
    if ((any_algorithm (config) || strcmp (config->algorithm, algorithm->name) == 0) &&
        algorithm->connectivity & config->connectivity)
      return algorithm;
  }
  return NULL;
}

/* Reports why find_algorithm() found nothing on any backend that @config allows. */
static CclStatus
explain_algorithm (const CclConfig *config)
{
  const CclAlgorithm *algorithm;

  if (any_algorithm (config))
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "backend %s has no algorithm for connectivity %u",
                     ccl_backend_name (config->backend), config->connectivity);
  for (size_t i = 0; (algorithm = ccl_algorithm (i)); i++) {
    if (strcmp (config->algorithm, algorithm->name) != 0)
      continue;
    if (!(algorithm->connectivity & config->connectivity))
      return ccl_fail (CCL_ERROR_UNSUPPORTED, "algorithm %s does not support connectivity %u",
                       algorithm->name, config->connectivity);
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "algorithm %s runs on backend %s, not on %s; choose that backend, or "
                     "algorithm auto",
                     algorithm->name, ccl_backend_name (algorithm->backend),
                     ccl_backend_name (config->backend));
  }
  for (size_t b = 0; b < N_BACKENDS; b++)
    if (backends[b]->lacks && backends[b]->lacks (config->algorithm, false))
      return ccl_fail_without_papers (config->algorithm);
  return ccl_fail (CCL_ERROR_UNSUPPORTED,
                   "this build has no algorithm '%s'; choose auto or a listed one",
                   config->algorithm);
}

static bool
allows (const CclConfig *config, const CclBackendClass *backend)
{
  return ccl_backend_is_allowed (config->backend, config->device, config->cuda_context,
                                 backend->id);
}

/* Whether the backend can do what @config asks for, on the device that it wants or on any. */
static CclStatus
find_device (const CclBackendClass *backend, const CclAlgorithm *algorithm, const CclConfig *config)
{
  int count;

  if (config->values == CCL_VALUES_EQUAL && !backend->has_classes (algorithm))
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "algorithm %s does not connect equal values; choose auto, tile, flsl-cd or, "
                     "on the CPU, runs",
                     algorithm->name);
  count = backend->device_count ();
  if (count == 0)
    return CCL_ERROR_NO_DEVICE;
  if (backend->id == CCL_BACKEND_CUDA && config->device >= count)
    return ccl_fail (CCL_ERROR_NO_DEVICE,
                     "no CUDA device %d; devices 0 to %d exist, and -1 takes any", config->device,
                     count - 1);
  return CCL_OK;
}

/* Opens a session, or without @self only checks what it needs, on the first backend that
 * @wanted's config allows and that can do it. */
static CclStatus
open_session (CclAnalyzer *self, CclSession *wanted)
{
  const CclConfig config = wanted->config;
  CclStatus status = CCL_OK;
  bool known = false;

  for (size_t b = 0; b < N_BACKENDS; b++) {
    if (!allows (&config, backends[b]))
      continue;
    known = true;
    wanted->algorithm = find_algorithm (backends[b], &config);
    if (!wanted->algorithm)
      continue;
    status = find_device (backends[b], wanted->algorithm, &config);
    if (status == CCL_OK) {
      if (!self)
        return CCL_OK;
      self->backend = backends[b];
      wanted->config.algorithm = wanted->algorithm->name;
      status = backends[b]->open (wanted, &self->session);
    }
    if (status == CCL_OK || status == CCL_ERROR_INVALID)
      return status;
    if (self && !self->fallback) {
      self->fallback = strdup (ccl_last_error ());
      self->fallback_status = status;
    }
  }
  if (known)
    return status != CCL_OK ? status : explain_algorithm (&config);
#ifndef HAVE_CUDA
  if (config.backend == CCL_BACKEND_CUDA || config.backend == CCL_BACKEND_AUTO)
    return ccl_fail_without_cuda ();
#endif
  return ccl_fail (CCL_ERROR_INVALID, "unknown backend %d", (int) config.backend);
}

/* Checks @config and starts @wanted with it. */
static CclStatus
init_session (const CclConfig *config, uint32_t frame_height, CclSession *wanted)
{
  CclStatus status = check_config (config, frame_height);
  uint64_t bound;

  if (status != CCL_OK)
    return status;
  *wanted = (CclSession){ .config = *config, .device = -1, .frame_height = frame_height };
  wanted->cleaning.n = config->n_operations;
  if (config->auto_operations)
    ccl_cleaning_init_auto (&wanted->cleaning, config->width, config->height, wanted->operations);
  else if (config->n_operations > 0)
    memcpy (wanted->operations, config->operations,
            config->n_operations * sizeof *config->operations);
  wanted->config.n_operations = wanted->cleaning.n;
  if (config->motion)
    ccl_model_init (&wanted->model, config->motion, config->width, config->height);
  if (config->shapes)
    wanted->config.labels = true;
  /* Label maps and masks are those of one chain. */
  wanted->cleaning.has_small = config->auto_operations && config->motion &&
                               !wanted->config.labels && !config->mask && !config->updates;
  bound = components_bound (config);
  if (bound < config->max_components)
    wanted->config.max_components = (uint32_t) bound;
  return CCL_OK;
}

CclStatus
ccl_config_check (const CclConfig *config)
{
  CclSession wanted;
  CclStatus status;

  if (!config)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_config_check: config is NULL");
  status = init_session (config, 0, &wanted);
  return status == CCL_OK ? open_session (NULL, &wanted) : status;
}

CclStatus
ccl_analyzer_open (const CclConfig *config, uint32_t frame_height, CclAnalyzer **analyzer)
{
  CclSession wanted;
  CclAnalyzer *self;
  CclStatus status;

  *analyzer = NULL;
  status = init_session (config, frame_height, &wanted);
  if (status != CCL_OK)
    return status;

  self = calloc (1, sizeof *self);
  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for an analyzer");
  status = open_session (self, &wanted);
  if (status == CCL_OK && config->features != CCL_FEATURES_AUTO && !self->session->labels_first)
    status = ccl_fail (
        CCL_ERROR_UNSUPPORTED,
        "algorithm %s has its own feature stage; choose an algorithm that labels pixels, such "
        "as bke, or the automatic feature stage",
        wanted.algorithm->name);
  if (status == CCL_OK && wanted.cleaning.has_small) {
    self->places = ccl_places_new (config->width, config->height, wanted.cleaning.small,
                                   wanted.config.max_components, &self->session->account);
    status = self->places ? CCL_OK : CCL_ERROR_NO_MEMORY;
  }
  if (status != CCL_OK && self->session)
    self->backend->close (self->session);
  if (status != CCL_OK) {
    free (self->fallback);
    free (self);
    return status;
  }
#ifndef HAVE_CUDA
  if (config->backend == CCL_BACKEND_AUTO && any_algorithm (config)) {
    self->fallback_status = ccl_fail_without_cuda ();
    self->fallback = strdup (ccl_last_error ());
  }
#endif
  self->session->config.operations = self->session->operations;
  self->session->config.region = NULL;
  if (config->motion)
    self->session->config.motion = &self->session->model.config;
  *analyzer = self;
  return CCL_OK;
}

CclStatus
ccl_analyzer_new (const CclConfig *config, CclAnalyzer **analyzer)
{
  if (!config || !analyzer)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_new: config or analyzer is NULL");
  return ccl_analyzer_open (config, 0, analyzer);
}

void
ccl_analyzer_free (CclAnalyzer *analyzer)
{
  if (!analyzer)
    return;
  analyzer->backend->close (analyzer->session);
  ccl_places_free (analyzer->places);
  ccl_color_planes_clear (&analyzer->planes);
  free (analyzer->fallback);
  free (analyzer);
}

/* Whether the rows of an image of CCL_FORMAT_BITS are words. */
static CclStatus
check_bits (const CclImage *image, uint32_t width)
{
  size_t bytes = ccl_mask_words (width) * sizeof (uint64_t);

  if (image->memory == CCL_MEMORY_ARRAY)
    return ccl_fail (CCL_ERROR_INVALID, "arrays hold bytes, not bits; copy the mask to memory");
  if (image->stride < bytes || image->stride % sizeof (uint64_t) != 0)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a stride of %zu bytes; rows of %" PRIu32
                     " bits are at least %zu bytes apart, and a multiple of 8",
                     image->stride, width, bytes);
  if ((uintptr_t) image->data % sizeof (uint64_t) != 0)
    return ccl_fail (CCL_ERROR_INVALID, "the words of a mask are not at a multiple of 8 bytes");
  return CCL_OK;
}

CclStatus
ccl_check_image (const CclImage *image, uint32_t width)
{
  if ((unsigned) image->format > CCL_FORMAT_BITS)
    return ccl_fail (CCL_ERROR_INVALID, "format %d is not supported here; use bytes or bits",
                     (int) image->format);
  if ((unsigned) image->memory > CCL_MEMORY_ARRAY)
    return ccl_fail (CCL_ERROR_INVALID, "unknown kind of memory %d", (int) image->memory);
  if (image->format == CCL_FORMAT_BITS)
    return check_bits (image, width);
  if (image->memory != CCL_MEMORY_ARRAY && image->stride < width)
    return ccl_fail (CCL_ERROR_INVALID, "a stride of %zu bytes is less than the width of %" PRIu32,
                     image->stride, width);
  return CCL_OK;
}

CclStatus
ccl_check_classes (const CclImage *image, uint32_t width)
{
  if (ccl_format_is_16_bit (image->format))
    return ccl_color_check (image, width, false);
  if (image->format != CCL_FORMAT_BYTES)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "classes are frames of bytes or of 16-bit samples, not of format %d",
                     (int) image->format);
  return ccl_check_image (image, width);
}

/* Checks an image; converts interleaved colours in host memory, and sets @image to their planes.
 * Frames in device memory are left to the backend. */
static CclStatus
take_image (CclAnalyzer *self, const CclImage **image)
{
  CclSession *session = self->session;
  const CclConfig *config = &session->config;
  const bool chroma = config->motion && config->motion->format == CCL_MOTION_LUMA_420;
  CclStatus status;

  if (config->values == CCL_VALUES_EQUAL)
    return ccl_check_classes (*image, config->width);
  if (session->cut.wide && config->shapes & CCL_SHAPES_LUMA)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "a band of 16-bit samples leaves no luma; do not ask for CCL_SHAPES_LUMA");
  if (!ccl_color_weights ((*image)->format))
    return config->motion ? ccl_motion_check_image (config->motion->format, *image, config->width)
                          : ccl_check_image (*image, config->width);
  status = ccl_color_check (*image, config->width, chroma);
  if (status != CCL_OK || (*image)->memory == CCL_MEMORY_DEVICE)
    return status;
  status = ccl_color_planes_convert (&self->planes, *image, config->width, config->height, chroma,
                                     &session->cut, &session->account);
  *image = &self->planes.luma;
  return status;
}

/* Checks what take_image() does not, so that nothing refuses a frame once its planes have taken the
 * place of those of the frame before, whose results can be read still. */
static CclStatus
check_submit (const CclSession *session, const CclImage *image, const CclParams *params)
{
  const bool bits = image->format == CCL_FORMAT_BITS;

  if (session->config.signatures && (bits || session->cut.wide))
    return ccl_fail (
        CCL_ERROR_UNSUPPORTED,
        "bits, and a band of 16-bit samples, have no luma; submit bytes, or do not set "
        "CclConfig.signatures");
  if (session->config.shapes & CCL_SHAPES_LUMA && bits)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "bits have no luma; submit bytes, or do not ask for CCL_SHAPES_LUMA");
  return session->config.motion ? ccl_model_check (params) : CCL_OK;
}

CclStatus
ccl_analyzer_submit (CclAnalyzer *analyzer, const CclImage *image, const CclParams *params)
{
  CclMotionClock clock;
  CclSession *session;
  CclStatus status;

  if (!analyzer || !image || !image->data || !params)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_submit: an argument is NULL");
  if (analyzer->in_flight)
    return ccl_fail (CCL_ERROR_INVALID, "a frame is in flight already; collect it first");
  session = analyzer->session;
  session->cut = ccl_cut (session->config.values, params, image->format);
  status = check_submit (session, image, params);
  if (status == CCL_OK)
    status = take_image (analyzer, &image);
  if (status != CCL_OK)
    return status;
  if (session->config.motion)
    ccl_model_begin (&session->model, params, &clock);
  analyzer->collected = false;
  status = analyzer->backend->submit (session, image, params);
  analyzer->in_flight = status == CCL_OK;
  analyzer->params = *params;
  if (status == CCL_OK && session->config.motion)
    ccl_model_commit (&session->model, &clock);
  return status;
}

CclStatus
ccl_analyzer_stack (CclAnalyzer *analyzer, const CclStack *stack, CclImage *image)
{
  if (!analyzer->backend->stack)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "the frames of this batch are in device memory; copy them to the host, or "
                     "choose the backend cuda");
  return analyzer->backend->stack (analyzer->session, stack, image);
}

CclStatus
ccl_analyzer_unstack (CclAnalyzer *analyzer, const CclUnstack *unstack)
{
  return analyzer->backend->unstack (analyzer->session, unstack);
}

/* Adds small objects to the near ones that were collected. */
static CclStatus
collect_small (CclAnalyzer *self, CclComponents *components)
{
  CclComponents small;
  CclStatus status;

  if (!ccl_places_advance (self->places, self->params.elapsed))
    return CCL_OK;
  ccl_places_keep (self->places, components);
  status = self->backend->collect_small (self->session, &self->params, &small);
  *components =
      status == CCL_OK ? ccl_places_add (self->places, &small) : (CclComponents){ NULL, 0, 0 };
  return status;
}

CclStatus
ccl_analyzer_collect (CclAnalyzer *analyzer, CclComponents *components)
{
  CclStatus status;
  bool near;

  if (!analyzer || !components)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_collect: an argument is NULL");
  *components = (CclComponents){ NULL, 0, 0 };
  if (!analyzer->in_flight)
    return ccl_fail (CCL_ERROR_INVALID, "no frame is in flight; submit one first");
  analyzer->in_flight = false;
  near = analyzer->session->cleaning.near;
  status = analyzer->backend->collect (analyzer->session, components);
  if (status == CCL_OK && analyzer->session->config.motion)
    ccl_model_finish (&analyzer->session->model);
  if (status == CCL_OK && analyzer->session->config.auto_operations)
    ccl_cleaning_follow (&analyzer->session->cleaning, components, analyzer->params.elapsed);
  /* Leaves that wave are small, and go somewhere, too. */
  if (status == CCL_OK && analyzer->places && near && !analyzer->session->model.step.waves)
    status = collect_small (analyzer, components);
  analyzer->collected = status == CCL_OK;
  return status;
}

CclStatus
ccl_analyzer_analyze (CclAnalyzer *analyzer, const CclImage *image, const CclParams *params,
                      CclComponents *components)
{
  CclStatus status = ccl_analyzer_submit (analyzer, image, params);

  return status == CCL_OK ? ccl_analyzer_collect (analyzer, components) : status;
}

CclStatus
ccl_analyzer_labels (CclAnalyzer *analyzer, CclLabels *labels)
{
  if (!analyzer || !labels)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_labels: an argument is NULL");
  *labels = (CclLabels){ NULL, 0 };
  if (!analyzer->session->config.labels)
    return ccl_fail (CCL_ERROR_INVALID, "this analyzer makes no label maps; set CclConfig.labels");
  if (!analyzer->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no frame to return labels of; collect one first");
  return analyzer->backend->labels (analyzer->session, labels);
}

CclStatus
ccl_check_labels (const uint32_t *labels, uint32_t width, size_t stride, CclMemory memory,
                  CclBackend backend)
{
  if (!labels)
    return ccl_fail (CCL_ERROR_INVALID, "the memory for labels is NULL");
  if (stride / sizeof *labels < width || stride % sizeof *labels != 0)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a stride of %zu bytes; rows of %" PRIu32
                     " labels are at least 4 times as many bytes apart, and a multiple of 4",
                     stride, width);
  if ((unsigned) memory > CCL_MEMORY_DEVICE ||
      (memory == CCL_MEMORY_DEVICE && backend == CCL_BACKEND_CPU))
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "backend %s cannot write labels to this kind of memory",
                     ccl_backend_name (backend));
  return CCL_OK;
}

CclStatus
ccl_analyzer_write_labels (CclAnalyzer *analyzer, uint32_t *labels, size_t stride, CclMemory memory)
{
  CclStatus status;

  if (!analyzer)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_write_labels: analyzer is NULL");
  if (!analyzer->session->config.labels)
    return ccl_fail (CCL_ERROR_INVALID, "this analyzer makes no label maps; set CclConfig.labels");
  if (!analyzer->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no frame to write labels of; collect one first");
  status = ccl_check_labels (labels, analyzer->session->config.width, stride, memory,
                             analyzer->backend->id);
  return status == CCL_OK
             ? analyzer->backend->write_labels (analyzer->session, labels, stride, memory)
             : status;
}

static void
paint_labels (const CclSession *session, const CclLabels *labels, const CclPalette *palette,
              uint8_t *pixels, size_t stride)
{
  for (uint32_t y = 0; y < session->config.height; y++) {
    const uint32_t *row = (const uint32_t *) ((const char *) labels->data + y * labels->stride);

    for (uint32_t x = 0; x < session->config.width; x++)
      memcpy (pixels + y * stride + (size_t) x * palette->size, ccl_palette_value (palette, row[x]),
              palette->size);
  }
}

CclStatus
ccl_analyzer_paint (CclAnalyzer *analyzer, const CclPalette *palette, uint8_t *pixels,
                    size_t stride)
{
  CclLabels labels;
  CclStatus status;

  if (!analyzer || !palette || !palette->values || !pixels)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_paint: an argument is NULL");
  if (palette->n < 2 || palette->size < 2 || palette->size > 4)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a palette of %" PRIu32
                     " values of %u bytes; use 2 values or more, and 2 to 4 "
                     "bytes",
                     palette->n, palette->size);
  if (stride / palette->size < analyzer->session->config.width)
    return ccl_fail (CCL_ERROR_INVALID, "a stride of %zu bytes is less than a row", stride);
  if (!analyzer->backend->paint || !analyzer->session->config.labels || !analyzer->collected) {
    status = ccl_analyzer_labels (analyzer, &labels);
    if (status == CCL_OK)
      paint_labels (analyzer->session, &labels, palette, pixels, stride);
    return status;
  }
  analyzer->backend->paint (analyzer->session, palette, pixels, stride);
  return CCL_OK;
}

CclStatus
ccl_analyzer_shapes (CclAnalyzer *analyzer, const CclShape **shapes)
{
  if (!analyzer || !shapes)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_shapes: an argument is NULL");
  *shapes = NULL;
  if (!analyzer->session->config.shapes)
    return ccl_fail (CCL_ERROR_INVALID, "this analyzer finds no shapes; set CclConfig.shapes");
  if (!analyzer->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no frame to return shapes of; collect one first");
  *shapes = analyzer->session->shapes;
  return CCL_OK;
}

CclStatus
ccl_analyzer_signatures (CclAnalyzer *analyzer, const CclBox *boxes, uint32_t n,
                         CclSignature *signatures)
{
  CclSession *session;

  if (!analyzer || (n > 0 && (!boxes || !signatures)))
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_signatures: an argument is NULL");
  session = analyzer->session;
  if (!session->config.signatures)
    return ccl_fail (CCL_ERROR_INVALID,
                     "this analyzer finds no signatures; set CclConfig.signatures");
  if (!analyzer->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no frame to return signatures of; collect one first");
  for (uint32_t i = 0; i < n; i++) {
    CclStatus status = ccl_check_box (&boxes[i], session->config.width, session->config.height);

    if (status != CCL_OK)
      return status;
  }
  return n > 0 ? analyzer->backend->signatures (session, boxes, n, signatures) : CCL_OK;
}

CclStatus
ccl_analyzer_values (CclAnalyzer *analyzer, const uint16_t **values)
{
  if (!analyzer || !values)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_values: an argument is NULL");
  *values = NULL;
  if (analyzer->session->config.values != CCL_VALUES_EQUAL)
    return ccl_fail (CCL_ERROR_INVALID,
                     "components have no values here; set CclConfig.values to CCL_VALUES_EQUAL");
  if (!analyzer->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no frame to return values of; collect one first");
  *values = analyzer->session->values;
  return CCL_OK;
}

CclStatus
ccl_analyzer_mask (CclAnalyzer *analyzer, CclMask *mask)
{
  if (!analyzer || !mask)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_mask: an argument is NULL");
  *mask = (CclMask){ NULL };
  if (!analyzer->session->config.mask)
    return ccl_fail (CCL_ERROR_INVALID, "this analyzer keeps no masks; set CclConfig.mask");
  if (!analyzer->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no frame to return the mask of; collect one first");
  return analyzer->backend->mask (analyzer->session, mask);
}

CclStatus
ccl_analyzer_shadows (CclAnalyzer *analyzer, CclMask *shadows)
{
  const CclMotionConfig *motion;

  if (!analyzer || !shadows)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_shadows: an argument is NULL");
  *shadows = (CclMask){ NULL };
  motion = analyzer->session->config.motion;
  if (!motion || !motion->shadows)
    return ccl_fail (CCL_ERROR_INVALID,
                     "this analyzer keeps no shadows; set CclMotionConfig.shadows");
  if (!analyzer->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no frame to return shadows of; collect one first");
  return analyzer->backend->shadows (analyzer->session, shadows);
}

CclStatus
ccl_analyzer_background (CclAnalyzer *analyzer, uint8_t *pixels, size_t stride)
{
  CclSession *session;

  if (!analyzer || !pixels)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_background: an argument is NULL");
  session = analyzer->session;
  if (!session->config.motion)
    return ccl_fail (CCL_ERROR_INVALID,
                     "this analyzer has no background model; set CclConfig.motion");
  if (stride < session->model.width)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a stride of %zu is less than the %" PRIu32 " pixels of a row", stride,
                     session->model.width);
  return analyzer->backend->background (session, pixels, stride);
}

void
ccl_analyzer_reset (CclAnalyzer *analyzer)
{
  analyzer->session->model.clock = (CclMotionClock){ 0 };
  ccl_cleaning_reset (&analyzer->session->cleaning);
  if (analyzer->places)
    ccl_places_reset (analyzer->places);
}

void
ccl_analyzer_info (const CclAnalyzer *analyzer, CclInfo *info)
{
  const CclSession *session = analyzer->session;
  CclChainRange range =
      ccl_cleaning_range (&session->cleaning, ccl_cleaning_chain (&session->cleaning));

  *info = (CclInfo){
    .backend = analyzer->backend->id,
    .algorithm = session->algorithm->name,
    .device = session->device,
    .device_name = session->device_name,
    .fallback = analyzer->fallback,
    .fallback_status = analyzer->fallback_status,
    .allocations = session->account.allocations,
    .bytes = session->account.bytes,
    .upload = session->upload ? session->upload : "none",
    .operations = session->operations + range.first,
    .n_operations = range.n,
  };
  ccl_model_info (&session->model, &info->motion);
  if (analyzer->places)
    info->far_places = ccl_places_count (analyzer->places);
}

void
ccl_analyzer_timing (const CclAnalyzer *analyzer, CclTiming *timing)
{
  *timing = analyzer->session->timing;
}

CclStatus
ccl_pinned_alloc (int device, size_t size, void **memory)
{
  if (memory)
    *memory = NULL;
  if (!memory || size == 0)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_pinned_alloc: memory is NULL, or size is 0");
#ifdef HAVE_CUDA
  return ccl_backend_cuda.pinned_alloc (device, size, memory);
#else
  return ccl_fail_without_cuda ();
#endif
}

void
ccl_pinned_free (int device, void *memory)
{
#ifdef HAVE_CUDA
  if (memory)
    ccl_backend_cuda.pinned_free (device, memory);
#endif
}

#ifndef HAVE_CUDA
CclStatus
ccl_egl_image_register (CclEglImage *self, void *image, int device)
{
  return ccl_fail_without_cuda ();
}

CclStatus
ccl_egl_image_from_array (CclEglImage *self, void *array, int device)
{
  return ccl_fail_without_cuda ();
}

void
ccl_egl_image_unregister (CclEglImage *self)
{
}
#endif

CclStatus
ccl_analyzer_updates (const CclAnalyzer *analyzer, CclUpdates *updates)
{
  if (!analyzer || !updates)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_analyzer_updates: an argument is NULL");
  *updates = (CclUpdates){ 0, 0 };
  if (!analyzer->session->config.updates)
    return ccl_fail (CCL_ERROR_INVALID, "this analyzer counts no updates; set CclConfig.updates");
  if (!analyzer->collected)
    return ccl_fail (CCL_ERROR_INVALID, "no frame to return updates of; collect one first");
  *updates = analyzer->session->updates;
  return CCL_OK;
}
