/* cudaccl - print the boxes that cudaccl finds, in C
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Links cudaccl to the source given on the command line (in gst-launch syntax) and reads the
 * components of every buffer that leaves it:
 *
 *   print-boxes --summary videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8
 *
 * Copy on_buffer() into your application. It is a pad probe, so it works in any pipeline. */

#include <gst/gst.h>
#include <gst/ccl/gstcclmeta.h>
#include <glib-unix.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define N_SAMPLES 3 /* boxes in each of the summary's two lists */

typedef struct
{
  guint64 frame;
  GstClockTime pts;
  GstCclComponent component;
} Box;

typedef struct
{
  gboolean quiet;
  guint64 frames, frames_with, components;
  guint most; /* components in the frame with the most */
  guint64 most_frame;
  Box largest;
  GArray *first, *last; /* Box */
} Report;

static const gchar *
format_time (GstClockTime time, gchar buffer[32])
{
  if (!GST_CLOCK_TIME_IS_VALID (time))
    return "-";
  g_snprintf (buffer, 32, "%.3f s", (gdouble) time / GST_SECOND);
  return buffer;
}

/* Size, position, area and centroid. */
static const gchar *
format_box (const GstCclComponent *c, gchar buffer[200])
{
  g_snprintf (buffer, 200, "%ux%u at (%u, %u), area %" G_GUINT64_FORMAT ", centroid (%.2f, %.2f)",
              c->width, c->height, c->x, c->y, c->area, c->centroid_x, c->centroid_y);
  return buffer;
}

static void
remember (Report *report, const Box *box)
{
  if (report->first->len < N_SAMPLES)
    g_array_append_val (report->first, *box);
  if (report->last->len == N_SAMPLES)
    g_array_remove_index (report->last, 0);
  g_array_append_val (report->last, *box);
  if (box->component.area > report->largest.component.area)
    report->largest = *box;
}

/* Probe before cudaccl: ends the stream after the given number of frames. */
static GstPadProbeReturn
limit_frames (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  gint *left = user_data;

  if ((*left)-- > 0)
    return GST_PAD_PROBE_OK;
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_FLOW_RETURN (info) = GST_FLOW_EOS;
  return GST_PAD_PROBE_HANDLED;
}

/* Probe after cudaccl: reads the components. */
static GstPadProbeReturn
on_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Report *report = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint n = meta ? gst_ccl_meta_get_n_components (meta) : 0;
  gchar time[32], text[200];
  guint i;

  if (!report->quiet)
    g_print ("frame %" G_GUINT64_FORMAT ", %s, components: %u\n", report->frames,
             format_time (GST_BUFFER_PTS (buffer), time), n);
  for (i = 0; i < n; i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);
    Box box = { report->frames, GST_BUFFER_PTS (buffer), *c };

    if (!report->quiet)
      g_print ("  %u: %s\n", c->label, format_box (c, text));
    remember (report, &box);
  }

  if (n > report->most) {
    report->most = n;
    report->most_frame = report->frames;
  }
  report->components += n;
  report->frames_with += n > 0;
  report->frames++;
  return GST_PAD_PROBE_OK;
}

static void
print_box (const gchar *title, const Box *box)
{
  gchar time[32], text[200];

  g_print ("%-24s frame %" G_GUINT64_FORMAT ", %s: %s\n", title, box->frame,
           format_time (box->pts, time), format_box (&box->component, text));
}

static void
print_boxes (const gchar *title, const GArray *boxes)
{
  guint i;

  for (i = 0; i < boxes->len; i++)
    print_box (i == 0 ? title : "", &g_array_index (boxes, Box, i));
}

