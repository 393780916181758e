/* cudaccl - Python: arrays of the caller
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* DLPack 0.x, which all libraries speak: the part of dlpack.h that is needed. */
enum
{
  DL_CPU = 1,
  DL_CUDA = 2,
  DL_CUDA_HOST = 3,
  DL_CUDA_MANAGED = 13,
};

typedef struct DLTensor
{
  void *data;
  struct
  {
    int32_t type, id;
  } device;
  int32_t ndim;
  struct
  {
    uint8_t code, bits;
    uint16_t lanes;
  } dtype;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} DLTensor;

struct DLManagedTensor
{
  DLTensor tensor;
  void *context;
  void (*deleter) (struct DLManagedTensor *self);
};

#define MAX_EXTENT ((Py_ssize_t) 1 << 48) /* bytes; more than any address space for programs */
#define LEGACY_STREAM 1                   /* cudaStreamLegacy, also in both protocols */

static int
fail_dimensions (const char *what, int ndim)
{
  PyErr_Format (PyExc_ValueError,
                "%s has %d dimensions; pass (height, width), a batch (n, height, width) or (n, 1, "
                "height, width), or a volume (depth, height, width)",
                what, ndim);
  return -1;
}

static char
kind_of_format (const char *format)
{
  if (!format)
    return 'u';
  if (*format == '@' || *format == '=' || *format == '<' || *format == '|')
    format++;
  if (strcmp (format, "?") == 0)
    return 'b';
  if (format[0] && !format[1]) {
    if (strchr ("BHILQN", *format))
      return 'u';
    if (strchr ("bhilqn", *format))
      return 'i';
    if (strchr ("efd", *format))
      return 'f';
  }
  return '?';
}

static int
get_buffer (Array *self, PyObject *object, const char *what, bool writable)
{
  const Py_buffer *buffer = &self->buffer;

  if (PyObject_GetBuffer (object, &self->buffer, PyBUF_RECORDS_RO) != 0)
    return -1;
  self->has_buffer = true;
  self->data = buffer->buf;
  self->readonly = buffer->readonly;
  self->ndim = buffer->ndim;
  if (self->ndim > MAX_DIMENSIONS)
    return fail_dimensions (what, self->ndim);
  for (int i = 0; i < self->ndim; i++) {
    self->shape[i] = buffer->shape[i];
    self->strides[i] = buffer->strides[i];
  }
  self->kind = kind_of_format (buffer->format);
  self->itemsize = buffer->itemsize;
  return 0;
}

static int
fail_extent (const char *what)
{
  PyErr_Format (PyExc_ValueError,
                "%s has a shape or strides that no memory has; its sizes are at least 0, and it "
                "spans at most 2**48 bytes",
                what);
  return -1;
}

/* The strides of an array without gaps. */
static int
fill_strides (Array *self, const char *what)
{
  Py_ssize_t stride = self->itemsize;

  for (int i = self->ndim - 1; i >= 0; i--) {
    self->strides[i] = stride;
    if (self->shape[i] < 0 || __builtin_mul_overflow (stride, self->shape[i], &stride))
      return fail_extent (what);
  }
  return 0;
}

/* Checks what a foreign object says of its memory, before anything is computed from it. */
static int
check_extent (const Array *self, const char *what)
{
  const Py_ssize_t limit = MAX_EXTENT;
  Py_ssize_t low = 0, high = self->itemsize, span;
  bool empty = false;

  for (int i = 0; i < self->ndim; i++) {
    if (self->shape[i] < 0)
      return fail_extent (what);
    empty |= self->shape[i] == 0;
  }
  for (int i = 0; !empty && i < self->ndim; i++) {
    if (__builtin_mul_overflow (self->shape[i] - 1, self->strides[i], &span) || span > limit ||
        span < -limit)
      return fail_extent (what);
    *(span < 0 ? &low : &high) += span; /* few axes: the sums are far from overflow */
  }
  if (empty)
    return 0;
  if (high - low > limit)
    return fail_extent (what);
  if (!self->data) {
    PyErr_Format (PyExc_ValueError, "%s has no memory; its address is 0", what);
    return -1;
  }
  return 0;
}

/* Reads a tuple of numbers. */
static int
get_numbers (PyObject *tuple, Py_ssize_t *numbers, int n)
{
  for (int i = 0; i < n; i++) {
    PyObject *item = PySequence_GetItem (tuple, i);

    numbers[i] = item ? PyLong_AsSsize_t (item) : -1;
    Py_XDECREF (item);
    if (PyErr_Occurred ())
      return -1;
  }
  return 0;
}

