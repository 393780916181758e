/* cudaccl - what the tests of ccloverlay share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_OVERLAY_TEST_H__
#define __CCL_OVERLAY_TEST_H__

#include "ccltest.h"

/* The value of all pixels of a frame from ccl_overlay_frame_new(). */
#define BACKGROUND 50

/* A harness around ccloverlay, with white lines of one pixel, and what else is given as in
 * g_object_set(). */
GstHarness *ccl_overlay_harness_new (const gchar *caps, ...) G_GNUC_NULL_TERMINATED;

/* A GRAY8 frame with the components of a frame of @meta_width x @meta_height; writable. */
GstBuffer *ccl_overlay_frame_new (guint width, guint height, guint meta_width, guint meta_height,
                                  const GstCclComponent *components, guint n_components);

#endif /* __CCL_OVERLAY_TEST_H__ */
