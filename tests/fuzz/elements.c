/* cudaccl - fuzzing: elements without a pipeline
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/elements.h"

#include <gst/video/video.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TASKS 8 /* of GStreamer, that run at the same time */

/* Of all rigs. */
static guint64 n_frames, n_frames_ok;

/* As libFuzzer prints its own statistics. */
static void
print_frames (void)
{
  fprintf (stderr,
           "stat::frames: %" G_GUINT64_FORMAT "\nstat::frames_without_error: %" G_GUINT64_FORMAT
           "\n",
           n_frames, n_frames_ok);
}

/* GLib refuses a value that is out of a property's range: with a critical in 2.84, with a warning
 * in older versions. Targets set such values through gst_parse_launch() and cannot check them
 * first. */
static gboolean
is_refused_value (const gchar *domain, const gchar *message)
{
  return g_strcmp0 (domain, "GLib-GObject") == 0 &&
         strstr (message, "is invalid or out of range for property") != NULL;
}

static void
check_message (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
  gboolean fatal = (level & (G_LOG_FLAG_FATAL | G_LOG_LEVEL_CRITICAL)) != 0;

  fuzz_check (!fatal || is_refused_value (domain, message), "%s: %s", domain ? domain : "",
              message);
}

void
fuzz_catch_criticals (void)
{
  /* Not criticals: GLib aborts after the handler of a fatal message. */
  g_log_set_always_fatal (G_LOG_LEVEL_ERROR | G_LOG_FLAG_RECURSION);
  g_log_set_default_handler (check_message, NULL);
}

static void
wait_for_others (gpointer data, gpointer user_data)
{
  static gint n_waiting = 0;

  g_atomic_int_inc (&n_waiting);
  while (g_atomic_int_get (&n_waiting) < MOST_TASKS)
    g_usleep (100);
}

/* Starts the threads of all tasks at once, and keeps them: LeakSanitizer overlooks what a thread
 * has if its id was that of an ended thread, as each is after 32768 others. Then the 2032 bytes of
 * GLib's slices in it look like a leak. */
static void
start_task_threads (void)
{
  GThreadPool *pool = g_thread_pool_new (wait_for_others, NULL, MOST_TASKS, FALSE, NULL);
  guint i;

  g_thread_pool_set_max_unused_threads (MOST_TASKS);
  g_thread_pool_set_max_idle_time (0);
  for (i = 0; i < MOST_TASKS; i++)
    g_thread_pool_push (pool, GUINT_TO_POINTER (i + 1), NULL);
  g_thread_pool_free (pool, FALSE, TRUE);
}

void
fuzz_gst_init (void)
{
  static const gchar *const plugins[] = { "analysis/libgstcudaccl.so", "tools/libgstccltools.so" };
  guint i;

  g_setenv ("GST_PLUGIN_PATH_1_0", "", TRUE);
  g_setenv ("GST_PLUGIN_SYSTEM_PATH_1_0", "", TRUE);
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  g_setenv ("GST_REGISTRY_1_0", "/dev/null", TRUE);
  gst_init (NULL, NULL);
  fuzz_catch_criticals ();

  for (i = 0; i < G_N_ELEMENTS (plugins); i++) {
    gchar *file = g_build_filename (FUZZ_PLUGINS, plugins[i], NULL);
    GError *error = NULL;

    if (!gst_plugin_load_file (file, &error))
      g_error ("%s", error->message);
    g_free (file);
  }
  start_task_threads ();
  atexit (print_frames);
}

static GstFlowReturn
chain (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  FuzzRig *rig = gst_pad_get_element_private (pad);

  rig->n_buffers++;
  if (rig->output)
    rig->output (rig->data, buffer);
  gst_buffer_unref (buffer);

  return GST_FLOW_OK;
}

static gboolean
accept_event (GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref (event);

  return TRUE;
}

static void
answer_allocation (FuzzRig *rig, GstQuery *query)
{
  if (rig->video_meta)
    gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (rig->crop_meta)
    gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  if (rig->composition) {
    GstStructure *size = NULL;

    if (rig->width && rig->height)
      size = gst_structure_new ("GstVideoOverlayCompositionMeta", "width", G_TYPE_UINT, rig->width,
                                "height", G_TYPE_UINT, rig->height, NULL);
    gst_query_add_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, size);
    g_clear_pointer (&size, gst_structure_free);
  }
}

static gboolean
sink_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  FuzzRig *rig = gst_pad_get_element_private (pad);
  GstCaps *caps, *filter;

  switch (GST_QUERY_TYPE (query)) {
  case GST_QUERY_ALLOCATION:
    answer_allocation (rig, query);
    return TRUE;
  case GST_QUERY_CAPS:
    gst_query_parse_caps (query, &filter);
    caps = rig->caps ? gst_caps_ref (rig->caps) : gst_caps_new_any ();
    if (filter) {
      GstCaps *all = caps;

      caps = gst_caps_intersect_full (filter, all, GST_CAPS_INTERSECT_FIRST);
      gst_caps_unref (all);
    }
    gst_query_set_caps_result (query, caps);
    gst_caps_unref (caps);
    return TRUE;
  case GST_QUERY_ACCEPT_CAPS:
    gst_query_parse_accept_caps (query, &caps);
    gst_query_set_accept_caps_result (query,
                                      !rig->caps || gst_caps_can_intersect (caps, rig->caps));
    return TRUE;
  default:
    return gst_pad_query_default (pad, parent, query);
  }
}

