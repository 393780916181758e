/* cudaccl - the interface of the engine's backends
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_BACKEND_H
#define CCL_BACKEND_H

#include "engine/account.h"
#include "engine/mask/cleaning.h"
#include "engine/shared/crop.h"
#include "engine/shared/cut.h"
#include "engine/shared/signature.h"
#include "engine/error.h"
#include "engine/motion/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fields of a component of a volume beyond those of a component of a frame that consists of all
 * slices, one below the other. */
typedef struct CclSlices
{
  uint64_t sum_y, sum_z;
  uint32_t y, height; /* rows of a slice */
  uint32_t z, depth;
  uint32_t first_y;
  uint32_t value; /* with CCL_VALUES_EQUAL, else 0 */
} CclSlices;

/* Frames of one size in device memory that are to be analysed as one: below each other, with a row
 * of background under each. */
typedef struct CclStack
{
  const CclImage *images; /* [n] */
  uint32_t n, frames;     /* the number and the capacity; missing ones are background */
  uint32_t height;        /* of one */
  uint8_t fill;           /* a pixel of background */
  bool all_set;           /* every pixel of an image becomes 1 */
} CclStack;

/* The label maps of stacked frames in device memory. */
typedef struct CclUnstack
{
  const uint32_t *result_labels; /* [count] of the stack's components, each in its frame, or 0 */
  uint32_t count;
  uint32_t n; /* frames */
  uint32_t *labels;
  size_t stride, step; /* bytes from row to row, from frame to frame */
} CclUnstack;

/* The part of an analyzer that all backends share; a backend's own session begins with it. */
typedef struct CclSession
{
  CclConfig config; /* checked; max_components no more than the frame can hold. The region is there
                     * only for open(); operations and motion point at the caller's until then, so
                     * use: */
  CclOperation operations[CCL_MAX_OPERATIONS]; /* [config.n_operations] */
  CclCleaning cleaning;                        /* which of them */
  CclModel model;                              /* with config.motion */
  const CclAlgorithm *algorithm;
  CclAccount account;
  CclTiming timing;
  CclUpdates updates;
  CclShape *shapes;      /* [config.max_components] with config.shapes; of the last frame */
  uint16_t *values;      /* [config.max_components] with CCL_VALUES_EQUAL; likewise */
  CclCut cut;            /* of the frame that is submitted */
  int device;            /* -1 on the CPU */
  uint32_t slices;       /* of a volume, of config.height / slices rows each; 0: a frame. With
                          * them, config.connectivity is 6, 18 or 26 */
  uint32_t frame_height; /* of stacked frames, with a row of background under each; 0: one frame.
                          * Operations and the region apply to each of them: a backend with stack()
                          * sees to that, with others the frames are clean already */
  char device_name[256];
  const char *upload; /* CclInfo.upload; NULL: none */
  bool labels_first; /* set by open(): config.features applies, since the algorithm labels pixels */
} CclSession;

/* Draws crops of frames in device memory. */
typedef struct CclDeviceCropper CclDeviceCropper;

