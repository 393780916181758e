/* cudaccl - croppers for frames on any device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CROPPER_H__
#define __GST_CCL_CROPPER_H__

#include <cudaccl/crop.h>

#include "gstcclframe.h"

G_BEGIN_DECLS

/* Ensures that @cropper, which may be NULL, draws pictures of @width by @height pixels of frames on
 * @device. @last is the device that it was made for, and becomes @device. Returns FALSE with
 * ccl_last_error() on failure. */
gboolean gst_ccl_cropper_ensure (CclCropper **cropper, GstCclDevice *last,
                                 const GstCclDevice *device, guint width, guint height);

G_END_DECLS

#endif /* __GST_CCL_CROPPER_H__ */
