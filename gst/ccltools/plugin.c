/* cudaccl - the plugin of the elements that use the components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/gst.h>
#include <gst/ccl/gstccl.h>

#include "gstcclmerge.h"
#include "gstccloverlay.h"
#ifdef HAVE_JSON_GLIB
#include "gstccljson.h"
#endif

/**
 * plugin-ccltools:
 *
 * What comes after the search for connected components: see them, join them with other video, store
 * and send them.
 *
 * Since: 0.1
 */

static gboolean
plugin_init (GstPlugin *plugin)
{
  gboolean registered = FALSE;

  /* So that components come with frames from other processes. */
  gst_ccl_meta_get_info ();

  registered |= GST_ELEMENT_REGISTER (cclmerge, plugin);
  registered |= GST_ELEMENT_REGISTER (ccloverlay, plugin);
#ifdef HAVE_JSON_GLIB
  registered |= GST_ELEMENT_REGISTER (ccljson, plugin);
#endif

  return registered;
}

GST_PLUGIN_DEFINE (GST_VERSION_MAJOR, GST_VERSION_MINOR, ccltools,
                   "Connected components of video frames, put to use", plugin_init, PACKAGE_VERSION,
                   "LGPL", PACKAGE_NAME, PACKAGE_ORIGIN)
