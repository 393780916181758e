/* cudaccl - ccl-bench pipeline: runs pipelines and measures the element
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/pipeline.h"
#include "tests/lib/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define WARM_UP_FRAMES 100
#define MOST_SAMPLES (1 << 20) /* per pipeline; further frames are counted, not timed */
#define POLL_US 1000
#define TIMEOUT_US (600 * G_USEC_PER_SEC) /* emulators are slow */

struct PipelineRun
{
  GstElement *pipeline;
  GstElement *source;  /* NULL when decoding */
  GstElement *element; /* NULL without it */
  GPtrArray *buffers;
  gboolean ended; /* has posted EOS */

  /* Written by the streaming thread. */
  guint64 entered; /* when the current frame came to the element */
  atomic_bool timing;
  atomic_uint_fast64_t frames; /* that left it */
  guint32 *samples;            /* [MOST_SAMPLES] ns */
  atomic_uint_fast64_t n_samples;
};

/* Counters of all pipelines at one moment. */
typedef struct Snapshot
{
  guint64 time, frames, allocations, components, analysed;
  gdouble cpu;
} Snapshot;

static GstPadProbeReturn
on_enter (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  ((PipelineRun *) user_data)->entered = test_now ();
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_leave (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  PipelineRun *run = user_data;
  guint64 n = atomic_load_explicit (&run->n_samples, memory_order_relaxed);

  if (run->element && n < MOST_SAMPLES &&
      atomic_load_explicit (&run->timing, memory_order_relaxed)) {
    run->samples[n] = (guint32) (test_now () - run->entered);
    atomic_store_explicit (&run->n_samples, n + 1, memory_order_release);
  }
  atomic_fetch_add_explicit (&run->frames, 1, memory_order_relaxed);
  return GST_PAD_PROBE_OK;
}

static void
add_probe (GstElement *element, const gchar *name, GstPadProbeCallback callback, PipelineRun *run)
{
  GstPad *pad = gst_element_get_static_pad (element, name);

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, callback, run, NULL);
  gst_object_unref (pad);
}

/* A pipeline of @source and @description, with elements named "ccl" and "sink". */
static PipelineRun *
run_new (const gchar *description, GstElement *source, GError **error)
{
  GstElement *pipeline =
      gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
  GstElement *sink;
  PipelineRun *run;

  if (!pipeline) {
    if (source)
      gst_object_unref (gst_object_ref_sink (source));
    return NULL;
  }
  run = g_new0 (PipelineRun, 1);
  run->pipeline = pipeline;
  run->element = gst_bin_get_by_name (GST_BIN (pipeline), "ccl");
  run->samples = g_new (guint32, MOST_SAMPLES);
  if (source) {
    GstPad *pad = gst_bin_find_unlinked_pad (GST_BIN (pipeline), GST_PAD_SINK);
    GstElement *first = gst_pad_get_parent_element (pad);

    gst_bin_add (GST_BIN (pipeline), source);
    gst_element_link (source, first);
    gst_object_unref (first);
    gst_object_unref (pad);
    run->source = source;
  }
  if (run->element) {
    add_probe (run->element, "sink", on_enter, run);
    add_probe (run->element, "src", on_leave, run);
  } else {
    sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    add_probe (sink, "sink", on_leave, run);
    gst_object_unref (sink);
  }
  return run;
}

void
pipeline_run_free (PipelineRun *run)
{
  if (!run)
    return;
  gst_element_set_state (run->pipeline, GST_STATE_NULL);
  gst_clear_object (&run->element);
  gst_object_unref (run->pipeline);
  g_clear_pointer (&run->buffers, g_ptr_array_unref);
  g_free (run->samples);
  g_free (run);
}

/* The error of a message, with its debug details. */
static void
take_error (GstMessage *message, GError **error)
{
  gchar *debug = NULL;
  GError *cause = NULL;

  gst_message_parse_error (message, &cause, &debug);
  g_set_error (error, cause->domain, cause->code, "%s (%s)", cause->message, debug ? debug : "");
  g_error_free (cause);
  g_free (debug);
}

