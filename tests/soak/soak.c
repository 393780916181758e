/* cudaccl - long runs with flat memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/soak/soak.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/lib/device.h"
#include "tests/lib/heap.h"
#include "tests/lib/mt19937.h"

#define LEAST_SAMPLES 4

/* Resources that may come and go. */
#define ALLOWED_HEAP (512 << 10)
#define ALLOWED_RSS (8 << 20)
#define ALLOWED_DEVICE (8 << 20)

typedef struct
{
  gsize heap, rss, device; /* bytes in use; the device's are of all programs */
} Sample;

static Mt19937 rng;

guint32
soak_random (guint32 n)
{
  return mt19937_below (&rng, n);
}

static gsize
resident_bytes (void)
{
  gchar *statm;
  gsize pages;

  if (!g_file_get_contents ("/proc/self/statm", &statm, NULL, NULL))
    return 0;
  pages = strtoul (strchr (statm, ' '), NULL, 10);
  g_free (statm);

  return pages * (gsize) sysconf (_SC_PAGESIZE);
}

void
soak_watch_init (SoakWatch *watch, const gchar *name)
{
  watch->name = name;
  watch->samples = g_array_new (FALSE, FALSE, sizeof (Sample));
  watch->start = g_get_monotonic_time ();
}

void
soak_watch_sample (SoakWatch *watch)
{
  Sample sample = { test_heap_bytes (), resident_bytes (), 0 };

  if (test_device_available ())
    sample.device = G_MAXSIZE / 2 - test_device_free_bytes ();
  g_array_append_val (watch->samples, sample);
}

/* The largest of each in the samples from @from on, up to @to. */
static Sample
most (const GArray *samples, guint from, guint to)
{
  Sample result = { 0, 0, 0 };
  guint i;

  for (i = from; i < to; i++) {
    const Sample *sample = &g_array_index (samples, Sample, i);

    result.heap = MAX (result.heap, sample->heap);
    result.rss = MAX (result.rss, sample->rss);
    result.device = MAX (result.device, sample->device);
  }

  return result;
}

static gboolean
check_growth (const SoakWatch *watch, const gchar *what, gsize before, gsize after, gsize allowed)
{
  gdouble growth = ((gdouble) after - (gdouble) before) / 1024;

  g_print ("  %-8s %8.1f MiB at the end, %+.0f KiB since the second quarter\n", what,
           g_str_equal (what, "device") ? 0.0 : after / 1048576.0, growth);
  if (after <= before + allowed)
    return TRUE;
  g_printerr ("%s: %s memory grows\n", watch->name, what);

  return FALSE;
}

gboolean
soak_watch_report (SoakWatch *watch, guint64 n, const gchar *what)
{
  gdouble seconds = (g_get_monotonic_time () - watch->start) / 1e6;
  guint n_samples = watch->samples->len;
  Sample before = most (watch->samples, n_samples / 4, n_samples / 2);
  Sample after = most (watch->samples, n_samples - n_samples / 4, n_samples);
  gboolean flat;

  g_print ("%s: %" G_GUINT64_FORMAT " %s in %.0f s, %u samples of memory\n", watch->name, n, what,
           seconds, n_samples);
  if (n_samples < LEAST_SAMPLES) {
    g_printerr ("%s: too few samples; run more\n", watch->name);
    g_array_unref (watch->samples);
    return FALSE;
  }
  flat = check_growth (watch, "heap", before.heap, after.heap, ALLOWED_HEAP);
  flat &= check_growth (watch, "resident", before.rss, after.rss, ALLOWED_RSS);
  if (test_device_available ())
    flat &= check_growth (watch, "device", before.device, after.device, ALLOWED_DEVICE);
  g_array_unref (watch->samples);

  return flat;
}

GstMessage *
soak_wait (GstElement *pipeline, GstMessageType types)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message =
      gst_bus_timed_pop_filtered (bus, GST_SECOND * 60, types | GST_MESSAGE_ERROR);

  gst_object_unref (bus);
  if (!message) {
    g_printerr ("no message within a minute\n");
  } else if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR && !(types & GST_MESSAGE_ERROR)) {
    GError *error;

    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s: %s\n", GST_MESSAGE_SRC_NAME (message), error->message);
    g_error_free (error);
    gst_clear_message (&message);
  }

  return message;
}

int
main (int argc, char **argv)
{
  SoakOptions options = { 0, 0, 0, 0, "cpu", 1 };
  gint64 frames = 0, cycles = 0, seeks = 0, kills = 0;
  gint seed = 1;
  gchar *backend = NULL, *side = NULL, *path = NULL;
  const GOptionEntry entries[] = {
    { "frames", 0, 0, G_OPTION_ARG_INT64, &frames, "frames through all elements", "N" },
    { "cycles", 0, 0, G_OPTION_ARG_INT64, &cycles, "starts and stops of a pipeline", "N" },
    { "seeks", 0, 0, G_OPTION_ARG_INT64, &seeks, "seeks in a stream of a day", "N" },
    { "kills", 0, 0, G_OPTION_ARG_INT64, &kills, "kill -9 of a side of a socket", "N" },
    { "backend", 0, 0, G_OPTION_ARG_STRING, &backend, "cpu (the default) or cuda", "NAME" },
    { "seed", 0, 0, G_OPTION_ARG_INT, &seed, "of the frames and seeks; 1 by default", "N" },
    { "side", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &side, NULL, NULL },
    { "path", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &path, NULL, NULL },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  GOptionContext *context = g_option_context_new ("- long runs with flat memory");
  gboolean ok = TRUE, skipped = FALSE;
  GError *error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("%s\n", error->message);
    return EXIT_FAILURE;
  }
  g_option_context_free (context);
  if (side)
    return soak_socket_side (side, path);

  options.frames = (guint64) MAX (frames, 0);
  options.cycles = (guint64) MAX (cycles, 0);
  options.seeks = (guint64) MAX (seeks, 0);
  options.kills = (guint64) MAX (kills, 0);
  options.seed = (guint32) seed;
  if (backend)
    options.backend = backend;
  g_print ("backend %s, seed %u\n", options.backend, options.seed);
  mt19937_seed (&rng, options.seed);
  if (options.frames)
    ok &= soak_frames (&options);
  if (options.cycles)
    ok &= soak_cycles (&options);
  if (options.seeks)
    ok &= soak_seeks (&options);
  if (options.kills)
    ok &= soak_socket (&options, argv[0], &skipped);
  g_free (backend);

  return !ok ? EXIT_FAILURE : skipped ? 77 : EXIT_SUCCESS;
}
