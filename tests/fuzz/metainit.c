/* cudaccl - fuzzing: what the targets of metadata share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/metainit.h"

#include "tests/fuzz/input.h"

const GstMetaInfo *fuzz_ccl_info, *fuzz_zones_info;

static void
stay_silent (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
  fuzz_check (!(level & G_LOG_FLAG_FATAL), "%s: %s", domain ? domain : "", message);
}

void
fuzz_meta_init (void)
{
  g_setenv ("GST_PLUGIN_SYSTEM_PATH_1_0", "", TRUE);
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  g_log_set_always_fatal (G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR | G_LOG_FLAG_RECURSION);
  g_log_set_default_handler (stay_silent, NULL);
  fuzz_ccl_info = gst_ccl_meta_get_info ();
  fuzz_zones_info = gst_ccl_zones_meta_get_info ();
}
