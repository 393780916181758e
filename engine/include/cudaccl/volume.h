/* cudaccl - connected components of volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A volume is a stack of slices of one size: a scan, or the masks of consecutive frames, whose
 * components are objects in space and time. Voxels are 26-connected. Everything is as with frames
 * (ccl.h), including the canonical order: by the first voxel in raster order, which goes by slices,
 * then rows, then columns. Volumes need a CUDA device. */

#ifndef CCL_VOLUME_H
#define CCL_VOLUME_H

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CclVolume CclVolume;

/* What is fixed for the life of a CclVolume. Start from ccl_volume_config_init(). */
typedef struct CclVolumeConfig
{
  uint32_t width, height, depth; /* voxels, each at least 1; width * height * depth < 2^32 */
  const char *algorithm;         /* a name from ccl_volume_algorithm(); NULL or "auto": the best */
  int device;                    /* CUDA device number, -1: any */
  uint32_t max_components;       /* capacity of the result, at least 1 */
  bool labels;                   /* make label maps for ccl_volume_labels() */
  bool timing, stages;           /* as in CclConfig, for ccl_volume_timing() */
  CclFeatureStage features;
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
  uint32_t reserved;         /* 0 */
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

/* Fills @config with the defaults: automatic algorithm and device, 1024 components, no label maps,
 * no timing. */
CCL_API void ccl_volume_config_init (CclVolumeConfig *config, uint32_t width, uint32_t height,
                                     uint32_t depth);

/* The algorithms for volumes of this build, the best first; NULL past the last. */
CCL_API const CclAlgorithm *ccl_volume_algorithm (size_t index);

/* Makes an analyzer for volumes of one size, with all its memory; free it with ccl_volume_free().
 * Errors: as ccl_analyzer_new(); CCL_ERROR_UNSUPPORTED or CCL_ERROR_NO_DEVICE without CUDA. */
CCL_API CclStatus ccl_volume_new (const CclVolumeConfig *config, CclVolume **volume);

/* Frees the analyzer and its results. NULL is ignored. */
CCL_API void ccl_volume_free (CclVolume *volume);

/* Analyses a volume: slice z begins at @image->data + z * height * @image->stride. Errors: as
 * ccl_analyzer_submit() and ccl_analyzer_collect(). */
CCL_API CclStatus ccl_volume_analyze (CclVolume *volume, const CclImage *image,
                                      const CclParams *params, CclVolumeComponents *components);

/* Returns the label map of the last volume, slice z from row z * height on. Errors: as
 * ccl_analyzer_labels(). */
CCL_API CclStatus ccl_volume_labels (CclVolume *volume, CclLabels *labels);

/* Gets the durations of the last volume. */
CCL_API void ccl_volume_timing (const CclVolume *volume, CclTiming *timing);

#ifdef __cplusplus
}
#endif

#endif
