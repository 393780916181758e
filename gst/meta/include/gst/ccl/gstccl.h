/* cudaccl - everything of libgstccl in one header
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_H__
#define __GST_CCL_H__

#include <gst/ccl/ccl-prelude.h>
#include <gst/ccl/gstcclclassnames.h>
#include <gst/ccl/gstcclmeta.h>
#include <gst/ccl/gstcclpalette.h>
#include <gst/ccl/gstcclzonesmeta.h>

#endif /* __GST_CCL_H__ */
