/* cudaccl-watch - changes the file of settings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lines are changed one by one: GKeyFile would move comments. */

#include "apps/watch/settings/private.h"
#include "apps/watch/settings/replace.h"

#include <glib/gstdio.h>
#include <string.h>

/* The lines of a group, [header, end). Comments right above a header belong to it. */
typedef struct
{
  guint header, end;
} Range;

static gboolean
is_header (const gchar *line)
{
  while (g_ascii_isspace (*line))
    line++;
  return *line == '[';
}

static gboolean
is_comment (const gchar *line)
{
  while (g_ascii_isspace (*line))
    line++;
  return *line == '#';
}

static gboolean
is_key (const gchar *line, const gchar *name)
{
  gsize length = strlen (name);

  while (g_ascii_isspace (*line))
    line++;
  if (strncmp (line, name, length) != 0)
    return FALSE;
  line += length;
  while (*line == ' ' || *line == '\t')
    line++;
  return *line == '=';
}

static const gchar *
get_line (GPtrArray *lines, guint i)
{
  return g_ptr_array_index (lines, i);
}

static GPtrArray *
split_lines (const gchar *text)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  g_autofree gchar **split = g_strsplit (text, "\n", -1);

  for (gchar **line = split; *line; line++)
    g_ptr_array_add (lines, *line);
  return lines;
}

/* Returns FALSE if there is no such group. */
static gboolean
find_group (GPtrArray *lines, const gchar *group, Range *range)
{
  g_autofree gchar *header = g_strdup_printf ("[%s]", group);
  guint i;

  for (i = 0; i < lines->len; i++) {
    g_autofree gchar *line = g_strstrip (g_strdup (get_line (lines, i)));

    if (g_str_equal (line, header))
      break;
  }
  if (i == lines->len)
    return FALSE;
  range->header = i++;
  while (i < lines->len && !is_header (get_line (lines, i)))
    i++;
  if (i < lines->len) {
    while (is_comment (get_line (lines, i - 1)))
      i--;
  }
  while (i > range->header + 1 &&
         !get_line (lines, i - 1)[strspn (get_line (lines, i - 1), " \t\r")])
    i--;
  range->end = i;
  return TRUE;
}

static void
set_key (GPtrArray *lines, Range *range, const gchar *name, const gchar *value)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autofree gchar *escaped = NULL;
  guint i = range->header + 1;

  g_key_file_set_string (file, "group", name, value);
  escaped = g_key_file_get_value (file, "group", name, NULL);
  while (i < range->end && !is_key (get_line (lines, i), name))
    i++;
  if (i < range->end) {
    g_ptr_array_remove_index (lines, i);
    range->end--;
  }
  if (value[0]) {
    g_ptr_array_insert (lines, (gint) i, g_strdup_printf ("%s = %s", name, escaped));
    range->end++;
  }
}

static void
remove_group (GPtrArray *lines, Range range)
{
  while (range.header > 0 && is_comment (get_line (lines, range.header - 1)))
    range.header--;
  while (range.end < lines->len && !get_line (lines, range.end)[0])
    range.end++;
  g_ptr_array_remove_range (lines, range.header, range.end - range.header);
}

/* Returns the file that @path leads to. */
static gchar *
follow_link (const gchar *path)
{
  g_autofree gchar *link = g_file_read_link (path, NULL), *folder = g_path_get_dirname (path);

  return g_canonicalize_filename (link ? link : path, folder);
}

void
watch_settings_clean (const WatchSettings *self)
{
  g_autofree gchar *target = follow_link (self->path), *folder = g_path_get_dirname (target),
                   *name = g_path_get_basename (target),
                   *credentials = g_build_filename (self->data, "credentials", NULL);

  watch_replace_clean (folder, name);
  watch_replace_clean (self->data, NULL);
  watch_replace_clean (credentials, NULL);
}

/* Keeps the mode of the file. */
static gboolean
replace_file (const gchar *path, const gchar *text, GError **error)
{
  g_autofree gchar *target = follow_link (path);
  GStatBuf info;

  if (g_stat (target, &info) != 0)
    info.st_mode = 0600;
  return watch_replace_file (target, text, (gint) (info.st_mode & 0777), error);
}

static gboolean
fail (const WatchSettings *self, GError **error, const gchar *text, const gchar *what)
{
  g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, "%s: %s%.100s", self->path,
               text, what);
  return FALSE;
}

gboolean
watch_settings_edit (const WatchSettings *self, const gchar *name, const gchar *const *keys,
                     const gchar *const *values, GError **error)
{
  g_autofree gchar *before = NULL, *after = NULL,
                   *group = g_strconcat (WATCH_CAMERA_PREFIX, name, NULL);
  g_autoptr (GPtrArray) lines = NULL;
  g_autoptr (WatchSettings) checked = NULL;
  Range range;

  if (!watch_settings_is_name (name))
    return fail (self, error, "expected a name of up to 64 letters, digits, `-` and `_`", "");
  for (guint i = 0; keys && keys[i]; i++) {
    if (!watch_settings_is_camera_key (keys[i]))
      return fail (self, error, "no such key: ", keys[i]);
    if (!g_utf8_validate (values[i], -1, NULL))
      return fail (self, error, "the value is not UTF-8: ", keys[i]);
  }
  before = watch_settings_read_file (self->path, error);
  if (!before)
    return FALSE;
  lines = split_lines (g_strchomp (before));
  if (!find_group (lines, group, &range)) {
    if (!keys)
      return fail (self, error, "there is no camera ", name);
    if (lines->len)
      g_ptr_array_add (lines, g_strdup (""));
    range.header = lines->len;
    g_ptr_array_add (lines, g_strdup_printf ("[%s]", group));
    range.end = lines->len;
  }
  if (keys) {
    for (guint i = 0; keys[i]; i++)
      set_key (lines, &range, keys[i], values[i]);
  } else {
    remove_group (lines, range);
  }
  g_ptr_array_add (lines, g_strdup (""));
  g_ptr_array_add (lines, NULL);
  after = g_strjoinv ("\n", (gchar **) lines->pdata);
  checked = watch_settings_parse (self->path, after, error);
  return checked && replace_file (self->path, after, error);
}
