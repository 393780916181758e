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

/* Values stay what they are, in builds without an algorithm, too. */
static const struct
{
  gint value;
  const gchar *name;
} algorithms[] = {
  { 1, "tile" },           { 2, "flsl-cd" }, { 3, "ha4" },     { 4, "flsl-otf" },
  { 5, "flsl" },           { 6, "ha4-otf" }, { 7, "ha4-cd" },  { 8, "ha4-32" },
  { 9, "naive" },          { 10, "bke" },    { 11, "bke-ic" }, { 12, "buf" },
  { 13, "buf-ic" },        { 14, "uf" },     { 15, "lbuf" },   { 16, "ke" },
  { 17, "playne" },        { 18, "dlp" },    { 19, "be" },     { 20, "label-equivalence" },
  { 21, "row-col-unify" }, { 100, "runs" },
};

static const gchar *
describe_algorithm (const gchar *name)
{
  const CclAlgorithm *algorithm;
  gsize i;

  for (i = 0; (algorithm = ccl_algorithm (i)); i++) {
    if (g_str_equal (algorithm->name, name))
      return algorithm->description;
  }

  return "Not in this build";
}

static GType
register_algorithms (void)
{
  /* GObject keeps the array for good. */
  GEnumValue *values = g_new0 (GEnumValue, G_N_ELEMENTS (algorithms) + 2);
  guint i;

  values[0].value = GST_CUDA_CCL_ALGORITHM_AUTO;
  values[0].value_name = "The backend's best";
  values[0].value_nick = "auto";

  for (i = 0; i < G_N_ELEMENTS (algorithms); i++) {
    values[i + 1].value = algorithms[i].value;
    values[i + 1].value_name = describe_algorithm (algorithms[i].name);
    values[i + 1].value_nick = algorithms[i].name;
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
  guint i;

  for (i = 0; i < G_N_ELEMENTS (algorithms); i++) {
    if (algorithms[i].value == value)
      return algorithms[i].name;
  }

  return NULL;
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
