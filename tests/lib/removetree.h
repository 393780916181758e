/* cudaccl - removes the folders of tests
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_REMOVE_TREE_H
#define TESTS_LIB_REMOVE_TREE_H

#include <glib.h>
#include <glib/gstdio.h>

/* Removes a file, or a folder and its contents. */
static inline void
remove_tree (const gchar *path)
{
  g_autoptr (GDir) dir = g_dir_open (path, 0, NULL);
  const gchar *name;

  while (dir && (name = g_dir_read_name (dir))) {
    g_autofree gchar *child = g_build_filename (path, name, NULL);

    remove_tree (child);
  }
  g_remove (path);
}

#endif /* TESTS_LIB_REMOVE_TREE_H */
