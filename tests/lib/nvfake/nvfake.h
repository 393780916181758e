/* cudaccl - a stand-in for NVIDIA's video memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The library has the name of libnvbufsurface.so.1.0.0 and as many of its functions as are used,
 * and CUDA's own for EGL images, which come first where a program links with it. All of it is made
 * of plain CUDA memory: it needs neither a Jetson nor EGL, but a device. */

#ifndef __NV_FAKE_H__
#define __NV_FAKE_H__

#include <glib.h>

#include "gst/cudaccl/gstcclnvbufsurface.h"

/* What was done so far. */
typedef struct
{
  guint mapped, unmapped;         /* EGL images */
  guint registered, unregistered; /* with CUDA */
  guint strays;                   /* calls for surfaces that are gone, or were never registered */
} NvFakeCounts;

/* What goes wrong from now on; set by tests. */
typedef enum
{
  NV_FAKE_WORKS,
  NV_FAKE_NO_EGL,       /* no EGL image can be made */
  NV_FAKE_NO_CUDA,      /* it cannot be registered */
  NV_FAKE_NO_PLANES,    /* it has no planes */
  NV_FAKE_WIDE_PIXELS,  /* its pixels have two bytes */
  NV_FAKE_UNKNOWN_TYPE, /* it is neither an array nor at an address */
} NvFakeFault;

NvFakeCounts *nv_fake_counts (void);
void nv_fake_set_fault (NvFakeFault fault);

/* A surface with these pixels as luma, which begin at its corner. */
NvBufSurface *nv_fake_surface_new (NvBufSurfaceMemType type, NvBufSurfaceLayout layout,
                                   const guint8 *pixels, guint stride, guint width, guint height);
void nv_fake_surface_free (NvBufSurface *surface);

/* As if the surface were freed, and another one came at its address and with its descriptor. */
void nv_fake_surface_renew (NvBufSurface *surface);

#endif /* __NV_FAKE_H__ */
