/* cudaccl-watch - sizes that pictures declare in their headers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_HEADERS_H__
#define __WATCH_CAMERA_HEADERS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  WATCH_HEADERS_NONE, /* another format: only caps have the size */
  WATCH_HEADERS_H264,
  WATCH_HEADERS_H265,
  WATCH_HEADERS_JPEG,
  WATCH_HEADERS_PNG,
  WATCH_HEADERS_VP8,
  WATCH_HEADERS_VP9,
  WATCH_HEADERS_AV1,
} WatchHeadersFormat;

/* Layouts of AV1 that are kept. */
#define WATCH_HEADERS_LAYOUTS 16

/* How a sequence of an AV1 stream lays out headers of frames, up to their size. A number of bits
 * is 0 where there is no such field. */
typedef struct
{
  guint8 chroma;
  guint8 width_bits, height_bits;
  guint8 id_bits, delta_bits; /* of numbers of frames */
  guint8 order_bits;
  guint8 time_bits;                /* when a frame is shown */
  guint8 removal_bits;             /* when it leaves the decoder's buffer */
  gboolean has_tools, has_vectors; /* of screen content: flags in each frame */
  gboolean tools;                  /* otherwise that of all frames */
  guint n_points;
  guint16 points[32]; /* layers of operating points with times of removal */
} WatchAv1Layout;

/* Reads headers in encoded video. Starts as zeros; one thread at a time. */
typedef struct
{
  WatchHeadersFormat format;
  guint length_size; /* bytes of a NAL unit's length; 0: start codes */
  /* The largest picture so far. */
  guint width, height;
  guint64 memory; /* bytes, about: see add_picture() in headers.c */
  /* JPEG may come in pieces: the state between them. */
  guint state, skip;
  guint8 marker, frame[6];
  /* Of AV1: layouts of all sequences so far. */
  WatchAv1Layout layouts[WATCH_HEADERS_LAYOUTS];
  guint n_layouts;
  gboolean unknown; /* there were more: only a decoder knows the size of a frame */
} WatchHeaders;

/* Takes format and sizes from @caps, and from parameter sets in their codec data. */
void watch_headers_set_caps (WatchHeaders *self, const GstCaps *caps);

/* Reads @data: whole pictures or, of JPEG, any piece. The largest of all headers counts, in use
 * or not: a decoder may choose another one than a parser. */
void watch_headers_read (WatchHeaders *self, const guint8 *data, gsize size);

/* Returns whether other frames may follow the one that was read in @data, which is so for VP9
 * without an index of frames. Only a decoder can tell where a frame ends, and libvpx decodes what
 * follows. */
gboolean watch_headers_are_open (const WatchHeaders *self, const guint8 *data, gsize size);

G_END_DECLS

#endif /* __WATCH_CAMERA_HEADERS_H__ */
