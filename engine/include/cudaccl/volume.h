/* cudaccl - connected components of volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A volume is a stack of slices of one size: a scan, or the masks of consecutive frames, whose
 * components are objects in space and time. Everything is as with frames (ccl.h), including the
 * canonical order: by the first voxel in raster order, which goes by slices, then rows, then
 * columns. */

#ifndef CCL_VOLUME_H
#define CCL_VOLUME_H

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CclVolume CclVolume;

/* CclAlgorithm.connectivity of algorithms for volumes: one byte for each, 0 for those missing. */
#define CCL_VOLUME_CONNECTIVITIES(a, b, c) ((a) | (b) << 8 | (c) << 16)

/* Settings for the life of a CclVolume. Start from ccl_volume_config_init(). */
typedef struct CclVolumeConfig
{
  uint32_t width, height, depth; /* voxels, each at least 1; width * height * depth < 2^32 */
  unsigned connectivity;         /* 6: voxels touch at faces, 18: also at edges, 26: at corners */
  CclBackend backend;
  const char *algorithm;   /* a name from ccl_volume_algorithm(); NULL or "auto": the best */
  int device;              /* CUDA device number, -1: any. With a number CCL_BACKEND_AUTO does
                            * not fall back to the CPU; CCL_BACKEND_CPU ignores it */
  unsigned threads;        /* as in CclConfig */
  uint32_t max_components; /* capacity of the result, at least 1 */
  bool labels;             /* make label maps for ccl_volume_labels() */
  bool timing, stages;     /* as in CclConfig, for ccl_volume_timing() */
  CclFeatureStage features;
  CclValues values; /* CCL_VALUES_ABOVE, or CCL_VALUES_EQUAL: voxels have classes, 0 is background,
                     * and only voxels of the same class are connected */
  uint64_t reserved[8]; /* for fields to come; 0 */
} CclVolumeConfig;

/* One component. Coordinates are voxels; the bounding box begins at (x, y, z). */
typedef struct CclVolumeComponent
{
  uint64_t volume;              /* number of voxels */
  uint64_t sum_x, sum_y, sum_z; /* sums of the voxels' coordinates */
  uint32_t label;               /* 1...n in canonical order */
  uint32_t x, y, z;
  uint32_t width, height, depth;
  uint32_t first_x, first_y; /* (first_x, first_y, z) is the first voxel in raster order */
  uint32_t value;            /* with CCL_VALUES_EQUAL the class of its voxels, else 0 */
} CclVolumeComponent;

/* The result for one volume. It belongs to the CclVolume and stays valid until its next analysis or
 * its end. */
typedef struct CclVolumeComponents
{
  const CclVolumeComponent *items;
  uint32_t count; /* entries of items */
  uint32_t found; /* as in CclComponents */
} CclVolumeComponents;

/* The centroid, in voxel centres. */
static inline void
ccl_volume_component_centroid (const CclVolumeComponent *component, double centroid[3])
{
  centroid[0] = (double) component->sum_x / (double) component->volume;
  centroid[1] = (double) component->sum_y / (double) component->volume;
  centroid[2] = (double) component->sum_z / (double) component->volume;
}

/* Fills @config with the defaults: 26-connectivity, automatic backend, algorithm and device, one
 * thread, 1024 components, no label maps, no timing. */
CCL_API void ccl_volume_config_init (CclVolumeConfig *config, uint32_t width, uint32_t height,
                                     uint32_t depth);

/* The algorithms for volumes of this build, CUDA's first, each backend's best first; NULL past the
 * last. */
CCL_API const CclAlgorithm *ccl_volume_algorithm (size_t index);

/* Whether an algorithm for volumes supports @connectivity: 6, 18 or 26. */
static inline bool
ccl_volume_algorithm_has (const CclAlgorithm *algorithm, unsigned connectivity)
{
  return connectivity > 0 && ((algorithm->connectivity & 0xff) == connectivity ||
                              (algorithm->connectivity >> 8 & 0xff) == connectivity ||
                              (algorithm->connectivity >> 16 & 0xff) == connectivity);
}

/* Makes an analyzer for volumes of one size, with all its memory; free it with ccl_volume_free().
 * CCL_BACKEND_AUTO takes the CPU if there is no CUDA device or no algorithm for it with this name
 * and connectivity. Errors: as ccl_analyzer_new(). */
CCL_API CclStatus ccl_volume_new (const CclVolumeConfig *config, CclVolume **volume);

/* Frees the analyzer and its results. NULL is ignored. */
CCL_API void ccl_volume_free (CclVolume *volume);

/* Analyses a volume: slice z begins at @image->data + z * height * @image->stride. It has
 * CCL_FORMAT_BYTES or CCL_FORMAT_BITS; classes are bytes, 16-bit samples or CCL_FORMAT_GRAY32.
 * Errors: as ccl_analyzer_submit() and ccl_analyzer_collect(). */
CCL_API CclStatus ccl_volume_analyze (CclVolume *volume, const CclImage *image,
                                      const CclParams *params, CclVolumeComponents *components);

/* Returns the label map of the last volume, slice z from row z * height on. Errors: as
 * ccl_analyzer_labels(). */
CCL_API CclStatus ccl_volume_labels (CclVolume *volume, CclLabels *labels);

/* Writes the same label map to @labels, memory of the caller, with rows @stride bytes apart. As
 * ccl_analyzer_write_labels(). */
CCL_API CclStatus ccl_volume_write_labels (CclVolume *volume, uint32_t *labels, size_t stride,
                                           CclMemory memory);

/* Gets what the volume is analysed on; there is no fallback, upload or motion. */
CCL_API void ccl_volume_info (const CclVolume *volume, CclInfo *info);

/* Gets the durations of the last volume. */
CCL_API void ccl_volume_timing (const CclVolume *volume, CclTiming *timing);

#ifdef __cplusplus
}
#endif

#endif