/* Reads a CUDA stream. 0 is the default one as CUDA numbers it; the protocols have 1 for it. */
static int
get_stream (PyObject *object, uintptr_t *stream)
{
  Number number = { "stream", 0, UINTPTR_MAX, 0 };

  if (!number_convert (object, &number))
    return -1;
  *stream = number.value ? (uintptr_t) number.value : LEGACY_STREAM;
  return 0;
}

/* The device's number of an array that knows it by DLPack, else 0. */
static int
get_device (PyObject *object)
{
  PyObject *device = PyObject_CallMethod (object, "__dlpack_device__", NULL);
  Py_ssize_t numbers[2] = { 0, 0 };

  if (!device || get_numbers (device, numbers, 2) != 0 || numbers[1] < 0 || numbers[1] > INT_MAX) {
    PyErr_Clear ();
    numbers[1] = 0;
  }
  Py_XDECREF (device);
  return (int) numbers[1];
}

static int
read_cuda_interface (Array *self, PyObject *object, PyObject *dict, const char *what,
                     PyObject *stream)
{
  PyObject *shape = PyDict_GetItemString (dict, "shape");
  PyObject *type = PyDict_GetItemString (dict, "typestr");
  PyObject *data = PyDict_GetItemString (dict, "data");
  PyObject *strides = PyDict_GetItemString (dict, "strides");
  PyObject *ready = stream != Py_None ? stream : PyDict_GetItemString (dict, "stream");
  PyObject *address, *readonly;
  Py_ssize_t ndim;
  const char *text = type ? PyUnicode_AsUTF8AndSize (type, NULL) : NULL;
  char order, kind;
  int bytes;

  if (!shape || !text || !data || sscanf (text, "%c%c%9d", &order, &kind, &bytes) != 3 ||
      !strchr ("<>|=", order) || bytes < 1) {
    PyErr_Format (PyExc_TypeError, "%s has an incomplete __cuda_array_interface__", what);
    return -1;
  }
  ndim = PySequence_Size (shape);
  if (ndim < 0)
    return -1;
  if (ndim > MAX_DIMENSIONS)
    return fail_dimensions (what, ndim < INT_MAX ? (int) ndim : INT_MAX);
  self->ndim = (int) ndim;
  self->kind = order == '>' && bytes > 1 ? '?' : kind; /* devices have the other order */
  self->itemsize = bytes;
  if (get_numbers (shape, self->shape, self->ndim) != 0)
    return -1;
  if (!strides || strides == Py_None) {
    if (fill_strides (self, what) != 0)
      return -1;
  } else if (get_numbers (strides, self->strides, self->ndim) != 0) {
    return -1;
  }
  address = PySequence_GetItem (data, 0);
  readonly = PySequence_GetItem (data, 1);
  self->data = address ? PyLong_AsVoidPtr (address) : NULL;
  self->readonly = readonly && PyObject_IsTrue (readonly) == 1;
  Py_XDECREF (address);
  Py_XDECREF (readonly);
  /* Older versions of the protocol know no stream: wait for the default one. None: it is ready. */
  self->stream = ready ? 0 : LEGACY_STREAM;
  if (PyErr_Occurred () || (ready && ready != Py_None && get_stream (ready, &self->stream) != 0))
    return -1;
  self->device = get_device (object);
  return PyErr_Occurred () ? -1 : 0;
}

static int
check_device (Py_ssize_t type, const char *what)
{
  if (type == DL_CPU || type == DL_CUDA_HOST || type == DL_CUDA || type == DL_CUDA_MANAGED)
    return 0;
  PyErr_Format (PyExc_TypeError,
                "%s is on a device of kind %zd; move it to the CPU or to a CUDA device", what,
                type);
  return -1;
}

