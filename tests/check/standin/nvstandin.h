/* cudaccl - a stand-in for NVIDIA's video memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The library has the name of libnvbufsurface.so.1.0.0 and as many of its functions as are used,
 * and CUDA's own for EGL images, which come first where a program links with it. All of it is made
 * of plain CUDA memory: it needs neither a Jetson nor EGL, but a device. */

#ifndef __NV_STANDIN_H__
#define __NV_STANDIN_H__

#include <glib.h>

#include "gst/cudaccl/memory/gstcclnvbufsurface.h"

/* What was done so far. */
typedef struct
{
  guint mapped, unmapped;         /* EGL images */
  guint registered, unregistered; /* with CUDA */
  guint strays;                   /* calls for surfaces that are gone, or were never registered */
} NvStandinCounts;

/* What goes wrong from now on; set by tests. */
typedef enum
{
  NV_STANDIN_WORKS,
  NV_STANDIN_NO_EGL,       /* no EGL image can be made */
  NV_STANDIN_NO_CUDA,      /* it cannot be registered */
  NV_STANDIN_NO_PLANES,    /* it has no planes */
  NV_STANDIN_WIDE_PIXELS,  /* its pixels have two bytes */
  NV_STANDIN_UNKNOWN_TYPE, /* it is neither an array nor at an address */
} NvStandinFault;

NvStandinCounts *nv_standin_counts (void);
void nv_standin_set_fault (NvStandinFault fault);

/* A surface with these pixels as luma, which begin at its corner. */
NvBufSurface *nv_standin_surface_new (NvBufSurfaceMemType type, NvBufSurfaceLayout layout,
                                      const guint8 *pixels, guint stride, guint width,
                                      guint height);
void nv_standin_surface_free (NvBufSurface *surface);

/* As if the surface were freed, and another one came at its address and with its descriptor. */
void nv_standin_surface_renew (NvBufSurface *surface);

#endif /* __NV_STANDIN_H__ */
