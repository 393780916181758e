/* cudaccl - what the plugins do to caps and allocation; part of the plugins, not of libgstccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CAPS_H__
#define __GST_CCL_CAPS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* What of @caps, which are consumed, fits @filter, in the order of @filter; all of them if that is
 * NULL. */
GstCaps *gst_ccl_caps_filter (GstCaps *caps, GstCaps *filter);

/* The size of frames with fixed caps, whatever their format is; FALSE if the caps do not tell. */
gboolean gst_ccl_caps_get_size (GstCaps *caps, guint *width, guint *height);

/* The same for an @element that cannot go on without: posts an error if the caps do not tell. */
gboolean gst_ccl_caps_need_size (GstElement *element, GstCaps *caps, guint *width, guint *height);

/* Answers an allocation @query: upstream may lay frames out as it likes, and crop them. */
void gst_ccl_allow_any_layout (GstQuery *query);

G_END_DECLS

#endif /* __GST_CCL_CAPS_H__ */