/* Prints the summary: what was found and, from the element's statistics, how. */
static void
print_summary (const Report *report, GstElement *ccl, gdouble seconds)
{
  gchar *backend = NULL, *algorithm = NULL, *device = NULL;
  guint64 truncated, time;
  GstStructure *stats;

  g_print ("%-24s %" G_GUINT64_FORMAT "\n", "frames", report->frames);
  g_print ("%-24s %" G_GUINT64_FORMAT "\n", "frames with components", report->frames_with);
  g_print ("%-24s %" G_GUINT64_FORMAT "\n", "components", report->components);
  g_print ("%-24s mean %.1f, most %u (frame %" G_GUINT64_FORMAT ")\n", "components per frame",
           report->frames ? (gdouble) report->components / report->frames : 0.0, report->most,
           report->most_frame);
  if (report->components)
    print_box ("largest component", &report->largest);
  print_boxes ("first boxes", report->first);
  print_boxes ("last boxes", report->last);

  g_object_get (ccl, "stats", &stats, NULL);
  if (gst_structure_get (stats, "backend", G_TYPE_STRING, &backend, "algorithm", G_TYPE_STRING,
                         &algorithm, "device", G_TYPE_STRING, &device, "truncated", G_TYPE_UINT64,
                         &truncated, "average-time", G_TYPE_UINT64, &time, NULL) &&
      backend) {
    g_print ("%-24s %" G_GUINT64_FORMAT "\n", "frames truncated", truncated);
    g_print ("%-24s %s\n", "backend", backend);
    g_print ("%-24s %s\n", "device", device);
    g_print ("%-24s %s\n", "algorithm", algorithm);
    g_print ("%-24s %.3f ms per frame on average\n", "analysis time", time / 1e6);
  }
  gst_structure_free (stats);
  g_free (backend);
  g_free (algorithm);
  g_free (device);
  g_print ("%-24s %.2f s, %.1f frames/s\n", "whole pipeline", seconds,
           seconds > 0 ? report->frames / seconds : 0.0);
}

static gboolean
set_property (GstElement *element, const gchar *name, const gchar *text, GError **error)
{
  GParamSpec *spec = g_object_class_find_property (G_OBJECT_GET_CLASS (element), name);
  GValue value = G_VALUE_INIT;
  gboolean valid;

  if (!spec) {
    g_set_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_PROPERTY, "no property '%s'",
                 name);
    return FALSE;
  }

  g_value_init (&value, spec->value_type);
  valid = gst_value_deserialize_with_pspec (&value, text, spec);
  if (valid)
    g_object_set_property (G_OBJECT (element), name, &value);
  else
    g_set_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_COULD_NOT_SET_PROPERTY,
                 "could not set the property '%s' to '%s'", name, text);
  g_value_unset (&value);

  return valid;
}

/* Sets a property from "PROPERTY=VALUE". */
static gboolean
set_setting (GstElement *element, const gchar *setting, GError **error)
{
  const gchar *value = strchr (setting, '=');
  gboolean valid = FALSE;

  if (value) {
    gchar *name = g_strndup (setting, (gsize) (value - setting));

    valid = set_property (element, name, value + 1, error);
    g_free (name);
  } else {
    g_set_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_SYNTAX, "'%s' is not PROPERTY=VALUE",
                 setting);
  }

  return valid;
}

/* Makes "SOURCE ! ELEMENT ! fakesink", where SOURCE is text as for gst-launch. */
static GstElement *
make_pipeline (gchar **source, const gchar *element, const gchar *backend, gchar **settings,
               GError **error)
{
  GstElementFactory *factory = gst_element_factory_find (element);
  GstElement *pipeline, *ccl;
  GPtrArray *words;

  if (!factory) {
    g_set_error (error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT, "no element '%s'",
                 element);
    return NULL;
  }
  gst_object_unref (factory);

  words = g_ptr_array_new ();
  for (; *source; source++)
    g_ptr_array_add (words, *source);
  g_ptr_array_add (words, (gpointer) "!");
  g_ptr_array_add (words, (gpointer) element);
  g_ptr_array_add (words, (gpointer) "name=ccl");
  g_ptr_array_add (words, (gpointer) "!");
  g_ptr_array_add (words, (gpointer) "fakesink");
  g_ptr_array_add (words, NULL);
  pipeline = gst_parse_launchv ((const gchar **) words->pdata, error);
  g_ptr_array_unref (words);
  /* gst_parse_launchv() may return both a pipeline and an error. */
  if (*error)
    return pipeline;

  ccl = gst_bin_get_by_name (GST_BIN (pipeline), "ccl");
  if (!backend || set_property (ccl, "backend", backend, error)) {
    while (settings && *settings && set_setting (ccl, *settings, error))
      settings++;
  }
  gst_object_unref (ccl);

  return pipeline;
}

/* The first Ctrl-C ends the stream so that the summary is printed; a second one kills the process.
 */
static gboolean
on_interrupt (gpointer pipeline)
{
  g_object_set_data (pipeline, "interrupted", pipeline);
  gst_element_send_event (pipeline, gst_event_new_eos ());
  return G_SOURCE_REMOVE;
}

static gboolean
on_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  GError **error = user_data;
  gchar *details = NULL;

  switch (GST_MESSAGE_TYPE (message)) {
  case GST_MESSAGE_ERROR:
    gst_message_parse_error (message, error, &details);
    g_prefix_error (error, "%s: ", GST_MESSAGE_SRC_NAME (message));
    if (details)
      g_printerr ("%s\n", details);
    g_free (details);
    break;
  case GST_MESSAGE_EOS:
    break;
  default:
    return G_SOURCE_CONTINUE;
  }
  g_main_loop_quit (g_object_get_data (G_OBJECT (bus), "loop"));
  return G_SOURCE_CONTINUE;
}

