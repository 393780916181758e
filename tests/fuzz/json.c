/* cudaccl - fuzzing: ccljson's lines
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Any source, times, and components, as GstCclMeta or as regions of interest: each line must be
 * JSON to a strict parser, and say what the frame does. */

#include "tests/fuzz/elements.h"
#include "tests/fuzz/metas.h"
#include "tests/fuzz/strictjson.h"

#include <math.h>
#include <string.h>

#define WIDTH 640
#define HEIGHT 480
#define MOST_COMPONENTS 8

typedef struct
{
  FuzzRig rig;
  gchar *line;
  gsize size;
  guint64 n_lines;
} Writer;

static Writer writer;

static void
keep_line (gpointer data, GstBuffer *buffer)
{
  gst_buffer_extract_dup (buffer, 0, (gsize) -1, (gpointer *) &writer.line, &writer.size);
}

/* The element is used for all inputs: it has no state but its properties and caps. */
int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  GstSegment segment;

  fuzz_gst_init ();
  fuzz_rig_init (&writer.rig, gst_element_factory_make ("ccljson", NULL));
  writer.rig.output = keep_line;
  fuzz_check (fuzz_rig_start (&writer.rig), "ccljson does not start");
  fuzz_check (
      fuzz_rig_push_caps (&writer.rig, gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
                                                            "GRAY8", "width", G_TYPE_INT, WIDTH,
                                                            "height", G_TYPE_INT, HEIGHT, NULL)),
      "no caps");
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fuzz_rig_push_segment (&writer.rig, &segment);

  return 0;
}

static const StrictValue *
get (const StrictValue *object, const gchar *name)
{
  const StrictValue *value = strict_member (object, name);

  fuzz_check (value != NULL, "no %s in %s", name, writer.line);

  return value;
}

/* Those that json-glib's integers cannot represent are null. */
static void
check_integer (const StrictValue *object, const gchar *name, guint64 expected)
{
  const StrictValue *value = get (object, name);
  gchar text[24];

  if (expected > G_MAXINT64) {
    fuzz_check (value->kind == STRICT_NULL, "%s is not null in %s", name, writer.line);
    return;
  }
  g_snprintf (text, sizeof (text), "%" G_GUINT64_FORMAT, expected);
  fuzz_check (value->kind == STRICT_NUMBER && strcmp (value->text, text) == 0, "%s is not %s in %s",
              name, text, writer.line);
}

/* Rounded to thousandths, with as few digits as that needs. */
static void
check_double (const StrictValue *object, const gchar *name, gdouble expected)
{
  const StrictValue *value = get (object, name);
  const gchar *point;
  gdouble number;

  if (!(fabs (expected) < 1e15)) {
    fuzz_check (value->kind == STRICT_NULL, "%s is not null in %s", name, writer.line);
    return;
  }
  point = value->kind == STRICT_NUMBER ? strchr (value->text, '.') : NULL;
  fuzz_check (point && strlen (point) >= 2 && strlen (point) <= 4,
              "%s is no number with a point in %s", name, writer.line);
  number = g_ascii_strtod (value->text, NULL);
  expected = rint (expected * 1000.0) / 1000.0;
  fuzz_check (memcmp (&number, &expected, sizeof (number)) == 0, "%s is not %.17g in %s", name,
              expected, writer.line);
}

#define N_NAMES 4

/* Names of classes, and what the lines have. */
static const gchar *const names[N_NAMES + 1] = { "person", "\"\\\xff\x7f", "", "\n\xe2\x80\xa8",
                                                 NULL };
static const gchar *const shown[N_NAMES] = { "person", "\"\\\xef\xbf\xbd\x7f", "",
                                             "\n\xe2\x80\xa8" };

static void
check_component (const StrictValue *object, const GstCclComponent *component)
{
  fuzz_check (object->kind == STRICT_OBJECT, "a component is no object in %s", writer.line);
  check_integer (object, "label", component->label);
  check_integer (object, "x", component->x);
  check_integer (object, "y", component->y);
  check_integer (object, "width", component->width);
  check_integer (object, "height", component->height);
  check_integer (object, "area", component->area);
  check_double (object, "centroid-x", component->centroid_x);
  check_double (object, "centroid-y", component->centroid_y);
  if (component->track) {
    check_integer (object, "track", component->track);
    check_integer (object, "age", component->age);
    check_double (object, "velocity-x", component->velocity_x);
    check_double (object, "velocity-y", component->velocity_y);
  } else {
    fuzz_check (!strict_member (object, "track"), "a track in %s", writer.line);
  }
  fuzz_check (!component->flags == !strict_member (object, "static-age"), "an age in %s",
              writer.line);
  if (component->flags)
    check_integer (object, "static-age", component->static_age * G_GUINT64_CONSTANT (1000000));
  if (component->confidence > 0.0)
    check_double (object, "confidence", MIN (component->confidence, 1.0));
  else
    fuzz_check (!strict_member (object, "confidence"), "a confidence in %s", writer.line);
  if (component->class_id)
    check_integer (object, "class-id", component->class_id);
  if (component->class_id && component->class_id <= N_NAMES)
    fuzz_check (strcmp (get (object, "class")->text, shown[component->class_id - 1]) == 0,
                "the class is not \"%s\" in %s", shown[component->class_id - 1], writer.line);
  else
    fuzz_check (!strict_member (object, "class"), "a class in %s", writer.line);
}

