/* cudaccl - long runs: starts and stops of a pipeline, and seeks in a long stream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/soak/soak.h"

#define PIPELINE_LIFE 16 /* cycles */
#define DAY (24 * 3600 * GST_SECOND)
#define FRAME (GST_SECOND / 25)

static GstElement *
pipeline_new (const SoakOptions *options)
{
  gchar *launch = g_strdup_printf (
      "videotestsrc num-buffers=3 pattern=ball ! video/x-raw,format=I420,width=64,height=48 ! "
      "tee name=t t. ! queue ! cudaccl backend=%s ! ccltrack ! merge.components "
      "cclmerge name=merge ! cclzones zones=\"0,0 1,0 1,1\" ! ccloverlay ! ccljson ! fakesink "
      "t. ! queue ! merge.video t. ! queue ! cclmotion ! fakesink "
      "t. ! queue ! cclcolor backend=%s ! fakesink t. ! queue ! cclmask ! fakesink",
      options->backend, options->backend);
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error);

  if (error)
    g_error ("%s", error->message);
  g_free (launch);

  return pipeline;
}

/* To the end of the stream, or stopped at any time before it. */
static gboolean
cycle (GstElement *pipeline, guint64 i)
{
  GstMessage *message = NULL;

  if (gst_element_set_state (pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) {
    g_printerr ("cycles: the pipeline does not start\n");
    return FALSE;
  }
  if (i % 4 == 3)
    g_usleep (soak_random (3000));
  else
    message = soak_wait (pipeline, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, i % 2 ? GST_STATE_NULL : GST_STATE_READY);
  if (message)
    gst_message_unref (message);

  return message || i % 4 == 3;
}

gboolean
soak_cycles (const SoakOptions *options)
{
  guint64 every = MAX (options->cycles / PIPELINE_LIFE / 64, 1) * PIPELINE_LIFE, i;
  GstElement *pipeline = NULL;
  gboolean ok = TRUE;
  SoakWatch watch;

  soak_watch_init (&watch, "cycles");
  for (i = 0; ok && i < options->cycles; i++) {
    if (!pipeline)
      pipeline = pipeline_new (options);
    ok = cycle (pipeline, i);
    if (i % PIPELINE_LIFE == PIPELINE_LIFE - 1) {
      gst_element_set_state (pipeline, GST_STATE_NULL);
      gst_clear_object (&pipeline);
    }
    if (i % every == every - 1)
      soak_watch_sample (&watch);
  }
  if (pipeline) {
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (pipeline);
  }

  return soak_watch_report (&watch, i, "cycles") && ok;
}

/* The frame that the sink shows must be the one at @position, or the next or the one before:
 * sources round. */
static gboolean
check_position (GstElement *sink, GstClockTime position)
{
  GstClockTime pts = GST_CLOCK_TIME_NONE;
  GstSample *sample = NULL;

  g_object_get (sink, "last-sample", &sample, NULL);
  if (sample) {
    pts = GST_BUFFER_PTS (gst_sample_get_buffer (sample));
    gst_sample_unref (sample);
  }
  if (GST_CLOCK_TIME_IS_VALID (pts) && pts <= position + FRAME && position <= pts + FRAME)
    return TRUE;
  g_printerr ("seeks: the frame at %" GST_TIME_FORMAT " is shown instead of %" GST_TIME_FORMAT "\n",
              GST_TIME_ARGS (pts), GST_TIME_ARGS (position));

  return FALSE;
}

gboolean
soak_seeks (const SoakOptions *options)
{
  guint64 every = MAX (options->seeks / 64, 1), i;
  gchar *launch = g_strdup_printf (
      "videotestsrc pattern=ball ! video/x-raw,format=NV12,width=64,height=48,framerate=25/1 ! "
      "cclmotion ! cudaccl backend=%s ! ccltrack ! cclzones zones=\"0,0 1,0 1,1\" ! ccljson ! "
      "fakesink name=sink sync=false",
      options->backend);
  GstElement *pipeline = gst_parse_launch (launch, NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstMessage *message;
  gboolean ok;
  SoakWatch watch;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  message = soak_wait (pipeline, GST_MESSAGE_ASYNC_DONE);
  ok = message != NULL;
  soak_watch_init (&watch, "seeks");
  for (i = 0; ok && i < options->seeks; i++) {
    /* Forwards through a day, with a jump now and then; some play backwards. */
    GstClockTime step = DAY / options->seeks,
                 position = i * step + soak_random (1000) * (step / 1000);
    gboolean reverse = soak_random (8) == 0;

    gst_clear_message (&message);
    if (soak_random (16) == 0)
      position = (GstClockTime) soak_random (G_MAXUINT32) * (DAY / G_MAXUINT32);
    ok = reverse
             ? gst_element_seek (pipeline, -1.0, GST_FORMAT_TIME,
                                 GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, GST_SEEK_TYPE_SET, 0,
                                 GST_SEEK_TYPE_SET, position + FRAME)
             : gst_element_seek (pipeline, 1.0, GST_FORMAT_TIME,
                                 GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE, GST_SEEK_TYPE_SET,
                                 position, GST_SEEK_TYPE_SET, GST_CLOCK_TIME_NONE);
    if (!ok)
      g_printerr ("seeks: the pipeline does not seek\n");
    message = ok ? soak_wait (pipeline, GST_MESSAGE_ASYNC_DONE) : NULL;
    ok = message && check_position (sink, position);
    if (i % every == every - 1)
      soak_watch_sample (&watch);
  }
  gst_clear_message (&message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_free (launch);

  return soak_watch_report (&watch, i, "seeks through a day") && ok;
}
