/* cudaccl - the plugin
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/ccl/gstccl.h>

#include "gst/detect/gstccldetect.h"
#include "gstcclelements.h"

/**
 * plugin-cudaccl:
 *
 * Connected components of video frames, on NVIDIA GPUs and on the CPU.
 *
 * Since: 0.1
 */

static gboolean
plugin_init (GstPlugin *plugin)
{
  /* Registers the metadata, so that frames from other processes keep theirs. */
  gst_ccl_meta_get_info ();
  gst_ccl_zones_meta_get_info ();

  return GST_ELEMENT_REGISTER (cudaccl, plugin) && GST_ELEMENT_REGISTER (cclcolor, plugin) &&
         GST_ELEMENT_REGISTER (cclmotion, plugin) && GST_ELEMENT_REGISTER (cclmask, plugin) &&
         GST_ELEMENT_REGISTER (ccldetect, plugin);
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, cudaccl,
                   "Connected components of video frames", plugin_init, PACKAGE_VERSION, "LGPL",
                   PACKAGE_NAME, PACKAGE_ORIGIN)
