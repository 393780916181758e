/* cudaccl - Python: an engine, and one call of it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_PYTHON_RUN_H
#define CCL_PYTHON_RUN_H

#include "engine.h"
#include "records.h"

#include <cudaccl/batch.h>
#include <cudaccl/mask.h>
#include <cudaccl/volume.h>

/* The kind of an array. */
typedef enum Kind
{
  KIND_FRAMES = 0, /* one, or a batch */
  KIND_VOLUME,
  KIND_GRAY, /* of a camera: luma */
  KIND_BGR,
  KIND_RGB,
  KIND_NV12, /* luma, and below it chroma */
} Kind;

typedef struct Engine
{
  PyObject_HEAD Kind kind;
  CclConfig config;
  CclMotionConfig motion;
  CclOperation operations[CCL_MAX_OPERATIONS];
  CclParams params;
  char *include, *exclude; /* polygons, or NULL */
  CclBackend backend;      /* as the caller wants it; config has the one in use */
  int device;              /* likewise */
  bool all;                /* the capacity grows with the result */
  unsigned features;       /* Features */
  char *algorithm;         /* NULL: the backend's best */
  bool busy;               /* a thread is at work, without the GIL */
  /* One of these, for the geometry that config has: */
  CclAnalyzer *analyzer;
  CclBatch *batch; /* of frames on a CUDA device, or that threads share */
  CclVolume *volume;
  uint32_t depth; /* of the volume; of the batch: frames */
} Engine;

/* Where the labels go, or the areas of pixels' components; data NULL: they are not wanted. */
typedef struct Plane
{
  uint8_t *data;
  size_t stride, step; /* bytes from row to row, from frame to frame */
  CclMemory memory;
} Plane;

/* One call. */
typedef struct Run
{
  uint32_t width, height;
  uint32_t n;   /* frames or slices */
  bool batched; /* the result has a list of components for each frame */
  CclImage *images;
  CclChroma chroma;
  Plane labels, areas;
  uint8_t *records;
  size_t used, room; /* records */
  size_t record_size;
  uint32_t *counts, *found; /* [n] */
  uint32_t highest;         /* class of a volume */
} Run;

/* The bytes of a component with these features. */
size_t engine_record_size (unsigned features);

/* Analyses the run's array with the backend, on the device, -1: none; opens the engine if it has to
 * be another one. Allocates the run's records. */
CclStatus engine_run (Engine *self, Run *run, CclBackend backend, int device);

void engine_close (Engine *self);

#endif
