/* cudaccl - transfers components and zones from one frame to another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRANSFER_H__
#define __GST_CCL_TRANSFER_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Elements such as videocrop can crop with GstVideoCropMeta, and leave other metadata unchanged:
 * then components still belong to the whole frame, of @width x @height pixels, while those found
 * after cropping belong to the visible part. Returns NULL if the components need no cropping, or if
 * the visible part is not inside the frame. */
const GstVideoCropMeta *gst_ccl_transfer_find_crop (GstBuffer *buffer, guint width, guint height);

/* Components are GstCclMeta, and regions of interest that are components. If a frame was cropped
 * after its components were found (by GstVideoCropMeta, which leaves other metadata unchanged), the
 * functions below crop them, and its zones, to the visible part. */

/* Whether @buffer has components. */
gboolean gst_ccl_transfer_has_components (GstBuffer *buffer);

/* Creates an empty buffer with the components of @buffer. */
GstBuffer *gst_ccl_transfer_extract (GstBuffer *buffer);

/* Creates an empty buffer with the zones of @buffer and their events. Returns NULL if it has none.
 */
GstBuffer *gst_ccl_transfer_extract_zones (GstBuffer *buffer);

/* Replaces the components of the writable @dest with those of @source, scaled to the size of @dest.
 * The size of @source is used for regions of interest without GstCclMeta, which do not have it. The
 * age of the components' frame grows by @age. */
void gst_ccl_transfer_components (GstBuffer *dest, guint dest_width, guint dest_height,
                                  GstBuffer *source, guint source_width, guint source_height,
                                  GstClockTimeDiff age);

/* Adds the zones of @source and their events to the writable @dest, scaled to its size, or to the
 * frame size of the zones that it has already. */
void gst_ccl_transfer_zones (GstBuffer *dest, guint dest_width, guint dest_height,
                             GstBuffer *source);

/* Events, in a buffer with their zones, and how much earlier they happened. */
typedef struct
{
  GstBuffer *zones;
  GstClockTimeDiff age;
} GstCclEvents;

/* Puts the events of @sources, in their order, before those of the writable @dest, with their age
 * added to their frame_age. Zones are matched by name and kind, those of the same name by their
 * index: @first is that of the sources' first zone in @dest. Missing ones are added. */
void gst_ccl_transfer_events (GstBuffer *dest, guint first, const GstCclEvents *sources,
                              guint n_sources);

G_END_DECLS

#endif /* __GST_CCL_TRANSFER_H__ */
