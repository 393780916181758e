/* cudaccl - Python: analyzers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* An Engine is an analyzer that is opened for the first frame and again when frames change, so that
 * calls of one shape allocate nothing. The classes and functions of the package are on top of it.
 */

#include "run.h"

#include <cudaccl/mask.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 4096 /* components for which CUDA needs no transfer */

static unsigned
shapes_of (unsigned features)
{
  return (features & FEATURE_HOLES ? CCL_SHAPES_TOPOLOGY : 0u) |
         (features & FEATURE_PERIMETER ? CCL_SHAPES_PERIMETER : 0u) |
         (features & FEATURE_LUMA ? CCL_SHAPES_LUMA : 0u);
}

void *
fail_with_status (CclStatus status)
{
  PyObject *type = PyExc_RuntimeError;

  if (status == CCL_ERROR_INVALID)
    type = PyExc_ValueError;
  else if (status == CCL_ERROR_NO_MEMORY)
    type = PyExc_MemoryError;
  PyErr_SetString (type, ccl_last_error ());
  return NULL;
}

static void
engine_dealloc (PyObject *object)
{
  Engine *self = (Engine *) object;
  PyTypeObject *type = Py_TYPE (object);

  engine_close (self);
  free (self->include);
  free (self->exclude);
  free (self->algorithm);
  PyObject_Free (object);
  Py_DECREF (type);
}

/* The axis of rows, -1 with an exception. */
static int
find_rows (const Engine *self, const Array *array)
{
  PyObject *shape;
  int ndim = array->ndim, expected = self->kind == KIND_BGR || self->kind == KIND_RGB ? 3 : 2;

  if (self->kind == KIND_FRAMES && ndim == 3 && (array->shape[2] == 3 || array->shape[2] == 4) &&
      array->shape[0] > 4 && array->shape[1] > 4) {
    PyErr_Format (PyExc_ValueError,
                  "an array of shape (%zd, %zd, %zd) is an image in colour; pass one channel, or a "
                  "mask of it. A batch of masks that narrow is (n, 1, height, width)",
                  array->shape[0], array->shape[1], array->shape[2]);
    return -1;
  }
  if (self->kind == KIND_FRAMES && ndim >= 2 && (ndim < 4 || array->shape[1] == 1))
    return ndim - 2;
  if (self->kind == KIND_VOLUME && ndim == 3)
    return 1;
  if (self->kind > KIND_VOLUME && ndim == expected && (expected == 2 || array->shape[2] == 3))
    return 0;
  shape = array_shape (array);
  if (shape)
    PyErr_Format (
        PyExc_ValueError, "an array of shape %R; %s", shape,
        self->kind == KIND_FRAMES ? "pass a mask (height, width) or a batch (n, height, width) or "
                                    "(n, 1, height, width)"
        : self->kind == KIND_VOLUME
            ? "connectivities of 6, 18 and 26 are for volumes (depth, height, width)"
        : expected == 3 ? "frames in BGR and RGB are (height, width, 3)"
                        : "gray frames are (height, width), NV12 (height * 3 / 2, width)");
  Py_XDECREF (shape);
  return -1;
}

/* Whether all elements are at multiples of their size. */
static bool
is_aligned (const Array *array)
{
  uintptr_t all = (uintptr_t) array->data;

  for (int i = 0; i < array->ndim; i++)
    all |= (uintptr_t) array->strides[i];
  return all % (uintptr_t) array->itemsize == 0;
}

