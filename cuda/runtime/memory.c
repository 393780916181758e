/* cudaccl - CUDA backend: the memory of a queue
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A failed call may store anything, so the functions here store results only on success. */

#include "cuda/runtime/memory.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"

#include <assert.h>

static void
count_allocation (CclCudaMemory *memory, size_t size)
{
  memory->account->allocations++;
  memory->account->bytes += size;
}

CclStatus
ccl_cuda_allocate_device (CclCudaMemory *memory, void *pointer, size_t size)
{
  void *allocated;
  CclStatus status =
      ccl_cuda_check (CCL_CUDA (cudaMalloc, &allocated, size), "allocating a frame's tables");

  if (status != CCL_OK)
    return status;
  assert (memory->n_device < CCL_CUDA_MAX_ALLOCATIONS);
  *(void **) pointer = memory->device[memory->n_device++] = allocated;
  count_allocation (memory, size);
  return CCL_OK;
}

CclStatus
ccl_cuda_allocate_cleared (CclCudaMemory *memory, void *pointer, size_t size)
{
  CclStatus status = ccl_cuda_allocate_device (memory, pointer, size);

  if (status != CCL_OK)
    return status;
  return ccl_cuda_check (CCL_CUDA (cudaMemsetAsync, *(void **) pointer, 0, size, memory->stream),
                         "clearing a frame's tables");
}

CclStatus
ccl_cuda_allocate_pinned (CclCudaMemory *memory, void *pointer, size_t size)
{
  void *allocated;
  CclStatus status = ccl_cuda_check (
      CCL_CUDA (cudaHostAlloc, &allocated, size, cudaHostAllocMapped), "allocating pinned memory");

  if (status != CCL_OK)
    return status;
  assert (memory->n_pinned < CCL_CUDA_MAX_ALLOCATIONS);
  *(void **) pointer = memory->pinned[memory->n_pinned++] = allocated;
  count_allocation (memory, size);
  return CCL_OK;
}

CclStatus
ccl_cuda_allocate_tables (CclCudaMemory *memory, const CclCudaTable *tables, size_t n)
{
  CclStatus status = CCL_OK;

  for (size_t i = 0; i < n && status == CCL_OK; i++) {
    const CclCudaTable *table = &tables[i];

    if (table->size > 0)
      status = table->cleared ? ccl_cuda_allocate_cleared (memory, table->pointer, table->size)
                              : ccl_cuda_allocate_device (memory, table->pointer, table->size);
  }
  return status;
}

void
ccl_cuda_memory_free (CclCudaMemory *memory)
{
  while (memory->n_device > 0)
    CCL_CUDA (cudaFree, memory->device[--memory->n_device]);
  while (memory->n_pinned > 0)
    CCL_CUDA (cudaFreeHost, memory->pinned[--memory->n_pinned]);
}

CclStatus
ccl_cuda_map_pinned (const void *pinned, void *device)
{
  void *mapped;
  CclStatus status = ccl_cuda_check (
      CCL_CUDA (cudaHostGetDevicePointer, &mapped, (void *) pinned, 0), "mapping pinned memory");

  if (status == CCL_OK)
    *(void **) device = mapped;
  return status;
}
