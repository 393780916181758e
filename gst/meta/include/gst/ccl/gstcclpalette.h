/* cudaccl - colours for components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PALETTE_H__
#define __GST_CCL_PALETTE_H__

#include <gst/gst.h>
#include <gst/ccl/ccl-prelude.h>

G_BEGIN_DECLS

/**
 * GST_CCL_N_COLORS:
 *
 * Number of labels after which the colours of gst_ccl_label_get_color() repeat.
 *
 * Since: 0.1
 */
#define GST_CCL_N_COLORS 2584

GST_CCL_API
guint32 gst_ccl_label_get_color (guint label);

G_END_DECLS

#endif /* __GST_CCL_PALETTE_H__ */
