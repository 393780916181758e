/* cudaccl - the classes of a network
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccllabels.h"

#include <string.h>

static const gchar *const coco[] = {
  "person",        "bicycle",      "car",
  "motorcycle",    "airplane",     "bus",
  "train",         "truck",        "boat",
  "traffic light", "fire hydrant", "stop sign",
  "parking meter", "bench",        "bird",
  "cat",           "dog",          "horse",
  "sheep",         "cow",          "elephant",
  "bear",          "zebra",        "giraffe",
  "backpack",      "umbrella",     "handbag",
  "tie",           "suitcase",     "frisbee",
  "skis",          "snowboard",    "sports ball",
  "kite",          "baseball bat", "baseball glove",
  "skateboard",    "surfboard",    "tennis racket",
  "bottle",        "wine glass",   "cup",
  "fork",          "knife",        "spoon",
  "bowl",          "banana",       "apple",
  "sandwich",      "orange",       "broccoli",
  "carrot",        "hot dog",      "pizza",
  "donut",         "cake",         "chair",
  "couch",         "potted plant", "bed",
  "dining table",  "toilet",       "tv",
  "laptop",        "mouse",        "remote",
  "keyboard",      "cell phone",   "microwave",
  "oven",          "toaster",      "sink",
  "refrigerator",  "book",         "clock",
  "vase",          "scissors",     "teddy bear",
  "hair drier",    "toothbrush",
};

/* Numbers of COCO's 91 categories that no picture has. Networks with 91 classes count these. */
#define COCO_CATEGORIES 91
static const guint unused[] = { 0, 12, 26, 29, 30, 45, 66, 68, 69, 71, 83 };

static gchar *
make_name (guint index)
{
  return g_strdup_printf ("class-%u", index + 1);
}

gchar **
gst_ccl_labels_parse (const gchar *text, gsize size, const gchar *path, GError **error)
{
  GPtrArray *names;
  gchar **lines, *copy;
  guint i, n;

  if (size > GST_CCL_LABELS_MAX_SIZE || !g_utf8_validate (text, (gssize) size, NULL)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "%s is not a list of names: it is larger than %d bytes, or not in UTF-8.", path,
                 GST_CCL_LABELS_MAX_SIZE);
    return NULL;
  }

  copy = g_strndup (text, size);
  lines = g_strsplit (copy, "\n", GST_CCL_LABELS_MAX_CLASSES + 1);
  g_free (copy);
  n = g_strv_length (lines);
  while (n > 0 && !*g_strstrip (lines[n - 1]))
    n--;

  names = g_ptr_array_new_with_free_func (g_free);
  for (i = 0; i < n && i < GST_CCL_LABELS_MAX_CLASSES; i++) {
    gchar *name = g_strstrip (lines[i]);

    if (strlen (name) > GST_CCL_LABEL_MAX_SIZE) {
      g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                   "%s has a name of more than %d bytes in line %u.", path, GST_CCL_LABEL_MAX_SIZE,
                   i + 1);
      break;
    }
    g_ptr_array_add (names, *name ? g_strdup (name) : make_name (i));
  }
  g_strfreev (lines);
  if (n > GST_CCL_LABELS_MAX_CLASSES && names->len == GST_CCL_LABELS_MAX_CLASSES)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                 "%s has more than %d names.", path, GST_CCL_LABELS_MAX_CLASSES);
  else if (n == 0)
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "%s has no names.", path);
  if (names->len < n || n == 0) {
    g_ptr_array_unref (names);
    return NULL;
  }
  g_ptr_array_add (names, NULL);

  return (gchar **) g_ptr_array_free (names, FALSE);
}

/* Reads a quoted string, in which backslashes escape quotes, and moves @text behind it. Returns
 * NULL if there is none. */
static gchar *
parse_string (const gchar **text)
{
  const gchar quote = **text, *end;
  GString *string;

  if (quote != '\'' && quote != '"')
    return NULL;

  string = g_string_new (NULL);
  for (end = *text + 1; *end && *end != quote; end++) {
    if (*end == '\\' && end[1])
      end++;
    g_string_append_c (string, *end);
  }
  *text = *end ? end + 1 : end;
  if (!*end || string->len == 0 || string->len > GST_CCL_LABEL_MAX_SIZE) {
    g_string_free (string, TRUE);
    return NULL;
  }

  return g_string_free (string, FALSE);
}

static const gchar *
skip_spaces (const gchar *text)
{
  while (g_ascii_isspace (*text))
    text++;

  return text;
}

