/* cudaccl - CUDA backend: unification of rows and columns
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* O. Kalentev, A. Rai, S. Kemnitz, R. Schneider: Connected component labeling on a 2D grid using
 * CUDA (Kalentev 2011, section 2.1): the lowest label spreads along rows, then columns, until
 * nothing changes.
 *
 * Where this differs from the paper as printed:
 * - Frames may have any size: lines longer than a thread block can handle are unified section by
 *   section, each with the last pixel of the section before. The paper's lines have 1024 pixels.
 * - The loop is inside the kernel (see iterate.cuh), and continues while any label changes. The
 *   paper's flag, set by a pair of neighbours that differ at first, misses changes that only the
 *   reduction makes.
 * - Algorithm 3 as printed links background, too; its text and figure 2 say otherwise.
 * - In algorithm 5 threads read what others write at the same time. Here all read, then all
 * write. */

#include "cuda/papers/iterate.cuh"

#define SECTION (2 * ITERATE_THREADS) /* pixels of a line, two per thread */

/* A line of the frame: @length pixels, with labels @step entries apart. */
struct Line
{
  volatile uint32_t *labels;
  uint32_t length;
  size_t step;
};

/* A section of a line. The arrays are the paper's shmemLabels and shmemRefs. */
struct Section
{
  uint32_t labels[SECTION];
  uint32_t refs[SECTION];
};

static __device__ inline bool
both_set (const Section *s, uint32_t i)
{
  return s->labels[i] != CCL_NO_LABEL && s->labels[i + 1] != CCL_NO_LABEL;
}

/* Algorithm 3. */
static __device__ inline void
unify_first (Section *s, uint32_t i)
{
  s->refs[i] = i;
  s->refs[i + 1] = i + 1;
  if (both_set (s, i)) {
    s->labels[i] = s->labels[i + 1] = min (s->labels[i], s->labels[i + 1]);
    s->refs[i + 1] = i;
  }
}

/* Algorithm 4: unifies the run that ends at pixel @i with the one that begins at the next pixel. */
static __device__ inline void
unify_runs (Section *s, uint32_t i)
{
  uint32_t ref = s->refs[i];

  if (!both_set (s, i))
    return;
  s->labels[ref] = min (s->labels[i], s->labels[i + 1]);
  s->refs[i + 1] = ref;
  s->labels[i + 1] = s->labels[ref];
}

/* Algorithm 5. All threads of the block call this. */
static __device__ inline void
update (Section *s, uint32_t i)
{
  uint32_t labels[2], refs[2];

  for (uint32_t k = 0; k < 2; k++) {
    labels[k] = s->labels[s->refs[i + k]];
    refs[k] = s->refs[s->refs[i + k]];
  }
  __syncthreads ();
  for (uint32_t k = 0; k < 2; k++) {
    s->labels[i + k] = labels[k];
    s->refs[i + k] = refs[k];
  }
  __syncthreads ();
}

/* Algorithm 2, for the section of a line that begins at pixel @first. Returns whether this thread
 * has changed a label. */
static __device__ inline bool
unify_section (Section *s, const Line &line, uint32_t first)
{
  uint32_t t = threadIdx.x, before[2];
  bool changed = false;

  for (uint32_t k = 0; k < 2; k++) {
    uint32_t i = first + 2 * t + k;

    before[k] = i < line.length ? line.labels[i * line.step] : CCL_NO_LABEL;
    s->labels[2 * t + k] = before[k];
  }
  unify_first (s, 2 * t);
  __syncthreads ();
  for (uint32_t half = 2; half < SECTION && half < line.length; half *= 2) {
    if (t < SECTION / (2 * half))
      unify_runs (s, (2 * t + 1) * half - 1);
    __syncthreads ();
    update (s, 2 * t);
  }
  for (uint32_t k = 0; k < 2; k++) {
    if (s->labels[2 * t + k] != before[k]) {
      line.labels[(first + 2 * t + k) * line.step] = s->labels[2 * t + k];
      changed = true;
    }
  }
  __syncthreads ();
  return changed;
}

static __device__ inline bool
unify_line (Section *s, const Line &line)
{
  bool changed = false;

  for (uint32_t first = 0; first == 0 || first + 1 < line.length; first += SECTION - 1)
    changed |= unify_section (s, line, first);
  return changed;
}

/* Algorithm 1. */
static __global__ void
row_col_unify (CclCudaFrame f, CclLabelImage image)
{
  __shared__ Section section;
  uint32_t n = 0, pitch = image.pitch;
  bool changed;

  do {
    changed = false;
    for (size_t y = blockIdx.x; y < f.height; y += gridDim.x)
      changed |= unify_line (&section, Line{ image.pixels + y * pitch, f.width, 1 });
    cooperative_groups::this_grid ().sync ();
    for (size_t x = blockIdx.x; x < f.width; x += gridDim.x)
      changed |= unify_line (&section, Line{ image.pixels + x, f.height, pitch });
  } while (anything_changed (image, n++, changed));
}

static __global__ void
row_col_initialize (CclCudaFrame f, CclLabelImage image)
{
  init_pixel (f, image);
}

static cudaError_t
row_col_label (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error;

  error = launch (row_col_initialize, pixel_grid (work), pixel_threads (), 0, stream, work->frame,
                  *ccl_cuda_label_image (work));
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = enqueue_iterations (work, row_col_unify, stream);
  ccl_cuda_stage (work, "unification", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_row_col_unify) = CCL_CUDA_LABELLING (
    "row-col-unify", "Lowest labels along rows and columns, iterative (Kalentev et al. 2011)", 4,
    ccl_cuda_label_image_open, row_col_label);
