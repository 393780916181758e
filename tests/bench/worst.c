/* cudaccl - worst-bench: the worst inputs of each element
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints a table in Markdown: for each element and input the median and the longest time of a
 * frame, in milliseconds, and the peak of the memory, in MiB. Inputs are within default limits, or
 * hostile. Times are those of the CPU, of all threads together: what else runs hardly matters.
 *
 *   worst-bench [FRAMES [TEXT]]
 *
 * With TEXT only the elements and inputs that contain it. Each has a process of its own.
 * GST_PLUGIN_PATH must have the plugins; meson devenv sets it. */

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>

typedef enum
{
  SPREAD, /* on a grid */
  DRIFT,  /* on a grid that moves */
  HEAP,   /* on one spot */
  JUMPS,  /* anywhere in each frame */
} Layout;

typedef enum
{
  BLACK,
  NOISE,     /* one pixel in six is white, which gives most components */
  DIAGONALS, /* two pixels wide, on their way to the left */
} Pixels;

typedef struct
{
  const gchar *line; /* of gst-launch */
  const gchar *name;
  guint n; /* components */
  Layout layout;
  gboolean regions; /* as regions of interest, too */
  gboolean new_ids; /* in each frame */
  gboolean large;   /* 3840x2160, not 1920x1080 */
  Pixels pixels;
  guint n_zones, n_points;
  gsize name_size; /* of each region's type, in bytes */
  gboolean hostile;
} Case;

static const Case cases[] = {
  { "cudaccl backend=cpu", "1080p, noise", .pixels = NOISE },
  { "cudaccl backend=cpu", "2160p, noise", .pixels = NOISE, .large = TRUE },
  { "cudaccl backend=cpu max-components=1000000", "2160p, noise", .pixels = NOISE, .large = TRUE,
    .hostile = TRUE },
  { "cudaccl backend=cpu morphology=median5,close31x31,fill,drop9", "2160p, noise", .pixels = NOISE,
    .large = TRUE, .hostile = TRUE },
  { "cclcolor backend=cpu", "1080p, noise", .pixels = NOISE },
  { "cclcolor backend=cpu", "2160p, noise", .pixels = NOISE, .large = TRUE },
  { "cclmotion backend=cpu", "1080p, noise", .pixels = NOISE },
  { "cclmotion backend=cpu", "2160p, noise", .pixels = NOISE, .large = TRUE },
  { "cclmask backend=cpu", "2160p, noise", .pixels = NOISE, .large = TRUE },
  { "cclmotion backend=cpu ! ccltrack", "2160p, diagonals", .pixels = DIAGONALS, .large = TRUE },
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
  { "ccloverlay", "2160p, 1024 tracks", 1024, JUMPS, .large = TRUE },
  { "ccloverlay draw=boxes+tracks+areas", "2160p, 1024 new tracks", 1024, JUMPS, .large = TRUE,
    .new_ids = TRUE },
  { "ccloverlay draw=boxes+tracks+trails", "1080p, 1024 tracks", 1024, DRIFT },
  { "ccloverlay draw=boxes+tracks+trails", "1080p, 1024 tracks that jump", 1024, JUMPS },
  { "ccloverlay draw=boxes+tracks+trails", "2160p, 1024 tracks that jump", 1024, JUMPS,
    .large = TRUE },
  { "ccloverlay line-width=1000", "1080p, 64800 boxes", 64800, SPREAD, .hostile = TRUE },
  { "ccloverlay draw=labels font-size=1000", "2160p, 64800 labels", 64800, SPREAD, .large = TRUE,
    .hostile = TRUE },
  { "ccloverlay draw=names", "1080p, 100 names of 100000 bytes", 100, SPREAD, TRUE,
    .name_size = 100000, .hostile = TRUE },
  { "ccljson", "1024 components", 1024, SPREAD, TRUE },
  { "ccljson", "64800 components", 64800, SPREAD, .hostile = TRUE },
  { "cclonvif", "1024 components", 1024, SPREAD },
  { "cclonvif", "64800 components", 64800, SPREAD, .hostile = TRUE },
  { "cclmerge", "1024 components and regions", 1024, SPREAD, TRUE },
  { "cclmerge", "64800 components and regions", 64800, SPREAD, TRUE, .hostile = TRUE },
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

static void
fill_pixels (GstBuffer *buffer, Pixels pixels, guint width, guint height, guint number)
{
  guint32 random = 1 + number;
  GstMapInfo map;
  guint x, y;

  gst_buffer_memset (buffer, 0, 0, (gsize) -1);
  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  for (y = 0; y < height && pixels != BLACK; y++) {
    for (x = 0; x < width; x++) {
      random = random * 1664525 + 1013904223;
      if (pixels == NOISE ? random >> 16 < 65536 / 6 : (x + y + 3 * number) / 2 % 4 == 0)
        map.data[y * width + x] = 255;
    }
  }
  gst_buffer_unmap (buffer, &map);
}

static GstBuffer *
make_frame (const Case *c, GRand *random, guint number)
{
  const guint width = c->large ? 3840 : 1920, height = c->large ? 2160 : 1080;
  const guint side = c->n > 5000 ? 4 : 20;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, width * height * 3 / 2, NULL);
  GstCclComponent *components = g_new0 (GstCclComponent, c->n);
  gchar *type = g_strnfill (MAX (c->name_size, 1), 'n');
  guint i;

  fill_pixels (buffer, c->pixels, width, height, number);
  GST_BUFFER_PTS (buffer) = number * GST_SECOND / 25;
  for (i = 0; i < c->n; i++) {
    GstCclComponent *box = &components[i];

    box->label = i + 1;
    box->track = 1 + i + (c->new_ids ? number * c->n : 0);
    box->width = box->height = side;
    box->x = c->layout == HEAP ? 900 : i * 6 % (width - 20);
    box->y =
        c->layout == HEAP ? 500 : i * 6 / (width - 20) * (c->n > 5000 ? 6 : 30) % (height - 20);
    if (c->layout == DRIFT) {
      box->x = (box->x + 9 * number) % (width - 20);
      box->y = (box->y + 7 * number) % (height - 20);
    }
    if (c->layout == JUMPS) {
      box->x = (guint) g_rand_int_range (random, 0, (gint32) width - 20);
      box->y = (guint) g_rand_int_range (random, 0, (gint32) height - 20);
    }
    box->area = (guint64) side * side;
    box->centroid_x = box->x + side / 2.0;
    box->centroid_y = box->y + side / 2.0;
    if (c->regions)
      gst_video_region_of_interest_meta_add_param (
          gst_buffer_add_video_region_of_interest_meta (buffer, type, box->x, box->y, side, side),
          gst_structure_new ("cudaccl", "label", G_TYPE_UINT, box->label, "area", G_TYPE_UINT64,
                             box->area, NULL));
  }
  if (c->n > 0)
    gst_buffer_add_ccl_meta (buffer, width, height, c->n, components, c->n);
  g_free (type);
  g_free (components);

  return buffer;
}

