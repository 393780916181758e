/* cudaccl-watch - sizes that pictures declare in their headers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/headers.h"

#include <string.h>
#include <gst/base/gstbitreader.h>
#include <gst/base/gstbytereader.h>

/* Bytes of a parameter set that are read. In H.264, scaling lists and a cycle of offsets may take
 * some 3 000 in front of the size. */
#define MAX_SET 4096
/* Pictures beside the references: one is decoded, others are on their way through the pipeline. */
#define MORE_PICTURES 4

/* Properties of a stream that decide how much memory its decoder needs. */
typedef struct
{
  guint64 width, height;
  guint references; /* pictures */
  guint chroma;     /* as in H.264: 0 none, 1 to 3 4:2:0, 4:2:2, 4:4:4 */
  gboolean deep;    /* more than 8 bits */
} Picture;

static void
add_picture (WatchHeaders *self, const Picture *picture)
{
  static const guint halves[] = { 2, 3, 4, 6 }; /* of a byte for each pixel */
  guint64 width = MIN (picture->width, G_MAXINT32), height = MIN (picture->height, G_MAXINT32);
  guint64 pixels = MIN (width * height, G_GUINT64_CONSTANT (1) << 48), memory;

  if (width * height > (guint64) self->width * self->height) {
    self->width = (guint) width;
    self->height = (guint) height;
  }
  memory = pixels * halves[MIN (picture->chroma, 3)] * (picture->deep ? 2 : 1) *
           (MIN (picture->references, 16) + MORE_PICTURES) / 2;
  self->memory = MAX (self->memory, memory);
}

static void
add_size (WatchHeaders *self, guint64 width, guint64 height)
{
  add_picture (self, &(Picture){ .width = width, .height = height, .chroma = 3 });
}

/* --- Parameter sets of H.264 and H.265 --- */

static guint32
read_bits (GstBitReader *bits, guint n)
{
  guint32 value = 0;

  if (!gst_bit_reader_get_bits_uint32 (bits, &value, n))
    gst_bit_reader_set_pos (bits, bits->size * 8);
  return value;
}

/* Exponential Golomb codes. */
static guint32
read_ue (GstBitReader *bits)
{
  guint zeros = 0;

  while (zeros < 32 && gst_bit_reader_get_remaining (bits) && !read_bits (bits, 1))
    zeros++;
  return zeros < 32 ? (1u << zeros) - 1 + (zeros ? read_bits (bits, zeros) : 0) : G_MAXUINT32;
}

static gint32
read_se (GstBitReader *bits)
{
  guint32 value = read_ue (bits);

  return value & 1 ? (gint32) (value / 2 + 1) : -(gint32) (value / 2);
}

static void
skip_scaling_list (GstBitReader *bits, guint n)
{
  gint last = 8, next = 8;

  for (guint i = 0; i < n && gst_bit_reader_get_remaining (bits); i++) {
    if (next)
      next = (last + read_se (bits) % 256 + 256) % 256;
    last = next ? next : last;
  }
}

/* Fields of High and later profiles. */
static void
read_h264_profile (Picture *picture, GstBitReader *bits)
{
  guint n;

  picture->chroma = read_ue (bits);
  if (picture->chroma == 3)
    read_bits (bits, 1);
  picture->deep = read_ue (bits) > 0;
  picture->deep |= read_ue (bits) > 0;
  read_bits (bits, 1);
  if (!read_bits (bits, 1))
    return;
  n = picture->chroma == 3 ? 12 : 8;
  for (guint i = 0; i < n; i++) {
    if (read_bits (bits, 1))
      skip_scaling_list (bits, i < 6 ? 16 : 64);
  }
}