/* Plays until the end of the stream, an error or Ctrl-C. */
static void
play (GstElement *pipeline, GError **error)
{
  GMainLoop *loop = g_main_loop_new (NULL, FALSE);
  GstBus *bus = gst_element_get_bus (pipeline);
  guint interrupt = g_unix_signal_add (SIGINT, on_interrupt, pipeline);

  g_object_set_data (G_OBJECT (bus), "loop", loop);
  gst_bus_add_watch (bus, on_message, error);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_main_loop_run (loop);
  gst_element_set_state (pipeline, GST_STATE_NULL);

  if (g_main_context_find_source_by_id (NULL, interrupt))
    g_source_remove (interrupt);
  gst_bus_remove_watch (bus);
  gst_object_unref (bus);
  g_main_loop_unref (loop);
}

int
main (int argc, char **argv)
{
  gboolean summary = FALSE, live = FALSE;
  gint limit = 0, left;
  gchar *element = NULL, *backend = NULL, **settings = NULL, **source = NULL;
  Report report = { 0 };
  const GOptionEntry options[] = {
    { "element", 'e', 0, G_OPTION_ARG_STRING, &element,
      "the element that finds the components: cudaccl (default) or cclmotion", "NAME" },
    { "backend", 'b', 0, G_OPTION_ARG_STRING, &backend, "auto, cuda or cpu", "NAME" },
    { "set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &settings, "set any other property of the element",
      "PROPERTY=VALUE" },
    { "frames", 'n', 0, G_OPTION_ARG_INT, &limit, "stop after N frames", "N" },
    { "live", 'l', 0, G_OPTION_ARG_NONE, &live, "fail if the source ends, as a camera should not",
      NULL },
    { "quiet", 'q', 0, G_OPTION_ARG_NONE, &report.quiet, "do not print boxes", NULL },
    { "summary", 's', 0, G_OPTION_ARG_NONE, &summary, "print a summary at the end", NULL },
    { G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &source, NULL, "SOURCE..." },
    { NULL }
  };
  GOptionContext *context = g_option_context_new (NULL);
  GstElement *pipeline = NULL;
  GError *error = NULL;

  setlocale (LC_CTYPE, ""); /* not LC_NUMERIC: print decimal points in every locale */
  g_option_context_set_summary (context,
                                "Prints the boxes of the components that cudaccl finds in SOURCE, "
                                "the first part of\na pipeline in gst-launch syntax.");
  g_option_context_add_main_entries (context, options, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (g_option_context_parse (context, &argc, &argv, &error) && !source)
    g_set_error (&error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED, "no SOURCE given; see --help");
  if (!error)
    pipeline = make_pipeline (source, element ? element : "cudaccl", backend, settings, &error);

  if (!error) {
    GstElement *ccl = gst_bin_get_by_name (GST_BIN (pipeline), "ccl");
    GstPad *sink = gst_element_get_static_pad (ccl, "sink");
    GstPad *src = gst_element_get_static_pad (ccl, "src");
    gint64 start = g_get_monotonic_time ();

    report.first = g_array_new (FALSE, FALSE, sizeof (Box));
    report.last = g_array_new (FALSE, FALSE, sizeof (Box));
    left = limit;
    if (limit > 0)
      gst_pad_add_probe (sink, GST_PAD_PROBE_TYPE_BUFFER, limit_frames, &left, NULL);
    gst_pad_add_probe (src, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &report, NULL);
    play (pipeline, &error);
    if (live && !error && !g_object_get_data (G_OBJECT (pipeline), "interrupted") &&
        (limit <= 0 || report.frames < (guint64) limit))
      g_set_error (&error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "the live source has ended");
    if (summary && (report.frames > 0 || !error))
      print_summary (&report, ccl, (g_get_monotonic_time () - start) / 1e6);

    g_array_unref (report.first);
    g_array_unref (report.last);
    gst_object_unref (src);
    gst_object_unref (sink);
    gst_object_unref (ccl);
  }
  if (error)
    g_printerr ("print-boxes: %s\n", error->message);

  gst_clear_object (&pipeline);
  g_option_context_free (context);
  g_strfreev (source);
  g_strfreev (settings);
  g_free (element);
  g_free (backend);
  if (error) {
    g_error_free (error);
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
