/* cudaccl - fuzzing: cclzones' parsers and counts
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Zones and tripwires as text or JSON, then objects anywhere that cross them. A second set takes
 * the state of the first. */

#include "gst/zones/gstcclzoneparser.h"
#include "gst/zones/gstcclzoneset.h"
#include "tests/fuzz/elements.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_POINTS 6
#define MOST_FRAMES 24

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  g_setenv ("GST_PLUGIN_SYSTEM_PATH_1_0", "", TRUE);
  g_setenv ("GST_REGISTRY_DISABLE", "yes", TRUE);
  gst_init (NULL, NULL);
  fuzz_catch_criticals ();

  return 0;
}

/* As a file, which exists in memory only. */
static gboolean
add_file (GstCclZoneSet *set, const gchar *text, GError **error)
{
  gint file = memfd_create ("zones", 0);
  gchar *path = g_strdup_printf ("/proc/self/fd/%d", file);
  gboolean added;

  fuzz_check (write (file, text, strlen (text)) == (gssize) strlen (text), "cannot write");
  added = gst_ccl_zone_set_add_file (set, path, error);
  g_free (path);
  close (file);

  return added;
}

static GstCclZoneSet *
parse (FuzzInput *input)
{
  GError *error = NULL;
  GstCclZoneSet *set = gst_ccl_zone_set_new ();
  gboolean parsed = TRUE;
  guint texts = 1 + fuzz_below (input, 2), i;

  for (i = 0; i < texts && parsed; i++) {
    gchar *text = fuzz_text (input, fuzz_below (input, 512));

    if (text[0] == '{')
      parsed = add_file (set, text, &error);
    else
      parsed = gst_ccl_zone_set_add_text (set, text, fuzz_one_in (input, 2), "zones", &error);
    free (text);
  }
  fuzz_check (parsed == (error == NULL), "neither zones nor an error, or both");
  fuzz_check (!error || (error->message && error->message[0]), "an error without a message");
  g_clear_error (&error);
  if (!parsed)
    g_clear_pointer (&set, gst_ccl_zone_set_free);

  return set;
}

static void
check_zones (const GstCclZoneSet *set)
{
  GstCclZonesMeta meta = gst_ccl_zone_set_get_meta (set);
  const GstCclZone *zones = meta.zones;
  guint n = meta.n_zones, i, k;

  for (i = 0; i < n; i++) {
    fuzz_check (zones[i].name != NULL, "zone %u has no name", i);
    fuzz_check (zones[i].tripwire ? zones[i].n_points == 2 : zones[i].n_points >= 3,
                "zone %u has %u points", i, zones[i].n_points);
    for (k = 0; k < 2 * zones[i].n_points; k++)
      fuzz_check (isfinite (zones[i].points[k]), "zone %u has a point that is not finite", i);
  }
}

static void
check_events (const GstCclZoneSet *set)
{
  GstCclZonesMeta meta = gst_ccl_zone_set_get_meta (set);
  guint i, k, n;

  for (i = 0; i < meta.n_events; i++)
    fuzz_check (meta.events[i].zone < meta.n_zones &&
                    (guint) meta.events[i].type <= GST_CCL_ZONE_REMOVED,
                "a broken event");
  for (i = 0; i < meta.n_zones; i++) {
    const GstCclZone *zone = &meta.zones[i];
    GstCclZoneCount sum = { 0 };
    const GstCclZoneCount *counts = gst_ccl_zone_set_get_counts (set, i, &n);

    for (k = 0; k < n; k++) {
      fuzz_check (counts[k].class_id > 0 && counts[k].inside <= zone->inside,
                  "%u of %u objects inside", counts[k].inside, zone->inside);
      sum.in += counts[k].in;
      sum.out += counts[k].out;
      sum.inside += counts[k].inside;
    }
    fuzz_check (sum.in <= zone->in && sum.out <= zone->out && sum.inside <= zone->inside,
                "classes have more than all");
  }
}

static void
update (FuzzInput *input, GstCclZoneSet *set, const GstCclZoneParams *params, guint frame,
        GstClockTime *last_time)
{
  GstCclZonePoint points[MOST_POINTS];
  guint n_points = fuzz_below (input, MOST_POINTS + 1), width = 640, height = 480, i;
  GstClockTime time = frame * (GST_SECOND / 10);
  static const gchar *const strings[] = { "a", "person", NULL };
  GstCclClassNames *names;

  if (fuzz_one_in (input, 8)) {
    width = 1 + fuzz_hostile_u32 (input) % G_MAXINT;
    height = 1 + fuzz_hostile_u32 (input) % G_MAXINT;
  }
  if (fuzz_one_in (input, 6))
    time = fuzz_hostile_u64 (input);
  *last_time = time = CLAMP (time, *last_time, G_MAXINT64);
  for (i = 0; i < n_points; i++) {
    gboolean hostile = fuzz_one_in (input, 6);

    points[i].track = hostile ? fuzz_hostile_u32 (input) : 1 + fuzz_below (input, 4);
    points[i].x = hostile ? fuzz_hostile_double (input) : fuzz_below (input, 640);
    points[i].y = hostile ? fuzz_hostile_double (input) : fuzz_below (input, 480);
    points[i].size = hostile ? fuzz_hostile_double (input) : fuzz_u8 (input);
    /* By the track and what it does: this takes no input bytes. */
    points[i].class_id = points[i].track % 3 + (points[i].size > 200.0);
  }
  names = gst_ccl_class_names_new (strings);
  gst_ccl_zone_set_set_class_names (set, names);
  gst_ccl_class_names_unref (names);
  gst_ccl_zone_set_update (set, params, time, width, height, points, n_points);
  check_events (set);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  GstCclZoneSet *set = parse (&input), *next;
  GstClockTime last_time = 0;
  GstCclZoneParams params;
  guint frames, i;

  if (!set)
    return 0;
  check_zones (set);
  gst_ccl_zone_params_init (&params);
  if (fuzz_one_in (&input, 3)) {
    params.hysteresis = fuzz_below (&input, 101) / 10.0;
    params.dwell = fuzz_hostile_u64 (&input);
  }
  frames = fuzz_below (&input, MOST_FRAMES + 1);
  for (i = 0; i < frames; i++) {
    update (&input, set, &params, i, &last_time);
    if (fuzz_one_in (&input, 16)) {
      next = parse (&input);
      if (next) {
        gst_ccl_zone_set_take_state (next, set);
        gst_ccl_zone_set_free (set);
        set = next;
        check_zones (set);
      }
    }
    if (fuzz_one_in (&input, 16))
      gst_ccl_zone_set_reset (set);
    if (fuzz_one_in (&input, 16)) {
      gst_ccl_zone_set_finish (set);
      check_events (set);
    }
  }
  gst_ccl_zone_set_free (set);

  return 0;
}
