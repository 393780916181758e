/* cudaccl - fuzzing: values of properties
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/values.h"

#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST_OPERATIONS 16
#define MOST_POLYGONS 3
#define MOST_CORNERS 6

/* The path of an anonymous file with these bytes, which stays open. */
static gchar *
make_file (const gchar *bytes, gsize size)
{
  int file = memfd_create ("fuzz", 0);

  fuzz_check (file >= 0 && write (file, bytes, size) == (gssize) size, "no anonymous file");

  return g_strdup_printf ("/proc/self/fd/%d", file);
}

static const gchar *
get_region_file (void)
{
  static const gchar picture[] = "P5 4 3 255\n\xff\x00\xff\xff\x80\x7f\x00\xff\xff\xff\xff\x00";
  static gchar *path;

  if (g_once_init_enter (&path))
    g_once_init_leave (&path, make_file (picture, sizeof picture - 1));

  return path;
}

static const gchar *
get_labels (void)
{
  static const gchar names[] = "background\nperson\ncar\n\nperson\n";
  static gchar *path;

  if (g_once_init_enter (&path))
    g_once_init_leave (&path, make_file (names, sizeof names - 1));

  return path;
}

static guint
draw_odd (FuzzInput *input)
{
  return 1 + 2 * fuzz_below (input, fuzz_one_in (input, 4) ? 128 : 6);
}

static void
append_operation (FuzzInput *input, GString *text)
{
  static const gchar *const rectangles[] = { "erode", "dilate", "open", "close" };
  guint kind = fuzz_below (input, 8), width;

  switch (kind) {
  case 4:
    g_string_append (text, fuzz_one_in (input, 2) ? "median5" : "median3");
    break;
  case 5:
    g_string_append (text, "fill");
    break;
  case 6:
    g_string_append_printf (text, "fill%u", 1 + fuzz_u8 (input));
    break;
  case 7:
    g_string_append_printf (text, "drop%u", 1 + fuzz_u8 (input));
    break;
  default:
    width = draw_odd (input);
    g_string_append_printf (text, "%s%ux%u", rectangles[kind], width, draw_odd (input));
  }
}

static gchar *
draw_operations (FuzzInput *input)
{
  GString *text;
  guint n, i;

  if (fuzz_one_in (input, 3))
    return g_strdup (fuzz_one_in (input, 2) ? "none" : "auto");
  text = g_string_new (NULL);
  n = fuzz_below (input, fuzz_one_in (input, 8) ? MOST_OPERATIONS + 1 : 4);
  for (i = 0; i < n; i++) {
    g_string_append (text, i > 0 ? (fuzz_one_in (input, 4) ? " , " : ",") : "");
    append_operation (input, text);
  }

  return g_string_free (text, FALSE);
}

static gchar *
draw_polygons (FuzzInput *input)
{
  GString *text = g_string_new (NULL);
  guint n = fuzz_below (input, MOST_POLYGONS + 1), i, k;

  for (i = 0; i < n; i++) {
    guint corners = 3 + fuzz_below (input, MOST_CORNERS - 2);

    g_string_append (text, i > 0 ? "; " : "");
    for (k = 0; k < corners; k++) {
      guint x = fuzz_below (input, 1001), y = fuzz_below (input, 1001);

      g_string_append_printf (text, " %u.%03u,%u.%03u", x / 1000, x % 1000, y / 1000, y % 1000);
    }
  }

  return g_string_free (text, FALSE);
}

static gchar *
draw_string (FuzzInput *input, const GParamSpec *spec)
{
  static const gchar *const words[] = { "", "blob", "person", "\303\244 \"\\" };

  if (g_str_equal (spec->name, "morphology"))
    return draw_operations (input);
  if (g_str_equal (spec->name, "include") || g_str_equal (spec->name, "exclude"))
    return draw_polygons (input);
  if (g_str_equal (spec->name, "region-file"))
    return g_strdup (fuzz_one_in (input, 2) ? get_region_file () : "");
  if (g_str_equal (spec->name, "labels"))
    return g_strdup (fuzz_one_in (input, 2) ? get_labels () : "");
  if (g_str_equal (spec->name, "zones"))
    return g_strdup (fuzz_one_in (input, 2) ? "a: 0,0 0.5,0 0.5,1 0,1; 3,3 30,3 30,30" : "");
  if (g_str_equal (spec->name, "tripwires"))
    return g_strdup (fuzz_one_in (input, 2) ? "b: 0.5,0 0.5,1; 0,9 30,9" : "");

  return g_strdup (words[fuzz_below (input, G_N_ELEMENTS (words))]);
}

