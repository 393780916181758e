/* cudaccl-watch - searches by path: the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef WATCH_PATH_REFERENCE_H
#define WATCH_PATH_REFERENCE_H

#include "apps/watch/records/records.h"

/* In shares of the frame. */
typedef struct
{
  gdouble x, y;
} ReferencePoint;

/* Returns whether the lower centres of the boxes of @track, joined by lines, cross the line of two
 * points @shape, or enter the polygon of @n points. Exact if all coordinates are small multiples of
 * a power of two. */
gboolean reference_path_fits (const WatchTrack *track, const ReferencePoint *shape, guint n);

#endif
