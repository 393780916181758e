/* cudaccl - caps with and without overlay compositions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_CAPS_H__
#define __GST_CCL_OVERLAY_CAPS_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Which of the two ways a frame can go. */
typedef enum
{
  GST_CCL_OVERLAY_BLEND = 1 << 0,  /* drawn on, the caps stay */
  GST_CCL_OVERLAY_ATTACH = 1 << 1, /* with a composition, and caps that say so */
} GstCclOverlayWays;

/* The frames that can be drawn on: those that GstVideo can blend without loss. */
GstCaps *gst_ccl_overlay_blend_caps (void);

/* Whether fixed caps say that there are compositions. */
gboolean gst_ccl_overlay_caps_have_composition (GstCaps *caps);

/* @caps and what says that there are compositions. */
GstCaps *gst_ccl_overlay_caps_add_composition (GstCaps *caps);

/* What comes out when frames of @caps go in, the better way first. */
GstCaps *gst_ccl_overlay_caps_after (GstCaps *caps, GstCclOverlayWays ways);

/* What can go in when @caps come out. */
GstCaps *gst_ccl_overlay_caps_before (GstCaps *caps);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_CAPS_H__ */
