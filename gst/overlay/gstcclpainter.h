/* cudaccl - what ccloverlay draws in a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PAINTER_H__
#define __GST_CCL_PAINTER_H__

#include <gst/ccl/gstccl.h>
#include "gstcclcanvas.h"

G_BEGIN_DECLS

/**
 * GstCclOverlayDraw:
 * @GST_CCL_OVERLAY_DRAW_BOXES: the outlines of the bounding boxes
 * @GST_CCL_OVERLAY_DRAW_CENTROIDS: a cross at each centroid
 * @GST_CCL_OVERLAY_DRAW_LABELS: the labels, as numbers
 * @GST_CCL_OVERLAY_DRAW_AREAS: the areas, as numbers
 * @GST_CCL_OVERLAY_DRAW_TRACKS: the ids of `ccltrack` in place of the labels; tracked objects have
 * the colour of their id, not of their label
 * @GST_CCL_OVERLAY_DRAW_VELOCITIES: a line from the centroid of a tracked object to where it will
 *   be in a second
 * @GST_CCL_OVERLAY_DRAW_TRAILS: the path of each tracked object in the last seconds
 * @GST_CCL_OVERLAY_DRAW_ZONES: the zones and tripwires of `cclzones`, their names and counts; an
 *   arrow points to where a tripwire is crossed inwards
 * @GST_CCL_OVERLAY_DRAW_EVENTS: crosses where objects entered or left zones or crossed tripwires;
 * for half a second, these zones and tripwires have thick lines
 * @GST_CCL_OVERLAY_DRAW_NAMES: the types of regions of interest
 * @GST_CCL_OVERLAY_DRAW_TIME: the stream time of the frame, at the top left
 * @GST_CCL_OVERLAY_DRAW_CLASSES: the classes of objects, and how certain they are in per cent
 * @GST_CCL_OVERLAY_DRAW_ELLIPSES: the ellipses of components that have the feature `ellipse`, with
 * the major axis
 *
 * Parts of the overlay to draw.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_OVERLAY_DRAW_BOXES = 1 << 0,
  GST_CCL_OVERLAY_DRAW_CENTROIDS = 1 << 1,
  GST_CCL_OVERLAY_DRAW_LABELS = 1 << 2,
  GST_CCL_OVERLAY_DRAW_AREAS = 1 << 3,
  GST_CCL_OVERLAY_DRAW_TRACKS = 1 << 4,
  GST_CCL_OVERLAY_DRAW_VELOCITIES = 1 << 5,
  GST_CCL_OVERLAY_DRAW_TRAILS = 1 << 6,
  GST_CCL_OVERLAY_DRAW_ZONES = 1 << 7,
  GST_CCL_OVERLAY_DRAW_EVENTS = 1 << 8,
  GST_CCL_OVERLAY_DRAW_NAMES = 1 << 9,
  GST_CCL_OVERLAY_DRAW_TIME = 1 << 10,
  GST_CCL_OVERLAY_DRAW_CLASSES = 1 << 11,
  GST_CCL_OVERLAY_DRAW_ELLIPSES = 1 << 12,
} GstCclOverlayDraw;

typedef struct
{
  GstCclOverlayDraw draw;
  guint line_width; /* pixels; 0: proportional to the frame size */
  guint font_size;  /* pixels; 0: proportional to the frame size */
  gchar *font;      /* Pango font description; NULL: the default font */
  guint32 color;    /* 0xAARRGGBB; alpha 0: the colour of the class, label or track */
  gboolean color_by_class;
  GstClockTime trail_time;
} GstCclDrawStyle;

/* A frame to draw on. */
typedef struct
{
  const GstVideoInfo *yuv;           /* for gst_ccl_canvas_begin() */
  gint width, height;                /* all coordinates are relative to this frame */
  GstClockTime time;                 /* see GstCclTime; not before that of the last scene */
  GstClockTime stream_time;          /* or GST_CLOCK_TIME_NONE */
  const GstCclComponent *components; /* in pixels of the frame */
  const GQuark *names;               /* of each component, 0 for none; may be NULL */
  guint n_components;
  GstCclClassNames *class_names; /* may be NULL */
  const GstCclZonesMeta *zones;  /* may be NULL */
  gdouble zones_x, zones_y;      /* origin of the frame in the frame of @zones */
  gdouble zones_scale_x, zones_scale_y;
} GstCclScene;

/* Draws scenes, with trails and events of earlier ones. */
typedef struct _GstCclPainter GstCclPainter;

GstCclPainter *gst_ccl_painter_new (void);

void gst_ccl_painter_free (GstCclPainter *self);

/* Forgets trails and events. */
void gst_ccl_painter_reset (GstCclPainter *self);

/* Replaces the picture of @canvas by @scene. Returns FALSE if there is no memory. */
gboolean gst_ccl_painter_paint (GstCclPainter *self, GstCclCanvas *canvas,
                                const GstCclDrawStyle *style, const GstCclScene *scene);

G_END_DECLS

#endif /* __GST_CCL_PAINTER_H__ */
