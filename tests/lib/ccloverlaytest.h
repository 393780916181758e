/* cudaccl - helpers for the tests of ccloverlay
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_OVERLAY_TEST_H__
#define __CCL_OVERLAY_TEST_H__

#include "tests/lib/ccltest.h"

/* The value of all pixels of a frame from ccl_overlay_frame_new(). */
#define BACKGROUND 50

#define WIDTH 24
#define HEIGHT 14
#define FRAME "format=GRAY8,width=24,height=14,framerate=1/1"
#define CAPS "video/x-raw," FRAME
#define COMPOSITION "meta:GstVideoOverlayComposition"
#define SYSTEM_CAPS "video/x-raw(memory:SystemMemory," COMPOSITION ")," FRAME

/* Two components of a frame of that size. */
extern const GstCclComponent ccl_overlay_boxes[2];

/* A harness around ccloverlay with white lines of one pixel, and properties as in
 * g_object_set(). */
GstHarness *ccl_overlay_harness_new (const gchar *caps, ...) G_GNUC_NULL_TERMINATED;

/* A writable GRAY8 frame with the components of a frame of @meta_width x @meta_height. */
GstBuffer *ccl_overlay_frame_new (guint width, guint height, guint meta_width, guint meta_height,
                                  const GstCclComponent *components, guint n_components);

/* A frame with the two components. */
GstBuffer *ccl_overlay_boxes_new (void);

/* A pixel of a frame of that size. */
guint8 ccl_overlay_pixel (GstBuffer *buffer, guint x, guint y);

/* Asserts that the two boxes are either drawn on the frame or attached. */
void ccl_overlay_check_drawn (GstBuffer *buffer, gboolean attached);

#endif /* __CCL_OVERLAY_TEST_H__ */
