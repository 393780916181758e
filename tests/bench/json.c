/* cudaccl - how long it takes to write a frame's components as JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* json-bench [COMPONENTS [FRAMES]]: writes the same frames with json-glib and with ccljson's
 * writer, in turns, and checks that both say the same. */

#include <math.h>
#include <string.h>
#include <time.h>
#include <json-glib/json-glib.h>

#include "gst/report/gstccljsonwriter.h"

/* Frames that one of the two writes before it is the turn of the other: each alone has the memory
 * that it freed before, as in a pipeline. */
#define TURN 20

static void
add_uint64 (JsonBuilder *builder, const gchar *name, guint64 value)
{
  json_builder_set_member_name (builder, name);
  if (value <= G_MAXINT64)
    json_builder_add_int_value (builder, (gint64) value);
  else
    json_builder_add_null_value (builder);
}

static void
add_double (JsonBuilder *builder, const gchar *name, gdouble value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_double_value (builder, value);
}

static gchar *
write_with_json_glib (const GstCclJsonId *id, const GstCclReportFrame *frame, gsize *length)
{
  JsonGenerator *generator = json_generator_new ();
  JsonBuilder *builder = json_builder_new ();
  JsonNode *root;
  gchar *text;
  guint i;

  json_builder_begin_object (builder);
  json_builder_set_member_name (builder, "source");
  json_builder_add_string_value (builder, id->source);
  json_builder_set_member_name (builder, "session");
  json_builder_add_string_value (builder, id->session);
  add_uint64 (builder, "line", id->number);
  add_uint64 (builder, "frame", frame->number);
  json_builder_set_member_name (builder, "utc");
  json_builder_add_null_value (builder);
  add_uint64 (builder, "timestamp", frame->timestamp);
  add_uint64 (builder, "stream-time", frame->stream_time);
  add_uint64 (builder, "running-time", frame->running_time);
  add_uint64 (builder, "duration", frame->duration);
  add_uint64 (builder, "width", frame->width);
  add_uint64 (builder, "height", frame->height);
  add_uint64 (builder, "found", (guint64) frame->found);
  add_uint64 (builder, "count", frame->n_components);
  json_builder_set_member_name (builder, "components");
  json_builder_begin_array (builder);
  for (i = 0; i < frame->n_components; i++) {
    const GstCclComponent *component = &frame->components[i];

    json_builder_begin_object (builder);
    add_uint64 (builder, "label", component->label);
    add_uint64 (builder, "x", component->x);
    add_uint64 (builder, "y", component->y);
    add_uint64 (builder, "width", component->width);
    add_uint64 (builder, "height", component->height);
    add_uint64 (builder, "area", component->area);
    add_double (builder, "centroid-x", component->centroid_x);
    add_double (builder, "centroid-y", component->centroid_y);
    if (component->track) {
      add_uint64 (builder, "track", component->track);
      add_uint64 (builder, "age", component->age);
      add_double (builder, "velocity-x", component->velocity_x);
      add_double (builder, "velocity-y", component->velocity_y);
    }
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  json_builder_end_object (builder);

  root = json_builder_get_root (builder);
  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, length);
  json_node_unref (root);
  g_object_unref (builder);
  g_object_unref (generator);

  return text;
}

/* As ccljson rounds, so that json-glib writes the same. */
static gdouble
round_to_thousandths (gdouble value)
{
  return rint (value * 1000.0) / 1000.0;
}

static GstCclComponent *
components_new (guint n, gboolean tracks)
{
  GRand *random = g_rand_new_with_seed (n);
  GstCclComponent *components = g_new0 (GstCclComponent, n);
  guint i;

  for (i = 0; i < n; i++) {
    GstCclComponent *component = &components[i];

    component->label = i + 1;
    component->x = (guint) g_rand_int_range (random, 0, 1900);
    component->y = (guint) g_rand_int_range (random, 0, 1060);
    component->width = (guint) g_rand_int_range (random, 1, 20);
    component->height = (guint) g_rand_int_range (random, 1, 20);
    component->area = (guint64) g_rand_int_range (random, 1, 400);
    component->centroid_x = round_to_thousandths (
        component->x + g_rand_int_range (random, 0, 4000) / (gdouble) component->area / 20.0);
    component->centroid_y = round_to_thousandths (
        component->y + g_rand_int_range (random, 0, 4000) / (gdouble) component->area / 20.0);
    if (tracks) {
      component->track = i + 7;
      component->age = (guint64) g_rand_int (random) * 1000;
      component->velocity_x = round_to_thousandths (g_rand_double_range (random, -100.0, 100.0));
      component->velocity_y = round_to_thousandths (g_rand_double_range (random, -100.0, 100.0));
    }
  }
  g_rand_free (random);

  return components;
}