/* The geometry of a call, and the places of its frames. */
static int
plan_run (Engine *self, const Array *array, Run *run)
{
  int rows = find_rows (self, array);
  const bool wide = self->config.values != CCL_VALUES_ABOVE && array->itemsize == 2;
  const bool widest = self->kind == KIND_VOLUME && self->config.values == CCL_VALUES_EQUAL &&
                      array->itemsize == 4 && is_aligned (array);
  Py_ssize_t height, width, n, pixel = self->kind == KIND_BGR || self->kind == KIND_RGB ? 3 : 1;
  PyObject *shape;

  if (rows < 0 ||
      array_check_type (array,
                        widest                               ? "ui"
                        : self->kind <= KIND_VOLUME && !wide ? "bu"
                                                             : "u",
                        widest ? 4
                        : wide ? 2
                               : 1,
                        "the array",
                        self->kind > KIND_VOLUME ? "frames are uint8"
                        : self->config.values != CCL_VALUES_ABOVE
                            ? "classes and bands of values are bool, uint8 or uint16: pass "
                              "array.astype('uint16')"
                            : "masks are bool or uint8: pass mask != 0 or "
                              "mask.astype('uint8')") != 0)
    return -1;
  if (wide || widest)
    pixel = array->itemsize;
  height = array->shape[rows];
  width = array->shape[rows + 1];
  n = rows > 0 ? array->shape[0] : 1;
  if (height == 0 || width == 0 || n == 0 || height > UINT32_MAX || width > UINT32_MAX ||
      n > UINT32_MAX ||
      (double) height * width * (self->kind == KIND_VOLUME ? n : 1) > UINT32_MAX) {
    shape = array_shape (array);
    if (shape)
      PyErr_Format (PyExc_ValueError,
                    "an array of shape %R; frames and volumes have 1 to 2**32 - 1 pixels", shape);
    Py_XDECREF (shape);
    return -1;
  }
  if (array_check_rows (array, rows + 1, width * pixel, "the array") != 0)
    return -1;
  if (self->kind == KIND_VOLUME && n > 1 &&
      array->strides[0] != (Py_ssize_t) array_stride (array, rows, width * pixel) * height) {
    PyErr_SetString (PyExc_ValueError,
                     "the slices of the volume do not follow each other at the distance of "
                     "their rows; copy it with numpy.ascontiguousarray()");
    return -1;
  }
  if (self->kind == KIND_NV12) {
    if (height % 3 != 0 || width % 2 != 0) {
      PyErr_SetString (PyExc_ValueError, "NV12 has even sizes: an array (height * 3 / 2, width)");
      return -1;
    }
    height = height / 3 * 2;
  }
  run->width = (uint32_t) width;
  run->height = (uint32_t) height;
  run->n = (uint32_t) n;
  run->batched = rows > 0 && self->kind == KIND_FRAMES;
  run->record_size = engine_record_size (self->features) +
                     (self->kind == KIND_VOLUME ? sizeof (VolumeRecord) - sizeof (Record) : 0);
  run->images = calloc (run->batched ? run->n : 1, sizeof *run->images);
  run->counts = calloc (2 * (size_t) run->n, sizeof *run->counts);
  if (!run->images || !run->counts) {
    PyErr_NoMemory ();
    return -1;
  }
  run->found = run->counts + run->n;
  for (uint32_t i = 0; i < (run->batched ? run->n : 1); i++)
    run->images[i] = (CclImage){
      .data = array->data + (Py_ssize_t) i * (rows > 0 ? array->strides[0] : 0),
      .stride = array_stride (array, rows, width * pixel),
      .memory = array->device >= 0 ? CCL_MEMORY_DEVICE
                : array->pinned    ? CCL_MEMORY_PINNED
                                   : CCL_MEMORY_HOST,
      .stream = (void *) array->stream,
      .format = widest                                      ? CCL_FORMAT_GRAY32
                : !wide                                     ? CCL_FORMAT_BYTES
                : __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? CCL_FORMAT_GRAY16_LE
                                                            : CCL_FORMAT_GRAY16_BE,
    };
  return 0;
}

/* The format of a frame of a camera. */
static void
set_format (const Engine *self, Run *run)
{
  CclImage *image = &run->images[0];

  if (self->kind == KIND_BGR)
    image->format = CCL_FORMAT_BGR;
  if (self->kind == KIND_RGB)
    image->format = CCL_FORMAT_RGB;
  if (self->kind != KIND_NV12)
    return;
  for (int i = 0; i < 2; i++) {
    run->chroma.planes[i] = *image;
    run->chroma.planes[i].data += (size_t) run->height * image->stride + i;
  }
  run->chroma.step = 2;
  image->chroma = &run->chroma;
}

