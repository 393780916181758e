/* cudaccl - statistics of the analysis
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclstats.h"

#include <cudaccl/mask.h>

void
gst_ccl_stats_reset (GstCclStats *stats)
{
  g_free (stats->backend);
  g_free (stats->algorithm);
  g_free (stats->device);
  g_free (stats->morphology);
  *stats = (GstCclStats){ .device_index = -1 };
}

/* Operations seldom change. */
static void
set_morphology (GstCclStats *stats, const CclInfo *info)
{
  gchar text[512];

  if (stats->morphology && stats->operations == info->operations)
    return;
  stats->operations = info->operations;
  ccl_operations_format (info->operations, info->n_operations, text, sizeof text);
  g_free (stats->morphology);
  stats->morphology = g_strdup (text);
}

static void
set_usage (GstCclStats *stats, const CclAnalyzer *analyzer, CclInfo *info)
{
  ccl_analyzer_info (analyzer, info);
  stats->allocations = stats->old_allocations + info->allocations;
  stats->bytes = info->bytes;
  stats->model = info->motion;
  stats->far_places = info->far_places;
  stats->route = info->upload;
  set_morphology (stats, info);
}

void
gst_ccl_stats_set_analyzer (GstCclStats *stats, const CclAnalyzer *analyzer)
{
  CclInfo info;

  stats->old_allocations = stats->allocations;
  g_clear_pointer (&stats->morphology, g_free); /* the previous analyzer's */
  set_usage (stats, analyzer, &info);

  g_free (stats->backend);
  g_free (stats->algorithm);
  g_free (stats->device);
  stats->backend = g_strdup (ccl_backend_name (info.backend));
  stats->algorithm = g_strdup (info.algorithm);
  stats->device = g_strdup (info.device_name);
  stats->device_index = info.device;
}

void
gst_ccl_stats_add (GstCclStats *stats, const CclAnalyzer *analyzer, const CclComponents *components,
                   GstClockTime time)
{
  CclTiming timing;
  CclInfo info;

  set_usage (stats, analyzer, &info);
  ccl_analyzer_timing (analyzer, &timing);

  stats->frames++;
  stats->components += components->count;
  if (components->found > components->count)
    stats->truncated++;

  stats->time += time;
  stats->measured += timing.measured;
  stats->upload += timing.upload;
  stats->analysis += timing.analysis;
  stats->download += timing.download;
}

GstStructure *
gst_ccl_stats_to_structure (const GstCclStats *stats)
{
  guint64 frames = MAX (stats->frames, 1), measured = MAX (stats->measured, 1);
  GstStructure *structure;

  structure = gst_structure_new (
      "application/x-cudaccl-stats", "frames", G_TYPE_UINT64, stats->frames, "components",
      G_TYPE_UINT64, stats->components, "truncated", G_TYPE_UINT64, stats->truncated, "backend",
      G_TYPE_STRING, stats->backend, "algorithm", G_TYPE_STRING, stats->algorithm, "device",
      G_TYPE_STRING, stats->device, "device-index", G_TYPE_INT, stats->device_index, "upload",
      G_TYPE_STRING, stats->route, "morphology", G_TYPE_STRING, stats->morphology, "allocations",
      G_TYPE_UINT64, stats->allocations, "allocated-bytes", G_TYPE_UINT64, stats->bytes,
      "average-time", G_TYPE_UINT64, stats->time / frames, "average-upload-time", G_TYPE_UINT64,
      stats->upload / measured, "average-analysis-time", G_TYPE_UINT64, stats->analysis / measured,
      "average-download-time", G_TYPE_UINT64, stats->download / measured, NULL);
  if (stats->model.bytes > 0)
    gst_structure_set (structure, "model-bytes", G_TYPE_UINT64, stats->model.bytes, "starts",
                       G_TYPE_UINT64, stats->model.starts, "relit", G_TYPE_UINT64,
                       stats->model.relit, "aligned", G_TYPE_UINT64, stats->model.aligned,
                       "flickered", G_TYPE_UINT64, stats->model.flickered, "veil", G_TYPE_UINT,
                       stats->model.veil, "displaced", G_TYPE_UINT, stats->model.displaced,
                       "far-places", G_TYPE_UINT, stats->far_places, "waves", G_TYPE_BOOLEAN,
                       stats->model.waves, NULL);

  return structure;
}
