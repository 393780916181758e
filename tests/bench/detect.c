/* cudaccl - detect-bench: what ccldetect costs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints the shortest and the median time of a frame that ccldetect does not look at, in
 * microseconds, by the number of components that move in it. The network is a fake one.
 *
 *   detect-bench [FRAMES]
 *   detect-bench cameras N SECONDS SOURCE [ELEMENTS]
 *                 N cameras in one process, each SOURCE ! cclmotion ! ELEMENTS ! ccltrack: frames
 * per second without ELEMENTS and with them (a ccldetect), and what the network did meanwhile.
 * SOURCE gives frames as fast as it can, and ends later than after SECONDS or starts again; for
 * example multifilesrc location=VIDEO.h264 loop=true ! h264parse ! nvh264dec
 *
 * GST_PLUGIN_PATH must have the plugins cudaccl and ccltools; meson devenv sets it. */

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <glib/gstdio.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>

#include "gst/detect/gstcclort.h"
#include "tests/lib/ortfake/ortfake.h"

#define WIDTH 1920
#define HEIGHT 1080
#define SIZE 64  /* of the network's input */
#define CELLS 84 /* of YOLOX for it */
#define COLUMNS 6
#define MOST_CAMERAS 1024
#define WARM_UP 30       /* frames of each camera */
#define TIMEOUT (5 * 60) /* s until all cameras have given so many */

static const guint counts[] = { 0, 8, 64 };

static int
compare (const void *a, const void *b)
{
  GstClockTime x = *(const GstClockTime *) a, y = *(const GstClockTime *) b;

  return (x > y) - (x < y);
}

static GstBuffer *
frame_new (guint number, guint n)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
  GstCclComponent *components = g_new0 (GstCclComponent, n);
  guint i;

  for (i = 0; i < n; i++) {
    components[i].label = i + 1;
    components[i].x = 200 * (i % 8) + number % 2; /* it moves */
    components[i].y = 120 * (i / 8);
    components[i].width = 40;
    components[i].height = 90;
    components[i].area = 2000;
  }
  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, components, n);
  g_free (components);
  GST_BUFFER_PTS (buffer) = number * GST_SECOND / 30;
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 30;

  return buffer;
}

static guint64
get_inferences (GstElement *element)
{
  GstStructure *stats = NULL;
  guint64 n = 0;

  g_object_get (element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "inferences", &n);
  gst_structure_free (stats);

  return n;
}

/* Prints the times from pad to pad of frames with @n components. The network runs on the first
 * frames only. Returns FALSE if it ran on later ones, too. */
static gboolean
measure (const gchar *model, guint n, guint frames)
{
  GstElement *element = gst_element_factory_make ("ccldetect", NULL);
  GstClockTime *times = g_new (GstClockTime, frames), start;
  guint64 before = 0, after;
  GstHarness *h;
  guint i;

  g_object_set (element, "model", model, "library", ort_fake_path (), "wait", TRUE, "refresh",
                (guint64) GST_SECOND * 3600, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "region", "moving");
  h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_set_src_caps_str (
      h, "video/x-raw, format=GRAY8, width=1920, height=1080, framerate=30/1");
  for (i = 0; i < WARM_UP + frames; i++) {
    GstBuffer *buffer = frame_new (i, n);

    if (i == WARM_UP)
      before = get_inferences (element);
    start = gst_util_get_timestamp ();
    gst_harness_push (h, buffer);
    if (i >= WARM_UP)
      times[i - WARM_UP] = gst_util_get_timestamp () - start;
    gst_buffer_unref (gst_harness_pull (h));
  }
  after = get_inferences (element);
  qsort (times, frames, sizeof (*times), compare);
  if (after == before && (n == 0) == (before == 0))
    g_print ("%10u %9.1f %9.1f\n", n, (gdouble) times[0] / 1e3, (gdouble) times[frames / 2] / 1e3);
  else
    g_printerr ("detect-bench: %u components: %" G_GUINT64_FORMAT " looks, then %" G_GUINT64_FORMAT
                "\n",
                n, before, after - before);
  g_free (times);
  gst_harness_teardown (h);
  gst_object_unref (element);

  return after == before && (n == 0) == (before == 0);
}

