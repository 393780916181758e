/* cudaccl-watch - the share of cameras of each of several programs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/settings/share.h"

#include <string.h>

#include "apps/watch/settings/values.h"

#define MAX_COUNT 10000

/* Rendezvous hashing (Thaler 1996): each program has a weight for the camera, and the largest wins.
 * The weights are the outputs of SplitMix64 (Steele 2014), seeded with FNV-1a of the name. */
guint
watch_share_find (const gchar *camera, guint count)
{
  guint64 state = G_GUINT64_CONSTANT (0xcbf29ce484222325), most = 0;
  guint found = 0;

  for (const gchar *c = camera; *c; c++)
    state = (state ^ (guint8) *c) * G_GUINT64_CONSTANT (0x100000001b3);
  for (guint i = 0; i < count; i++) {
    guint64 weight = state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15);

    weight = (weight ^ weight >> 30) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
    weight = (weight ^ weight >> 27) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
    weight ^= weight >> 31;
    if (weight > most) {
      most = weight;
      found = i;
    }
  }
  return found;
}

gboolean
watch_share_parse (const gchar *text, const gchar *host, guint *index, guint *count)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", 3);
  const gchar *end = host + strlen (host);
  guint64 i, n;

  if (g_strv_length (parts) != 2 || !watch_parse_uint (parts[1], 1, MAX_COUNT, &n))
    return FALSE;
  if (g_str_equal (parts[0], "auto")) {
    while (end > host && g_ascii_isdigit (end[-1]))
      end--;
    if (!watch_parse_uint (end, 0, G_MAXUINT, &i))
      return FALSE;
  } else if (!watch_parse_uint (parts[0], 0, n - 1, &i)) {
    return FALSE;
  }
  *index = (guint) i;
  *count = (guint) n;
  return TRUE;
}
