/* cudaccl - CUDA backend: a session and its memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_SESSION_H
#define CCL_CUDA_SESSION_H

#include "cuda/frame.h"
#include "cuda/stages/batch.h"

#include <cuda.h>

enum
{
  EVENT_START,
  EVENT_UPLOADED,
  EVENT_ANALYSED,
  EVENT_DONE,
  EVENT_READY,  /* the caller's pixels */
  EVENT_RESULT, /* is there, on the device */
  N_EVENTS,
};

#define MAX_ALLOCATIONS 32
#define N_GRAPHS 16

/* The work on a frame, ready to be replayed. */
typedef struct CclCudaGraph
{
  CclCudaFrame frame;   /* that it works on */
  cudaGraphExec_t exec; /* NULL while that frame has come only once */
  uint64_t used;        /* the number of its last frame, from 1 on; 0: free */
} CclCudaGraph;

/* When the stages of a frame ended. */
typedef struct CclCudaStages
{
  cudaEvent_t events[CCL_MAX_STAGES];
  const char *names[CCL_MAX_STAGES];
  uint32_t n;
  uint32_t labelling; /* bit i: stage i makes labels of pixels */
} CclCudaStages;

typedef struct CudaSession
{
  CclSession base;
  const CclCudaAlgorithm *algorithm;
  CUcontext context; /* that every call runs in: the caller's, or the device's primary one */
  cudaStream_t stream;
  cudaStream_t results; /* that brings results back; the same where nothing has to be transferred */
  cudaEvent_t events[N_EVENTS];
  CclCudaFrame frame; /* pixels, pitch and what depends on CclParams change from frame to frame */
  uint8_t *image;     /* [height * image_pitch] on the device, once pixels came from elsewhere */
  uint8_t *staging;   /* the same, page-locked, once pixels came from pageable memory */
  size_t image_pitch;
  bool reads_pinned; /* kernels read page-locked pixels where they are */
  CclCudaStages stages;
  CclSlices *slices;       /* page-locked [max_components], of volumes */
  CclResultHeader *result; /* page-locked: header and max_components components */
  bool result_is_mapped;   /* kernels write there, and nothing has to be transferred */
  uint32_t *histogram;     /* page-locked [CCL_CUT_BINS] */
  uint32_t *map;           /* page-locked: the label map, once it was asked for */
  bool map_is_here;        /* that of the last frame */
  bool is_uploaded;        /* the last frame was not on the device before */
  bool is_stacked;         /* it was put together from those of a batch */
  CclCudaSource *sources, *sources_host; /* [frames] of a batch, once there was one; the second
                                          * page-locked */

  CclCudaGraph graphs[N_GRAPHS];
  uint64_t frames; /* so far */
  bool capturing;
  bool no_graphs; /* they don't work here */

  void *device[MAX_ALLOCATIONS], *pinned[MAX_ALLOCATIONS]; /* all of the above, to be freed */
  uint32_t n_device, n_pinned;
} CudaSession;

/* CCL_OK, or what a CUDA error comes to and what to do about it; @what was being done. */
CclStatus ccl_cuda_check (cudaError_t error, const char *what);
CclStatus ccl_cuda_check_driver (CUresult result, const char *what);

/* A function of the driver, and where its address goes. */
typedef struct CclCudaFunction
{
  const char *name;
  void *pointer;
} CclCudaFunction;

/* Finds functions of the driver's library; those that the program has itself come first, as with
 * the linker. */
bool ccl_cuda_find_functions (const CclCudaFunction *functions, size_t n);

/* Leaves the primary context of device number @device in @context; one that is there stays. */
CclStatus ccl_cuda_context_find (int device, CUcontext *context);

/* The number of the device of a context. */
CclStatus ccl_cuda_context_device (CUcontext context, int *device);

/* Makes @context, which was found, current in this thread, and what was current before again. */
CclStatus ccl_cuda_context_enter (CUcontext context);
void ccl_cuda_context_leave (void);
const CclAlgorithm *ccl_cuda_volume_algorithm (size_t index);
CclStatus ccl_cuda_slices (CclSession *session, uint32_t count, const CclSlices **slices);

CclStatus ccl_cuda_stages_open (CudaSession *self);
void ccl_cuda_stages_close (CudaSession *self);
/* The result is made again: its stages begin anew, and the first of them has all the time since. */
void ccl_cuda_stages_rewind (CudaSession *self);
/* What the stages of the last frame took, the first of them since @start. */
void ccl_cuda_stages_read (CudaSession *self, cudaEvent_t start);
/* Nanoseconds between two events that are over. */
uint64_t ccl_cuda_nanoseconds (cudaEvent_t from, cudaEvent_t to);

/* Allocates what frames of the session's size need. */
CclStatus ccl_cuda_tables_allocate (CudaSession *self);
void ccl_cuda_tables_free (CudaSession *self);

/* Allocates what is still missing to transfer frames from such memory. */
CclStatus ccl_cuda_transfer_allocate (CudaSession *self, CclMemory memory);
/* Enqueues the work on self->frame from its pixels to its result, with EVENT_UPLOADED before and
 * EVENT_ANALYSED after it: header, components and, if it is wanted, the label map; and the result's
 * first transfer. */
cudaError_t ccl_cuda_enqueue_analysis (CudaSession *self);
/* The part of it that comes after the algorithm's own: from roots to the result. */
cudaError_t ccl_cuda_enqueue_result (CudaSession *self);
/* Enqueues the transfer of components @from to, without, @to. The header goes with the first. */
cudaError_t ccl_cuda_enqueue_transfer (CudaSession *self, uint32_t from, uint32_t to);
/* Takes the time, if times are wanted. */
cudaError_t ccl_cuda_mark (CudaSession *self, int event);
void ccl_cuda_graphs_free (CudaSession *self);

/* Allocates what is still missing to stack so many frames, which is always as many. */
CclStatus ccl_cuda_stack_allocate (CudaSession *self, uint32_t frames);
CclStatus ccl_cuda_stack (CclSession *session, const CclStack *stack, CclImage *image);

/* Lets the session's work wait for the caller's pixels. */
cudaError_t ccl_cuda_wait_for_pixels (CudaSession *self, const CclImage *image);

/* Waits for @event, which was made with these flags. */
unsigned ccl_cuda_wait_flags (CclSync sync);
cudaError_t ccl_cuda_wait (cudaEvent_t event, CclSync sync);

/* Enqueues what brings the pixels to where kernels can read them: the frame's pixels and pitch. */
CclStatus ccl_cuda_upload (CudaSession *self, const CclImage *image);

/* The bytes of a label map. */
static inline size_t
ccl_cuda_map_size (const CclConfig *config)
{
  return (size_t) config->width * config->height * sizeof (uint32_t);
}

/* How many components come back with the header in one transfer, if there is one; only frames with
 * more cost another. */
uint32_t ccl_cuda_first_transfer (const CudaSession *self);

#endif