static void
read_h264_set (WatchHeaders *self, GstBitReader *bits)
{
  static const guint8 high[] = { 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135 };
  Picture picture = { .chroma = 1 };
  guint32 profile, type, n;

  read_bits (bits, 8); /* header of the NAL unit */
  profile = read_bits (bits, 8);
  read_bits (bits, 16);
  read_ue (bits);
  if (memchr (high, (int) profile, sizeof (high)))
    read_h264_profile (&picture, bits);
  read_ue (bits);
  type = read_ue (bits);
  if (type == 0) {
    read_ue (bits);
  } else if (type == 1) {
    read_bits (bits, 1);
    read_ue (bits);
    read_ue (bits);
    n = read_ue (bits);
    for (guint32 i = 0; i < n && gst_bit_reader_get_remaining (bits); i++)
      read_ue (bits);
  }
  picture.references = read_ue (bits);
  read_bits (bits, 1);
  picture.width = 16 * ((guint64) read_ue (bits) + 1);
  picture.height = 16 * ((guint64) read_ue (bits) + 1);
  if (!gst_bit_reader_get_remaining (bits))
    return;
  if (!read_bits (bits, 1))
    picture.height *= 2;
  add_picture (self, &picture);
}

static void
skip_bits (GstBitReader *bits, guint n)
{
  if (!gst_bit_reader_skip (bits, n))
    gst_bit_reader_set_pos (bits, bits->size * 8);
}

static void
read_h265_set (WatchHeaders *self, GstBitReader *bits)
{
  guint32 layers, present = 0;
  Picture picture = { 0 };

  skip_bits (bits, 16 + 4);
  layers = read_bits (bits, 3);
  skip_bits (bits, 1 + 96);
  for (guint32 i = 0; i < layers; i++)
    present = present << 2 | read_bits (bits, 2);
  if (layers)
    skip_bits (bits, 2 * (8 - layers));
  for (guint32 i = layers; i-- > 0;)
    skip_bits (bits, (present >> (2 * i) & 2 ? 88 : 0) + (present >> (2 * i) & 1 ? 8 : 0));
  read_ue (bits);
  picture.chroma = read_ue (bits);
  if (picture.chroma == 3)
    read_bits (bits, 1);
  picture.width = read_ue (bits);
  picture.height = read_ue (bits);
  if (!gst_bit_reader_get_remaining (bits))
    return;
  if (read_bits (bits, 1)) { /* a window */
    for (guint i = 0; i < 4; i++)
      read_ue (bits);
  }
  picture.deep = read_ue (bits) > 0;
  picture.deep |= read_ue (bits) > 0;
  read_ue (bits);
  for (guint32 i = read_bits (bits, 1) ? 0 : layers; i <= layers; i++) {
    const guint32 n = read_ue (bits);

    picture.references = MAX (picture.references, MIN (n, 15) + 1);
    read_ue (bits);
    read_ue (bits);
  }
  add_picture (self, &picture);
}

static void
read_unit (WatchHeaders *self, const guint8 *data, gsize size)
{
  const gboolean h264 = self->format == WATCH_HEADERS_H264;
  guint8 set[MAX_SET];
  GstBitReader bits;
  guint n = 0, zeros = 0;

  if (size < 4 || (h264 ? (data[0] & 31) != 7 : (data[0] >> 1 & 63) != 33))
    return;
  /* Leave out emulation prevention bytes. */
  for (gsize i = 0; i < size && n < MAX_SET; i++) {
    if (zeros >= 2 && data[i] == 3) {
      zeros = 0;
      continue;
    }
    zeros = data[i] ? 0 : zeros + 1;
    set[n++] = data[i];
  }
  gst_bit_reader_init (&bits, set, n);
  if (h264)
    read_h264_set (self, &bits);
  else
    read_h265_set (self, &bits);
}

/* NAL units after start codes. */
static void
read_stream (WatchHeaders *self, const guint8 *data, gsize size)
{
  GstByteReader bytes;
  gint at;

  while (size > 4) {
    gst_byte_reader_init (&bytes, data, (guint) MIN (size, G_MAXUINT));
    at = (gint) gst_byte_reader_masked_scan_uint32 (&bytes, 0xffffff00, 0x00000100, 0,
                                                    (guint) MIN (size, G_MAXINT32));
    if (at < 0)
      return;
    data += at + 3;
    size -= (gsize) at + 3;
    read_unit (self, data, size);
  }
}

