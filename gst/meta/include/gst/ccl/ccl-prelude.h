/* cudaccl - symbol visibility of libgstccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PRELUDE_H__
#define __GST_CCL_PRELUDE_H__

#include <gst/gst.h>

#ifdef BUILDING_GST_CCL
/* GST_API_EXPORT is not public in GStreamer 1.20. */
#define GST_CCL_API __attribute__ ((visibility ("default"))) extern
#else
#define GST_CCL_API GST_API_IMPORT
#endif

#endif /* __GST_CCL_PRELUDE_H__ */
