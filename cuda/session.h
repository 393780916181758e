/* cudaccl - CUDA backend: a session and its memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_SESSION_H
#define CCL_CUDA_SESSION_H

#include "cuda/runtime/api.h"
#include "cuda/runtime/completion.h"
#include "cuda/filters/operations.h"
#include "cuda/models/model.h"
#include "cuda/stages/batch.h"

enum
{
  EVENT_START,
  EVENT_UPLOADED,
  EVENT_MODELLED,
  EVENT_ANALYSED,
  EVENT_DOWNLOADED, /* the last of those that measure time */
  EVENT_READY,      /* the caller's pixels are ready */
  EVENT_RESULT,     /* the result is on the device */
  N_EVENTS,
};

#define N_GRAPHS 16

/* Everything that changes between the frames of a session. */
typedef struct CclCudaGraphKey
{
  const uint8_t *pixels;
  size_t pitch;
  uint32_t min_area, max_area, min_width, min_height;
  uint8_t threshold, invert, bits;
} CclCudaGraphKey;

/* The work on frames with one key, ready to be replayed. */
typedef struct CclCudaGraph
{
  CclCudaGraphKey key;
  cudaGraphExec_t exec; /* NULL while the key has come only once */
  uint64_t used;        /* the number of its last frame, from 1 on; 0: free */
} CclCudaGraph;

/* When the stages of a frame ended. */
typedef struct CclCudaStages
{
  cudaEvent_t events[CCL_MAX_STAGES];
  const char *names[CCL_MAX_STAGES];
  uint32_t n;
  uint32_t operations; /* stages before the analysis */
  uint32_t labelling;  /* bit i: stage i makes labels of pixels */
} CclCudaStages;

typedef struct CudaSession
{
  CclSession base;
  CclCudaModel model;
  CclCudaFrame source; /* the frame as it reaches the device, or what moves in it; work.frame is
                        * what is analysed: the same, or a clean mask of it */
  CclCudaOperations operations;
  CclCudaWork work;
  CclCudaDevice device;
  CclCudaMemory memory; /* of all that is below and in work */
  cudaStream_t stream;
  cudaStream_t results; /* for transfers of results; the same if results are mapped */
  cudaEvent_t events[N_EVENTS];
  CclCudaCompletion completion; /* of what the host waits for */
  /* Room for a frame's pixels or bits: on the device, allocated with the first frame that is
   * uploaded, and pinned, with the first one that is pageable or packed. */
  uint8_t *image, *staging;
  size_t image_size, staging_size;
  bool shares_pool;  /* has a reference to the shared pool, to stage frames */
  bool reads_pinned; /* kernels read pinned pixels where they are */
  CclCudaStages stages;
  CclSlices *slices;       /* pinned [max_components], of volumes */
  CclResultHeader *result; /* pinned: header and max_components components */
  bool result_is_mapped;   /* kernels write there, and nothing has to be transferred */
  uint32_t *histogram;     /* pinned [CCL_TOPK_BINS] */
  uint32_t *label_map;     /* pinned, once it was asked for */
  bool label_map_is_here;  /* that of the last frame */
  CclMask masks[2];        /* pinned: the mask and the shadows; no words: not wanted */
  bool masks_are_here[2];  /* those of the last frame */
  bool is_uploaded;        /* the last frame was not on the device before */
  bool is_stacked;         /* it is the stack of a batch */
  CclCudaSource *sources, *sources_host; /* [frames] of a batch, once there was one; the
                                          * second is pinned */

  CclCudaGraph graphs[N_GRAPHS];
  CclCudaGraph timed_graph; /* of measured frames, if timing_interval > 1 */
  uint64_t frames;          /* submitted so far */
  uint32_t timing_interval; /* measure one of this many frames; 0: none */
  uint64_t next_timed;      /* measure the first frame from this number on, as in frames */
  bool timed;               /* the current frame is measured */
  bool capturing;
  bool no_graphs; /* capturing failed: always launch directly */
} CudaSession;

/* Sets @context to the primary context of @device unless it is set already. */
CclStatus ccl_cuda_context_find (int device, CUcontext *context);

/* Gets the device of a context. */
CclStatus ccl_cuda_context_device (CUcontext context, int *device);

