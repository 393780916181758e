/* cudaccl - Python: memory of results
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pages of fresh memory cost more than the analysis. So a few blocks wait for the next result, and
 * repeated calls of one shape allocate none. Large blocks that come back a second time get large
 * pages, which are faster to write; for fresh memory these would take longer than small ones. The
 * GIL protects the list. */

#include "engine.h"

#include <stdlib.h>
#include <sys/mman.h>

#if defined __linux__ && !defined MADV_COLLAPSE
#define MADV_COLLAPSE 25 /* Linux 6.1; older ones refuse it */
#endif

#define MAX_BLOCKS 8
#define MAX_KEPT ((size_t) 256 << 20)
#define LARGE_PAGE ((size_t) 2 << 20)
#define LARGE_BLOCK (2 * LARGE_PAGE)
#define USES_TO_COLLAPSE 3

static struct
{
  void *data;
  size_t capacity;
  unsigned uses;
} blocks[MAX_BLOCKS];
static size_t kept; /* bytes */
static PyTypeObject *memory_type;

static void *
allocate (size_t size)
{
  if (size < LARGE_BLOCK || size > SIZE_MAX - LARGE_PAGE)
    return malloc (size > 0 ? size : 1);
  return aligned_alloc (LARGE_PAGE, (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE);
}

static void
use_block (void *data, size_t capacity, unsigned *uses)
{
#ifdef MADV_COLLAPSE
  if (++*uses == USES_TO_COLLAPSE && capacity >= LARGE_BLOCK)
    madvise (data, capacity / LARGE_PAGE * LARGE_PAGE, MADV_COLLAPSE); /* a hint: it may fail */
#endif
}

static void *
take_block (size_t size, size_t *capacity, unsigned *uses)
{
  for (int i = 0; i < MAX_BLOCKS; i++) {
    void *data = blocks[i].data;

    if (!data || blocks[i].capacity < size || blocks[i].capacity / 2 > size)
      continue;
    *capacity = blocks[i].capacity;
    kept -= *capacity;
    *uses = blocks[i].uses;
    use_block (data, *capacity, uses);
    blocks[i].data = NULL;
    return data;
  }
  *capacity = size;
  *uses = 1;
  return allocate (size);
}

static void
give_block (void *data, size_t capacity, unsigned uses)
{
  for (int i = 0; data && i < MAX_BLOCKS && kept + capacity <= MAX_KEPT; i++) {
    if (blocks[i].data)
      continue;
    blocks[i].data = data;
    blocks[i].capacity = capacity;
    blocks[i].uses = uses;
    kept += capacity;
    return;
  }
  free (data);
}

void
memory_trim (void)
{
  for (int i = 0; i < MAX_BLOCKS; i++) {
    free (blocks[i].data);
    blocks[i].data = NULL;
  }
  kept = 0;
}

Memory *
memory_new (int ndim, const Py_ssize_t *shape, char format, Py_ssize_t itemsize)
{
  Memory *self = PyObject_New (Memory, memory_type);
  size_t size = (size_t) itemsize;
  bool fits = true;

  if (!self)
    return NULL;
  self->data = NULL;
  self->ndim = ndim;
  self->itemsize = itemsize;
  self->format[0] = format;
  self->format[1] = 0;
  for (int i = ndim - 1; i >= 0; i--) {
    self->shape[i] = shape[i];
    self->strides[i] = (Py_ssize_t) size;
    fits &= !__builtin_mul_overflow (size, (size_t) shape[i], &size) && size <= PY_SSIZE_T_MAX;
  }
  if (fits)
    self->data = take_block (size, &self->capacity, &self->uses);
  if (!self->data) {
    Py_DECREF (self);
    return (Memory *) PyErr_NoMemory ();
  }
  return self;
}

static void
memory_dealloc (PyObject *object)
{
  Memory *self = (Memory *) object;
  PyTypeObject *type = Py_TYPE (object);

  give_block (self->data, self->capacity, self->uses);
  PyObject_Free (object);
  Py_DECREF (type);
}

static int
memory_get_buffer (PyObject *object, Py_buffer *view, int flags)
{
  Memory *self = (Memory *) object;
  Py_ssize_t size = self->itemsize;

  for (int i = 0; i < self->ndim; i++)
    size *= self->shape[i];
  *view = (Py_buffer){
    .buf = self->data,
    .obj = Py_NewRef (object),
    .len = size,
    .itemsize = self->itemsize,
    .ndim = flags & PyBUF_ND ? self->ndim : 1,
    .format = flags & PyBUF_FORMAT ? self->format : NULL,
    .shape = flags & PyBUF_ND ? self->shape : NULL,
    .strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? self->strides : NULL,
  };
  return 0;
}

static PyType_Slot memory_slots[] = {
  { Py_tp_dealloc, memory_dealloc },
  { Py_bf_getbuffer, memory_get_buffer },
  { Py_tp_doc, "Memory of a result, for the buffer protocol." },
  { 0, NULL },
};

static PyType_Spec memory_spec = {
  .name = "cudaccl._engine.Memory",
  .basicsize = sizeof (Memory),
  .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
  .slots = memory_slots,
};

int
memory_register (PyObject *module)
{
  memory_type = (PyTypeObject *) PyType_FromModuleAndSpec (module, &memory_spec, NULL);
  return memory_type ? PyModule_AddType (module, memory_type) : -1;
}
