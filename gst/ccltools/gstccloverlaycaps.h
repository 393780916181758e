/* cudaccl - caps with and without overlay compositions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_CAPS_H__
#define __GST_CCL_OVERLAY_CAPS_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* What can come out when frames of @caps go in: with what says that there are compositions, and as
 * it was, if the frames can be drawn on. */
GstCaps *gst_ccl_overlay_caps_after (GstCaps *caps);

/* What can go in when @caps come out. */
GstCaps *gst_ccl_overlay_caps_before (GstCaps *caps);

/* The first of @caps that says that there are compositions, or that does not say so, fixated; NULL
 * if there is none. */
GstCaps *gst_ccl_overlay_caps_select (GstCaps *caps, gboolean composition);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_CAPS_H__ */
