/* cudaccl - Python: integer arguments
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine.h"

int
number_convert (PyObject *object, void *number)
{
  Number *self = number;
  PyObject *index = PyNumber_Index (object);
  int overflow = 0;
  long long value;
  bool in_range;

  if (!index)
    return 0;
  value = PyLong_AsLongLongAndOverflow (index, &overflow);
  self->value = (unsigned long long) value;
  in_range = overflow == 0 && value >= self->min && (value < 0 || self->value <= self->max);
  if (overflow > 0) {
    self->value = PyLong_AsUnsignedLongLong (index);
    in_range = !PyErr_Occurred () && self->value <= self->max;
    PyErr_Clear ();
  }
  if (!in_range)
    PyErr_Format (PyExc_ValueError, "%s is %S; it is %lld to %llu", self->name, index, self->min,
                  self->max);
  Py_DECREF (index);
  return in_range;
}