/* Where the labels go, or areas. @what: the argument's name. */
static int
plan_plane (const Engine *self, const Array *array, const Array *out, const char *what,
            const Run *run, Plane *plane)
{
  int rows = array->ndim - 2;
  Py_ssize_t rows_end;
  PyObject *shape, *expected;

  if (array_check_type (out, "iu", 4, what, "it is int32 or uint32") != 0)
    return -1;
  if (out->ndim != array->ndim ||
      memcmp (out->shape, array->shape, (size_t) out->ndim * sizeof *out->shape)) {
    shape = array_shape (out);
    expected = array_shape (array);
    if (shape && expected)
      PyErr_Format (PyExc_ValueError, "%s has the shape %R; it must be the mask's, %R", what, shape,
                    expected);
    Py_XDECREF (shape);
    Py_XDECREF (expected);
    return -1;
  }
  if (array_check_rows (out, rows + 1, out->shape[rows + 1] * 4, what) != 0)
    return -1;
  if ((uintptr_t) out->data % 4 != 0) {
    PyErr_Format (
        PyExc_ValueError,
        "%s is not aligned to its elements of 4 bytes; pass an array made by numpy.empty()", what);
    return -1;
  }
  if ((out->device >= 0) != (array->device >= 0) || out->device != array->device) {
    PyErr_Format (PyExc_ValueError,
                  "the mask and %s are on different devices; they must be on the same", what);
    return -1;
  }
  plane->data = out->data;
  plane->stride = array_stride (out, rows, out->shape[rows + 1] * 4);
  rows_end = (Py_ssize_t) (plane->stride * run->height);
  /* The stride of a single frame may be anything. */
  plane->step = rows > 0 && run->n > 1 ? (size_t) out->strides[0] : (size_t) rows_end;
  plane->memory = out->device >= 0 ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST;
  if (rows > 0 && run->n > 1 &&
      (out->strides[0] < rows_end || (self->kind == KIND_VOLUME && out->strides[0] != rows_end))) {
    PyErr_Format (PyExc_ValueError,
                  "the frames or slices of %s overlap, have another order than the mask's, or "
                  "other distances than its rows; pass an array without gaps",
                  what);
    return -1;
  }
  return 0;
}

static PyObject *
make_records (const Run *run)
{
  Py_ssize_t size = (Py_ssize_t) (run->used * run->record_size);
  Memory *memory = memory_new (1, &size, 'B', 1);

  if (memory && size > 0)
    memcpy (memory->data, run->records, (size_t) size);
  return (PyObject *) memory;
}

static PyObject *
make_counts (const Run *run, const uint32_t *counts)
{
  PyObject *list;

  if (!run->batched)
    return PyLong_FromUnsignedLong (counts[0]);
  list = PyTuple_New (run->n);
  for (uint32_t i = 0; list && i < run->n; i++)
    PyTuple_SetItem (list, i, PyLong_FromUnsignedLong (counts[i]));
  return list;
}

/* Whether no thread is at work without the GIL; else there is an exception. */
static bool
is_idle (const Engine *self)
{
  if (self->busy)
    PyErr_SetString (PyExc_RuntimeError,
                     "another thread uses this object; make one for each thread");
  return !self->busy;
}

PyDoc_STRVAR (run_doc,
              "run(array, out, labels, stream, areas) -> (labels, records, counts, found)\n\n"
              "Analyses an array. labels: whether they are wanted; without out, memory is made\n"
              "for those of host memory. areas: None, or an array for the areas of the pixels'\n"
              "components.");

