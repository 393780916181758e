/* cudaccl - what ccloverlay draws in a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_SCENE_H__
#define __GST_CCL_OVERLAY_SCENE_H__

#include "gstccloverlay-draw.h"

G_BEGIN_DECLS

typedef struct
{
  GstCclOverlayDraw draw;
  guint line_width; /* pixels; 0: proportional to the frame size */
  guint font_size;  /* pixels; 0: proportional to the frame size */
  gchar *font;      /* Pango's description; empty: the built-in font */
  guint32 color;    /* 0xAARRGGBB; alpha 0: the colour of the label or track */
  GstClockTime trail_time;
} GstCclDrawStyle;

/* A frame to draw on. */
typedef struct
{
  gint width, height;                /* all coordinates are relative to this frame */
  GstClockTime time, stream_time;    /* or GST_CLOCK_TIME_NONE */
  const GstCclComponent *components; /* in pixels of the frame */
  const GQuark *names;               /* of each component, or 0; may be NULL */
  guint n_components;
  const GstCclZonesMeta *zones; /* or NULL */
  gdouble zones_x, zones_y;     /* where the origin of the frame is in that of @zones */
  gdouble zones_scale_x, zones_scale_y;
} GstCclScene;

/* What is remembered from frame to frame: trails and events. */
typedef struct _GstCclPainter GstCclPainter;

GstCclPainter *gst_ccl_painter_new (void);

void gst_ccl_painter_free (GstCclPainter *self);

/* Forgets trails and events. */
void gst_ccl_painter_reset (GstCclPainter *self);

/* Returns the shapes of @scene, GstCclShape, the later above the earlier. They are valid until the
 * next call. */
const GArray *gst_ccl_painter_paint (GstCclPainter *self, const GstCclDrawStyle *style,
                                     const GstCclScene *scene);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_SCENE_H__ */
