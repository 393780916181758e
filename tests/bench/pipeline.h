/* cudaccl - ccl-bench pipeline: the element in real pipelines
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_PIPELINE_H
#define TESTS_BENCH_PIPELINE_H

#include <gst/gst.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

/* Frames that a source repeats: enough that none stays in a cache. */
#define PIPELINE_FRAMES 16
#define PIPELINE_MOST_BUFFERS 256

typedef struct PipelineOptions
{
  guint width, height;
  gdouble seconds;      /* per scenario */
  guint pipelines;      /* in the scenario many */
  guint devices;        /* in the scenario many */
  guint buffers;        /* of a source, at least PIPELINE_FRAMES */
  const gchar *factory; /* of the element: cudaccl, or cclmotion */
  gchar *element;       /* its properties, as in gst-launch; NULL: the factory's usual ones */
  gchar *behind;        /* elements behind it, as in gst-launch; NULL: none */
  gboolean live;        /* frames come at 30 per second */
  gchar *masks;         /* a file of GRAY8 frames; NULL: they are drawn */
  gchar *decode;        /* a file with H.264 video */
  gchar *scenario;      /* names separated by commas; NULL: all */
} PipelineOptions;

/* The memory of a source's frames. */
typedef enum PipelineMemory
{
  PIPELINE_SYSTEM,   /* of GStreamer's own video pool */
  PIPELINE_PROPOSED, /* of the pool that the element proposes */
  PIPELINE_CUDA,     /* CUDAMemory */
} PipelineMemory;

/* Measured while all pipelines were running. */
typedef struct PipelineResult
{
  guint64 frames;
  gdouble fps;
  gdouble p50, p90, p99;    /* us, from the element's sink pad to its source pad */
  gdouble cpu;              /* us of CPU time per frame, of the whole process */
  gdouble cores;            /* CPU time of the whole process per time */
  gdouble allocations;      /* by the analyzers and the proposed pools, per frame */
  gdouble components;       /* per frame */
  gdouble upload, analysis; /* us of device time, averaged since the start */
} PipelineResult;

/* pipelinemasks.c */

/* Masks of PIPELINE_FRAMES frames: from a file of GRAY8 frames, which is repeated, or moving
 * blobs with ragged edges, shadows and specks. NULL with @error set if the file cannot be read.
 * Free with g_free(). */
guint8 *pipeline_masks_new (const PipelineOptions *options, GError **error);

/* The luma of a camera's frames with the same objects and shadows in front of a background with
 * texture and noise. Free with g_free(). */
guint8 *pipeline_camera_new (const PipelineOptions *options, const guint8 *masks);

/* pipelinesource.c */

#define PIPELINE_TYPE_SOURCE (pipeline_source_get_type ())
GType pipeline_source_get_type (void);

/* A source that pushes the masks as luma of @caps. */
GstElement *pipeline_source_new (const PipelineOptions *options, const guint8 *masks, GstCaps *caps,
                                 gboolean proposed);

/* A source that pushes copies of @buffers that share their memory, @live: each at its time. */
GstElement *pipeline_source_new_from_buffers (GstCaps *caps, GPtrArray *buffers, gboolean live);

/* The caps of the frames, without a reference. */
GstCaps *pipeline_source_caps (GstElement *source);

/* Whether the frames are in a pool that the element proposed. */
gboolean pipeline_source_has_proposed_pool (GstElement *source);

/* The pool's number of allocations; 0 without a proposed pool. */
guint pipeline_source_pinned_allocations (GstElement *source);

/* pipelinerun.c */

/* cclmotion's properties unless PipelineOptions.element says otherwise. */
#define PIPELINE_MOTION_PROPERTIES "morphology=median3,close5x5 min-area=200"

/* The element's properties. */
const gchar *pipeline_properties (const PipelineOptions *options);

typedef struct PipelineRun PipelineRun;

/* A pipeline of source, element on @device (-1: as the options say), what is behind it, and sink.
 * Without a factory it has only the source and the sink. @masks: the frames' luma. @own_context:
 * frames in CUDAMemory are in a CUDA context of their own instead of the process's. NULL with
 * @error set if it cannot be made. */
PipelineRun *pipeline_run_new (const PipelineOptions *options, const guint8 *masks,
                               PipelineMemory memory, gint device, gboolean own_context,
                               GError **error);

/* Another pipeline with the frames of @run, which are in CUDAMemory, and so in its context. */
PipelineRun *pipeline_run_new_beside (const PipelineOptions *options, PipelineRun *run,
                                      GError **error);

/* A pipeline that decodes @options->decode on the device, with or without the element. */
PipelineRun *pipeline_run_new_decoding (const PipelineOptions *options, gboolean analyse,
                                        GError **error);

void pipeline_run_free (PipelineRun *run);

gboolean pipeline_run_has_proposed_pool (const PipelineRun *run);

/* Runs all pipelines for @options->seconds after a warm-up, or until they end. */
gboolean pipeline_runs_measure (PipelineRun **runs, guint n, const PipelineOptions *options,
                                PipelineResult *result, GError **error);

/* pipeline.c */

/* The main function of ccl-bench pipeline. */
int pipeline_main (int argc, char **argv);

G_END_DECLS

#endif
