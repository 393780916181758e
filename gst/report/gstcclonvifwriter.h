/* cudaccl - a frame's components as ONVIF metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ONVIF_WRITER_H__
#define __GST_CCL_ONVIF_WRITER_H__

#include "gstccljsonwriter.h"

G_BEGIN_DECLS

/* Returns an XML document, a tt:MetadataStream of the ONVIF schema with one tt:Frame, and a
 * newline. The frame must have a UTC time and a size. */
GString *gst_ccl_onvif_write_frame (const GstCclJsonFrame *frame);

G_END_DECLS

#endif /* __GST_CCL_ONVIF_WRITER_H__ */