static int
read_tensor (Array *self, const DLTensor *tensor, const char *what)
{
  static const char kinds[] = { 'i', 'u', 'f', '?', '?', '?', 'b' };

  self->ndim = tensor->ndim;
  if (self->ndim < 0 || self->ndim > MAX_DIMENSIONS)
    return fail_dimensions (what, self->ndim);
  if ((self->ndim > 0 && !tensor->shape) || tensor->byte_offset > (uint64_t) MAX_EXTENT)
    return fail_extent (what);
  self->data = tensor->data ? (uint8_t *) tensor->data + tensor->byte_offset : NULL;
  self->kind = tensor->dtype.code < sizeof kinds ? kinds[tensor->dtype.code] : '?';
  self->itemsize = tensor->dtype.bits / 8 * tensor->dtype.lanes;
  for (int i = 0; i < self->ndim; i++)
    self->shape[i] = (Py_ssize_t) tensor->shape[i];
  if (fill_strides (self, what) != 0)
    return -1;
  for (int i = 0; tensor->strides && i < self->ndim; i++)
    if (__builtin_mul_overflow (tensor->strides[i], self->itemsize, &self->strides[i]))
      return fail_extent (what);
  self->pinned = tensor->device.type == DL_CUDA_HOST;
  if (tensor->device.type == DL_CUDA || tensor->device.type == DL_CUDA_MANAGED)
    self->device = tensor->device.id;
  return check_device (tensor->device.type, what);
}

/* The producer makes the array ready on the caller's stream, or else on the default one. */
static int
get_dlpack (Array *self, PyObject *object, const char *what, PyObject *stream)
{
  PyObject *device = PyObject_CallMethod (object, "__dlpack_device__", NULL);
  PyObject *method, *kwargs, *empty, *capsule = NULL;
  Py_ssize_t numbers[2];
  bool on_cuda;

  if (!device)
    return -1;
  if (get_numbers (device, numbers, 2) != 0) {
    Py_DECREF (device);
    return -1;
  }
  Py_DECREF (device);
  if (check_device (numbers[0], what) != 0)
    return -1;
  on_cuda = numbers[0] == DL_CUDA || numbers[0] == DL_CUDA_MANAGED;
  self->stream = !on_cuda ? 0 : LEGACY_STREAM;
  if (on_cuda && stream != Py_None && get_stream (stream, &self->stream) != 0)
    return -1;
  method = PyObject_GetAttrString (object, "__dlpack__");
  empty = PyTuple_New (0);
  kwargs = on_cuda ? Py_BuildValue ("{s:K}", "stream", (unsigned long long) self->stream) : NULL;
  if (method && empty && (kwargs || !on_cuda))
    capsule = PyObject_Call (method, empty, kwargs);
  Py_XDECREF (kwargs);
  Py_XDECREF (empty);
  Py_XDECREF (method);
  if (!capsule)
    return -1;
  /* A capsule is consumed once: its new name says so to others, and to its own destructor. */
  if (PyCapsule_IsValid (capsule, "dltensor")) {
    self->tensor = PyCapsule_GetPointer (capsule, "dltensor");
    if (PyCapsule_SetName (capsule, "used_dltensor") != 0)
      self->tensor = NULL;
  } else {
    PyErr_Format (PyExc_ValueError,
                  PyCapsule_IsValid (capsule, "used_dltensor")
                      ? "the capsule of %s was consumed before; __dlpack__ has to make a new one"
                      : "%s has a __dlpack__ that returns no capsule named dltensor",
                  what);
  }
  Py_DECREF (capsule);
  return self->tensor ? read_tensor (self, &self->tensor->tensor, what) : -1;
}

/* NULL without an exception if there is no such attribute. */
static PyObject *
get_optional (PyObject *object, const char *name)
{
  PyObject *value = PyObject_GetAttrString (object, name);

  if (!value && PyErr_ExceptionMatches (PyExc_AttributeError))
    PyErr_Clear ();
  return value;
}

static int
get_foreign (Array *self, PyObject *object, const char *what, PyObject *stream)
{
  PyObject *dict, *dlpack;
  int result = -1;

  dict = get_optional (object, "__cuda_array_interface__");
  /* PyTorch's says that a tensor is on the CPU, or needs a gradient, by an exception. */
  PyErr_Clear ();
  dlpack = get_optional (object, "__dlpack__");
  /* Only the newest version of the interface knows a stream. */
  if (dict && PyDict_Check (dict) &&
      (!dlpack || stream != Py_None || PyDict_GetItemString (dict, "stream"))) {
    result = read_cuda_interface (self, object, dict, what, stream);
  } else if (dlpack) {
    PyErr_Clear ();
    result = get_dlpack (self, object, what, stream);
    /* Older versions of PyTorch have no booleans in DLPack. */
    if (result != 0 && !self->tensor && dict && PyDict_Check (dict)) {
      PyErr_Clear ();
      result = read_cuda_interface (self, object, dict, what, stream);
    }
  } else if (!PyErr_Occurred ()) {
    PyErr_Format (PyExc_TypeError,
                  "%s is a %R; pass a NumPy array, a CuPy array, a PyTorch tensor, or another "
                  "object with the buffer protocol, __cuda_array_interface__ or __dlpack__",
                  what, (PyObject *) Py_TYPE (object));
  }
  Py_XDECREF (dict);
  Py_XDECREF (dlpack);
  return result;
}

