/* cudaccl - emulation: CUDA's driver, as far as cudaccl uses it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef EMULATION_CUDA_H
#define EMULATION_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef enum cudaError_enum
{
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_NOT_SUPPORTED = 801
} CUresult;

typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef unsigned long long CUdeviceptr;
typedef uint32_t cuuint32_t;

typedef enum CUstreamWriteValue_flags_enum
{
  CU_STREAM_WRITE_VALUE_DEFAULT = 0
} CUstreamWriteValue_flags;

typedef struct CUarray_st *CUarray;
typedef struct CUgraphicsResource_st *CUgraphicsResource;

typedef enum CUarray_format_enum
{
  CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
  CU_AD_FORMAT_UNSIGNED_INT16 = 0x02
} CUarray_format;

#endif
