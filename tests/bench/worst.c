/* cudaccl - worst-bench: the worst inputs of each element
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints a table in Markdown: for each element and input the median and the longest time of a
 * frame, in milliseconds, and the peak of the memory, in MiB. Inputs are within default limits, or
 * hostile.
 *
 *   worst-bench [FRAMES]
 *
 * Each input has a process of its own. GST_PLUGIN_PATH must have the plugins; meson devenv sets it.
 */

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>

#define WIDTH 1920
#define HEIGHT 1080

typedef enum
{
  SPREAD, /* on a grid */
  HEAP,   /* on one spot */
  JUMPS,  /* anywhere in each frame */
} Layout;

typedef struct
{
  const gchar *line; /* of gst-launch */
  const gchar *name;
  guint n; /* components */
  Layout layout;
  gboolean regions; /* as regions of interest, too */
  gboolean new_ids; /* in each frame */
  guint n_zones, n_points;
  gboolean hostile;
} Case;

static const Case cases[] = {
  { "ccltrack", "1024 on a grid", 1024, SPREAD },
  { "ccltrack", "1024 on one spot", 1024, HEAP },
  { "ccltrack", "1024 that jump", 1024, JUMPS },
  { "ccltrack max-tracks=65536", "20000 on one spot", 20000, HEAP, .hostile = TRUE },
  { "cclzones", "1024 tracks, 64 zones of 16 points", 1024, JUMPS, .n_zones = 64, .n_points = 16 },
  { "cclzones", "1024 tracks, a zone of 10000 points", 1024, JUMPS, .n_zones = 1,
    .n_points = 10000 },
  { "cclzones", "20000 new ids a frame", 20000, JUMPS, .new_ids = TRUE, .n_zones = 1, .n_points = 4,
    .hostile = TRUE },
  { "cclzones", "4096 tracks, 1024 zones", 4096, JUMPS, .n_zones = 1024, .n_points = 32,
    .hostile = TRUE },
  { "cclzones drop-outside=true", "64800 regions", 64800, SPREAD, TRUE, .n_zones = 1, .n_points = 4,
    .hostile = TRUE },
  { "ccloverlay draw=boxes+labels+tracks+trails", "1024 tracks that jump", 1024, JUMPS },
  { "ccloverlay line-width=1000", "64800 boxes", 64800, SPREAD, .hostile = TRUE },
  { "ccljson", "1024 components", 1024, SPREAD, TRUE },
  { "ccljson", "64800 components", 64800, SPREAD, .hostile = TRUE },
  { "cclonvif", "1024 components", 1024, SPREAD },
  { "cclonvif", "64800 components", 64800, SPREAD, .hostile = TRUE },
  { "cclmerge", "1024 components of the video", 1024, SPREAD, TRUE },
  { "cudaccl backend=cpu", "a black frame", 0, SPREAD },
  { "cclmotion backend=cpu", "a black frame", 0, SPREAD },
};

/* Zones whose sides go up and down, over the whole frame. */
static gchar *
make_zones (const Case *c)
{
  GString *text = g_string_new (NULL);
  guint i, k;

  for (i = 0; i < c->n_zones; i++) {
    for (k = 0; k < c->n_points - 2; k++)
      g_string_append_printf (text, "%.5f,%.3f ", (gdouble) k / (c->n_points - 2),
                              k % 2 ? 0.1 : 0.9);
    g_string_append (text, "1,0 0,0;");
  }

  return g_string_free (text, FALSE);
}

static GstBuffer *
make_frame (const Case *c, GRand *random, guint number)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * 3 / 2, NULL);
  GstCclComponent *components = g_new0 (GstCclComponent, c->n);
  guint i;

  gst_buffer_memset (buffer, 0, 0, (gsize) -1);
  GST_BUFFER_PTS (buffer) = number * GST_SECOND / 25;
  for (i = 0; i < c->n; i++) {
    GstCclComponent *box = &components[i];

    box->label = i + 1;
    box->track = 1 + i + (c->new_ids ? number * c->n : 0);
    box->width = box->height = c->n > 5000 ? 4 : 20;
    box->x = c->layout == HEAP ? 900 : i * 6 % (WIDTH - 20);
    box->y = c->layout == HEAP ? 500 : i * 6 / (WIDTH - 20) * 6 % (HEIGHT - 20);
    if (c->layout == JUMPS) {
      box->x = (guint) g_rand_int_range (random, 0, WIDTH - 20);
      box->y = (guint) g_rand_int_range (random, 0, HEIGHT - 20);
    }
    box->area = (guint64) box->width * box->height;
    box->centroid_x = box->x + box->width / 2.0;
    box->centroid_y = box->y + box->height / 2.0;
    if (c->regions)
      gst_video_region_of_interest_meta_add_param (
          gst_buffer_add_video_region_of_interest_meta (buffer, "blob", box->x, box->y, box->width,
                                                        box->height),
          gst_structure_new ("cudaccl", "label", G_TYPE_UINT, box->label, "area", G_TYPE_UINT64,
                             box->area, NULL));
  }
  if (c->n > 0)
    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, c->n, components, c->n);
  g_free (components);

  return buffer;
}

static int
compare (const void *a, const void *b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

/* Runs in a process of its own. */
static void
measure (const Case *c, guint n_frames)
{
  gboolean is_merge = g_str_has_prefix (c->line, "cclmerge");
  GstElement *element = gst_parse_launch (c->line, NULL);
  GstHarness *h = gst_harness_new_with_element (element, is_merge ? "video" : "sink", "src");
  GRand *random = g_rand_new_with_seed (1);
  gdouble *times = g_new (gdouble, n_frames);
  gchar *zones = make_zones (c);
  struct rusage usage;
  guint i;

  if (c->n_zones > 0)
    g_object_set (element, "zones", zones, NULL);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=I420,width=1920,height=1080,framerate=25/1");
  gst_harness_play (h);
  for (i = 0; i < n_frames; i++) {
    GstBuffer *buffer = make_frame (c, random, i), *out;
    gint64 start = g_get_monotonic_time ();

    gst_harness_push (h, buffer);
    times[i] = (gdouble) (g_get_monotonic_time () - start) / 1000.0;
    while ((out = gst_harness_try_pull (h)))
      gst_buffer_unref (out);
  }
  qsort (times, n_frames, sizeof (*times), compare);
  getrusage (RUSAGE_SELF, &usage);
  g_print ("| `%s` | %s | %s | %.1f | %.1f | %ld |\n", c->line, c->name,
           c->hostile ? "hostile" : "default", times[n_frames / 2], times[n_frames - 1],
           usage.ru_maxrss / 1024);
  g_free (zones);
  g_free (times);
  g_rand_free (random);
  gst_harness_teardown (h);
  gst_object_unref (element);
}

int
main (int argc, char **argv)
{
  guint n_frames = argc > 1 ? (guint) atoi (argv[1]) : 50, i;
  gint status, failed = 0;

  g_print (
      "| element | input | limits | median ms | longest ms | MiB |\n|---|---|---|--:|--:|--:|\n");
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    pid_t child = fork ();

    if (child == 0) {
      gst_init (NULL, NULL);
      measure (&cases[i], MAX (n_frames, 1));
      exit (EXIT_SUCCESS);
    }
    if (waitpid (child, &status, 0) != child || status != 0) {
      g_printerr ("%s, %s: failed\n", cases[i].line, cases[i].name);
      failed = 1;
    }
  }

  return failed;
}