/* Reads an entry such as "5: 'name'" and moves @text behind it. Returns the name, or NULL. */
static gchar *
parse_entry (const gchar **text, guint64 *number)
{
  gchar *end;

  if (!g_ascii_isdigit (**text))
    return NULL;
  *number = g_ascii_strtoull (*text, &end, 10);
  *text = skip_spaces (end);
  if (**text != ':' || *number >= GST_CCL_LABELS_MAX_CLASSES)
    return NULL;
  *text = skip_spaces (*text + 1);

  return parse_string (text);
}

gchar **
gst_ccl_labels_parse_dictionary (const gchar *text, guint n_classes)
{
  GPtrArray *names;
  gboolean valid;
  guint i;

  if (!g_utf8_validate (text, -1, NULL))
    return NULL;
  text = skip_spaces (text);
  if (*text != '{')
    return NULL;

  names = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_set_size (names, (gint) MIN (n_classes, GST_CCL_LABELS_MAX_CLASSES));
  do {
    guint64 number = 0;
    gchar *name;

    text = skip_spaces (text + 1);
    name = parse_entry (&text, &number);
    valid = name && (n_classes == 0 || number < n_classes);
    if (!valid) {
      g_free (name);
      break;
    }
    if (number >= names->len)
      g_ptr_array_set_size (names, (gint) number + 1);
    g_free (names->pdata[number]);
    names->pdata[number] = name;
    text = skip_spaces (text);
  } while (*text == ',');

  if (!valid || *text != '}') {
    g_ptr_array_unref (names);
    return NULL;
  }
  for (i = 0; i < names->len; i++) {
    if (!names->pdata[i])
      names->pdata[i] = make_name (i);
  }
  g_ptr_array_add (names, NULL);

  return (gchar **) g_ptr_array_free (names, FALSE);
}

/* The names of a model that does not have any. */
static gchar **
make_names (guint n)
{
  gchar **names = g_new0 (gchar *, n + 1);
  guint used = 0, gaps = 0, i;

  for (i = 0; i < n; i++) {
    if (n == COCO_CATEGORIES && gaps < G_N_ELEMENTS (unused) && i == unused[gaps]) {
      names[i] = make_name (i);
      gaps++;
    } else
      names[i] = n == COCO_CATEGORIES || n == G_N_ELEMENTS (coco) ? g_strdup (coco[used++])
                                                                  : make_name (i);
  }

  return names;
}

gchar **
gst_ccl_labels_load (const gchar *path, const gchar *metadata, guint n_classes, GError **error)
{
  GError *reason = NULL;
  gchar **names, *text;
  gsize size;

  names = !path && metadata ? gst_ccl_labels_parse_dictionary (metadata, n_classes) : NULL;
  if (names)
    return names;
  if (!path)
    return make_names (MIN (n_classes, GST_CCL_LABELS_MAX_CLASSES));

  if (!g_file_get_contents (path, &text, &size, &reason)) {
    g_set_error (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
                 "Could not read the names of classes: %s.", reason->message);
    g_error_free (reason);
    return NULL;
  }
  names = gst_ccl_labels_parse (text, size, path, error);
  g_free (text);

  return names;
}

/* Returns the class with the name or number @text, or -1. */
static gint
find_class (const gchar *text, gchar **names, guint n)
{
  guint64 number;
  guint i;

  for (i = 0; i < n; i++) {
    if (strcmp (names[i], text) == 0)
      return (gint) i;
  }

  return g_ascii_string_to_unsigned (text, 10, 0, GST_CCL_LABELS_MAX_CLASSES - 1, &number, NULL)
             ? (gint) number
             : -1;
}

GArray *
gst_ccl_classes_parse (const gchar *list, gchar **names, GError **error)
{
  const guint n_names = g_strv_length (names);
  GArray *classes = g_array_new (FALSE, TRUE, sizeof (gboolean));
  gchar **parts = g_strsplit (list, ",", -1);
  guint i;

  g_array_set_size (classes, n_names);
  for (i = 0; parts[i]; i++) {
    gint number = find_class (g_strstrip (parts[i]), names, n_names);

    if (number < 0 || (n_names > 0 && (guint) number >= n_names)) {
      gchar *valid = g_utf8_make_valid (parts[i], -1);

      g_set_error (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                   "The model has no class \"%s\", which the property classes asks for.", valid);
      g_free (valid);
      g_clear_pointer (&classes, g_array_unref);
      break;
    }
    if ((guint) number >= classes->len)
      g_array_set_size (classes, (guint) number + 1);
    g_array_index (classes, gboolean, number) = TRUE;
  }
  g_strfreev (parts);

  return classes;
}