/* Handles a pipeline's messages: notes EOS; FALSE if it failed. */
static gboolean
look_at_bus (PipelineRun *run, GError **error)
{
  GstBus *bus = gst_element_get_bus (run->pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  gboolean failed = message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;

  gst_object_unref (bus);
  if (failed)
    take_error (message, error);
  else if (message)
    run->ended = TRUE;
  gst_clear_message (&message);
  return !failed;
}

static GstPadProbeReturn
on_uploaded (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GPtrArray *buffers = user_data;

  g_ptr_array_add (buffers, gst_buffer_ref (GST_PAD_PROBE_INFO_BUFFER (info)));
  return GST_PAD_PROBE_OK;
}

/* Makes frames in CUDAMemory, and their caps. A cudaupload that has no cudaccl beside it makes a
 * context of its own. */
static GPtrArray *
upload (const PipelineOptions *options, const guint8 *masks, gint device, gboolean own_context,
        GstCaps *system, GstCaps **caps, GError **error)
{
  gchar *beside = own_context
                      ? g_strdup ("")
                      : g_strdup_printf ("cudaccl attach=0 cuda-device-id=%d !", MAX (device, 0));
  gchar *description =
      g_strdup_printf ("cudaupload cuda-device-id=%d ! video/x-raw(memory:CUDAMemory) ! %s "
                       "fakesink name=sink sync=false",
                       MAX (device, 0), beside);
  const PipelineOptions at_once = { .width = options->width,
                                    .height = options->height,
                                    .buffers = options->buffers };
  GstElement *source = pipeline_source_new (&at_once, masks, system, FALSE), *sink;
  GPtrArray *buffers = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  PipelineRun *run;
  GstMessage *message;
  GstBus *bus;
  GstPad *pad;

  g_object_set (source, "num-buffers", (gint) options->buffers, NULL);
  run = run_new (description, source, error);
  g_free (description);
  g_free (beside);
  if (!run) {
    g_ptr_array_unref (buffers);
    return NULL;
  }
  sink = gst_bin_get_by_name (GST_BIN (run->pipeline), "sink");
  pad = gst_element_get_static_pad (sink, "sink");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, on_uploaded, buffers, NULL);
  gst_element_set_state (run->pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus (run->pipeline);
  message = gst_bus_timed_pop_filtered (bus, 30 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  *caps = gst_pad_get_current_caps (pad);
  if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
    take_error (message, error);
  else if (buffers->len == 0 || !*caps)
    g_set_error (error, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "cudaupload gave no frames");
  gst_clear_message (&message);
  gst_object_unref (bus);
  gst_object_unref (pad);
  gst_object_unref (sink);
  pipeline_run_free (run);
  if (buffers->len > 0 && *caps)
    return buffers;
  gst_clear_caps (caps);
  g_ptr_array_unref (buffers);
  return NULL;
}

static gboolean
is_motion (const PipelineOptions *options)
{
  return g_strcmp0 (options->factory, "cclmotion") == 0;
}

const gchar *
pipeline_properties (const PipelineOptions *options)
{
  if (options->element)
    return options->element;
  return is_motion (options) ? PIPELINE_MOTION_PROPERTIES : "";
}

/* The options' element with its properties, on a device, and the elements behind it. */
static gchar *
describe_element (const PipelineOptions *options, gint device)
{
  gchar *number = device < 0 ? g_strdup ("") : g_strdup_printf ("cuda-device-id=%d", device);
  const gchar *graphs = is_motion (options) ? "" : "cuda-graphs=true";
  gchar *text = g_strdup_printf ("%s name=ccl %s %s %s %s %s", options->factory, number, graphs,
                                 pipeline_properties (options), options->behind ? "!" : "",
                                 options->behind ? options->behind : "");

  g_free (number);
  return text;
}

/* Builds source, element and sink. @buffers: the source's, or NULL. */
static PipelineRun *
run_new_from (const PipelineOptions *options, gint device, GstElement *source, GPtrArray *buffers,
              GError **error)
{
  gchar *element = options->factory ? describe_element (options, device) : g_strdup ("identity");
  gchar *description =
      g_strdup_printf ("%s ! fakesink name=sink sync=false enable-last-sample=false", element);
  PipelineRun *run = run_new (description, source, error);

  if (run && buffers)
    run->buffers = g_ptr_array_ref (buffers);
  g_free (description);
  g_free (element);
  return run;
}

PipelineRun *
pipeline_run_new (const PipelineOptions *options, const guint8 *masks, PipelineMemory memory,
                  gint device, gboolean own_context, GError **error)
{
  gboolean colour = memory == PIPELINE_CUDA || !options->factory || is_motion (options);
  GstCaps *caps =
      gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, colour ? "NV12" : "GRAY8",
                           "width", G_TYPE_INT, (gint) options->width, "height", G_TYPE_INT,
                           (gint) options->height, "framerate", GST_TYPE_FRACTION, 30, 1, NULL);
  GPtrArray *buffers = NULL;
  GstElement *source = NULL;
  PipelineRun *run = NULL;
  GstCaps *uploaded = NULL;

  if (memory != PIPELINE_CUDA) {
    source = pipeline_source_new (options, masks, caps, memory == PIPELINE_PROPOSED);
  } else {
    buffers = upload (options, masks, device, own_context, caps, &uploaded, error);
    if (buffers)
      source = pipeline_source_new_from_buffers (uploaded, buffers, options->live);
    gst_clear_caps (&uploaded);
  }
  if (source)
    run = run_new_from (options, device, source, buffers, error);
  g_clear_pointer (&buffers, g_ptr_array_unref);
  gst_caps_unref (caps);
  return run;
}

PipelineRun *
pipeline_run_new_beside (const PipelineOptions *options, PipelineRun *run, GError **error)
{
  GstElement *source = pipeline_source_new_from_buffers (pipeline_source_caps (run->source),
                                                         run->buffers, options->live);

  return run_new_from (options, -1, source, run->buffers, error);
}

PipelineRun *
pipeline_run_new_decoding (const PipelineOptions *options, gboolean analyse, GError **error)
{
  gchar *element = analyse ? describe_element (options, -1) : g_strdup ("identity silent=true");
  gchar *description = g_strdup_printf (
      "filesrc location=\"%s\" ! parsebin ! nvh264dec ! video/x-raw(memory:CUDAMemory) ! "
      "%s ! fakesink name=sink sync=%s "
      "enable-last-sample=false",
      options->decode, element, options->live ? "true" : "false");
  PipelineRun *run = run_new (description, NULL, error);

  g_free (description);
  g_free (element);
  return run;
}

gboolean
pipeline_run_has_proposed_pool (const PipelineRun *run)
{
  return run->source && pipeline_source_has_proposed_pool (run->source);
}

static guint64
get_count (const GstStructure *stats, const gchar *name)
{
  guint64 value = 0;

  gst_structure_get_uint64 (stats, name, &value);
  return value;
}

static void
take_snapshot (PipelineRun **runs, guint n, Snapshot *snapshot)
{
  struct rusage usage;
  guint i;

  *snapshot = (Snapshot){ 0 };
  for (i = 0; i < n; i++) {
    GstStructure *stats = NULL;

    snapshot->frames += atomic_load (&runs[i]->frames);
    if (runs[i]->source)
      snapshot->allocations += pipeline_source_pinned_allocations (runs[i]->source);
    if (!runs[i]->element)
      continue;
    g_object_get (runs[i]->element, "stats", &stats, NULL);
    snapshot->allocations += get_count (stats, "allocations");
    snapshot->components += get_count (stats, "components");
    snapshot->analysed += get_count (stats, "frames");
    gst_structure_free (stats);
  }
  getrusage (RUSAGE_SELF, &usage);
  snapshot->cpu = (gdouble) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
                  (gdouble) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  snapshot->time = test_now ();
}

/* Waits until every pipeline has given @least frames or ended, or for @microseconds; FALSE if
 * one failed. */
static gboolean
wait_for_frames (PipelineRun **runs, guint n, guint64 least, gint64 microseconds, GError **error)
{
  gint64 end = g_get_monotonic_time () + microseconds;
  guint i, ready = 0;

  while (ready < n && g_get_monotonic_time () < end) {
    g_usleep (POLL_US);
    for (i = 0, ready = 0; i < n; i++) {
      if (!look_at_bus (runs[i], error))
        return FALSE;
      ready += atomic_load (&runs[i]->frames) >= least || runs[i]->ended;
    }
  }
  return TRUE;
}

static gint
compare_samples (const void *a, const void *b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

static void
sum_up_latency (PipelineRun **runs, guint n, PipelineResult *result)
{
  gsize total = 0, at = 0;
  guint32 *all;
  guint i;

  for (i = 0; i < n; i++)
    total += atomic_load (&runs[i]->n_samples);
  if (total == 0)
    return;
  all = g_new (guint32, total);
  for (i = 0; i < n; i++) {
    gsize count = MIN (atomic_load (&runs[i]->n_samples), total - at);

    memcpy (all + at, runs[i]->samples, count * sizeof *all);
    at += count;
  }
  qsort (all, at, sizeof *all, compare_samples);
  result->p50 = all[at / 2] / 1e3;
  result->p90 = all[at * 9 / 10] / 1e3;
  result->p99 = all[at * 99 / 100] / 1e3;
  g_free (all);
}

/* The backend's average times. */
static void
take_averages (PipelineRun *run, PipelineResult *result)
{
  GstStructure *stats = NULL;

  if (!run->element)
    return;
  g_object_get (run->element, "stats", &stats, NULL);
  result->upload = (gdouble) get_count (stats, "average-upload-time") / 1e3;
  result->analysis = (gdouble) get_count (stats, "average-analysis-time") / 1e3;
  gst_structure_free (stats);
}

static void
sum_up (PipelineRun **runs, guint n, const Snapshot *a, const Snapshot *b, PipelineResult *result)
{
  gdouble frames = (gdouble) MAX (b->frames - a->frames, 1);

  *result = (PipelineResult){
    .frames = b->frames - a->frames,
    .fps = (gdouble) (b->frames - a->frames) * 1e9 / (gdouble) MAX (b->time - a->time, 1),
    .cpu = (b->cpu - a->cpu) / frames,
    .cores = (b->cpu - a->cpu) * 1e3 / (gdouble) MAX (b->time - a->time, 1),
    .allocations = (gdouble) (b->allocations - a->allocations) / frames,
    .components =
        (gdouble) (b->components - a->components) / (gdouble) MAX (b->analysed - a->analysed, 1),
  };
  sum_up_latency (runs, n, result);
  take_averages (runs[0], result);
}

gboolean
pipeline_runs_measure (PipelineRun **runs, guint n, const PipelineOptions *options,
                       PipelineResult *result, GError **error)
{
  Snapshot before, after;
  gboolean ok;
  guint i;

  for (i = 0; i < n; i++)
    gst_element_set_state (runs[i]->pipeline, GST_STATE_PLAYING);
  ok = wait_for_frames (runs, n, WARM_UP_FRAMES, TIMEOUT_US, error);
  if (ok) {
    take_snapshot (runs, n, &before);
    for (i = 0; i < n; i++)
      atomic_store (&runs[i]->timing, true);
    ok =
        wait_for_frames (runs, n, G_MAXUINT64, (gint64) (options->seconds * G_USEC_PER_SEC), error);
    take_snapshot (runs, n, &after);
  }
  for (i = 0; i < n; i++)
    gst_element_set_state (runs[i]->pipeline, GST_STATE_NULL);
  if (ok)
    sum_up (runs, n, &before, &after, result);
  return ok;
}
