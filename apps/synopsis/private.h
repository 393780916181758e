/* cudaccl-watch - internals of the synopsis
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SYNOPSIS_PRIVATE_H__
#define __WATCH_SYNOPSIS_PRIVATE_H__

#include <gst/video/video.h>

#include "apps/synopsis/synopsis.h"

G_BEGIN_DECLS

/* Frames per second of a synopsis, and most cut-outs per second. */
#define WATCH_SYNOPSIS_RATE 15

/* An object in a frame: a rectangle with even position and size. The file has its luma, both chroma
 * planes at half the size, and alpha. */
typedef struct
{
  guint64 offset; /* in the file */
  gint64 time;    /* since the start of the tube */
  guint16 x, y, width, height;
} WatchCut;

#define watch_cut_get_size(cut) ((gsize) (cut)->width * (cut)->height * 5 / 2)

/* An object's cut-outs over time. */
typedef struct
{
  gint64 begin;
  GArray *cuts; /* WatchCut, in order of time */
  guint start;  /* first frame of the synopsis that shows it */
} WatchTube;

/* The scene without objects, I420 without padding. */
typedef struct
{
  gint64 time;
  guint8 *data;
} WatchBackground;

/* The contents of the recordings. */
typedef struct
{
  guint width, height; /* even; 0: not known yet */
  int file;            /* file of the cut-outs */
  guint64 size;        /* of the file */
  GPtrArray *tubes;    /* WatchTube, in order of time */
  GArray *backgrounds; /* WatchBackground, in order of time; never empty */
} WatchScenes;

/* Returns the last cut of the tube at @time since its start. */
const WatchCut *watch_tube_get_cut (const WatchTube *tube, gint64 time);
/* Returns its length in frames of the synopsis. */
guint watch_tube_get_length (const WatchTube *tube);

/* read.c: adds a recording. Calls @reached now and then with the share read so far. */
gboolean watch_scenes_read (WatchScenes *self, const WatchRecording *recording,
                            WatchSynopsisProgress reached, gpointer user_data,
                            GCancellable *cancellable, GError **error);

/* plan.c: sets `start` of the tubes. Returns how many frames they take, at most
 * @max_frames. */
guint watch_scenes_plan (WatchScenes *self, guint max_frames);

/* draw.c */
typedef struct _WatchPainter WatchPainter;

WatchPainter *watch_painter_new (const WatchScenes *scenes, guint n_frames);
void watch_painter_free (WatchPainter *self);
/* Draws frame @n into @frame, I420 of the size of the scenes. Frames must be drawn in order. */
gboolean watch_painter_draw (WatchPainter *self, guint n, GstVideoFrame *frame, GError **error);

G_END_DECLS

#endif /* __WATCH_SYNOPSIS_PRIVATE_H__ */