/* The element's first unlinked pad, or one that can be requested. */
static GstPad *
find_pad (GstElement *element, GstPadDirection direction)
{
  GList *l;

  for (l = element->pads; l; l = l->next)
    if (GST_PAD_DIRECTION (l->data) == direction && !GST_PAD_PEER (l->data))
      return gst_object_ref (l->data);

  return NULL;
}

void
fuzz_rig_init (FuzzRig *rig, GstElement *element)
{
  GstPad *pad;

  *rig = (FuzzRig){ 0 };
  rig->element = gst_object_ref_sink (element);

  pad = find_pad (element, GST_PAD_SINK);
  if (pad) {
    rig->src = gst_object_ref_sink (gst_pad_new ("src", GST_PAD_SRC));
    fuzz_check (gst_pad_link (rig->src, pad) == GST_PAD_LINK_OK, "cannot link");
    gst_object_unref (pad);
  }
  pad = find_pad (element, GST_PAD_SRC);
  if (pad) {
    rig->sink = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));
    gst_pad_set_element_private (rig->sink, rig);
    gst_pad_set_chain_function (rig->sink, chain);
    gst_pad_set_event_function (rig->sink, accept_event);
    gst_pad_set_query_function (rig->sink, sink_query);
    fuzz_check (gst_pad_link (pad, rig->sink) == GST_PAD_LINK_OK, "cannot link");
    gst_object_unref (pad);
  }
}

gboolean
fuzz_rig_start (FuzzRig *rig)
{
  if (rig->sink)
    gst_pad_set_active (rig->sink, TRUE);
  if (rig->src)
    gst_pad_set_active (rig->src, TRUE);
  if (gst_element_set_state (rig->element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    return FALSE;
  if (rig->src)
    gst_pad_push_event (rig->src, gst_event_new_stream_start ("fuzz"));

  return TRUE;
}

static void
clear_pad (GstPad **pad)
{
  GstPad *peer;

  if (!*pad)
    return;
  gst_pad_set_active (*pad, FALSE);
  peer = gst_pad_get_peer (*pad);
  if (peer && GST_PAD_IS_SRC (*pad))
    gst_pad_unlink (*pad, peer);
  else if (peer)
    gst_pad_unlink (peer, *pad);
  gst_clear_object (&peer);
  gst_clear_object (pad);
}

void
fuzz_rig_clear (FuzzRig *rig)
{
  gst_element_set_state (rig->element, GST_STATE_NULL);
  clear_pad (&rig->src);
  clear_pad (&rig->sink);
  gst_clear_object (&rig->element);
  gst_clear_caps (&rig->caps);
}

gboolean
fuzz_rig_push_caps (FuzzRig *rig, GstCaps *caps)
{
  gboolean pushed = gst_pad_push_event (rig->src, gst_event_new_caps (caps));

  gst_caps_unref (caps);

  return pushed;
}

GstFlowReturn
fuzz_rig_push (FuzzRig *rig, GstBuffer *buffer)
{
  GstFlowReturn ret = gst_pad_push (rig->src, buffer);

  n_frames++;
  n_frames_ok += ret == GST_FLOW_OK;

  return ret;
}

gboolean
fuzz_rig_push_segment (FuzzRig *rig, const GstSegment *segment)
{
  return gst_pad_push_event (rig->src, gst_event_new_segment (segment));
}

void
fuzz_segment (FuzzInput *input, GstSegment *segment)
{
  static const gdouble rates[] = { 1.0, 2.0, 0.5, -1.0, -2.0, 1e-9, 1e9, -1e9 };

  gst_segment_init (segment, GST_FORMAT_TIME);
  if (!fuzz_one_in (input, 4))
    return;
  if (fuzz_one_in (input, 8)) {
    gst_segment_init (segment, GST_FORMAT_BYTES);
    return;
  }
  segment->rate = rates[fuzz_below (input, G_N_ELEMENTS (rates))];
  segment->applied_rate = rates[fuzz_below (input, G_N_ELEMENTS (rates))];
  segment->start = fuzz_one_in (input, 2) ? fuzz_hostile_u64 (input) : 0;
  segment->base = fuzz_one_in (input, 2) ? fuzz_hostile_u64 (input) : 0;
  segment->offset = fuzz_one_in (input, 4) ? fuzz_hostile_u64 (input) : 0;
  segment->time = fuzz_one_in (input, 2) ? fuzz_hostile_u64 (input) : 0;
  segment->stop = fuzz_one_in (input, 2) ? fuzz_hostile_u64 (input) : GST_CLOCK_TIME_NONE;
  segment->position = segment->start;
  /* gst_event_new_segment() and the functions for segments demand these. */
  if (segment->start == GST_CLOCK_TIME_NONE)
    segment->start = 0;
  if (segment->rate < 0.0 && segment->stop == GST_CLOCK_TIME_NONE)
    segment->stop = segment->start;
  if (segment->stop != GST_CLOCK_TIME_NONE && segment->stop < segment->start)
    segment->stop = segment->start;
  segment->offset = MIN (segment->offset, segment->stop - segment->start);
}

void
fuzz_times (FuzzInput *input, GstBuffer *buffer, guint index)
{
  GST_BUFFER_PTS (buffer) = index * (GST_SECOND / 25);
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 25;
  if (fuzz_one_in (input, 3)) {
    GST_BUFFER_PTS (buffer) = fuzz_hostile_u64 (input);
    GST_BUFFER_DURATION (buffer) = fuzz_hostile_u64 (input);
  }
  if (fuzz_one_in (input, 6))
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  if (fuzz_one_in (input, 6))
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
}
