/* cudaccl - overlay-bench: the time of ccloverlay
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints the median time of a frame with randomly placed boxes, in milliseconds, blended and
 * attached.
 *
 *   overlay-bench [WIDTH HEIGHT [FORMAT...]]
 *
 * GST_PLUGIN_PATH must have the plugin ccltools; meson devenv sets it. */

#include <stdlib.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>

#define N_RUNS 31
#define ALL 15 /* boxes, centroids, labels and areas */

static const guint counts[] = { 6, 50, 100, 500, 1000 };

static GstBuffer *
frame_new (const GstVideoInfo *info, guint n)
{
  guint width = (guint) GST_VIDEO_INFO_WIDTH (info), height = (guint) GST_VIDEO_INFO_HEIGHT (info);
  guint side = MAX (MIN (width, height) / 18, 1), i;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);
  GstCclComponent *components = g_new0 (GstCclComponent, n);
  GRand *random = g_rand_new_with_seed (1);

  for (i = 0; i < n; i++) {
    components[i].label = i + 1;
    components[i].x = (guint) g_rand_int_range (random, 0, (gint32) (width - side + 1));
    components[i].y = (guint) g_rand_int_range (random, 0, (gint32) (height - side + 1));
    components[i].width = components[i].height = side;
    components[i].area = (guint64) side * side;
    components[i].centroid_x = components[i].x + side / 2.0;
    components[i].centroid_y = components[i].y + side / 2.0;
  }
  gst_buffer_memset (buffer, 0, 100, GST_VIDEO_INFO_SIZE (info));
  gst_buffer_add_ccl_meta (buffer, width, height, n, components, n);
  g_rand_free (random);
  g_free (components);

  return buffer;
}

static int
compare (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

static gdouble
measure (const GstVideoInfo *info, guint n, guint draw, gboolean attach)
{
  GstHarness *h = gst_harness_new ("ccloverlay");
  GstBuffer *buffer = frame_new (info, n);
  gint64 times[N_RUNS];
  guint i;

  g_object_set (h->element, "draw", draw, NULL);
  gst_harness_set_sink_caps_str (h, "video/x-raw(ANY)");
  if (attach)
    gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  gst_harness_set_src_caps (h, gst_video_info_to_caps (info));

  for (i = 0; i < N_RUNS; i++) {
    GstVideoOverlayCompositionMeta *meta;
    gint64 start = g_get_monotonic_time ();

    buffer = gst_harness_push_and_pull (h, buffer);
    times[i] = g_get_monotonic_time () - start;
    meta = gst_buffer_get_video_overlay_composition_meta (buffer);
    if (meta)
      gst_buffer_remove_video_overlay_composition_meta (buffer, meta);
  }
  qsort (times, N_RUNS, sizeof (*times), compare);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);

  return (gdouble) times[N_RUNS / 2] / 1000.0;
}

int
main (int argc, char **argv)
{
  static const gchar *const defaults[] = { "I420", "NV12", "BGRx", "GRAY8", "I420_10LE" };
  gint width = 1920, height = 1080, n_formats = G_N_ELEMENTS (defaults), i;
  guint k;

  gst_init (&argc, &argv);
  if (argc > 2) {
    width = atoi (argv[1]);
    height = atoi (argv[2]);
  }
  if (argc > 3)
    n_formats = argc - 3;

  g_print ("%-10s %6s %9s %9s %9s %9s\n", "format", "boxes", "blend", "attach", "all:blend",
           "attach");
  for (i = 0; i < n_formats; i++) {
    const gchar *name = argc > 3 ? argv[3 + i] : defaults[i];
    GstVideoFormat format = gst_video_format_from_string (name);
    GstVideoInfo info;

    if (width < 1 || height < 1 || format == GST_VIDEO_FORMAT_UNKNOWN ||
        !gst_video_info_set_format (&info, format, (guint) width, (guint) height)) {
      g_printerr ("invalid format or size: %s, %dx%d\n", name, width, height);
      return 1;
    }
    for (k = 0; k < G_N_ELEMENTS (counts); k++)
      g_print ("%-10s %6u %9.2f %9.2f %9.2f %9.2f\n", name, counts[k],
               measure (&info, counts[k], 1, FALSE), measure (&info, counts[k], 1, TRUE),
               measure (&info, counts[k], ALL, FALSE), measure (&info, counts[k], ALL, TRUE));
  }

  return 0;
}
