/* cudaccl - what other elements detected in a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FOREIGN_H__
#define __GST_CCL_FOREIGN_H__

#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclclasses.h>

G_BEGIN_DECLS

/* What regions of ccldetect have as parameters, and the type of those that only tell where it
 * looked. */
#define GST_CCL_DETECT_PARAM "ccldetect"
#define GST_CCL_DETECT_LOOK "ccldetect-look"

typedef enum
{
  GST_CCL_FOREIGN_REGIONS,
  GST_CCL_FOREIGN_ANALYTICS,
  GST_CCL_FOREIGN_NVDS,
} GstCclForeignKind;

/* The detections of other elements, as components with class and confidence, labelled from 1 on.
 * All pixels of their boxes count. */
typedef struct
{
  GstCclForeignKind kind;
  GArray *components; /* GstCclComponent */
  GPtrArray *sources; /* what each was read from: GstVideoRegionOfInterestMeta, or NvDsObjectMeta */
} GstCclForeign;

/* Reads the detections of @buffer, a frame of @width x @height pixels: regions of interest that are
 * no components; without any, object detections of GStreamer's analytics metadata; without any,
 * objects of DeepStream. They stay valid as long as its metadata is not changed. Free with
 * gst_ccl_foreign_clear(). */
void gst_ccl_foreign_init (GstCclForeign *self, GstBuffer *buffer, guint width, guint height,
                           GstCclClasses *classes);

void gst_ccl_foreign_clear (GstCclForeign *self);

/* Writes the track of a detection, and its class by now, to what it was read from, which must be
 * writable; a region gets its box, too. Analytics metadata stays as it is. */
void gst_ccl_foreign_set_track (GstCclForeign *self, guint index, const GstCclComponent *tracked,
                                GstCclClasses *classes);

G_END_DECLS

#endif /* __GST_CCL_FOREIGN_H__ */
