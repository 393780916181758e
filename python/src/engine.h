/* cudaccl - Python: what the parts of the extension share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_PYTHON_ENGINE_H
#define CCL_PYTHON_ENGINE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cudaccl/ccl.h>

#define MAX_DIMENSIONS 4

/* An array of the caller. */
typedef struct Array
{
  Py_buffer buffer;
  bool has_buffer;
  struct DLManagedTensor *tensor; /* owned; NULL if the array came without DLPack */
  uint8_t *data;
  int ndim;
  Py_ssize_t shape[MAX_DIMENSIONS], strides[MAX_DIMENSIONS]; /* strides in bytes */
  char kind; /* of an element: b(oolean), u(nsigned), i(nteger), f(loat), or ? */
  Py_ssize_t itemsize;
  bool readonly;
  int device;       /* a CUDA device's number, -1: host memory */
  bool pinned;      /* host memory that the device can read */
  uintptr_t stream; /* on which the array becomes ready: a cudaStream_t; 0: it is ready */
} Array;

/* Gets an array through the buffer protocol, __cuda_array_interface__ or DLPack, without a copy.
 * @what names it in errors. @stream: None, or the cudaStream_t as a number on which device memory
 * becomes ready. Release it with array_release(), also after an error. Needs the GIL. */
int array_get (Array *self, PyObject *object, const char *what, bool writable, PyObject *stream);
void array_release (Array *self);

/* Checks that an array is a mask in host memory that the engine reads in place; gets its stride. */
int array_check_mask (const Array *self, size_t *stride);

/* Checks that the rows have no gaps from axis @columns on, and are at least @row_bytes apart. */
int array_check_rows (const Array *self, int columns, Py_ssize_t row_bytes, const char *what);
/* Checks the elements; @advice says what to pass. */
int array_check_type (const Array *self, const char *kinds, Py_ssize_t itemsize, const char *what,
                      const char *advice);
/* The bytes from row to row, where axis @rows has them. */
size_t array_stride (const Array *self, int rows, Py_ssize_t row_bytes);

/* "(1080, 1920)", for errors; new reference. */
PyObject *array_shape (const Array *self);

/* An integer argument: its name and range, and the value, two's complement where it is negative. */
typedef struct Number
{
  const char *name;
  long long min;
  unsigned long long max;
  unsigned long long value;
} Number;

/* For O& of PyArg_Parse: every integer from outside comes in this way, since I, K, H and b wrap
 * around or stop short. Takes objects with __index__; ValueError beyond the range. */
int number_convert (PyObject *object, void *number);

/* Memory of a result, which implements the buffer protocol. Blocks are used again. */
typedef struct Memory
{
  PyObject_HEAD void *data;
  size_t capacity;
  unsigned uses; /* of the block */
  int ndim;
  Py_ssize_t shape[MAX_DIMENSIONS], strides[MAX_DIMENSIONS];
  Py_ssize_t itemsize;
  char format[2];
} Memory;

/* Makes memory of this shape; @format is one of struct's characters. NULL with an exception. */
Memory *memory_new (int ndim, const Py_ssize_t *shape, char format, Py_ssize_t itemsize);
/* Gives all unused blocks back to the system. */
void memory_trim (void);
int memory_register (PyObject *module);

int engine_register (PyObject *module);

/* Raises the exception for @status with ccl_last_error(); returns NULL. */
void *fail_with_status (CclStatus status);

#endif