/* NAL units after their length. */
static void
read_lengths (WatchHeaders *self, const guint8 *data, gsize size)
{
  while (size > self->length_size) {
    gsize length = 0;

    for (guint i = 0; i < self->length_size; i++)
      length = length << 8 | data[i];
    data += self->length_size;
    size -= self->length_size;
    length = MIN (length, size);
    read_unit (self, data, length);
    data += length;
    size -= length;
  }
}

/* Parameter sets in codec data, each after two bytes of length. Returns the offset after them. */
static gsize
read_sets (WatchHeaders *self, const guint8 *data, gsize size, gsize at, guint n)
{
  for (guint i = 0; i < n && at + 2 <= size; i++) {
    gsize length = (gsize) data[at] << 8 | data[at + 1];

    at += 2;
    length = MIN (length, size - at);
    read_unit (self, data + at, length);
    at += length;
  }
  return at;
}

/* --- Still pictures and VP8 --- */

enum
{
  JPEG_DATA, /* up to 0xff */
  JPEG_MARKER,
  JPEG_LENGTH,
  JPEG_LENGTH_2,
  JPEG_FRAME, /* precision, height and width */
  JPEG_FRAME_END = JPEG_FRAME + 5,
};

static gboolean
is_frame_header (guint8 marker)
{
  return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static void
take_jpeg_byte (WatchHeaders *self, guint8 byte)
{
  switch (self->state) {
  case JPEG_DATA:
    if (byte == 0xff)
      self->state = JPEG_MARKER;
    return;
  case JPEG_MARKER:
    self->marker = byte;
    /* Fill bytes, bytes of data, and markers without a segment. */
    if (byte != 0xff)
      self->state = byte <= 1 || (byte >= 0xd0 && byte <= 0xd9) ? JPEG_DATA : JPEG_LENGTH;
    return;
  case JPEG_LENGTH:
    self->skip = (guint) byte << 8;
    self->state = JPEG_LENGTH_2;
    return;
  case JPEG_LENGTH_2:
    self->skip = MAX (self->skip | byte, 2) - 2;
    self->state = is_frame_header (self->marker) && self->skip >= 5 ? JPEG_FRAME : JPEG_DATA;
    return;
  default:
    self->frame[self->state - JPEG_FRAME] = byte;
    self->skip--;
    self->state++;
    if (self->state < JPEG_FRAME_END)
      return;
    self->state = JPEG_DATA;
    add_size (self, (guint) self->frame[3] << 8 | self->frame[4],
              (guint) self->frame[1] << 8 | self->frame[2]);
  }
}

static void
read_jpeg (WatchHeaders *self, const guint8 *data, gsize size)
{
  const guint8 *end = data + size, *next;

  /* A picture begins: what the last one announced does not hide its header. */
  if (size > 1 && data[0] == 0xff && data[1] == 0xd8)
    self->state = self->skip = 0;
  while (data < end) {
    if (self->state == JPEG_DATA && self->skip) {
      gsize n = MIN (self->skip, (gsize) (end - data));

      self->skip -= (guint) n;
      data += n;
      continue;
    }
    if (self->state == JPEG_DATA) {
      next = memchr (data, 0xff, (gsize) (end - data));
      if (!next)
        return;
      data = next;
    }
    take_jpeg_byte (self, *data++);
  }
}

/* Reads a number of @n bytes at any address. */
static guint32
read_bytes (const guint8 *data, guint n, gboolean big)
{
  guint32 value = 0;

  for (guint i = 0; i < n; i++)
    value |= (guint32) data[i] << 8 * (big ? n - 1 - i : i);
  return value;
}

static void
read_png (WatchHeaders *self, const guint8 *data, gsize size)
{
  if (size >= 24 && memcmp (data + 12, "IHDR", 4) == 0)
    add_size (self, read_bytes (data + 16, 4, TRUE), read_bytes (data + 20, 4, TRUE));
}

static void
read_vp8 (WatchHeaders *self, const guint8 *data, gsize size)
{
  if (size >= 10 && !(data[0] & 1))
    add_picture (self, &(Picture){ .width = read_bytes (data + 6, 2, FALSE) & 0x3fff,
                                   .height = read_bytes (data + 8, 2, FALSE) & 0x3fff,
                                   .references = 3,
                                   .chroma = 1 });
}

/* --- VP9 --- */

static void
read_vp9_depth (Picture *picture, GstBitReader *bits, guint profile)
{
  guint space;

  if (profile >= 2)
    read_bits (bits, 1);
  space = read_bits (bits, 3);
  if (space != 7) /* sRGB */
    read_bits (bits, 1);
  if (profile & 1)
    read_bits (bits, space != 7 ? 3 : 1);
}

/* Frames between key frames may have a size of their own, too. */
static void
read_vp9_frame (WatchHeaders *self, const guint8 *data, gsize size)
{
  Picture picture = { .references = 8 };
  gboolean key, shown, resilient, intra, known = FALSE;
  GstBitReader bits;
  guint profile;

  gst_bit_reader_init (&bits, data, (guint) MIN (size, MAX_SET));
  if (read_bits (&bits, 2) != 2)
    return;
  profile = read_bits (&bits, 1);
  profile |= read_bits (&bits, 1) << 1;
  if (profile == 3)
    read_bits (&bits, 1);
  if (read_bits (&bits, 1)) /* shows another frame again */
    return;
  key = !read_bits (&bits, 1);
  shown = read_bits (&bits, 1) != 0;
  resilient = read_bits (&bits, 1) != 0;
  intra = !key && !shown && read_bits (&bits, 1);
  if (!key && !resilient)
    read_bits (&bits, 2);
  if (key || intra) {
    skip_bits (&bits, 24);
    if (key || profile > 0)
      read_vp9_depth (&picture, &bits, profile);
    if (intra)
      read_bits (&bits, 8);
  } else {
    skip_bits (&bits, 8 + 3 * 4);
    for (guint i = 0; i < 3 && !known; i++)
      known = read_bits (&bits, 1) != 0;
  }
  if (known || gst_bit_reader_get_remaining (&bits) < 32)
    return;
  picture.chroma = profile & 1 ? 3 : 1;
  picture.deep = profile >= 2;
  picture.width = read_bits (&bits, 16) + 1;
  picture.height = read_bits (&bits, 16) + 1;
  add_picture (self, &picture);
}

/* The size of the index at the end of several frames, or 0. */
static gsize
get_vp9_index (const guint8 *data, gsize size)
{
  const guint marker = size ? data[size - 1] : 0;
  const gsize index = 2 + (gsize) ((marker & 7) + 1) * ((marker >> 3 & 3) + 1);

  return (marker & 0xe0) == 0xc0 && size >= index && data[size - index] == marker ? index : 0;
}

/* Reads a frame, or several with an index at the end. The sizes in the index may reach into it. */
static void
read_vp9 (WatchHeaders *self, const guint8 *data, gsize size)
{
  const gsize index = get_vp9_index (data, size);
  const guint marker = size ? data[size - 1] : 0, bytes = (marker >> 3 & 3) + 1;
  gsize at = 0;

  if (!index) {
    read_vp9_frame (self, data, size);
    return;
  }
  for (guint i = 0; i <= (marker & 7); i++) {
    gsize length = read_bytes (data + size - index + 1 + i * bytes, bytes, FALSE);

    length = MIN (length, size - at);
    read_vp9_frame (self, data + at, length);
    at += length;
  }
}

gboolean
watch_headers_are_open (const WatchHeaders *self, const guint8 *data, gsize size)
{
  return self->format == WATCH_HEADERS_VP9 && size > 0 && !get_vp9_index (data, size);
}

/* --- AV1 --- */

enum
{
  AV1_KEY,
  AV1_INTER,
  AV1_INTRA_ONLY,
  AV1_SWITCH,
};

/* Reads the fields after the size. */
static void
read_av1_tools (WatchAv1Layout *layout, GstBitReader *bits)
{
  gboolean ordered;

  if (read_bits (bits, 1)) {
    layout->delta_bits = (guint8) (read_bits (bits, 4) + 2);
    layout->id_bits = (guint8) (read_bits (bits, 3) + layout->delta_bits + 1);
  }
  skip_bits (bits, 3 + 4);
  ordered = read_bits (bits, 1) != 0;
  if (ordered)
    read_bits (bits, 2);
  layout->has_tools = read_bits (bits, 1) != 0;
  layout->tools = layout->has_tools || read_bits (bits, 1);
  layout->has_vectors = layout->tools && read_bits (bits, 1);
  if (layout->tools && !layout->has_vectors)
    read_bits (bits, 1);
  if (ordered)
    layout->order_bits = (guint8) (read_bits (bits, 3) + 1);
}

/* A decoder goes on with the last layout where it refuses a sequence, and where it does not get to
 * one as it refuses what precedes it in a buffer: libaom, dav1d and GStreamer's parser do not
 * refuse the same. So no layout replaces another. Most streams have one. */
static void
add_layout (WatchHeaders *self, const WatchAv1Layout *layout)
{
  for (guint i = 0; i < self->n_layouts; i++) {
    if (memcmp (&self->layouts[i], layout, sizeof (*layout)) == 0)
      return;
  }
  if (self->n_layouts < WATCH_HEADERS_LAYOUTS)
    self->layouts[self->n_layouts++] = *layout;
  else
    self->unknown = TRUE;
}

static void
read_av1_sequence (WatchHeaders *self, const guint8 *data, gsize size)
{
  Picture picture = { .references = 8, .deep = TRUE }; /* assumed: the depth comes later */
  gboolean reduced, model = FALSE, equal, delays;
  WatchAv1Layout layout = { 0 };
  guint profile, n, delay_bits = 0;
  GstBitReader bits;

  gst_bit_reader_init (&bits, data, (guint) MIN (size, MAX_SET));
  profile = read_bits (&bits, 3);
  layout.chroma = profile == 0 ? 1 : 3;
  read_bits (&bits, 1);
  reduced = read_bits (&bits, 1) != 0;
  if (reduced) {
    read_bits (&bits, 5);
  } else {
    if (read_bits (&bits, 1)) { /* timing */
      skip_bits (&bits, 64);
      equal = read_bits (&bits, 1) != 0;
      if (equal)
        read_ue (&bits);
      model = read_bits (&bits, 1) != 0;
      if (model) {
        delay_bits = read_bits (&bits, 5) + 1;
        skip_bits (&bits, 32);
        layout.removal_bits = (guint8) (read_bits (&bits, 5) + 1);
        n = read_bits (&bits, 5) + 1;
        layout.time_bits = (guint8) (equal ? 0 : n);
      }
    }
    delays = read_bits (&bits, 1) != 0;
    n = read_bits (&bits, 5) + 1;
    for (guint i = 0; i < n; i++) {
      const guint16 point = (guint16) read_bits (&bits, 12);

      if (read_bits (&bits, 5) > 7)
        read_bits (&bits, 1);
      if (model && read_bits (&bits, 1)) {
        skip_bits (&bits, 2 * delay_bits + 1);
        layout.points[layout.n_points++] = point;
      }
      if (delays && read_bits (&bits, 1))
        read_bits (&bits, 4);
    }
  }
  layout.width_bits = (guint8) (read_bits (&bits, 4) + 1);
  layout.height_bits = (guint8) (read_bits (&bits, 4) + 1);
  picture.chroma = layout.chroma;
  picture.width = read_bits (&bits, layout.width_bits) + 1;
  picture.height = read_bits (&bits, layout.height_bits) + 1;
  if (!gst_bit_reader_get_remaining (&bits))
    return;
  add_picture (self, &picture);
  if (reduced) /* frames have the sequence's size */
    return;
  read_av1_tools (&layout, &bits);
  if (gst_bit_reader_get_remaining (&bits) && profile <= 2)
    add_layout (self, &layout);
}

/* A frame may have a size of its own, and dav1d takes one that is larger than the sequence's.
 * @point has the bits of its layers, as operating points have. */
static void
read_av1_frame (WatchHeaders *self, const WatchAv1Layout *layout, const guint8 *data, gsize size,
                guint16 point)
{
  Picture picture = { .references = 8, .chroma = layout->chroma, .deep = TRUE };
  gboolean shown, intra, resilient, tools, all, derived;
  GstBitReader bits;
  guint type;

  gst_bit_reader_init (&bits, data, (guint) MIN (size, MAX_SET));
  if (read_bits (&bits, 1)) /* shows another frame again */
    return;
  type = read_bits (&bits, 2);
  intra = type == AV1_KEY || type == AV1_INTRA_ONLY;
  shown = read_bits (&bits, 1) != 0;
  skip_bits (&bits, shown ? layout->time_bits : 1);
  resilient = type == AV1_SWITCH || (type == AV1_KEY && shown) || read_bits (&bits, 1);
  read_bits (&bits, 1);
  tools = layout->has_tools ? read_bits (&bits, 1) != 0 : layout->tools;
  if (tools && layout->has_vectors)
    read_bits (&bits, 1);
  skip_bits (&bits, layout->id_bits);
  if (type != AV1_SWITCH && !read_bits (&bits, 1)) /* the size is that of the sequence */
    return;
  skip_bits (&bits, layout->order_bits + (intra || resilient ? 0 : 3));
  if (layout->removal_bits && read_bits (&bits, 1)) {
    for (guint i = 0; i < layout->n_points; i++) {
      if (!layout->points[i] || (layout->points[i] & point) == point)
        skip_bits (&bits, layout->removal_bits);
    }
  }
  /* References that it replaces. */
  all = type == AV1_SWITCH || (type == AV1_KEY && shown) || read_bits (&bits, 8) == 0xff;
  if (resilient && !(intra && all))
    skip_bits (&bits, 8 * layout->order_bits);
  if (!intra) {
    derived = layout->order_bits && read_bits (&bits, 1);
    skip_bits (&bits, (derived ? 2 * 3 : 7 * 3) + 7 * layout->delta_bits);
    for (guint i = 0; i < 7 && !resilient; i++) {
      if (read_bits (&bits, 1)) /* the size is that of a reference */
        return;
    }
  }
  if (gst_bit_reader_get_remaining (&bits) < (guint) layout->width_bits + layout->height_bits)
    return;
  picture.width = read_bits (&bits, layout->width_bits) + 1;
  picture.height = read_bits (&bits, layout->height_bits) + 1;
  add_picture (self, &picture);
}

static void
read_av1_frames (WatchHeaders *self, const guint8 *data, gsize size, guint16 point)
{
  for (guint i = 0; i < self->n_layouts; i++)
    read_av1_frame (self, &self->layouts[i], data, size, point);
}

/* Open Bitstream Units. */
static void
read_av1 (WatchHeaders *self, const guint8 *data, gsize size)
{
  while (size > 0) {
    const guint type = data[0] >> 3 & 15;
    const guint8 layers = data[0] & 4 && size > 1 ? data[1] : 0;
    gsize at = data[0] & 4 ? 2 : 1, length = size - MIN (at, size);

    /* libaom skips zeros behind a frame. */
    if (!data[0]) {
      data++;
      size--;
      continue;
    }
    if (data[0] & 2) {
      guint64 value = 0;

      for (guint i = 0; i < 8 && at < size; i++) {
        value |= (guint64) (data[at] & 0x7f) << 7 * i;
        if (!(data[at++] & 0x80))
          break;
      }
      length = MIN (value, size - MIN (at, size));
    }
    at = MIN (at, size);
    if (type == 1)
      read_av1_sequence (self, data + at, length);
    else if (type == 3 || type == 6 || type == 7) /* a header, a frame, a header again */
      read_av1_frames (self, data + at, length,
                       (guint16) (1 << (layers >> 5) | 0x100 << (layers >> 3 & 3)));
    data += at + length;
    size -= at + length;
  }
}

/* --- Interface --- */

static void
read_codec_data (WatchHeaders *self, const guint8 *data, gsize size)
{
  gsize at = 23;

  if (self->format == WATCH_HEADERS_H264 && size >= 6) {
    self->length_size = (data[4] & 3) + 1;
    read_sets (self, data, size, 6, data[5] & 31);
  } else if (self->format == WATCH_HEADERS_H265 && size >= 23) {
    self->length_size = (data[21] & 3) + 1;
    for (guint i = 0; i < data[22] && at + 3 <= size; i++)
      at = read_sets (self, data, size, at + 3, (guint) data[at + 1] << 8 | data[at + 2]);
  } else if (self->format == WATCH_HEADERS_AV1 && size > 4) {
    read_av1 (self, data + 4, size - 4);
  }
}

void
watch_headers_set_caps (WatchHeaders *self, const GstCaps *caps)
{
  static const struct
  {
    const gchar *media;
    WatchHeadersFormat format;
  } formats[] = {
    { "video/x-h264", WATCH_HEADERS_H264 }, { "video/x-h265", WATCH_HEADERS_H265 },
    { "image/jpeg", WATCH_HEADERS_JPEG },   { "image/png", WATCH_HEADERS_PNG },
    { "video/x-vp8", WATCH_HEADERS_VP8 },   { "video/x-vp9", WATCH_HEADERS_VP9 },
    { "video/x-av1", WATCH_HEADERS_AV1 },
  };
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const GValue *value = gst_structure_get_value (structure, "codec_data");
  GstBuffer *buffer = value && GST_VALUE_HOLDS_BUFFER (value) ? gst_value_get_buffer (value) : NULL;
  gint width = 0, height = 0;
  GstMapInfo map;

  self->format = WATCH_HEADERS_NONE;
  self->length_size = self->state = self->skip = 0;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++) {
    if (gst_structure_has_name (structure, formats[i].media))
      self->format = formats[i].format;
  }
  gst_structure_get_int (structure, "width", &width);
  gst_structure_get_int (structure, "height", &height);
  add_size (self, (guint64) MAX (width, 0), (guint64) MAX (height, 0));
  if (buffer && gst_buffer_map (buffer, &map, GST_MAP_READ)) {
    read_codec_data (self, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
  }
}

void
watch_headers_read (WatchHeaders *self, const guint8 *data, gsize size)
{
  switch (self->format) {
  case WATCH_HEADERS_NONE:
    return;
  case WATCH_HEADERS_H264:
  case WATCH_HEADERS_H265:
    if (self->length_size)
      read_lengths (self, data, size);
    else
      read_stream (self, data, size);
    return;
  case WATCH_HEADERS_JPEG:
    read_jpeg (self, data, size);
    return;
  case WATCH_HEADERS_PNG:
    read_png (self, data, size);
    return;
  case WATCH_HEADERS_VP8:
    read_vp8 (self, data, size);
    return;
  case WATCH_HEADERS_VP9:
    read_vp9 (self, data, size);
    return;
  case WATCH_HEADERS_AV1:
    read_av1 (self, data, size);
    return;
  }
}
