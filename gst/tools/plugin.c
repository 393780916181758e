/* cudaccl - the plugin of the elements that process components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/gst.h>
#include <gst/ccl/gstccl.h>

#include "gst/report/gstccljson.h"
#include "gst/merge/gstcclmerge.h"
#include "gst/report/gstcclonvif.h"
#include "gst/report/gstcclonvifread.h"
#include "gst/overlay/gstccloverlay.h"
#include "gst/track/gstccltrack.h"
#include "gst/zones/gstcclzones.h"

/**
 * plugin-ccltools:
 *
 * Elements that process connected components: draw them, merge them into other video, store and
 * send them.
 *
 * Since: 0.1
 */

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean registered = FALSE;

  /* Registers the metadata, so that frames from other processes keep theirs. */
  gst_ccl_meta_get_info ();
  gst_ccl_zones_meta_get_info ();

  registered |= GST_ELEMENT_REGISTER (ccljson, plugin);
  registered |= GST_ELEMENT_REGISTER (cclmerge, plugin);
  registered |= GST_ELEMENT_REGISTER (cclonvif, plugin);
  registered |= GST_ELEMENT_REGISTER (cclonvifread, plugin);
#ifdef HAVE_OVERLAY
  registered |= GST_ELEMENT_REGISTER (ccloverlay, plugin);
#endif
  registered |= GST_ELEMENT_REGISTER (ccltrack, plugin);
  registered |= GST_ELEMENT_REGISTER (cclzones, plugin);

  return registered;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ccltools,
                   "Elements that process connected components of video frames", plugin_init,
                   PACKAGE_VERSION, "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