/* A backend. Functions that fail report the reason with ccl_fail(). */
typedef struct CclBackendClass
{
  CclBackend id;
  /* Whether an algorithm, for frames or for volumes, supports CCL_VALUES_EQUAL. */
  bool (*has_classes) (const CclAlgorithm *algorithm);
  /* The number of devices it can run on; with 0, the reason is reported. */
  int (*device_count) (void);
  /* The algorithms, the best first; NULL past the last. */
  const CclAlgorithm *(*algorithm) (size_t index);
  /* Whether @name is an algorithm, for frames or for volumes, that an option of the build has left
   * out; NULL if there are none. */
  bool (*lacks) (const char *name, bool volumes);
  /* Makes a session, a copy of @wanted with all the memory that it will ever need. @wanted has its
   * config, algorithm and slices set. */
  CclStatus (*open) (const CclSession *wanted, CclSession **session);
  /* Begins a frame; with config.motion, it does session->model.step to the model. On failure the
   * model is as before, or unusable. */
  CclStatus (*submit) (CclSession *session, const CclImage *image, const CclParams *params);
  CclStatus (*collect) (CclSession *session, CclComponents *components);
  /* Cleans the mask of the frame collected last with the chain for small objects, and returns their
   * components, in the memory of the former ones; only if session->cleaning has it. */
  CclStatus (*collect_small) (CclSession *session, const CclParams *params,
                              CclComponents *components);
  /* The label map of the frame collected last; only with config.labels. */
  CclStatus (*labels) (CclSession *session, CclLabels *labels);
  /* The same, written to the caller's memory. */
  CclStatus (*write_labels) (CclSession *session, uint32_t *labels, size_t stride,
                             CclMemory memory);
  /* Its mask, with config.mask, its shadows, with config.motion->shadows, and the background after
   * the frame submitted last, with config.motion. */
  CclStatus (*mask) (CclSession *session, CclMask *mask);
  CclStatus (*shadows) (CclSession *session, CclMask *shadows);
  CclStatus (*background) (CclSession *session, uint8_t *pixels, size_t stride);
  /* The signatures of checked boxes in that frame; only with config.signatures. */
  CclStatus (*signatures) (CclSession *session, const CclBox *boxes, uint32_t n,
                           CclSignature *signatures);
  /* ccl_analyzer_paint(); NULL: from the label map. */
  void (*paint) (CclSession *session, const CclPalette *palette, uint8_t *pixels, size_t stride);
  void (*close) (CclSession *session);
  /* The algorithms for volumes, as algorithm(), and what the @count components of the volume
   * collected last have beyond those of frames; NULL if the backend has no volumes. */
  const CclAlgorithm *(*volume_algorithm) (size_t index);
  CclStatus (*slices) (CclSession *session, uint32_t count, const CclSlices **slices);
  /* Enqueues the stacking of frames into one image of the session's size, for the next submit();
   * NULL without device memory. */
  CclStatus (*stack) (CclSession *session, const CclStack *stack, CclImage *image);
  /* Writes the label maps of stacked frames to device memory; NULL without it. */
  CclStatus (*unstack) (CclSession *session, const CclUnstack *unstack);
  /* Pinned memory; NULL if the backend has none. */
  CclStatus (*pinned_alloc) (int device, size_t size, void **memory);
  void (*pinned_free) (int device, void *memory);
  /* The context that sessions on @device use by default; NULL if the backend has none. */
  CclStatus (*primary_context) (int device, void **context);
  /* Waits for a stream of that context; NULL likewise. */
  CclStatus (*synchronize) (int device, void *stream);
  /* Crops of frames in device memory, all NULL if the backend has none. open() counts allocations,
   * then and later, in @account; draw() is as ccl_cropper_draw(), with @task checked, which it may
   * change. */
  CclStatus (*cropper_open) (const CclCropperConfig *config, CclAccount *account,
                             CclDeviceCropper **cropper);
  CclStatus (*cropper_draw) (CclDeviceCropper *cropper, const CclImage *image, CclCropTask *task,
                             const uint8_t **picture);
  void (*cropper_close) (CclDeviceCropper *cropper);
} CclBackendClass;

extern const CclBackendClass ccl_backend_cpu;
extern const CclBackendClass ccl_backend_cpu_volumes; /* only volumes */
#ifdef HAVE_CUDA
extern const CclBackendClass ccl_backend_cuda;
#endif

/* Whether a configuration with these fields allows the backend @id. A device or a context asks for
 * CUDA. */
static inline bool
ccl_backend_is_allowed (CclBackend wanted, int device, const void *cuda_context, CclBackend id)
{
  if (wanted == CCL_BACKEND_AUTO)
    return (device < 0 && !cuda_context) || id != CCL_BACKEND_CPU;
  return wanted == id;
}

/* Checks that a box is not empty and inside of a frame. */
CclStatus ccl_check_box (const CclBox *box, uint32_t width, uint32_t height);

/* Checks that @image is valid for frames of this width, in any memory. */
CclStatus ccl_check_image (const CclImage *image, uint32_t width);

/* The same for frames of classes, of bytes or 16-bit samples. */
CclStatus ccl_check_classes (const CclImage *image, uint32_t width);

/* Checks @config's operations and region, for frames of @height rows. */
CclStatus ccl_check_cleaning (const CclConfig *config, uint32_t height);

/* As ccl_analyzer_new(). @frame_height: see CclSession. */
CclStatus ccl_analyzer_open (const CclConfig *config, uint32_t frame_height,
                             CclAnalyzer **analyzer);

/* CclBackendClass.stack() and unstack() of an analyzer's backend. */
CclStatus ccl_analyzer_stack (CclAnalyzer *analyzer, const CclStack *stack, CclImage *image);
CclStatus ccl_analyzer_unstack (CclAnalyzer *analyzer, const CclUnstack *unstack);

/* Checks where label maps of rows of @width go, by a backend. */
CclStatus ccl_check_labels (const uint32_t *labels, uint32_t width, size_t stride, CclMemory memory,
                            CclBackend backend);

/* The 4 bytes of a label's value. */
static inline const uint8_t *
ccl_palette_value (const CclPalette *palette, uint32_t label)
{
  if (label >= palette->n)
    label = palette->repeats ? (label - 1) % (palette->n - 1) + 1 : palette->n - 1;
  return palette->values + 4 * (size_t) label;
}

/* The slots of a row in tables with one entry per run: runs cannot touch, so half its pixels. */
static inline uint32_t
ccl_runs_per_row (uint32_t width)
{
  return width / 2 + width % 2;
}

#ifdef __cplusplus
}
#endif

#endif