/* Make @context current in this thread, and restore the previous one. */
CclStatus ccl_cuda_context_enter (CUcontext context);
void ccl_cuda_context_leave (void);

CclStatus ccl_cuda_slices (CclSession *session, uint32_t count, const CclSlices **slices);

/* Sets timing_interval; call this before events are made. */
void ccl_cuda_timing_open (CudaSession *self);
CclStatus ccl_cuda_stages_open (CudaSession *self);
void ccl_cuda_stages_close (CudaSession *self);
/* Drops the stages from the selection on, which is done again. */
void ccl_cuda_stages_rewind (CudaSession *self);
/* Reads the times of the last frame's stages, of which the first began at @start. */
void ccl_cuda_stages_read (CudaSession *self, cudaEvent_t start);
/* Nanoseconds between two events that have completed. */
uint64_t ccl_cuda_nanoseconds (cudaEvent_t from, cudaEvent_t to);

/* Create what ccl_cuda_stages_close() or the end of the session frees. */
CclStatus ccl_cuda_stream_new (cudaStream_t *stream);
CclStatus ccl_cuda_event_new (cudaEvent_t *event, unsigned flags);

/* Allocates the memory for results. */
CclStatus ccl_cuda_result_allocate (CudaSession *self);
/* Allocate room for a frame, if there is not enough yet. */
CclStatus ccl_cuda_image_allocate (CudaSession *self, size_t size);
CclStatus ccl_cuda_staging_allocate (CudaSession *self, size_t size);
/* Allocates what is still missing to stack @frames frames, the same number each time, in an image
 * of @size bytes. */
CclStatus ccl_cuda_stack_allocate (CudaSession *self, uint32_t frames, size_t size);
void ccl_cuda_memory_free (CclCudaMemory *memory);

/* Enqueues the work on a frame from its pixels, or the mask of what moves, to its result, with
 * EVENT_UPLOADED or EVENT_MODELLED before and EVENT_ANALYSED after it. */
cudaError_t ccl_cuda_enqueue_frame (CudaSession *self);
/* The same, by a graph if possible, and the result's first transfer. */
cudaError_t ccl_cuda_replay_frame (CudaSession *self);
/* Enqueues the result again, with other limits. */
cudaError_t ccl_cuda_enqueue_select (CudaSession *self);
/* Enqueues the transfer of components @from to @to - 1. The header goes with the first one. */
cudaError_t ccl_cuda_enqueue_transfer (CudaSession *self, uint32_t from, uint32_t to);
cudaError_t ccl_cuda_enqueue_first_transfer (CudaSession *self);
/* Reads the sums of updates, if they are counted, once the frame is complete. */
cudaError_t ccl_cuda_updates_read (CudaSession *self);
/* Decides whether the next frame is measured. ccl_cuda_replay_frame() may still decide against it.
 */
void ccl_cuda_timing_begin (CudaSession *self);
/* Records the event, if the frame is measured. */
cudaError_t ccl_cuda_mark (CudaSession *self, int event);
void ccl_cuda_graphs_free (CudaSession *self);

/* CclBackendClass.stack(). */
CclStatus ccl_cuda_stack (CclSession *session, const CclStack *stack, CclImage *image);

/* Makes the session's stream wait for the caller's pixels. */
cudaError_t ccl_cuda_wait_for_pixels (CudaSession *self, const CclImage *image);

/* Waits for all enqueued work. */
void ccl_cuda_synchronize (CudaSession *self);

/* A row of the frame in the session's own memory. */
size_t ccl_cuda_image_pitch (const CudaSession *self, bool bits);
/* Allocates what is still missing to transfer such frames. */
CclStatus ccl_cuda_transfer_allocate (CudaSession *self, const CclImage *image);
/* Enqueues the transfer of pixels to where kernels can read them: sets the planes of the model's
 * frame, or the source's pixels, pitch and bits, and threshold and invert to those of packed
 * pixels. */
CclStatus ccl_cuda_upload (CudaSession *self, const CclImage *image);

/* The size of a label map in bytes. */
static inline size_t
ccl_cuda_label_map_size (const CclConfig *config)
{
  return (size_t) config->width * config->height * sizeof (uint32_t);
}

/* How many components the first transfer takes with the header; frames with more need another. */
uint32_t ccl_cuda_first_transfer (const CudaSession *self);

#endif
