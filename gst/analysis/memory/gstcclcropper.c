/* cudaccl - croppers for frames on any device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcropper.h"

gboolean
gst_ccl_cropper_ensure (CclCropper **cropper, GstCclDevice *last, const GstCclDevice *device,
                        guint width, guint height)
{
  CclCropperConfig config;

  if (device->number != last->number || device->context != last->context)
    g_clear_pointer (cropper, ccl_cropper_free);
  *last = *device;
  if (*cropper)
    return TRUE;

  ccl_cropper_config_init (&config, width, height);
  config.device = device->number;
  config.cuda_context = device->context;

  return ccl_cropper_new (&config, cropper) == CCL_OK;
}