/* The same for all frames of json-glib and ccljson: equal trees, so equal doubles. */
static gboolean
check (const gchar *first, const gchar *second)
{
  JsonNode *nodes[2];
  gboolean equal;

  nodes[0] = json_from_string (first, NULL);
  nodes[1] = json_from_string (second, NULL);
  equal = nodes[0] && nodes[1] && json_node_equal (nodes[0], nodes[1]);
  g_clear_pointer (&nodes[0], json_node_unref);
  g_clear_pointer (&nodes[1], json_node_unref);

  return equal;
}

/* Of this thread's own processor time: others may share the machine. */
static gint64
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &time);

  return time.tv_sec * (gint64) GST_SECOND + time.tv_nsec;
}

/* Returns FALSE if the two differ. */
static gboolean
run (guint n_components, guint n_turns, gboolean tracks)
{
  GstCclComponent *components = components_new (n_components, tracks);
  GstCclJsonId id = { "gate", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6" };
  GstCclReportFrame frame = { .utc = GST_CLOCK_TIME_NONE,
                              .duration = 33333333,
                              .width = 1920,
                              .height = 1080,
                              .found = n_components,
                              .n_components = n_components,
                              .components = components };
  gint64 best[2] = { G_MAXINT64, G_MAXINT64 }, sum[2] = { 0, 0 };
  gboolean equal = TRUE;
  gsize length = 0;
  guint turn, i;

  for (turn = 0; turn < 2 * n_turns && equal; turn++) {
    for (i = 0; i < TURN; i++) {
      GString *line = NULL;
      gchar *text = NULL;
      gint64 start;

      id.number = frame.number = turn / 2 * TURN + i;
      frame.timestamp = frame.stream_time = frame.running_time = frame.number * frame.duration;
      start = now ();
      if (turn % 2 == 0)
        text = write_with_json_glib (&id, &frame, &length);
      else
        line = gst_ccl_json_write_frame (&id, &frame);
      start = now () - start;
      best[turn % 2] = MIN (best[turn % 2], start);
      sum[turn % 2] += start;

      if (line) {
        length = line->len;
        if (i == 0) {
          text = write_with_json_glib (&id, &frame, NULL);
          equal = check (text, line->str);
        }
        g_string_free (line, TRUE);
      }
      g_free (text);
    }
  }

  g_print ("%u components%s, %" G_GSIZE_FORMAT " bytes: json-glib %.3f ms (least %.3f), "
           "ccljson %.3f ms (least %.3f)%s\n",
           n_components, tracks ? " with tracks" : "", length,
           (gdouble) sum[0] / n_turns / TURN / 1e6, (gdouble) best[0] / 1e6,
           (gdouble) sum[1] / n_turns / TURN / 1e6, (gdouble) best[1] / 1e6,
           equal ? "" : "; they DIFFER");
  g_free (components);

  return equal;
}

int
main (int argc, char **argv)
{
  guint n_components = argc > 1 ? (guint) g_ascii_strtoull (argv[1], NULL, 10) : 1024;
  guint n_frames = argc > 2 ? (guint) g_ascii_strtoull (argv[2], NULL, 10) : 200;
  guint n_turns;
  gboolean equal;

  gst_init (NULL, NULL);
  n_turns = MAX (n_frames / TURN, 1);
  equal = run (n_components, n_turns, FALSE);
  equal &= run (n_components, n_turns, TRUE);

  return equal ? 0 : 1;
}
