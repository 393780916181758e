/* cudaccl - CUDA backend: what kernels work on
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_FRAME_H
#define CCL_CUDA_FRAME_H

#include "ccl/backend.h"
#include "ccl/topk.h"
#include "cuda/label_image.h"
#include "cuda/tile/tile.h"

#include <cuda_runtime_api.h>
#include <stdalign.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The label of a slot that holds no run. */
#define CCL_NO_LABEL UINT32_MAX

/* The features of a component while they are summed up; one sector of memory. What is missing
 * here, the first pixel, follows from the component's label. */
typedef struct CclFeatures
{
  alignas (16) uint64_t sum_x; /* so that there are two loads or stores of it all */
  uint64_t sum_y;
  uint32_t area;
  uint32_t min_x, max_x, max_y;
} CclFeatures;

/* Second-order sums, kept apart because few ask for them. */
typedef struct CclMoments
{
  uint64_t sum_xx, sum_yy, sum_xy;
} CclMoments;

/* Algorithm 1 of paper 003 keeps, for every pixel, the number of edges up to it (its table ER).
 * Here one entry serves 32 pixels: the edges among them, bit by bit, and the number before them. */
typedef struct CclEdges
{
  uint32_t mask;
  uint32_t before;
} CclEdges;

/* What comes back to the host, at the head of the components. */
typedef struct CclResultHeader
{
  uint32_t kept;
  uint32_t reserved[17]; /* the components behind it start at a multiple of their size */
} CclResultHeader;

/* A frame on the device and the tables that go with its geometry. Every row has @slots slots, one
 * for two pixels, because runs can't touch; slot i of row y is label y * slots + i, so labels
 * are in raster order. Passed to kernels by value. */
typedef struct CclCudaFrame
{
  const uint8_t *pixels;
  size_t pitch;
  uint32_t width, height;
  uint8_t threshold;
  uint8_t flip; /* 1: inverted */
  uint8_t connectivity;
  uint8_t overlap; /* 1: kernels may be launched by launch_following() */

  CclStrips strips; /* (tile) here, where the first pixels are looked for: a launch starts with cold
                     * caches */

  uint32_t slots;   /* of a row */
  uint32_t parts;   /* into which the slots of a row are cut: one warp each */
  uint32_t *labels; /* [height * slots] union-find: a root is its own label; tile has none for
                     * roots that it knows otherwise */
  uint32_t *starts; /* [height * slots] x of a run's first pixel */
  uint32_t *ends;   /* [height * slots] x past a run's last pixel (flsl) */
  uint32_t *runs;   /* [height] runs of a row, in its first slots; NULL: they are anywhere */
  CclEdges *edges;  /* [height * edges_pitch] (flsl) */
  uint32_t edges_pitch;
  CclFeatures *features; /* [height * slots], of roots */
  CclMoments *moments;   /* the same, or NULL */

  CclTiles tiles; /* (tile) */

  /* (labellers) Enqueues the labelling of labelled.pixels. */
  cudaError_t (*label) (const struct CclCudaFrame *frame, cudaStream_t stream);
  CclLabelImage labelled;
  CclFeatureStage feature_stage;
  CclVolumeTables volume;
  struct CclCudaStages *stages; /* on the host; NULL where stages are not measured */
  uint32_t *updates; /* [height * slots] updates of a label's features; NULL: not counted */
  unsigned long long *summed; /* [2] the sum of these, and of their squares */

  uint32_t min_area, max_area;
  CclCut cut;
  uint64_t *counts; /* [height * parts + 1] kept (high half) and tied (low half) roots of a part;
                     * after the scan, of the parts before */
  void *scratch;    /* of the scan */
  size_t scratch_size;
  uint32_t *histogram; /* [CCL_CUT_BINS] */
  uint32_t capacity;
  CclResultHeader *header;
  CclComponent *components; /* [capacity] */

  uint32_t *numbers; /* [height * slots] the label in the result of roots that are in it, of others
                      * 0; NULL without label maps */
  uint32_t *map;     /* [height * width] the label map */
} CclCudaFrame;

/* An algorithm: one file, one entry of the table in algorithms.c. */
typedef struct CclCudaAlgorithm
{
  CclAlgorithm info;
  bool uses_runs;  /* keeps runs, ends and edges */
  bool uses_tiles; /* keeps tiles */
  /* For labellers: enqueues the labels of pixels; enqueue() calls it. */
  cudaError_t (*label) (const CclCudaFrame *frame, cudaStream_t stream);
  bool uses_blocks; /* labels blocks of 2 x 2 pixels */
  /* Enqueues everything from pixels to roots with their features. */
  cudaError_t (*enqueue) (const CclCudaFrame *frame, cudaStream_t stream);
  /* Enqueues the compaction of the roots that pass the area filter and the cut into header and
   * components, in canonical order. */
  cudaError_t (*compact) (const CclCudaFrame *frame, cudaStream_t stream);
  /* Enqueues the count of roots that pass the area filter into frame->histogram, for one round of
   * the search for the cut. */
  cudaError_t (*histogram) (const CclCudaFrame *frame, const CclCutSearch *search,
                            cudaStream_t stream);
  /* Enqueues the label map: frame->map, from frame->numbers. The pixels are still there. */
  cudaError_t (*paint) (const CclCudaFrame *frame, cudaStream_t stream);
} CclCudaAlgorithm;