/* Signed numbers wrap around, and come out in order. */
static guint64
draw_number (FuzzInput *input, guint64 low, guint64 high, guint64 initial)
{
  guint64 span = high - low, above;

  switch (fuzz_below (input, 10)) {
  case 0:
    return low;
  case 1:
    return high;
  case 2:
    return initial;
  case 3:
    return span == G_MAXUINT64 ? fuzz_u64 (input) : low + fuzz_u64 (input) % (span + 1);
  case 4: /* a time */
    above = fuzz_below (input, 4000) * GST_MSECOND;
    break;
  default:
    above = fuzz_u8 (input);
  }

  return low + MIN (span, above);
}

static gdouble
draw_double (FuzzInput *input, gdouble low, gdouble high, gdouble initial)
{
  gdouble value;

  switch (fuzz_below (input, 4)) {
  case 0:
    return low;
  case 1:
    return high;
  case 2:
    return initial;
  default:
    value = low + (high - low) * fuzz_below (input, 65536) / 65535;
    return isfinite (value) ? CLAMP (value, low, high) : initial;
  }
}

gchar *
fuzz_valid_value (FuzzInput *input, const GParamSpec *spec)
{
  /* So many would take the time of all others. */
  if (g_str_equal (spec->name, "threads"))
    return g_strdup_printf ("%u", 1 + fuzz_below (input, 3));
  if (g_str_equal (spec->name, "learning-time")) /* the element checks its range */
    return g_strdup_printf ("%" G_GUINT64_FORMAT,
                            draw_number (input, GST_MSECOND, 24 * 3600 * GST_SECOND,
                                         G_PARAM_SPEC_UINT64 (spec)->default_value));
  if (G_IS_PARAM_SPEC_BOOLEAN (spec))
    return g_strdup (fuzz_one_in (input, 2) ? "true" : "false");
  if (G_IS_PARAM_SPEC_ENUM (spec)) {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;

    return g_strdup (klass->values[fuzz_below (input, klass->n_values)].value_nick);
  }
  if (G_IS_PARAM_SPEC_FLAGS (spec))
    return g_strdup_printf ("%u", fuzz_u8 (input) & G_PARAM_SPEC_FLAGS (spec)->flags_class->mask);
  if (G_IS_PARAM_SPEC_INT (spec)) {
    const GParamSpecInt *of = G_PARAM_SPEC_INT (spec);

    return g_strdup_printf ("%d",
                            (gint) draw_number (input, (guint64) of->minimum, (guint64) of->maximum,
                                                (guint64) of->default_value));
  }
  if (G_IS_PARAM_SPEC_INT64 (spec)) {
    const GParamSpecInt64 *of = G_PARAM_SPEC_INT64 (spec);

    return g_strdup_printf ("%" G_GINT64_FORMAT,
                            (gint64) draw_number (input, (guint64) of->minimum,
                                                  (guint64) of->maximum,
                                                  (guint64) of->default_value));
  }
  if (G_IS_PARAM_SPEC_UINT (spec)) {
    const GParamSpecUInt *of = G_PARAM_SPEC_UINT (spec);

    return g_strdup_printf (
        "%u", (guint) draw_number (input, of->minimum, of->maximum, of->default_value));
  }
  if (G_IS_PARAM_SPEC_UINT64 (spec)) {
    const GParamSpecUInt64 *of = G_PARAM_SPEC_UINT64 (spec);

    return g_strdup_printf ("%" G_GUINT64_FORMAT,
                            draw_number (input, of->minimum, of->maximum, of->default_value));
  }
  if (G_IS_PARAM_SPEC_DOUBLE (spec)) {
    const GParamSpecDouble *of = G_PARAM_SPEC_DOUBLE (spec);

    return g_strdup_printf ("%.17g",
                            draw_double (input, of->minimum, of->maximum, of->default_value));
  }

  return draw_string (input, spec);
}
