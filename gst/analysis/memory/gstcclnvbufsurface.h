/* cudaccl - the binary interface of NVIDIA's NvBufSurface
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Buffers in memory:NVMM contain a NvBufSurface, as defined by JetPack 5 and DeepStream 5 and
 * newer. These are the declarations that we need, for builds without NVIDIA's header. Newer
 * versions only added fields at the end. */

#ifndef __GST_CCL_NV_BUF_SURFACE_H__
#define __GST_CCL_NV_BUF_SURFACE_H__

#include <glib.h>
#include <stddef.h>

#ifdef HAVE_NVBUFSURFACE_H
#include <nvbufsurface.h>
#else

#include <stdbool.h>
#include <stdint.h>

#define NVBUF_MAX_PLANES 4

typedef enum
{
  NVBUF_LAYOUT_PITCH,        /* rows */
  NVBUF_LAYOUT_BLOCK_LINEAR, /* blocks, in a hardware-specific order */
} NvBufSurfaceLayout;

typedef enum
{
  NVBUF_MEM_DEFAULT,       /* only in requests */
  NVBUF_MEM_CUDA_PINNED,   /* pinned host memory */
  NVBUF_MEM_CUDA_DEVICE,   /* memory of a GPU */
  NVBUF_MEM_CUDA_UNIFIED,  /* managed memory */
  NVBUF_MEM_SURFACE_ARRAY, /* Jetson; CUDA reads it through an EGL image */
  NVBUF_MEM_HANDLE,        /* Jetson */
  NVBUF_MEM_SYSTEM,        /* malloc() */
} NvBufSurfaceMemType;

typedef int NvBufSurfaceColorFormat;

typedef struct
{
  uint32_t num_planes;
  uint32_t width[NVBUF_MAX_PLANES];
  uint32_t height[NVBUF_MAX_PLANES];
  uint32_t pitch[NVBUF_MAX_PLANES];  /* bytes from row to row */
  uint32_t offset[NVBUF_MAX_PLANES]; /* bytes from the start of the memory */
  uint32_t psize[NVBUF_MAX_PLANES];
  uint32_t bytesPerPix[NVBUF_MAX_PLANES];
  void *_reserved[4 * NVBUF_MAX_PLANES];
} NvBufSurfacePlaneParams;

typedef struct
{
  void *addr[NVBUF_MAX_PLANES];
  void *eglImage; /* EGLImageKHR, while mapped */
  void *_reserved[4];
} NvBufSurfaceMappedAddr;

/* One frame. */
typedef struct
{
  uint32_t width;
  uint32_t height;
  uint32_t pitch;
  NvBufSurfaceColorFormat colorFormat;
  NvBufSurfaceLayout layout;
  uint64_t bufferDesc; /* Jetson: DMA buffer file descriptor */
  uint32_t dataSize;
  void *dataPtr; /* memory other than Jetson's */
  NvBufSurfacePlaneParams planeParams;
  NvBufSurfaceMappedAddr mappedAddr;
  void *_reserved[4];
} NvBufSurfaceParams;

typedef struct
{
  uint32_t gpuId;
  uint32_t batchSize;
  uint32_t numFilled;
  bool isContiguous;
  NvBufSurfaceMemType memType;
  NvBufSurfaceParams *surfaceList; /* [batchSize] */
  void *_reserved[4];
} NvBufSurface;

#endif

/* Layout on 64-bit machines. */
#define ASSERT_OFFSET(type, field, bytes) \
  G_STATIC_ASSERT (GLIB_SIZEOF_VOID_P != 8 || offsetof (type, field) == (bytes))
ASSERT_OFFSET (NvBufSurface, batchSize, 4);
ASSERT_OFFSET (NvBufSurface, numFilled, 8);
ASSERT_OFFSET (NvBufSurface, memType, 16);
ASSERT_OFFSET (NvBufSurface, surfaceList, 24);
ASSERT_OFFSET (NvBufSurfaceParams, layout, 16);
ASSERT_OFFSET (NvBufSurfaceParams, bufferDesc, 24);
ASSERT_OFFSET (NvBufSurfaceParams, dataSize, 32);
ASSERT_OFFSET (NvBufSurfaceParams, dataPtr, 40);
ASSERT_OFFSET (NvBufSurfaceParams, planeParams, 48);
ASSERT_OFFSET (NvBufSurfacePlaneParams, width, 4);
ASSERT_OFFSET (NvBufSurfacePlaneParams, pitch, 36);
ASSERT_OFFSET (NvBufSurfacePlaneParams, offset, 52);
ASSERT_OFFSET (NvBufSurfacePlaneParams, bytesPerPix, 84);
ASSERT_OFFSET (NvBufSurfaceParams, mappedAddr, 48 + 232);
ASSERT_OFFSET (NvBufSurfaceMappedAddr, eglImage, 32);
#undef ASSERT_OFFSET

/* A CUDA array, at dataPtr. An enumerator of the type only in newer headers. */
#define GST_CCL_NVBUF_MEM_CUDA_ARRAY 7

/* Size in the oldest version. */
#define GST_CCL_NV_BUF_SURFACE_SIZE 64

#endif /* __GST_CCL_NV_BUF_SURFACE_H__ */