static PyObject *
engine_run_method (PyObject *object, PyObject *args)
{
  Engine *self = (Engine *) object;
  PyObject *input, *output, *stream, *areas = Py_None, *labels = NULL, *result = NULL;
  Array array, out = { .device = -1 }, areas_out = { .device = -1 };
  Run run = { 0 };
  CclBackend backend;
  CclStatus status;
  int wanted;

  if (!PyArg_ParseTuple (args, "OOpO|O:run", &input, &output, &wanted, &stream, &areas))
    return NULL;
  if (!is_idle (self))
    return NULL;
  self->busy = true;
  if (array_get (&array, input, "the array", false, stream) != 0 ||
      plan_run (self, &array, &run) != 0)
    goto done;
  if (array.device >= 0 && self->backend == CCL_BACKEND_CPU) {
    PyErr_SetString (PyExc_ValueError,
                     "the array is on a CUDA device, and backend='cpu' cannot read it; copy "
                     "it to the host");
    goto done;
  }
  /* Where the pixels are. */
  backend = array.device >= 0                   ? CCL_BACKEND_CUDA
            : self->backend == CCL_BACKEND_CUDA ? CCL_BACKEND_CUDA
                                                : CCL_BACKEND_CPU;
  set_format (self, &run);
  if (wanted) {
    if (output != Py_None)
      labels = Py_NewRef (output);
    else if (array.device < 0)
      labels = (PyObject *) memory_new (array.ndim, array.shape, 'i', sizeof (int32_t));
    else
      PyErr_SetString (PyExc_ValueError,
                       "labels of an array on a CUDA device need out=, an array of int32 there");
    if (!labels || array_get (&out, labels, "out", true, stream) != 0 ||
        plan_plane (self, &array, &out, "out", &run, &run.labels) != 0)
      goto done;
  }
  if (areas != Py_None) {
    if (self->kind != KIND_FRAMES || !wanted ||
        (array.device >= 0 && (self->config.shapes || self->config.values != CCL_VALUES_ABOVE))) {
      PyErr_SetString (PyExc_ValueError, "areas are for masks and batches; on a CUDA device "
                                         "neither with other features nor with values");
      goto done;
    }
    if (array_get (&areas_out, areas, "areas", true, stream) != 0 ||
        plan_plane (self, &array, &areas_out, "areas", &run, &run.areas) != 0)
      goto done;
  }
  Py_BEGIN_ALLOW_THREADS;
  status = CCL_OK;
  /* The analysis waits for the array's stream; out may be in use on another. */
  if (out.device >= 0 && out.stream != 0 && out.stream != array.stream)
    status = ccl_cuda_synchronize (out.device, (void *) out.stream);
  if (status == CCL_OK && areas_out.device >= 0 && areas_out.stream != 0 &&
      areas_out.stream != array.stream)
    status = ccl_cuda_synchronize (areas_out.device, (void *) areas_out.stream);
  if (status == CCL_OK)
    status = engine_run (self, &run, backend, array.device >= 0 ? array.device : self->device);
  Py_END_ALLOW_THREADS;
  if (status == CCL_ERROR_NO_MEMORY && run.records && !self->analyzer)
    PyErr_NoMemory ();
  else if (status != CCL_OK)
    fail_with_status (status);
  else if (run.highest > INT32_MAX)
    PyErr_Format (PyExc_ValueError, "classes are 0 to 2**31 - 1, not %lld; 0 is background",
                  array.kind == 'i' ? (long long) run.highest - (1LL << 32)
                                    : (long long) run.highest);
  else
    result = Py_BuildValue ("(ONNN)", labels ? labels : Py_None, make_records (&run),
                            make_counts (&run, run.counts), make_counts (&run, run.found));

done:
  self->busy = false;
  array_release (&areas_out);
  array_release (&out);
  array_release (&array);
  free (run.images);
  free (run.counts);
  free (run.records);
  Py_XDECREF (labels);
  return result;
}

PyDoc_STRVAR (set_doc, "set(**parameters)\n\nSets what may change from frame to frame.");

