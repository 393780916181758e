/* cudaccl - the voxel reference: what every algorithm for volumes must reproduce
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_VOLUME_REFERENCE_H
#define CCL_VOLUME_REFERENCE_H

#include <cudaccl/volume.h>

/* Analyses @image, which is in host memory, as ccl_volume_analyze() would with @config's size and
 * capacity; @labels has room for the volume's voxels, or is NULL. Arguments are trusted: the only
 * error is CCL_ERROR_NO_MEMORY. Free the result with ccl_volume_reference_clear(). */
CclStatus ccl_volume_reference_analyze (const CclVolumeConfig *config, const CclImage *image,
                                        const CclParams *params, CclVolumeComponents *components,
                                        uint32_t *labels);

void ccl_volume_reference_clear (CclVolumeComponents *components);

#endif
