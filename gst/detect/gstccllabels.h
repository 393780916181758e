/* cudaccl - the classes of a network
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_LABELS_H__
#define __GST_CCL_LABELS_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* The longest file of names and the longest name, in bytes. */
#define GST_CCL_LABELS_MAX_SIZE (1024 * 1024)
#define GST_CCL_LABEL_MAX_SIZE 256
#define GST_CCL_LABELS_MAX_CLASSES 65535

/* Parses a text with a name on each line, starting with class 0. Lines may end with CR LF. An
 * empty line is a class without a name: the fifth becomes "class-5". Returns a NULL-terminated
 * array, or NULL with a GST_RESOURCE_ERROR_SETTINGS that names @path. */
gchar **gst_ccl_labels_parse (const gchar *text, gsize size, const gchar *path, GError **error);

/* Reads the file @path. If it is NULL, takes the names from a model's @metadata, as Ultralytics
 * writes them, or else makes names for @n_classes classes: COCO's for 80. */
gchar **gst_ccl_labels_load (const gchar *path, const gchar *metadata, guint n_classes,
                             GError **error);

/* Parses a dictionary in Python's syntax, such as {0: 'person', 1: "farmer's dog"}. Returns a
 * NULL-terminated array of @n_classes entries (0: as many as needed), or NULL if the text is
 * something else. */
gchar **gst_ccl_labels_parse_dictionary (const gchar *text, guint n_classes);

/* Parses a list of @names or numbers from 0, separated by commas. Returns an array of gboolean,
 * one for each name, or NULL with a GST_LIBRARY_ERROR_SETTINGS. */
GArray *gst_ccl_classes_parse (const gchar *list, gchar **names, GError **error);

G_END_DECLS

#endif /* __GST_CCL_LABELS_H__ */
