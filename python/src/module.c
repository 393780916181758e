/* cudaccl - Python: the extension module
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine.h"
#include "regions.h"

#include <cudaccl/mask.h>

PyDoc_STRVAR (clean_doc,
              "clean(mask, out, operations, connectivity, threads, threshold) -> memory or out\n\n"
              "Applies operations to a mask.");

static PyObject *
clean (PyObject *module, PyObject *args)
{
  PyObject *input, *output, *result = NULL;
  CclOperation operations[CCL_MAX_OPERATIONS];
  CclMorphology *morphology = NULL;
  CclMask mask = { NULL };
  Array array, out = { .device = -1 };
  Number connectivity = { "connectivity", 0, UINT32_MAX, 0 };
  Number threads = { "threads", 0, UINT32_MAX, 0 };
  Number threshold = { "threshold", 0, UINT8_MAX, 0 };
  uint32_t n, width = 0, height = 0;
  size_t stride, out_stride;
  const char *text;
  CclStatus status;

  if (!PyArg_ParseTuple (args, "OOsO&O&O&:clean", &input, &output, &text, number_convert,
                         &connectivity, number_convert, &threads, number_convert, &threshold))
    return NULL;
  if (array_get (&array, input, "the mask", false, Py_None) != 0 ||
      array_check_mask (&array, &stride) != 0)
    goto done;
  result = output != Py_None
               ? Py_NewRef (output)
               : (PyObject *) memory_new (2, array.shape, array.kind == 'b' ? '?' : 'B', 1);
  if (!result || array_get (&out, result, "out", true, Py_None) != 0 ||
      array_check_mask (&out, &out_stride) != 0)
    goto fail;
  height = (uint32_t) array.shape[0];
  width = (uint32_t) array.shape[1];
  if (out.shape[0] != array.shape[0] || out.shape[1] != array.shape[1]) {
    PyErr_SetString (PyExc_ValueError,
                     "out has another shape than the mask; it must have the same");
    goto fail;
  }
  Py_BEGIN_ALLOW_THREADS;
  status = ccl_operations_parse (text, operations, &n);
  if (status == CCL_OK)
    status = ccl_mask_alloc (width, height, &mask);
  if (status == CCL_OK)
    status = ccl_morphology_new (width, height, (unsigned) connectivity.value, operations, n,
                                 (unsigned) threads.value, &morphology);
  if (status == CCL_OK)
    status = ccl_mask_pack (&mask, array.data, stride, (uint8_t) threshold.value, false);
  if (status == CCL_OK)
    status = ccl_morphology_apply (morphology, &mask);
  if (status == CCL_OK)
    status = ccl_mask_unpack (&mask, out.data, out_stride, out.kind == 'b' ? 1 : 255);
  ccl_morphology_free (morphology);
  ccl_mask_free (&mask);
  Py_END_ALLOW_THREADS;
  if (status == CCL_OK)
    goto done;
  fail_with_status (status);

fail:
  Py_CLEAR (result);
done:
  array_release (&out);
  array_release (&array);
  return result;
}

PyDoc_STRVAR (location_doc, "device_of(array) -> the CUDA device that it is on, or -1");

static PyObject *
device_of (PyObject *module, PyObject *object)
{
  Array array;
  PyObject *result = NULL;

  if (array_get (&array, object, "the array", false, Py_None) == 0)
    result = PyLong_FromLong (array.device);
  array_release (&array);
  return result;
}

PyDoc_STRVAR (trim_doc,
              "trim()\n\nGives memory that waits for the next result back to the system.");

static PyObject *
trim (PyObject *module, PyObject *args)
{
  memory_trim ();
  Py_RETURN_NONE;
}

PyDoc_STRVAR (
    devices_doc,
    "cuda_device_count() -> the number of CUDA devices; 0 without driver or CUDA backend");

static PyObject *
cuda_device_count (PyObject *module, PyObject *args)
{
  int count;

  Py_BEGIN_ALLOW_THREADS;
  count = ccl_cuda_device_count ();
  Py_END_ALLOW_THREADS;
  return PyLong_FromLong (count);
}

PyDoc_STRVAR (
    measure_doc,
    "measure(labels, intensity, parts, row, column) -> tables of the regions of a label map");
PyDoc_STRVAR (rename_doc, "rename(labels, table) -> a label map with table[label]");
PyDoc_STRVAR (trace_doc, "trace(labels, diagonal) -> outlines of the regions and their points");

static PyMethodDef methods[] = {
  { "measure", regions_measure, METH_VARARGS, measure_doc },
  { "rename", regions_rename, METH_VARARGS, rename_doc },
  { "trace", regions_trace, METH_VARARGS, trace_doc },
  { "clean", clean, METH_VARARGS, clean_doc },
  { "device_of", device_of, METH_O, location_doc },
  { "trim", trim, METH_NOARGS, trim_doc },
  { "cuda_device_count", cuda_device_count, METH_NOARGS, devices_doc },
  { NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
  PyModuleDef_HEAD_INIT, .m_name = "_engine",  .m_doc = "The engine: see the package cudaccl.",
  .m_size = -1,          .m_methods = methods,
};

PyMODINIT_FUNC PyInit__engine (void);

PyMODINIT_FUNC
PyInit__engine (void)
{
  PyObject *module = PyModule_Create (&definition);

  if (!module || memory_register (module) != 0 || engine_register (module) != 0 ||
      PyModule_AddStringConstant (module, "version", PACKAGE_VERSION) != 0) {
    Py_XDECREF (module);
    return NULL;
  }
  return module;
}