static PyObject *
engine_set (PyObject *object, PyObject *args, PyObject *kwargs)
{
  static char *names[] = { "threshold",   "invert",        "min_area",     "max_area",
                           "min_width",   "min_height",    "elapsed",      "warm_up",
                           "noise_floor", "learning_time", "light_change", "keep_shadows",
                           "freeze",      "low",           "high",         NULL };
  Engine *self = (Engine *) object;
  CclParams params = self->params;
  CclMotionParams *motion = &params.motion;
  int invert = params.invert, keep = motion->keep_shadows, freeze = motion->freeze;
  Number threshold = { "threshold", 0, UINT8_MAX, params.threshold };
  Number min_area = { "min_area", 0, UINT64_MAX, params.min_area };
  Number max_area = { "max_area", 0, UINT64_MAX, params.max_area };
  Number min_width = { "min_width", 0, UINT32_MAX, params.min_width };
  Number min_height = { "min_height", 0, UINT32_MAX, params.min_height };
  Number elapsed = { "elapsed", 0, UINT64_MAX, params.elapsed };
  Number warm_up = { "warm_up", 0, UINT64_MAX, motion->warm_up };
  Number noise_floor = { "noise_floor", 0, UINT8_MAX, motion->noise_floor };
  Number learning = { "learning_time", 0, UINT64_MAX, motion->learning_time };
  Number light_change = { "light_change", 0, 100, motion->light_change };
  Number low = { "low", 0, UINT16_MAX, params.low }, high = { "high", 0, UINT16_MAX, params.high };

  if (!PyArg_ParseTupleAndKeywords (
          args, kwargs, "|$O&pO&O&O&O&O&O&O&O&O&ppO&O&:set", names, number_convert, &threshold,
          &invert, number_convert, &min_area, number_convert, &max_area, number_convert, &min_width,
          number_convert, &min_height, number_convert, &elapsed, number_convert, &warm_up,
          number_convert, &noise_floor, number_convert, &learning, number_convert, &light_change,
          &keep, &freeze, number_convert, &low, number_convert, &high))
    return NULL;
  params.threshold = (uint8_t) threshold.value;
  params.invert = invert;
  params.min_area = min_area.value;
  params.max_area = max_area.value;
  params.min_width = (uint32_t) min_width.value;
  params.min_height = (uint32_t) min_height.value;
  params.elapsed = elapsed.value;
  params.low = (uint16_t) low.value;
  params.high = (uint16_t) high.value;
  motion->warm_up = warm_up.value;
  motion->noise_floor = (uint8_t) noise_floor.value;
  motion->learning_time = learning.value;
  motion->light_change = (uint8_t) light_change.value;
  motion->keep_shadows = keep;
  motion->freeze = freeze;
  if (!is_idle (self))
    return NULL;
  self->params = params;
  Py_RETURN_NONE;
}

/* A copy of @text, or NULL if it is NULL or empty. */
static char *
copy_text (const char *text)
{
  return text && *text ? strdup (text) : NULL;
}

/* Checks the settings with a frame of some size, long before there is one; of volumes @include and
 * so on are NULL. */
static CclStatus
check_settings (Engine *self)
{
  CclConfig config = self->config;
  CclMask region = { NULL };
  CclStatus status = CCL_OK;

  if (self->kind == KIND_VOLUME)
    return CCL_OK;
  config.width = config.height = 64;
  config.backend = CCL_BACKEND_CPU; /* which has all that CUDA has */
  config.device = -1;
  config.algorithm = NULL;
  if (self->include || self->exclude) {
    status = ccl_mask_alloc (config.width, config.height, &region);
    if (status == CCL_OK)
      status = ccl_region_parse (self->include, self->exclude, &region);
  }
  if (status == CCL_OK)
    status = ccl_config_check (&config);
  ccl_mask_free (&region);
  return status;
}

