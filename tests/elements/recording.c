/* cudaccl - tests every frame of the recording in a whole pipeline
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccljsontest.h"

#include <string.h>

#define N_FRAMES 795
#define FRAME_WIDTH 768
#define FRAME_HEIGHT 576
#define MIN_AREA 20
#define GRAY 100 /* of the boxes; not a value of masks */

/* The scaler doubles width and height. */
#define PIPELINE                                                                \
  "filesrc name=file ! decodebin ! videoconvert ! "                             \
  "segmentation test-mode=true method=mog2 ! videoconvert ! "                   \
  "video/x-raw,format=GRAY8 ! cudaccl name=ccl min-area=20 ! "                  \
  "videoscale method=nearest-neighbour ! video/x-raw,width=1536,height=1152 ! " \
  "ccloverlay name=overlay color=0xff646464 ! ccljson ! "                       \
  "fakesink name=sink signal-handoffs=true"

/* Filled by the streaming thread: arrays of arrays of GstCclComponent, and of lines. */
typedef struct
{
  CclAnalyzer *analyzer;
  GPtrArray *expected, *scaled, *lines;
  guint n_unmarked; /* boxes without their colour in a corner */
} Seen;

static gchar *
find_recording (const gchar *script)
{
  gchar *argv[] = { (gchar *) script, (gchar *) "--no-fetch", NULL }, *path = NULL;
  gint status;

  if (!g_spawn_sync (NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &path, NULL, &status, NULL) ||
      status != 0)
    g_clear_pointer (&path, g_free);

  return path ? g_strchomp (path) : NULL;
}

static GArray *
components_new (void)
{
  return g_array_new (FALSE, TRUE, sizeof (GstCclComponent));
}