/* A labeller's entry: what follows it is the same for all. */
#define CCL_CUDA_LABELLER(id, text, connectivities, function, of_blocks)                         \
  {                                                                                              \
    .info = { .name = id,                                                                        \
              .description = text,                                                               \
              .backend = CCL_BACKEND_CUDA,                                                       \
              .connectivity = connectivities },                                                  \
    .label = function, .uses_blocks = of_blocks, .enqueue = ccl_cuda_label_and_analyse,          \
    .compact = ccl_cuda_compact, .histogram = ccl_cuda_histogram, .paint = ccl_cuda_label_paint, \
  }

/* Whether this build has kernels for the current device; @overlap: whether they know how to follow
 * each other. */
cudaError_t ccl_cuda_probe (bool *overlap);

/* The algorithms, the best first; NULL past the last. */
const CclCudaAlgorithm *ccl_cuda_algorithm (size_t index);

cudaError_t ccl_cuda_flsl (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_flsl_cd (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_flsl_otf (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_flsl_paint (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_ha4 (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_ha4_32 (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_ha4_cd (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_ha4_otf (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_ha4_paint (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_naive (const CclCudaFrame *frame, cudaStream_t stream);

/* Makes labels point to their roots if there is a label map to paint. */
cudaError_t ccl_cuda_flatten_for_map (const CclCudaFrame *frame, cudaStream_t stream);

/* For labellers. The first is made of frame->label() and the features. */
cudaError_t ccl_cuda_label_and_analyse (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_label_paint (const CclCudaFrame *frame, cudaStream_t stream);

cudaError_t ccl_cuda_be (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_bke (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_bke_ic (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_buf (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_buf_ic (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_dlp (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_ke (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_label_equivalence (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_lbuf (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_playne (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_row_col_unify (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_uf (const CclCudaFrame *frame, cudaStream_t stream);

/* The same for volumes. */
cudaError_t ccl_cuda_be_3d (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_bke_3d (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_bke_ic_3d (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_buf_3d (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_buf_ic_3d (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_uf_3d (const CclCudaFrame *frame, cudaStream_t stream);
/* Enqueues frame->volume.slices, after the compaction. */
cudaError_t ccl_cuda_volume_slices (const CclCudaFrame *frame, cudaStream_t stream);

/* Ends a stage of the frame, which the next one follows; it does nothing where stages are not
 * measured. @name: a literal. */
void ccl_cuda_stage (const CclCudaFrame *frame, const char *name, cudaStream_t stream);
/* The stages up to here were the labelling: of pixels by labellers, and by other algorithms of
 * runs, with which the label map, if there is one, makes labels of pixels. */
void ccl_cuda_stage_labelled (const CclCudaFrame *frame);
/* Ends the stage of the label map. */
void ccl_cuda_stage_map (const CclCudaFrame *frame, cudaStream_t stream);

/* For roots anywhere in the slots, or in the first ones of their rows. */
cudaError_t ccl_cuda_compact (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_histogram (const CclCudaFrame *frame, const CclCutSearch *search,
                                cudaStream_t stream);
/* The bytes that ccl_cuda_compact() needs as frame->scratch. */
cudaError_t ccl_cuda_compact_scratch (const CclCudaFrame *frame, size_t *size);

/* Enqueues everything from pixels to roots with their features, with whatever is measured of it. */
cudaError_t ccl_cuda_run (const CclCudaAlgorithm *algorithm, const CclCudaFrame *frame,
                          cudaStream_t stream);

/* Before a frame and after its features: frame->updates. Nothing where updates are not counted. */
cudaError_t ccl_cuda_updates_clear (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_updates_sum (const CclCudaFrame *frame, cudaStream_t stream);
/* When the frame is over. */
cudaError_t ccl_cuda_updates_read (const CclCudaFrame *frame, CclUpdates *updates,
                                   cudaStream_t stream);

/* How a frame is done at once by ccl_cuda_tile_frame(), but for the tables; n is 0 if it can't. */
cudaError_t ccl_cuda_strips (const CclCudaFrame *frame, int device, CclStrips *strips);
/* Whether ccl_cuda_tile_frame() does a frame from its pixels to its result: first-order sums only,
 * nothing cut off, no label map, and nobody looks at the steps. Then ccl_cuda_tile() does nothing,
 * and ccl_cuda_tile_compact() everything. */
static inline bool
ccl_cuda_tile_at_once (const CclCudaFrame *frame)
{
  return frame->strips.n > 0 && frame->cut.area == 0 && !frame->moments && !frame->map &&
         !frame->stages && !frame->updates;
}
cudaError_t ccl_cuda_tile_frame (const CclCudaFrame *frame, cudaStream_t stream);

/* For tiles. The steps are the components of each tile and the two that follow: the merge over
 * seams, and what roots get from the others. */
cudaError_t ccl_cuda_tile (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_tile_steps (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_tile_merge (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_tile_resolve (const CclCudaFrame *frame, cudaStream_t stream);
/* Counts the roots that ccl_cuda_tile_resolve() could not, as areas decide about them. */
cudaError_t ccl_cuda_tile_count (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_tile_compact (const CclCudaFrame *frame, cudaStream_t stream);
cudaError_t ccl_cuda_tile_histogram (const CclCudaFrame *frame, const CclCutSearch *search,
                                     cudaStream_t stream);
cudaError_t ccl_cuda_tile_paint (const CclCudaFrame *frame, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