static int
compare (const void *a, const void *b)
{
  gdouble x = *(const gdouble *) a, y = *(const gdouble *) b;

  return (x > y) - (x < y);
}

static gdouble
get_cpu_time (void)
{
  struct timespec time;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &time);

  return (gdouble) time.tv_sec * 1e3 + (gdouble) time.tv_nsec / 1e6;
}

/* Runs in a child process. */
static void
measure (const Case *c, guint n_frames)
{
  gboolean merges = g_str_equal (c->line, "cclmerge");
  GstElement *element = strchr (c->line, '!') ? gst_parse_bin_from_description (c->line, TRUE, NULL)
                                              : gst_parse_launch (c->line, NULL);
  GstHarness *h = gst_harness_new_with_element (element, merges ? "video" : "sink", "src");
  GstHarness *branch = merges ? gst_harness_new_with_element (element, "components", NULL) : NULL;
  gchar *caps = g_strdup_printf ("video/x-raw,format=I420,width=%u,height=%u,framerate=25/1",
                                 c->large ? 3840 : 1920, c->large ? 2160 : 1080);
  GRand *random = g_rand_new_with_seed (1);
  gdouble *times = g_new (gdouble, n_frames);
  gchar *zones = make_zones (c);
  struct rusage usage;
  guint i;

  if (c->n_zones > 0)
    g_object_set (element, "zones", zones, NULL);
  gst_harness_set_src_caps_str (h, caps);
  if (branch)
    gst_harness_set_src_caps_str (branch, caps);
  gst_harness_play (h);
  for (i = 0; i < n_frames; i++) {
    GstBuffer *buffer = make_frame (c, random, i);
    GstBuffer *video = branch ? gst_buffer_new_allocate (NULL, 1920 * 1080 * 3 / 2, NULL) : NULL;
    gdouble start = get_cpu_time ();

    if (branch) {
      GST_BUFFER_PTS (video) = GST_BUFFER_PTS (buffer);
      gst_harness_push (branch, buffer);
    }
    gst_harness_push (h, video ? video : buffer);
    buffer = gst_harness_pull (h);
    times[i] = get_cpu_time () - start;
    gst_buffer_unref (buffer);
  }
  qsort (times, n_frames, sizeof (*times), compare);
  getrusage (RUSAGE_SELF, &usage);
  g_print ("| `%s` | %s | %s | %.1f | %.1f | %ld |\n", c->line, c->name,
           c->hostile ? "hostile" : "default", times[n_frames / 2], times[n_frames - 1],
           usage.ru_maxrss / 1024);
  g_free (zones);
  g_free (times);
  g_rand_free (random);
  g_free (caps);
  if (branch)
    gst_harness_teardown (branch);
  gst_harness_teardown (h);
  gst_object_unref (element);
}

int
main (int argc, char **argv)
{
  guint n_frames = argc > 1 ? (guint) atoi (argv[1]) : 50, i;
  gint status, failed = 0;

  g_print ("| element | input | limits | median ms | longest ms | MiB |\n"
           "|---|---|---|--:|--:|--:|\n");
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    pid_t child;

    if (argc > 2 && !strstr (cases[i].line, argv[2]) && !strstr (cases[i].name, argv[2]))
      continue;
    child = fork ();
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