/* Analyses the mask with the engine, and scales the result. */
static GstPadProbeReturn
see_mask (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen *seen = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  CclImage image = { .stride = FRAME_WIDTH };
  GArray *expected = components_new ();
  CclComponents components;
  CclParams params;
  GstMapInfo map;
  guint i;

  ccl_params_init (&params);
  params.min_area = MIN_AREA;
  g_ptr_array_add (seen->expected, expected);
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return GST_PAD_PROBE_OK;
  image.data = map.data;
  if (map.size == FRAME_WIDTH * FRAME_HEIGHT &&
      ccl_analyzer_analyze (seen->analyzer, &image, &params, &components) == CCL_OK) {
    for (i = 0; i < components.count; i++) {
      const CclComponent *c = &components.items[i];
      GstCclComponent scaled = { c->label,
                                 2 * c->x,
                                 2 * c->y,
                                 2 * c->width,
                                 2 * c->height,
                                 4 * c->area,
                                 (ccl_component_centroid_x (c) + 0.5) * 2.0 - 0.5,
                                 (ccl_component_centroid_y (c) + 0.5) * 2.0 - 0.5 };

      g_array_append_val (expected, scaled);
    }
  }
  gst_buffer_unmap (buffer, &map);

  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
see_overlay (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Seen *seen = user_data;
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GArray *scaled = components_new ();
  guint i;

  g_ptr_array_add (seen->scaled, scaled);
  for (i = 0; meta && i < meta->n_components; i++) {
    const GstCclComponent *c = &meta->components[i];
    gsize first = (gsize) c->y * 2 * FRAME_WIDTH + c->x;
    gsize last = first + (gsize) (c->height - 1) * 2 * FRAME_WIDTH + c->width - 1;
    guint8 corners[2] = { 0 };

    g_array_append_val (scaled, *c);
    gst_buffer_extract (buffer, first, &corners[0], 1);
    gst_buffer_extract (buffer, last, &corners[1], 1);
    seen->n_unmarked += corners[0] != GRAY || corners[1] != GRAY;
  }

  return GST_PAD_PROBE_OK;
}

static void
see_line (GstElement *sink, GstBuffer *buffer, GstPad *pad, Seen *seen)
{
  g_ptr_array_add (seen->lines, gst_buffer_ref (buffer));
}

static void
seen_init (Seen *seen)
{
  CclConfig config;

  memset (seen, 0, sizeof (*seen));
  ccl_config_init (&config, FRAME_WIDTH, FRAME_HEIGHT);
  config.backend = CCL_BACKEND_CPU;
  fail_unless_equals_int (ccl_analyzer_new (&config, &seen->analyzer), CCL_OK);
  seen->expected = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  seen->scaled = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  seen->lines = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
}

static void
seen_clear (Seen *seen)
{
  ccl_analyzer_free (seen->analyzer);
  g_ptr_array_unref (seen->expected);
  g_ptr_array_unref (seen->scaled);
  g_ptr_array_unref (seen->lines);
}

static void
run (const gchar *path, Seen *seen)
{
  GstElement *pipeline = gst_parse_launch (PIPELINE, NULL), *element;
  GstMessage *message;

  fail_unless (pipeline != NULL);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  g_object_set (element, "location", path, NULL);
  gst_object_unref (element);
  element = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_signal_connect (element, "handoff", G_CALLBACK (see_line), seen);
  gst_object_unref (element);
  ccl_test_probe (pipeline, "ccl", "sink", see_mask, seen);
  ccl_test_probe (pipeline, "overlay", "src", see_overlay, seen);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  /* Emulators take minutes; Meson ends the test if it hangs. */
  message = gst_bus_timed_pop_filtered (GST_ELEMENT_BUS (pipeline), GST_CLOCK_TIME_NONE,
                                        GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

static void
check_same (const GArray *got, const GArray *expected)
{
  guint i;

  fail_unless_equals_int (got->len, expected->len);
  for (i = 0; i < got->len; i++) {
    const GstCclComponent *a = &g_array_index (got, GstCclComponent, i);
    const GstCclComponent *b = &g_array_index (expected, GstCclComponent, i);

    fail_unless (a->label == b->label && a->x == b->x && a->y == b->y && a->width == b->width &&
                 a->height == b->height && a->area == b->area && a->centroid_x == b->centroid_x &&
                 a->centroid_y == b->centroid_y);
  }
}

static const gchar *recording;

GST_START_TEST (test_every_frame)
{
  guint i, n = 0;
  Seen seen;

  seen_init (&seen);
  run (recording, &seen);

  fail_unless_equals_int (seen.expected->len, N_FRAMES);
  fail_unless_equals_int (seen.scaled->len, N_FRAMES);
  fail_unless_equals_int (seen.lines->len, N_FRAMES);
  fail_unless_equals_int (seen.n_unmarked, 0);
  for (i = 0; i < N_FRAMES; i++) {
    const GArray *expected = g_ptr_array_index (seen.expected, i);
    JsonObject *line = take_object (gst_buffer_ref (g_ptr_array_index (seen.lines, i)));

    check_same (g_ptr_array_index (seen.scaled, i), expected);
    check_components (line, (const GstCclComponent *) expected->data, expected->len);
    json_object_unref (line);
    n += expected->len;
  }
  /* The recording shows several people. */
  fail_unless (n > 4 * N_FRAMES);

  seen_clear (&seen);
}
GST_END_TEST;

static Suite *
recording_suite (void)
{
  Suite *s = suite_create ("recording");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_every_frame);

  return s;
}

/* Exit status 77: skipped. */
int
main (int argc, char **argv)
{
  static const gchar *const needed[] = { "segmentation", "avdec_msmpeg4", "decodebin" };
  const gchar *script = argc > 1 ? argv[1] : "scripts/find-recording.sh";
  guint i;

  gst_check_init (&argc, &argv);
  for (i = 0; i < G_N_ELEMENTS (needed); i++) {
    GstElementFactory *factory = gst_element_factory_find (needed[i]);

    if (!factory) {
      g_print ("skipped: GStreamer has no element '%s' here\n", needed[i]);
      return 77;
    }
    gst_object_unref (factory);
  }
  recording = find_recording (script);
  if (!recording) {
    g_print ("skipped: vtest.avi is not here (scripts/find-recording.sh fetches it)\n");
    return 77;
  }

  return gst_check_run_suite (recording_suite (), "recording", __FILE__);
}
