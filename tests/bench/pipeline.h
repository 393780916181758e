/* cudaccl - ccl-bench pipeline: the element in real pipelines
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_PIPELINE_H
#define TESTS_BENCH_PIPELINE_H

#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* Frames that a source goes through, again and again: enough of them that none is in a cache. */
#define PIPELINE_FRAMES 16
#define PIPELINE_MOST_BUFFERS 256

typedef struct PipelineOptions
{
  guint width, height;
  gdouble seconds; /* measured of each scenario */
  guint pipelines; /* at once, in the scenario of many */
  guint devices;   /* in the scenario of several */
  guint buffers;   /* of a source, at least PIPELINE_FRAMES */
  gchar *element;  /* properties of cudaccl, as in gst-launch */
  gchar *masks;    /* a file of GRAY8 frames; NULL: they are drawn */
  gchar *decode;   /* a file with H.264 video */
  gchar *scenario; /* names with commas; NULL: all */
} PipelineOptions;

/* Where a source's frames lie. */
typedef enum PipelineMemory
{
  PIPELINE_SYSTEM,   /* in buffers of GStreamer's own video pool */
  PIPELINE_PROPOSED, /* in those of the pool that the element proposes */
  PIPELINE_CUDA,     /* in CUDAMemory */
} PipelineMemory;

/* What pipelines did in the time in which all of them ran. */
typedef struct PipelineResult
{
  guint64 frames;
  gdouble fps;
  gdouble p50, p90, p99;    /* us, from the element's sink pad to its source pad */
  gdouble cpu;              /* us of CPU time a frame, of the whole process */
  gdouble allocations;      /* by the analyzers and by the pools that were proposed, a frame */
  gdouble components;       /* a frame */
  gdouble upload, analysis; /* us of the device's time, on average since the start */
} PipelineResult;

/* pipelinemasks.c */

/* Masks of frame number 0, 1...: those of a file of GRAY8 frames (again from its beginning after
 * its end), or blobs that move, with ragged edges, shadows and specks. NULL with @error set if the
 * file cannot be read. To be freed. */
guint8 *pipeline_masks_new (const PipelineOptions *options, GError **error);

/* pipelinesource.c */

#define PIPELINE_TYPE_SOURCE (pipeline_source_get_type ())
GType pipeline_source_get_type (void);

/* A source that gives out the masks, as luma of @caps. */
GstElement *pipeline_source_new (const PipelineOptions *options, const guint8 *masks, GstCaps *caps,
                                 gboolean proposed);

/* A source that gives out copies of @buffers, which share their memory. */
GstElement *pipeline_source_new_from_buffers (GstCaps *caps, GPtrArray *buffers);

/* The caps of the frames, without a reference. */
GstCaps *pipeline_source_caps (GstElement *source);

/* Whether the frames lie in a pool that the element proposed. */
gboolean pipeline_source_has_proposed_pool (GstElement *source);

/* How often that pool has page-locked memory; 0 without one. */
guint pipeline_source_pinned_allocations (GstElement *source);

/* pipelinerun.c */

typedef struct PipelineRun PipelineRun;

/* A pipeline of the frames, cudaccl on @device (-1: as the options say) and a sink. Where that
 * cannot be made, NULL with @error. */
PipelineRun *pipeline_run_new (const PipelineOptions *options, const guint8 *masks,
                               PipelineMemory memory, gint device, GError **error);

/* Another one with the frames of @run, which are in CUDAMemory, and so in its context. */
PipelineRun *pipeline_run_new_beside (const PipelineOptions *options, PipelineRun *run,
                                      GError **error);

/* A pipeline that decodes @options->decode on the device, with or without cudaccl. */
PipelineRun *pipeline_run_new_decoding (const PipelineOptions *options, gboolean analyse,
                                        GError **error);

void pipeline_run_free (PipelineRun *run);

gboolean pipeline_run_has_proposed_pool (const PipelineRun *run);

/* Runs all of them for @options->seconds after a moment to warm up, or until they end. */
gboolean pipeline_runs_measure (PipelineRun **runs, guint n, const PipelineOptions *options,
                                PipelineResult *result, GError **error);

/* pipeline.c */

/* The subcommand; returns the exit status. */
int pipeline_main (int argc, char **argv);

G_END_DECLS

#endif
