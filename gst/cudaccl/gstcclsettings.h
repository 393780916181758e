/* cudaccl - the properties of the element that can be set
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SETTINGS_H__
#define __GST_CCL_SETTINGS_H__

#include <gst/gst.h>
#include <ccl/ccl.h>

#include "gstcclenums.h"

G_BEGIN_DECLS

typedef struct
{
  /* Of the analyzer: what is set after the start counts from the next start on. */
  CclBackend backend;
  gint cuda_device_id;
  gint algorithm;
  guint connectivity;
  guint max_components;
  guint threads;
  CclSync cuda_sync;

  /* Of each frame. */
  CclParams params;
  GstCudaCclAttach attach;
  GQuark roi_type;
  gboolean post_messages;
} GstCclSettings;

/* Sets the defaults. */
void gst_ccl_settings_init (GstCclSettings *settings);

/* The properties get the numbers from @first_id on; the next free one is returned. */
guint gst_ccl_settings_install_properties (GObjectClass *gobject_class, guint first_id);

/* FALSE when there is no such property; @index counts from 0. */
gboolean gst_ccl_settings_set (GstCclSettings *settings, guint index, const GValue *value);
gboolean gst_ccl_settings_get (const GstCclSettings *settings, guint index, GValue *value);

/* The configuration of an analyzer for frames of that size. */
void gst_ccl_settings_get_config (const GstCclSettings *settings, guint width, guint height,
                                  CclConfig *config);

G_END_DECLS

#endif /* __GST_CCL_SETTINGS_H__ */
