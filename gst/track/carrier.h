/* cudaccl - components that show how a known track moves between looks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CARRIER_H__
#define __GST_CCL_CARRIER_H__

#include "track.h"

G_BEGIN_DECLS

/* Moves a track as its component has moved since the look. Returns FALSE if the component shows
 * something else. */
gboolean gst_ccl_carrier_move (Track *track, const Blob *blob);

/* Writes how far the sides of a member are from those of its group, the box. Members keep the
 * places that the last look showed, as components miss heads and feet, or include shadows, until
 * the length of the group jumps. */
void gst_ccl_carrier_get_offset (Track *track, const Box *box, guint k, gdouble offset[2]);

G_END_DECLS

#endif /* __GST_CCL_CARRIER_H__ */
