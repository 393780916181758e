/* cudaccl - the file that tells what GStreamer is to know about a model
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmodelinfo.h"

#include <math.h>
#include <string.h>

#define SUFFIX ".modelinfo"
#define GROUP "modelinfo"

/* Returns the path of the file, or NULL if there is none. */
static gchar *
find_file (const gchar *model)
{
  gchar *path = g_strconcat (model, SUFFIX, NULL), *stem;
  gchar *dot;

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return path;
  g_free (path);

  stem = g_strdup (model);
  dot = strrchr (stem, '.');
  if (dot && !strchr (dot, G_DIR_SEPARATOR))
    *dot = '\0';
  path = g_strconcat (stem, SUFFIX, NULL);
  g_free (stem);
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_clear_pointer (&path, g_free);

  return path;
}

/* Parses "low,high". */
static gboolean
parse_range (const gchar *text, gdouble *low, gdouble *high)
{
  gchar *end;

  *low = g_ascii_strtod (text, &end);
  if (end == text || *g_strchug (end) != ',')
    return FALSE;
  text = end + 1;
  *high = g_ascii_strtod (text, &end);

  return end != text && *g_strchug (end) == '\0' && isfinite (*low) && isfinite (*high) &&
         *low < *high;
}

/* Parses ranges that are separated by semicolons. */
static gboolean
parse_ranges (GstCclModelinfo *self, const gchar *text)
{
  gchar **parts = g_strsplit (text, ";", 5);
  guint n = g_strv_length (parts), i;

  if (n > 0 && !*g_strstrip (parts[n - 1]))
    n--;
  for (i = 0; i < n && i < 3 && parse_range (parts[i], &self->low[i], &self->high[i]);)
    i++;
  g_strfreev (parts);
  self->n_ranges = n;

  return i == n && (n == 1 || n == 3);
}

/* The kind of network is a part of the identifiers of outputs. */
static void
read_kind (GstCclModelinfo *self, GKeyFile *file)
{
  gchar **groups = g_key_file_get_groups (file, NULL);
  guint i;

  for (i = 0; groups[i] && self->output == GST_CCL_OUTPUT_AUTO; i++) {
    gchar *id = g_key_file_get_string (file, groups[i],
                                       g_str_equal (groups[i], GROUP) ? "group-id" : "id", NULL);

    if (id)
      self->output = gst_ccl_output_find_name (id);
    g_free (id);
  }
  g_strfreev (groups);
}

gboolean
gst_ccl_modelinfo_load (GstCclModelinfo *self, const gchar *model, const gchar *input,
                        GError **error)
{
  gchar *path = find_file (model), *ranges;
  GKeyFile *file;
  GError *reason = NULL;
  gboolean loaded;

  *self = (GstCclModelinfo){ .output = GST_CCL_OUTPUT_AUTO };
  if (!path)
    return TRUE;

  file = g_key_file_new ();
  loaded = g_key_file_load_from_file (file, path, G_KEY_FILE_NONE, &reason);
  if (!loaded) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "Could not read %s, which tells about the model: %s.", path, reason->message);
    g_error_free (reason);
  } else {
    read_kind (self, file);
    ranges = g_key_file_get_string (file, input, "ranges", NULL);
    loaded = !ranges || parse_ranges (self, ranges);
    if (!loaded)
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "%s has ranges of the input %s that are not one or three pairs of numbers, such "
                   "as 0.0,1.0: %s.",
                   path, input, ranges);
    g_free (ranges);
  }
  g_key_file_unref (file);
  g_free (path);

  return loaded;
}
