/* cudaccl - CUDA backend: the memory of a queue
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MEMORY_H
#define CCL_CUDA_MEMORY_H

#include "engine/account.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CCL_CUDA_MAX_ALLOCATIONS 64

/* Memory on the device and pinned memory: freed together, counted in @account, cleared in
 * @stream. */
typedef struct CclCudaMemory
{
  void *device[CCL_CUDA_MAX_ALLOCATIONS], *pinned[CCL_CUDA_MAX_ALLOCATIONS];
  uint32_t n_device, n_pinned;
  CclAccount *account;
  cudaStream_t stream;
} CclCudaMemory;

/* Allocate @size bytes. @pointer: the address of a pointer, set on success. */
CclStatus ccl_cuda_allocate_device (CclCudaMemory *memory, void *pointer, size_t size);
CclStatus ccl_cuda_allocate_cleared (CclCudaMemory *memory, void *pointer, size_t size);
CclStatus ccl_cuda_allocate_pinned (CclCudaMemory *memory, void *pointer, size_t size);

/* A table on the device. */
typedef struct CclCudaTable
{
  void *pointer; /* the address of a pointer */
  size_t size;   /* bytes; 0: the table is not wanted */
  bool cleared;
} CclCudaTable;

/* Allocates @n tables. */
CclStatus ccl_cuda_allocate_tables (CclCudaMemory *memory, const CclCudaTable *tables, size_t n);

void ccl_cuda_memory_free (CclCudaMemory *memory);

/* Gets the address by which kernels access pinned memory. @device: the address of a pointer. */
CclStatus ccl_cuda_map_pinned (const void *pinned, void *device);

#ifdef __cplusplus
}
#endif

#endif
