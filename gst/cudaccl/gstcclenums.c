/* cudaccl - the enumerations and flags of the element's properties
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclenums.h"

#include <ccl/ccl.h>

GType
gst_cuda_ccl_backend_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_BACKEND_AUTO, "CUDA where there is a device, else the CPU", "auto" },
    { CCL_BACKEND_CUDA, "NVIDIA GPU", "cuda" },
    { CCL_BACKEND_CPU, "CPU", "cpu" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCudaCclBackend", values));

  return type;
}

static GType
register_algorithms (void)
{
  const CclAlgorithm *algorithm;
  GEnumValue *values;
  guint i, n = 0;

  while (ccl_algorithm (n))
    n++;

  /* GObject keeps the array for good. */
  values = g_new0 (GEnumValue, n + 2);
  values[0].value = GST_CUDA_CCL_ALGORITHM_AUTO;
  values[0].value_name = "The backend's best";
  values[0].value_nick = "auto";

  for (i = 0; i < n; i++) {
    algorithm = ccl_algorithm (i);
    values[i + 1].value = (gint) i + 1;
    values[i + 1].value_name = algorithm->description;
    values[i + 1].value_nick = algorithm->name;
  }

  return g_enum_register_static ("GstCudaCclAlgorithm", values);
}

GType
gst_cuda_ccl_algorithm_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, register_algorithms ());

  return type;
}

const gchar *
gst_cuda_ccl_algorithm_get_name (gint value)
{
  const CclAlgorithm *algorithm;

  if (value == GST_CUDA_CCL_ALGORITHM_AUTO)
    return NULL;

  algorithm = ccl_algorithm ((gsize) value - 1);

  return algorithm ? algorithm->name : NULL;
}

GType
gst_cuda_ccl_connectivity_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { 4, "Pixels that share an edge", "4" },
    { 8, "Pixels that share an edge or a corner", "8" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCudaCclConnectivity", values));

  return type;
}

GType
gst_cuda_ccl_sync_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_SYNC_AUTO, "Spin for a moment, then yield, then sleep", "auto" },
    { CCL_SYNC_SPIN, "Shortest latency, keeps a core busy", "spin" },
    { CCL_SYNC_YIELD, "Short latency, other threads go first", "yield" },
    { CCL_SYNC_BLOCK, "Least CPU time", "block" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCudaCclSync", values));

  return type;
}

GType
gst_cuda_ccl_attach_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CUDA_CCL_ATTACH_COMPONENTS, "One GstCclMeta with all components", "components" },
    { GST_CUDA_CCL_ATTACH_ROI, "One GstVideoRegionOfInterestMeta for each component", "roi" },
#ifdef HAVE_ANALYTICS
    { GST_CUDA_CCL_ATTACH_ANALYTICS, "One object detection of GstAnalytics for each component",
      "analytics" },
#endif
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_flags_register_static ("GstCudaCclAttach", values));

  return type;
}
