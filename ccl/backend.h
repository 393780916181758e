/* cudaccl - what a backend of the engine implements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_BACKEND_H
#define CCL_BACKEND_H

#include "ccl/ccl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Allocations of any kind of memory, so that a test can assert that a frame makes none. */
typedef struct CclAccount
{
  uint64_t allocations;
  uint64_t bytes;
} CclAccount;

/* What a component of a volume has beside what it has as one of a frame, in which the slices' rows
 * follow each other. */
typedef struct CclSlices
{
  uint64_t sum_y, sum_z;
  uint32_t y, height; /* rows of a slice */
  uint32_t z, depth;
  uint32_t first_y;
  uint32_t reserved; /* 0 */
} CclSlices;

/* Frames of one size in device memory that are to be analysed as one: below each other, with a row
 * of background under each. */
typedef struct CclStack
{
  const CclImage *images; /* [n] */
  uint32_t n, frames;     /* those that are there, and the most; the others are background */
  uint32_t height;        /* of one */
  uint8_t fill;           /* a pixel of background */
  bool all_set;           /* every pixel of an image becomes 1 */
} CclStack;

/* The part of an analyzer that the front knows; a backend's own session begins with it. */
typedef struct CclSession
{
  CclConfig config; /* checked; max_components no more than the frame can hold */
  const CclAlgorithm *algorithm;
  CclAccount account;
  CclTiming timing;
  CclUpdates updates;
  int device;      /* -1 on the CPU */
  uint32_t slices; /* of a volume, of config.height / slices rows each; 0: a frame */
  char device_name[256];
  bool labels_first; /* open() says so: config.features is how features follow from labels */
} CclSession;

/* A backend. Functions that fail leave their reason with ccl_fail(). */
typedef struct CclBackendClass
{
  CclBackend id;
  /* The number of devices it can run on; 0 leaves a reason. */
  int (*device_count) (void);
  /* The algorithms, the best first; NULL past the last. */
  const CclAlgorithm *(*algorithm) (size_t index);
  /* Makes a session with all the memory that it will ever need. On entry session->config and
   * session->algorithm are set by ccl_session_init(). */
  CclStatus (*open) (const CclSession *wanted, CclSession **session);
  CclStatus (*submit) (CclSession *session, const CclImage *image, const CclParams *params);
  CclStatus (*collect) (CclSession *session, CclComponents *components);
  /* The label map of the frame collected last; only with config.labels. */
  CclStatus (*labels) (CclSession *session, CclLabels *labels);
  void (*close) (CclSession *session);
  /* The algorithms for volumes, as algorithm(), and what the @count components of the volume
   * collected last have in common with no frame's; NULL where there are none. */
  const CclAlgorithm *(*volume_algorithm) (size_t index);
  CclStatus (*slices) (CclSession *session, uint32_t count, const CclSlices **slices);
  /* Enqueues what makes one image of a stack, of the session's size, which submit() may take next;
   * NULL where there is no device memory. */
  CclStatus (*stack) (CclSession *session, const CclStack *stack, CclImage *image);
  /* Page-locked memory; NULL where there is no such thing. */
  CclStatus (*pinned_alloc) (int device, size_t size, void **memory);
  void (*pinned_free) (int device, void *memory);
} CclBackendClass;

extern const CclBackendClass ccl_backend_cpu;
#ifdef HAVE_CUDA
extern const CclBackendClass ccl_backend_cuda;
#endif

/* Leaves a message for ccl_last_error() and returns @status. */
CclStatus ccl_fail (CclStatus status, const char *format, ...)
    __attribute__ ((format (printf, 2, 3)));

/* Whether @image is one of that width, wherever it is. */
CclStatus ccl_check_image (const CclImage *image, uint32_t width);

/* CclBackendClass.stack() of an analyzer's backend. */
CclStatus ccl_analyzer_stack (CclAnalyzer *analyzer, const CclStack *stack, CclImage *image);

/* malloc() of @count times @size bytes that is counted; NULL leaves a reason naming @what. */
void *ccl_account_malloc (CclAccount *account, uint64_t count, size_t size, const char *what);

/* The slots of a row in tables with one entry a run: runs can't touch, so half its pixels. */
static inline uint32_t
ccl_runs_per_row (uint32_t width)
{
  return width / 2 + width % 2;
}

#ifdef __cplusplus
}
#endif

#endif