static PyObject *
engine_new (PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
  static char *names[] = { "kind",       "connectivity",   "backend",   "device",
                           "threads",    "max_components", "features",  "labels",
                           "operations", "include",        "exclude",   "scale",
                           "shadows",    "mask",           "algorithm", "values",
                           NULL };
  Engine *self = PyObject_New (Engine, type);
  const char *operations = NULL, *include = NULL, *exclude = NULL, *algorithm = NULL;
  Number kind = { "kind", 0, KIND_NV12, KIND_FRAMES };
  Number connectivity = { "connectivity", 0, UINT32_MAX, 0 };
  Number backend = { "backend", 0, CCL_BACKEND_CPU, CCL_BACKEND_AUTO };
  Number device = { "device", -1, INT_MAX, 0 };
  Number threads = { "threads", 0, UINT32_MAX, 0 };
  Number max_components = { "max_components", 0, UINT32_MAX, 0 };
  Number features = { "features", 0, 2 * FEATURE_VALUE - 1, 0 };
  Number scale = { "scale", 0, UINT32_MAX, 0 };
  Number values = { "values", 0, CCL_VALUES_EQUAL, CCL_VALUES_ABOVE };
  int labels = 0, shadows = 0, mask = 0;
  CclConfig *config;
  CclStatus status;

  if (!self)
    return NULL;
  memset (&self->kind, 0, sizeof *self - offsetof (Engine, kind));
  config = &self->config;
  ccl_config_init (config, 0, 0);
  ccl_motion_config_init (&self->motion);
  ccl_params_init (&self->params);
  connectivity.value = config->connectivity;
  device.value = (unsigned long long) config->device;
  threads.value = config->threads;
  scale.value = self->motion.scale;
  if (!PyArg_ParseTupleAndKeywords (
          args, kwargs, "|O&O&O&O&O&O&O&pzzzO&ppzO&:Engine", names, number_convert, &kind,
          number_convert, &connectivity, number_convert, &backend, number_convert, &device,
          number_convert, &threads, number_convert, &max_components, number_convert, &features,
          &labels, &operations, &include, &exclude, number_convert, &scale, &shadows, &mask,
          &algorithm, number_convert, &values))
    goto fail;
  self->kind = (Kind) kind.value;
  self->backend = (CclBackend) backend.value;
  self->device = config->device = (int) (long long) device.value;
  self->features = (unsigned) features.value;
  self->motion.scale = (uint32_t) scale.value;
  config->connectivity = (uint32_t) connectivity.value;
  config->threads = (uint32_t) threads.value;
  config->max_components = (uint32_t) max_components.value;
  config->values = (CclValues) values.value;
  if (config->values == CCL_VALUES_EQUAL)
    self->features |= FEATURE_VALUE;
  config->second_order = (self->features & (FEATURE_SUMS | FEATURE_ELLIPSE)) != 0;
  config->shapes = shapes_of (self->features);
  config->labels = labels;
  config->mask = mask;
  self->all = config->max_components == 0;
  if (self->all)
    config->max_components = FIRST_CAPACITY;
  self->include = copy_text (include);
  self->exclude = copy_text (exclude);
  config->algorithm = self->algorithm = copy_text (algorithm);
  if (self->kind > KIND_VOLUME) {
    self->motion.format = self->kind == KIND_GRAY ? CCL_MOTION_LUMA : CCL_MOTION_LUMA_420;
    self->motion.shadows = shadows;
    config->motion = &self->motion;
  }
  config->operations = self->operations;
  if (operations) {
    status = ccl_operations_parse (operations, self->operations, &config->n_operations);
    if (status != CCL_OK) {
      fail_with_status (status);
      goto fail;
    }
  }
  status = check_settings (self);
  if (status == CCL_OK)
    return (PyObject *) self;
  if (status == CCL_ERROR_UNSUPPORTED)
    PyErr_SetString (PyExc_ValueError, ccl_last_error ());
  else
    fail_with_status (status);

fail:
  Py_DECREF (self);
  return NULL;
}

/* A mask as bytes of @value. */
static PyObject *
unpack_mask (const CclMask *mask, uint8_t value)
{
  Py_ssize_t shape[] = { mask->height, mask->width };
  Memory *memory = memory_new (2, shape, 'B', 1);

  if (memory)
    ccl_mask_unpack (mask, memory->data, mask->width, value);
  return (PyObject *) memory;
}

/* Whether there is something of the last frame; else there is an exception. */
static bool
is_open (const Engine *self, bool any)
{
  if ((self->analyzer || (any && (self->batch || self->volume))) && !self->busy)
    return true;
  PyErr_SetString (PyExc_ValueError, "there is no frame yet, or another thread uses this object");
  return false;
}

PyDoc_STRVAR (mask_doc, "mask(value, shadows) -> memory of the last frame's mask or shadows");

static PyObject *
engine_mask (PyObject *object, PyObject *args)
{
  Engine *self = (Engine *) object;
  CclMask mask;
  CclStatus status;
  Number value = { "value", 0, UINT8_MAX, 0 };
  int shadows;

  if (!PyArg_ParseTuple (args, "O&p:mask", number_convert, &value, &shadows) ||
      !is_open (self, false))
    return NULL;
  status = shadows ? ccl_analyzer_shadows (self->analyzer, &mask)
                   : ccl_analyzer_mask (self->analyzer, &mask);
  return status == CCL_OK ? unpack_mask (&mask, (uint8_t) value.value) : fail_with_status (status);
}