int
array_get (Array *self, PyObject *object, const char *what, bool writable, PyObject *stream)
{
  int result;

  *self = (Array){ .device = -1 };
  /* CuPy's arrays have the buffer protocol, too, but it fails for device memory. */
  if (PyObject_CheckBuffer (object) && !PyObject_HasAttrString (object, "__cuda_array_interface__"))
    result = get_buffer (self, object, what, writable);
  else
    result = get_foreign (self, object, what, stream);
  if (result == 0)
    result = check_extent (self, what);
  if (result == 0 && writable && self->readonly) {
    PyErr_Format (PyExc_ValueError, "%s is read-only; pass an array that can be written", what);
    result = -1;
  }
  return result;
}

void
array_release (Array *self)
{
  if (self->has_buffer)
    PyBuffer_Release (&self->buffer);
  self->has_buffer = false;
  if (self->tensor) {
    PyObject *type, *value, *traceback;

    /* The deleter may run Python code, also while there is an exception. */
    PyErr_Fetch (&type, &value, &traceback);
    if (self->tensor->deleter)
      self->tensor->deleter (self->tensor);
    PyErr_Restore (type, value, traceback);
  }
  self->tensor = NULL;
}

PyObject *
array_shape (const Array *self)
{
  PyObject *tuple = PyTuple_New (self->ndim);

  for (int i = 0; tuple && i < self->ndim; i++)
    PyTuple_SetItem (tuple, i, PyLong_FromSsize_t (self->shape[i]));
  return tuple;
}

int
array_check_rows (const Array *array, int columns, Py_ssize_t row_bytes, const char *what)
{
  const Py_ssize_t *shape = array->shape, *strides = array->strides;
  int rows = columns - 1;
  Py_ssize_t step = array->itemsize;

  for (int i = array->ndim - 1; i > columns; i--) {
    if (shape[i] > 1 && strides[i] != step)
      goto gaps;
    step *= shape[i];
  }
  if ((shape[columns] > 1 && strides[columns] != step) ||
      (shape[rows] > 1 && strides[rows] < row_bytes))
    goto gaps;
  return 0;

gaps:
  PyErr_Format (
      PyExc_ValueError,
      "%s has strides that are negative, zero, or leave gaps between the pixels of a row; copy it "
      "with numpy.ascontiguousarray()",
      what);
  return -1;
}

int
array_check_type (const Array *array, const char *kinds, Py_ssize_t itemsize, const char *what,
                  const char *advice)
{
  if (strchr (kinds, array->kind) && array->itemsize == itemsize)
    return 0;
  PyErr_Format (PyExc_TypeError, "%s has elements of kind '%c' and %zd bytes; %s", what,
                array->kind, array->itemsize, advice);
  return -1;
}

size_t
array_stride (const Array *array, int rows, Py_ssize_t row_bytes)
{
  return array->shape[rows] > 1 ? (size_t) array->strides[rows] : (size_t) row_bytes;
}

int
array_check_mask (const Array *self, size_t *stride)
{
  if (array_check_type (self, "bu", 1, "the mask",
                        "masks are bool or uint8: pass mask != 0 or mask.astype('uint8')") != 0)
    return -1;
  if (self->ndim != 2 || self->device >= 0) {
    PyErr_SetString (PyExc_ValueError, "operations are for masks (height, width) in host memory");
    return -1;
  }
  if (self->shape[0] == 0 || self->shape[1] == 0 ||
      (double) self->shape[0] * self->shape[1] > UINT32_MAX) {
    PyErr_SetString (PyExc_ValueError, "masks have 1 to 2**32 - 1 pixels");
    return -1;
  }
  *stride = array_stride (self, 0, self->shape[1]);
  return array_check_rows (self, 1, self->shape[1], "the mask");
}
