/* cudaccl - CUDA backend: union-find over voxels, for volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* UF: V. Oliveira, R. Lotufo: A study on connected components labeling algorithms using GPUs, as
 * described by Allegretti 2020, section 4.1, without tiles: initialization, merge and compression.
 */

#include "cuda/algorithms/pixels.cuh"
#include "cuda/device/classes.cuh"

#include <cudaccl/volume.h>

static __global__ void
uf_volume_initialize (CclCudaFrame f, CclLabelImage image)
{
  init_pixel (f, image);
}

/* Unites a voxel with its neighbours that come before it in raster order: 13 at most. */
static __global__ void
uf_volume_merge (CclCudaFrame f, CclLabelImage image)
{
  CachedForest forest = { image.pixels };
  Pixel p = get_pixel (f, image);
  uint32_t height = image.slice_height, z = p.y / height, y = p.y - z * height;
  uint32_t most = f.connectivity == 26 ? 3 : f.connectivity == 18 ? 2 : 1; /* axes to differ in */

  if (!foreground_at (f, p.x, p.y))
    return;
  for (uint32_t k = 0; k < 13; k++) {
    uint32_t dx = k % 3 - 1, dy = k / 3 % 3 - 1,
             dz = k / 9 - 1; /* 0 - 1 wraps around, as do the sums below */
    uint32_t row = p.y + dz * height + dy;

    if ((dx != 0) + (dy != 0) + (dz != 0) <= most && y + dy < height && z + dz < image.depth &&
        foreground_at (f, p.x + dx, row))
      unite (forest, p.label, row * image.pitch + p.x + dx);
  }
}

/* Classes: labels a voxel with the first one of its run among the warp's, so that only runs are
 * left to unite. */
static __global__ void
uf_volume_initialize_classes (CclCudaFrame f, CclLabelImage image)
{
  Pixel p = get_pixel (f, image);
  uint32_t x = p.x - lane_id (), bit = 1u << lane_id ();
  uint32_t pixels = class_bits (f, CCL_CLASS_PIXELS, x, p.y);
  uint32_t begins = ~class_bits (f, CCL_CLASS_LEFT, x, p.y) | 1;
  uint32_t start = WARP_LANES - 1 - __clz (begins & (bit | (bit - 1)));

  if (p.inside)
    image.pixels[p.label] = pixels & bit ? p.label - lane_id () + start : CCL_NO_LABEL;
}

/* Unites the voxel's run with the voxels at @row that it touches: that at @x, and with @corners
 * those beside it. @left and @right tell whether the voxel's neighbours in its own row have its
 * class: these do what is left out. Two runs that lie on each other need one contact, and one at a
 * corner counts only where neither voxel has a neighbour between them. */
template <unsigned size>
static __device__ inline void
unite_class_row (const CclLabelImage &image, const CclClassFrame &classes, const Pixel &p,
                 uint32_t value, uint32_t row, bool corners, bool left, bool right)
{
  CachedForest forest = { image.pixels };
  uint32_t other = row * image.pitch + p.x;

  if (class_value<size> (classes, p.x, row) == value) {
    if (!left || class_value<size> (classes, p.x - 1, row) != value)
      unite (forest, p.label, other);
    return;
  }
  if (!corners)
    return;
  if (!left && class_value<size> (classes, p.x - 1, row) == value)
    unite (forest, p.label, other - 1);
  if (!right && class_value<size> (classes, p.x + 1, row) == value)
    unite (forest, p.label, other + 1);
}

/* The same as uf_volume_merge(), for classes. */
template <unsigned size>
static __global__ void
uf_volume_merge_classes (CclCudaFrame f, CclLabelImage image, CclClassFrame classes)
{
  Pixel p = get_pixel (f, image);
  uint32_t height = image.slice_height, z = p.y / height, y = p.y - z * height;
  uint32_t value = class_value<size> (classes, p.x, p.y);
  bool left, right, corners = f.connectivity != 6, all = f.connectivity == 26;

  if (value == 0)
    return;
  left = class_value<size> (classes, p.x - 1, p.y) == value;
  right = class_value<size> (classes, p.x + 1, p.y) == value;
  if (left && lane_id () == 0)
    unite (CachedForest{ image.pixels }, p.label, p.label - 1);
  if (y > 0)
    unite_class_row<size> (image, classes, p, value, p.y - 1, corners, left, right);
  if (z == 0)
    return;
  unite_class_row<size> (image, classes, p, value, p.y - height, corners, left, right);
  if (corners && y > 0)
    unite_class_row<size> (image, classes, p, value, p.y - height - 1, all, left, right);
  if (corners && y + 1 < height)
    unite_class_row<size> (image, classes, p, value, p.y - height + 1, all, left, right);
}

static cudaError_t
enqueue_merge_classes (const CclCudaWork *work, cudaStream_t stream)
{
  const unsigned size = work->class_frame->size;
  auto kernel = size == 4   ? uf_volume_merge_classes<4>
                : size == 2 ? uf_volume_merge_classes<2>
                            : uf_volume_merge_classes<1>;

  return launch (kernel, pixel_grid (work), pixel_threads (), 0, stream, work->frame,
                 *ccl_cuda_label_image (work), *work->class_frame);
}

static cudaError_t
uf_volume_label (const CclCudaWork *work, cudaStream_t stream)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);
  cudaError_t error;

  error = launch (work->classes ? uf_volume_initialize_classes : uf_volume_initialize,
                  pixel_grid (work), pixel_threads (), 0, stream, work->frame, *image);
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess && work->classes)
    error = enqueue_merge_classes (work, stream);
  else if (error == cudaSuccess)
    error = launch (uf_volume_merge, pixel_grid (work), pixel_threads (), 0, stream, work->frame,
                    *image);
  ccl_cuda_stage (work, "merge", stream);
  if (error == cudaSuccess)
    error = compress_pixels (work, false, stream);
  ccl_cuda_stage (work, "compression", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_volume_algorithm_uf) = CCL_CUDA_LABELLING_CLASSES (
    "uf", "UF: union-find over voxels (Oliveira and Lotufo 2010)",
    CCL_VOLUME_CONNECTIVITIES (6, 18, 26), ccl_cuda_label_image_open, uf_volume_label);
