/* cudaccl - CUDA backend: what a device has
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_DEVICE_LIMITS_H
#define CCL_CUDA_DEVICE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* Limits of a device, as cudaDeviceProp has them; sizes in bytes. */
typedef struct CclCudaLimits
{
  uint32_t processors;      /* multiprocessors */
  uint32_t threads;         /* of a multiprocessor */
  uint32_t blocks;          /* of a multiprocessor */
  uint32_t registers;       /* of a multiprocessor */
  uint32_t shared;          /* memory of a multiprocessor */
  uint32_t shared_block;    /* for a block, at most */
  uint32_t shared_reserved; /* by the system, for each block */
  bool cooperative;         /* has cooperative launches */
} CclCudaLimits;

#endif
