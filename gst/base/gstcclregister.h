/* cudaccl - defines how an element is registered
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_REGISTER_H__
#define __GST_CCL_REGISTER_H__

#include <gst/gst.h>

/* Like GST_ELEMENT_REGISTER_DEFINE, but also sets the address of the element's page for
 * gst-inspect. */
#define GST_CCL_REGISTER_DEFINE(name, type)                                                    \
  gboolean gst_element_register_##name (GstPlugin *plugin)                                     \
  {                                                                                            \
    gpointer klass = g_type_class_ref (type);                                                  \
                                                                                               \
    gst_element_class_add_static_metadata (klass, GST_ELEMENT_METADATA_DOC_URI,                \
                                           PACKAGE_DOC "/elements/" #name PACKAGE_DOC_SUFFIX); \
    g_type_class_unref (klass);                                                                \
                                                                                               \
    return gst_element_register (plugin, #name, GST_RANK_NONE, type);                          \
  }

#endif /* __GST_CCL_REGISTER_H__ */
