/* cudaccl - helpers for the tests of NVMM memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_NVMM_TEST_H__
#define __CCL_NVMM_TEST_H__

#include "tests/lib/ccltest.h"
#include "tests/lib/nvfake/nvfake.h"

/* A kind of surface. Tests that make surfaces link with the fake library. */
typedef struct
{
  NvBufSurfaceMemType type;
  NvBufSurfaceLayout layout;
} NvmmKind;

/* A memory whose surface can be replaced. */
typedef struct
{
  GstMemory parent;

  NvBufSurface *surface;
} NvmmSlot;

/* A harness around cudaccl for frames in NVMM memory. */
GstHarness *ccl_test_nvmm_harness_new (const gchar *format, guint width, guint height);

/* Sets the caps of frames in NVMM memory. */
void ccl_test_nvmm_set_caps (GstHarness *h, const gchar *format, guint width, guint height);

/* A surface with the luma of the picture, or of the larger one that it is cropped from. */
NvBufSurface *ccl_test_nvmm_surface_new (const NvmmKind *kind, gboolean larger);

/* A memory as NVIDIA's elements make it: its data is the surface, which is freed with it. */
GstMemory *ccl_test_nvmm_memory_new (NvBufSurface *surface);

/* A memory with that surface, which remains the caller's. */
NvmmSlot *ccl_test_nvmm_slot_new (NvBufSurface *surface);

/* A buffer with @memory, which is consumed. */
GstBuffer *ccl_test_nvmm_buffer_new (GstMemory *memory);

/* Pushes a buffer with the picture, and asserts that its components come out. */
void ccl_test_nvmm_push (GstHarness *h, GstBuffer *buffer);

#endif /* __CCL_NVMM_TEST_H__ */
