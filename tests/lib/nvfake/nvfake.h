/* cudaccl - a fake of NVIDIA's library for NVMM memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stands in for libnvbufsurface.so.1.0.0, with the functions that the plugin uses, and with CUDA's
 * functions for EGL images, which take precedence in programs linked with it. Surfaces are plain
 * CUDA memory: it needs a device, but neither a Jetson nor EGL. */

#ifndef __NV_FAKE_H__
#define __NV_FAKE_H__

#include <glib.h>

#include "gst/analysis/memory/gstcclnvbufsurface.h"

/* Counts of calls. */
typedef struct
{
  guint mapped, unmapped;         /* EGL images */
  guint registered, unregistered; /* with CUDA */
  guint strays;                   /* calls for surfaces that are gone or were never registered */
} NvFakeCounts;

/* Calls that fail from now on; set by tests. */
typedef enum
{
  NV_FAKE_WORKS,
  NV_FAKE_NO_EGL,       /* making an EGL image */
  NV_FAKE_NO_CUDA,      /* registering it */
  NV_FAKE_NO_PLANES,    /* it has no planes */
  NV_FAKE_WIDE_PIXELS,  /* its pixels have two bytes */
  NV_FAKE_UNKNOWN_TYPE, /* it is neither an array nor pitched memory */
} NvFakeFault;

NvFakeCounts *nv_fake_counts (void);
void nv_fake_set_fault (NvFakeFault fault);

/* A plane: rows of @width bytes. */
typedef struct
{
  const guint8 *pixels;
  guint stride, width, height;
} NvFakePlane;

/* A surface with copies of @n planes, of which the first is luma. */
NvBufSurface *nv_fake_surface_new_planes (NvBufSurfaceMemType type, NvBufSurfaceLayout layout,
                                          const NvFakePlane *planes, guint n);

/* The same with luma only. */
NvBufSurface *nv_fake_surface_new (NvBufSurfaceMemType type, NvBufSurfaceLayout layout,
                                   const guint8 *pixels, guint stride, guint width, guint height);
void nv_fake_surface_free (NvBufSurface *surface);

/* Behaves as if the surface were freed and another allocated with its address and descriptor. */
void nv_fake_surface_renew (NvBufSurface *surface);

#endif /* __NV_FAKE_H__ */