PyDoc_STRVAR (background_doc, "background() -> memory of the model's background");

static PyObject *
engine_background (PyObject *object, PyObject *args)
{
  Engine *self = (Engine *) object;
  Py_ssize_t shape[2];
  CclStatus status;
  CclInfo info;
  Memory *memory;

  if (!is_open (self, false))
    return NULL;
  ccl_analyzer_info (self->analyzer, &info);
  shape[0] = info.motion.height;
  shape[1] = info.motion.width;
  memory = memory_new (2, shape, 'B', 1);
  status =
      memory ? ccl_analyzer_background (self->analyzer, memory->data, info.motion.width) : CCL_OK;
  if (status == CCL_OK)
    return (PyObject *) memory;
  Py_DECREF (memory);
  return fail_with_status (status);
}

PyDoc_STRVAR (reset_doc, "reset()\n\nDrops the background model.");

static PyObject *
engine_reset (PyObject *object, PyObject *args)
{
  Engine *self = (Engine *) object;

  if (!is_idle (self))
    return NULL;
  if (self->analyzer)
    ccl_analyzer_reset (self->analyzer);
  Py_RETURN_NONE;
}

PyDoc_STRVAR (info_doc,
              "info() -> a dictionary: what frames are analysed on, and the model's state");

static PyObject *
engine_info (PyObject *object, PyObject *args)
{
  Engine *self = (Engine *) object;
  CclInfo info;

  if (!is_open (self, true))
    return NULL;
  if (self->analyzer)
    ccl_analyzer_info (self->analyzer, &info);
  else if (self->batch)
    ccl_batch_info (self->batch, &info);
  else
    ccl_volume_info (self->volume, &info);
  return Py_BuildValue (
      "{s:s,s:s,s:s,s:i,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:I,s:I,s:O,s:O}", "backend",
      ccl_backend_name (info.backend), "algorithm", info.algorithm, "device_name", info.device_name,
      "device", info.device, "allocations", (unsigned long long) info.allocations, "bytes",
      (unsigned long long) info.bytes, "starts", (unsigned long long) info.motion.starts,
      "foreground", (unsigned long long) info.motion.foreground, "relit",
      (unsigned long long) info.motion.relit, "aligned", (unsigned long long) info.motion.aligned,
      "flickered", (unsigned long long) info.motion.flickered, "veil", info.motion.veil,
      "displaced", info.motion.displaced, "waves", info.motion.waves ? Py_True : Py_False,
      "light_change", info.motion.light_change ? Py_True : Py_False);
}

static PyMethodDef engine_methods[] = {
  { "run", engine_run_method, METH_VARARGS, run_doc },
  { "set", (PyCFunction) (void (*) (void)) engine_set, METH_VARARGS | METH_KEYWORDS, set_doc },
  { "mask", engine_mask, METH_VARARGS, mask_doc },
  { "background", engine_background, METH_NOARGS, background_doc },
  { "reset", engine_reset, METH_NOARGS, reset_doc },
  { "info", engine_info, METH_NOARGS, info_doc },
  { NULL, NULL, 0, NULL },
};

static PyType_Slot engine_slots[] = {
  { Py_tp_new, engine_new },
  { Py_tp_dealloc, engine_dealloc },
  { Py_tp_methods, engine_methods },
  { Py_tp_doc, "An analyzer that follows the shape of its arrays." },
  { 0, NULL },
};

static PyType_Spec engine_spec = {
  .name = "cudaccl._engine.Engine",
  .basicsize = sizeof (Engine),
  .flags = Py_TPFLAGS_DEFAULT,
  .slots = engine_slots,
};

int
engine_register (PyObject *module)
{
  PyObject *type = PyType_FromModuleAndSpec (module, &engine_spec, NULL);

  return type ? PyModule_AddObjectRef (module, "Engine", type) : -1;
}