static int
measure_frames (guint frames)
{
  static gfloat table[CELLS * COLUMNS]; /* nothing found */
  gchar *model = NULL;
  gint file = g_file_open_tmp ("detect-bench-XXXXXX", &model, NULL);
  gboolean good = TRUE;
  guint i;

  if (file < 0) {
    g_printerr ("detect-bench: cannot make a temporary file\n");
    return EXIT_FAILURE;
  }
  g_close (file, NULL);
  ort_fake = (OrtFake){
    .input = { "images", ORT_TYPE_FLOAT, 4, { 1, 3, SIZE, SIZE } },
    .n_inputs = 1,
    .n_outputs = 1,
    .outputs = { { "output", ORT_TYPE_FLOAT, 3, { 1, CELLS, COLUMNS }, table } },
  };
  g_print ("%10s %9s %9s\n", "components", "least us", "median us");
  for (i = 0; i < G_N_ELEMENTS (counts); i++)
    good &= measure (model, counts[i], frames);
  g_unlink (model);
  g_free (model);

  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

typedef struct
{
  GstElement *pipeline;
  guint n;
  atomic_uint frames[MOST_CAMERAS];
} Cameras;

/* Totals of all networks. */
typedef struct
{
  guint64 frames, inferences, busy, objects, failed;
  gdouble crop_time, inference_time, batch; /* times inferences */
  gdouble cpu;                              /* s of this process */
  gint64 time;
} Work;

static GstPadProbeReturn
count_frame (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  atomic_fetch_add_explicit ((atomic_uint *) data, 1, memory_order_relaxed);

  return GST_PAD_PROBE_OK;
}

static guint64
get_count (const GstStructure *stats, const gchar *name)
{
  guint64 value = 0;

  gst_structure_get_uint64 (stats, name, &value);

  return value;
}

static void
add_work (const GValue *item, gpointer data)
{
  GstElement *element = g_value_get_object (item);
  GstElementFactory *factory = gst_element_get_factory (element);
  GstStructure *stats = NULL;
  gdouble batch = 0.0;
  Work *work = data;
  guint64 n;

  if (!factory || strcmp (GST_OBJECT_NAME (factory), "ccldetect") != 0)
    return;
  g_object_get (element, "stats", &stats, NULL);
  n = get_count (stats, "inferences");
  gst_structure_get_double (stats, "average-batch", &batch);
  work->inferences += n;
  work->busy += get_count (stats, "busy");
  work->objects += get_count (stats, "objects");
  work->failed += get_count (stats, "failed");
  work->crop_time += (gdouble) n * (gdouble) get_count (stats, "average-crop-time");
  work->inference_time += (gdouble) n * (gdouble) get_count (stats, "average-inference-time");
  work->batch += (gdouble) n * batch;
  gst_structure_free (stats);
}

static Work
get_work (Cameras *cameras)
{
  GstIterator *elements = gst_bin_iterate_elements (GST_BIN (cameras->pipeline));
  struct rusage usage;
  Work work = { 0 };
  guint i;

  while (gst_iterator_foreach (elements, add_work, &work) == GST_ITERATOR_RESYNC) {
    work = (Work){ 0 };
    gst_iterator_resync (elements);
  }
  gst_iterator_free (elements);
  for (i = 0; i < cameras->n; i++)
    work.frames += atomic_load (&cameras->frames[i]);
  getrusage (RUSAGE_SELF, &usage);
  work.cpu = (gdouble) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
             (gdouble) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  work.time = g_get_monotonic_time ();

  return work;
}

/* Prints warnings. Returns FALSE, and says why, if the pipeline failed or ended within
 * @microseconds. */
static gboolean
go_on (Cameras *cameras, gint64 microseconds)
{
  GstBus *bus = gst_element_get_bus (cameras->pipeline);
  const gint64 end = g_get_monotonic_time () + microseconds;
  gboolean good = TRUE;
  gint64 left;

  while (good && (left = end - g_get_monotonic_time ()) > 0) {
    GstMessage *message =
        gst_bus_timed_pop_filtered (bus, (GstClockTime) left * GST_USECOND,
                                    GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_EOS);
    GError *error = NULL;
    gchar *debug = NULL;

    if (!message)
      break;
    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
      gst_message_parse_warning (message, &error, &debug);
    } else {
      good = FALSE;
      if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR)
        gst_message_parse_error (message, &error, &debug);
    }
    g_printerr ("detect-bench: %s %s\n", error ? error->message : "the sources ended too soon",
                debug ? debug : "");
    g_clear_error (&error);
    g_free (debug);
    gst_message_unref (message);
  }
  gst_object_unref (bus);

  return good;
}

static gboolean
have_all_begun (Cameras *cameras)
{
  guint i;

  for (i = 0; i < cameras->n && atomic_load (&cameras->frames[i]) >= WARM_UP; i++)
    ;

  return i == cameras->n;
}