static void
check_line (const gchar *source, GstBuffer *buffer, const GstCclComponent *components, guint n,
            gboolean known)
{
  const StrictValue *array, *item;
  const gchar *error;
  StrictValue *line;
  gsize position;
  guint i = 0;

  fuzz_check (writer.line != NULL && writer.size > 0, "no line");
  fuzz_check (memchr (writer.line, '\n', writer.size) == writer.line + writer.size - 1,
              "a line does not end with its only newline");
  writer.line[writer.size - 1] = '\0';
  line = strict_parse (writer.line, writer.size - 1, &error, &position);
  fuzz_check (line != NULL, "%s at byte %zu of %s", error, position, writer.line);
  fuzz_check (line->kind == STRICT_OBJECT, "no object: %s", writer.line);

  if (source) {
    gchar *valid = g_utf8_make_valid (source, -1);

    fuzz_check (get (line, "source")->kind == STRICT_STRING &&
                    strcmp (get (line, "source")->text, valid) == 0,
                "the source is not \"%s\" in %s", valid, writer.line);
    g_free (valid);
  } else {
    fuzz_check (!strict_member (line, "source"), "a source in %s", writer.line);
  }
  fuzz_check (get (line, "session")->kind == STRICT_STRING &&
                  g_uuid_string_is_valid (get (line, "session")->text),
              "the session is no UUID in %s", writer.line);
  check_integer (line, "line", writer.n_lines);
  check_integer (line, "frame", writer.n_lines++);
  check_integer (line, "timestamp", GST_BUFFER_PTS (buffer));
  check_integer (line, "duration", GST_BUFFER_DURATION (buffer));
  check_integer (line, "width", WIDTH);
  check_integer (line, "height", HEIGHT);
  check_integer (line, "count", n);
  check_integer (line, "found", known ? n : G_MAXUINT64);
  get (line, "stream-time");
  get (line, "running-time");
  array = get (line, "components");
  fuzz_check (array->kind == STRICT_ARRAY, "no array in %s", writer.line);
  for (item = array->first; item; item = item->next, i++) {
    fuzz_check (i < n, "more than %u components in %s", n, writer.line);
    check_component (item, &components[i]);
  }
  fuzz_check (i == n, "%u of %u components in %s", i, n, writer.line);
  strict_free (line);
}

static void
add_roi (GstBuffer *buffer, guint id, const GstCclComponent *component)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
      buffer, "component", component->x, component->y, component->width, component->height);
  GstStructure *param =
      gst_structure_new ("cudaccl", "label", G_TYPE_UINT, component->label, "area", G_TYPE_UINT64,
                         component->area, "centroid-x", G_TYPE_DOUBLE, component->centroid_x,
                         "centroid-y", G_TYPE_DOUBLE, component->centroid_y, NULL);

  if (component->track)
    gst_structure_set (param, "track", G_TYPE_UINT, component->track, "age", G_TYPE_UINT64,
                       component->age, "velocity-x", G_TYPE_DOUBLE, component->velocity_x,
                       "velocity-y", G_TYPE_DOUBLE, component->velocity_y, NULL);
  roi->id = (gint) id;
  gst_video_region_of_interest_meta_add_param (roi, param);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  GstBuffer *buffer = gst_buffer_new ();
  GstCclComponent components[MOST_COMPONENTS];
  gboolean rois = fuzz_one_in (&input, 8);
  gchar *source = fuzz_one_in (&input, 4) ? NULL : fuzz_text (&input, 64);
  guint n = fuzz_below (&input, fuzz_one_in (&input, 8) ? MOST_COMPONENTS + 1 : 3), i;

  g_clear_pointer (&writer.line, g_free);
  g_object_set (writer.rig.element, "source", source, NULL);
  GST_BUFFER_PTS (buffer) = fuzz_hostile_u64 (&input);
  GST_BUFFER_DURATION (buffer) = fuzz_hostile_u64 (&input);
  for (i = 0; i < n; i++)
    fuzz_component (&input, WIDTH, HEIGHT, &components[i]);
  if (rois) {
    for (i = 0; i < n; i++)
      add_roi (buffer, i, &components[i]);
  } else {
    GstCclClassNames *table = gst_ccl_class_names_new (names);

    /* By the label: this takes no input bytes. */
    for (i = 0; i < n; i++) {
      components[i].class_id = components[i].label % (N_NAMES + 2);
      components[i].confidence = components[i].label % 3 ? components[i].centroid_x / WIDTH : 0.0;
      components[i].flags = components[i].label % 5 < 2 ? components[i].label % 5 * 2 + 1 : 0;
      components[i].static_age = components[i].flags ? components[i].x : 0;
    }
    gst_ccl_meta_set_class_names (gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, components, n),
                                  table);
    gst_ccl_class_names_unref (table);
  }

  fuzz_check (gst_pad_push (writer.rig.src, gst_buffer_ref (buffer)) == GST_FLOW_OK, "no flow");
  check_line (source, buffer, components, n, !rois);
  gst_buffer_unref (buffer);
  free (source);

  return 0;
}
