/* cudaccl-watch - sizes that pictures declare in their headers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_HEADERS_H__
#define __WATCH_CAMERA_HEADERS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

typedef enum
{
  WATCH_HEADERS_NONE, /* other formats: caps alone have the size */
  WATCH_HEADERS_H264,
  WATCH_HEADERS_H265,
  WATCH_HEADERS_JPEG,
  WATCH_HEADERS_PNG,
  WATCH_HEADERS_VP8,
} WatchHeadersFormat;

/* Reads headers in encoded video. One thread at a time; begins as zeros. */
typedef struct
{
  WatchHeadersFormat format;
  guint length_size; /* bytes of a NAL unit's length; 0: start codes */
  /* The largest picture so far. */
  guint width, height;
  /* JPEG may come in pieces: the state between them. */
  guint state, skip;
  guint8 marker, frame[6];
} WatchHeaders;

/* Takes format and sizes from @caps, and from parameter sets in their codec data. */
void watch_headers_set_caps (WatchHeaders *self, const GstCaps *caps);

/* Reads @data: whole pictures or, of JPEG, any piece. All headers count, not only the first or
 * those in use: decoders and parsers may choose differently. */
void watch_headers_read (WatchHeaders *self, const guint8 *data, gsize size);

G_END_DECLS

#endif /* __WATCH_CAMERA_HEADERS_H__ */