static GstElement *
pipeline_new (Cameras *cameras, const gchar *source, const gchar *elements, GError **error)
{
  GString *text = g_string_new (NULL);
  GstElement *pipeline;
  guint i;

  for (i = 0; i < cameras->n; i++)
    g_string_append_printf (
        text, "%s ! cclmotion %s%s ! ccltrack ! fakesink name=sink%u sync=false async=false ",
        source, elements ? "! " : "", elements ? elements : "", i);
  pipeline = gst_parse_launch_full (text->str, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
  g_string_free (text, TRUE);

  return pipeline;
}

static gboolean
measure_cameras (Cameras *cameras, gdouble seconds, const gchar *source, const gchar *elements)
{
  GError *error = NULL;
  Work before, after;
  gdouble time, n;
  gboolean good;
  guint i;

  cameras->pipeline = pipeline_new (cameras, source, elements, &error);
  if (!cameras->pipeline) {
    g_printerr ("detect-bench: %s\n", error->message);
    g_error_free (error);
    return FALSE;
  }
  for (i = 0; i < cameras->n; i++) {
    gchar *name = g_strdup_printf ("sink%u", i);
    GstElement *sink = gst_bin_get_by_name (GST_BIN (cameras->pipeline), name);
    GstPad *pad = gst_element_get_static_pad (sink, "sink");

    atomic_init (&cameras->frames[i], 0);
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &cameras->frames[i], NULL);
    gst_object_unref (pad);
    gst_object_unref (sink);
    g_free (name);
  }

  gst_element_set_state (cameras->pipeline, GST_STATE_PLAYING);
  for (i = 0, good = TRUE; good && i < 10 * TIMEOUT && !have_all_begun (cameras); i++)
    good = go_on (cameras, G_USEC_PER_SEC / 10);
  if (good && !have_all_begun (cameras)) {
    g_printerr ("detect-bench: some cameras give no frames\n");
    good = FALSE;
  }
  if (good) {
    before = get_work (cameras);
    good = go_on (cameras, (gint64) (seconds * G_USEC_PER_SEC));
    after = get_work (cameras);
  }
  gst_element_set_state (cameras->pipeline, GST_STATE_NULL);
  gst_clear_object (&cameras->pipeline);
  if (!good)
    return FALSE;

  time = (gdouble) (after.time - before.time) / G_USEC_PER_SEC;
  n = MAX ((gdouble) after.inferences - (gdouble) before.inferences, 1.0);
  g_print ("%u x cclmotion%s%s ! ccltrack: %.0f frames/s, %.1f cores\n", cameras->n,
           elements ? " ! " : "", elements ? elements : "",
           (gdouble) (after.frames - before.frames) / time, (after.cpu - before.cpu) / time);
  if (after.inferences > before.inferences)
    g_print ("  %.1f inferences/s, %.1f objects in each; a batch of %.1f takes %.1f ms, a picture "
             "%.2f ms; %.1f times a second a camera had to wait; %" G_GUINT64_FORMAT " failed\n",
             n / time, (gdouble) (after.objects - before.objects) / n,
             (after.batch - before.batch) / n,
             (after.inference_time - before.inference_time) / n / 1e6,
             (after.crop_time - before.crop_time) / n / 1e6,
             (gdouble) (after.busy - before.busy) / time, after.failed - before.failed);

  return TRUE;
}

static int
run_cameras (int argc, char **argv)
{
  Cameras *cameras = g_new0 (Cameras, 1);
  const gint n = argc >= 5 ? atoi (argv[2]) : 0;
  const gdouble seconds = argc >= 5 ? g_ascii_strtod (argv[3], NULL) : 0.0;
  gboolean good = FALSE;

  if (argc > 6 || n < 1 || n > MOST_CAMERAS || !(seconds > 0.0)) {
    g_printerr ("usage: detect-bench cameras N SECONDS SOURCE [ELEMENTS], with 1 to %u cameras\n",
                MOST_CAMERAS);
  } else {
    cameras->n = (guint) n;
    good = measure_cameras (cameras, seconds, argv[4], NULL) &&
           (argc < 6 || measure_cameras (cameras, seconds, argv[4], argv[5]));
  }
  g_free (cameras);

  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int
main (int argc, char **argv)
{
  gint frames = 1000;

  gst_init (&argc, &argv);
  if (!gst_registry_check_feature_version (gst_registry_get (), "ccldetect", 0, 0, 0)) {
    g_printerr ("detect-bench: no element ccldetect; set GST_PLUGIN_PATH, or use meson devenv\n");
    return EXIT_FAILURE;
  }
  if (argc > 1 && strcmp (argv[1], "cameras") == 0)
    return run_cameras (argc, argv);
  if (argc > 1)
    frames = atoi (argv[1]);
  if (argc > 2 || frames < 1) {
    g_printerr ("usage: detect-bench [FRAMES]\n");
    return EXIT_FAILURE;
  }

  return measure_frames ((guint) frames);
}
