/* cudaccl - tests: the output of a pipeline
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_PULL_SAMPLES_H
#define TESTS_LIB_PULL_SAMPLES_H

#include <gst/app/app.h>

static void
free_pulled_sample (gpointer sample)
{
  if (sample)
    gst_sample_unref (sample);
}

/* Runs a pipeline to its end, and returns the samples of its appsink `out`, which the caller may
 * take out by setting them to NULL. Returns NULL and sets @error if the pipeline fails. */
static GPtrArray *
pull_samples (const gchar *description, GError **error)
{
  g_autoptr (GstElement) pipeline =
      gst_parse_launch_full (description, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
  g_autoptr (GPtrArray) samples = g_ptr_array_new_with_free_func (free_pulled_sample);
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GstMessage) message = NULL;
  GstSample *sample;

  if (!pipeline)
    return NULL;
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_object_set (sink, "sync", FALSE, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (sink))))
    g_ptr_array_add (samples, sample);
  bus = gst_element_get_bus (pipeline);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (message) {
    gst_message_parse_error (message, error, NULL);
    return NULL;
  }
  return g_steal_pointer (&samples);
}

#endif /* TESTS_LIB_PULL_SAMPLES_H */
