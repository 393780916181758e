/* cudaccl-watch - tests: sizes that sequences and frames of AV1 declare
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "apps/watch/camera/headers.h"
#include "apps/watch/camera/limit.h"
#include "tests/lib/bitwriter.h"

#define SMALL 64
#define LARGE 512

/* --- Frames of AV1 that are larger than their sequence --- */

/* A sequence of frames, and which fields their headers have. */
typedef struct
{
  guint width_bits, height_bits, id_bits, delta_bits, order_bits, time_bits, removal_bits, n_points;
  guint32 points[32];
  gboolean any_tools, tools, any_vectors;
} Sequence;

static void
put_sequence (Writer *self, Sequence *sequence, guint profile)
{
  guint delays, n, delay_bits = 0;
  gboolean equal, ordered, model = FALSE;

  *sequence = (Sequence){ 0 };
  put (self, profile, 3);
  put (self, 0, 2);
  if (put_any (self, 1)) { /* timing */
    put_any (self, 64);
    equal = put_any (self, 1) != 0;
    if (equal) {
      put (self, 1, 3);
      put_any (self, 2);
    }
    model = put_any (self, 1) != 0;
    if (model) {
      delay_bits = put_any (self, 5) + 1;
      put_any (self, 32);
      sequence->removal_bits = put_any (self, 5) + 1;
      sequence->time_bits = put_any (self, 5) + 1;
      if (equal)
        sequence->time_bits = 0;
    }
  }
  delays = put_any (self, 1);
  n = put_any (self, 5) + 1;
  for (guint i = 0; i < n; i++) {
    const guint32 point = draw (self, 2) ? 0 : draw (self, 4096);

    put (self, point, 12);
    if (put_any (self, 5) > 7)
      put_any (self, 1);
    if (model && put_any (self, 1)) {
      put_any (self, 2 * delay_bits + 1);
      sequence->points[sequence->n_points++] = point;
    }
    if (delays && put_any (self, 1))
      put_any (self, 4);
  }
  sequence->width_bits = 9 + draw (self, 8);
  sequence->height_bits = 9 + draw (self, 8);
  put (self, sequence->width_bits - 1, 4);
  put (self, sequence->height_bits - 1, 4);
  put (self, SMALL - 1, sequence->width_bits);
  put (self, SMALL - 1, sequence->height_bits);
  if (put_any (self, 1)) {
    sequence->delta_bits = put_any (self, 4) + 2;
    sequence->id_bits = sequence->delta_bits + put_any (self, 3) + 1;
  }
  put_any (self, 7);
  ordered = put_any (self, 1) != 0;
  if (ordered)
    put_any (self, 2);
  sequence->any_tools = put_any (self, 1) != 0;
  sequence->tools = sequence->any_tools || put_any (self, 1);
  if (sequence->tools) {
    sequence->any_vectors = put_any (self, 1) != 0;
    if (!sequence->any_vectors)
      put_any (self, 1);
  }
  if (ordered)
    sequence->order_bits = put_any (self, 3) + 1;
  put_any (self, 16); /* what follows */
}

/* Puts the header of a frame, which has the size LARGE if @own, otherwise that of its sequence or
 * of a reference. */
static void
put_frame (Writer *self, const Sequence *sequence, guint temporal, guint spatial, gboolean own)
{
  enum
  {
    KEY,
    INTER,
    INTRA_ONLY,
    SWITCH
  };
  guint type, reference = 0;
  gboolean shown, intra, resilient, override, all;

  put (self, 0, 1);
  type = put_any (self, 2);
  intra = type == KEY || type == INTRA_ONLY;
  shown = put_any (self, 1) != 0;
  put_any (self, shown ? sequence->time_bits : 1);
  resilient = type == SWITCH || (type == KEY && shown) || put_any (self, 1);
  put_any (self, 1);
  if ((sequence->any_tools ? put_any (self, 1) != 0 : sequence->tools) && sequence->any_vectors)
    put_any (self, 1);
  put_any (self, sequence->id_bits);
  /* A reference's size is no frame's own. */
  override = own || type == SWITCH || (!intra && !resilient && draw (self, 2));
  if (type != SWITCH)
    put (self, override, 1);
  put_any (self, sequence->order_bits);
  if (!intra && !resilient)
    put_any (self, 3);
  if (sequence->removal_bits && put_any (self, 1)) {
    for (guint i = 0; i < sequence->n_points; i++) {
      const guint32 point = sequence->points[i];

      if (!point || ((point >> temporal & 1) && (point >> (8 + spatial) & 1)))
        put_any (self, sequence->removal_bits);
    }
  }
  all = type == SWITCH || (type == KEY && shown) || draw (self, 2);
  if (type != SWITCH && !(type == KEY && shown))
    put (self, all ? 0xff : draw (self, 0xff), 8);
  if ((!intra || !all) && resilient)
    put_any (self, 8 * sequence->order_bits);
  if (!intra) {
    const gboolean derived = sequence->order_bits && put_any (self, 1);

    if (derived)
      put_any (self, 3 + 3);
    for (guint i = 0; i < 7; i++)
      put_any (self, (derived ? 0 : 3) + sequence->delta_bits);
    for (reference = 0; override && !resilient && reference < 7; reference++) {
      gboolean found = !own && (reference == 6 || draw (self, 2));

      put (self, found, 1);
      if (found)
        break;
    }
  }
  if (own || type == SWITCH) {
    put (self, own ? LARGE - 1 : SMALL - 1, sequence->width_bits);
    put (self, own ? LARGE - 2 : SMALL - 2, sequence->height_bits);
  }
  put_any (self, 64); /* what follows, as large as sizes might be */
}

/* Appends what was put as a unit, and perhaps zeros. */
static void
add_unit (Writer *self, GByteArray *stream, guint type, guint temporal, guint spatial)
{
  const guint8 layers = (guint8) (temporal << 5 | spatial << 3);
  const gboolean extended = layers || draw (self, 2);
  guint8 head[] = { (guint8) (type << 3 | 2 | (extended ? 4 : 0)), layers };
  guint8 length[2];
  guint size;

  gst_bit_writer_align_bytes (&self->bits, 0);
  size = gst_bit_writer_get_size (&self->bits) / 8;
  length[0] = (guint8) (size | 0x80);
  length[1] = (guint8) (size >> 7);
  g_byte_array_append (stream, head, extended ? 2 : 1);
  g_byte_array_append (stream, length, 2);
  g_byte_array_append (stream, gst_bit_writer_get_data (&self->bits), size);
  for (guint i = draw (self, 3); i-- > 0;)
    g_byte_array_append (stream, (const guint8 *) "", 1);
  writer_restart (self);
}

GST_START_TEST (test_av1_sizes)
{
  static const guint types[] = { 3, 6, 7 };
  Writer writer;
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("video/x-av1");

  writer_init (&writer);
  for (guint i = 0; i < 20000; i++) {
    const gboolean own = draw (&writer, 2);
    const guint temporal = draw (&writer, 3) ? 0 : draw (&writer, 8);
    const guint spatial = draw (&writer, 3) ? 0 : draw (&writer, 4);
    g_autoptr (GByteArray) stream = g_byte_array_new ();
    Sequence sequence, other;
    WatchHeaders headers = { 0 };

    put_sequence (&writer, &sequence, draw (&writer, 3));
    add_unit (&writer, stream, 1, 0, 0);
    if (!draw (&writer, 4)) {
      put_sequence (&writer, &other, 3 + draw (&writer, 5));
      add_unit (&writer, stream, 1, 0, 0);
    }
    put_frame (&writer, &sequence, temporal, spatial, own);
    add_unit (&writer, stream, types[draw (&writer, 3)], temporal, spatial);
    watch_headers_set_caps (&headers, caps);
    watch_headers_read (&headers, stream->data, stream->len);
    if (own)
      fail_unless (headers.width == LARGE && headers.height == LARGE - 1, "%u: %ux%u", i,
                   headers.width, headers.height);
    else
      fail_unless (headers.width == SMALL && headers.height == SMALL, "%u: %ux%u", i, headers.width,
                   headers.height);
  }
  writer_clear (&writer);
}
GST_END_TEST;

/* --- Sequences that decoders do not take --- */

typedef enum
{
  GOOD,
  TICKS,      /* of a picture: 32 bits of 1 */
  NO_SPATIAL, /* an operating point without layers */
  NO_TEMPORAL,
  LEVEL, /* reserved */
  DELAY, /* of more than ten frames */
  LONG_ID,
  SRGB_0, /* in profile 0 */
  SRGB_2, /* in profile 2 with 10 bits */
  IDENTITY,
  CUT_COLOR,
  NO_STOP,
  BEYOND, /* its length is that of more than the buffer */
  FORBIDDEN,
  ZERO, /* precedes it */
  LONG_LENGTH,
  NO_LENGTH,
  RESERVED,
  BAD_FRAME,
} Fault;

static const struct
{
  const gchar *name;
  Fault fault;
} refused[] = {
  { "ticks that overflow", TICKS },
  { "layers without spatial ones", NO_SPATIAL },
  { "layers without temporal ones", NO_TEMPORAL },
  { "a reserved level", LEVEL },
  { "a delay of more than ten frames", DELAY },
  { "numbers of frames of more than 16 bits", LONG_ID },
  { "sRGB in profile 0", SRGB_0 },
  { "sRGB with 10 bits", SRGB_2 },
  { "the identity matrix with 4:2:0", IDENTITY },
  { "cut within the colours", CUT_COLOR },
  { "no bit at its end", NO_STOP },
  { "a length beyond the buffer", BEYOND },
  { "the forbidden bit", FORBIDDEN },
  { "a zero in front", ZERO },
  { "a length without an end in front", LONG_LENGTH },
  { "no length", NO_LENGTH },
  { "a reserved unit in front", RESERVED },
  { "a frame in front that cannot be decoded", BAD_FRAME },
};

/* Colours, the grain of films, and the end. */
static void
put_colors (Writer *self, Fault fault)
{
  const gboolean described = fault == SRGB_0 || fault == SRGB_2 || fault == IDENTITY;

  put (self, fault == SRGB_2, 1); /* 10 bits */
  if (fault == CUT_COLOR)
    return;
  if (fault == SRGB_2)
    put (self, 0, 1); /* not 12 */
  put (self, 0, 1);
  put (self, described, 1);
  if (described) {
    put (self, 1, 8);
    put (self, fault == IDENTITY ? 1 : 13, 8);
    put (self, 0, 8);
  }
  if (fault != SRGB_0 && fault != SRGB_2) {
    put (self, 0, 1);
    put (self, 0, 2);
  }
  put (self, 0, 1 + 1);
  put (self, fault != NO_STOP, 1);
}

/* A sequence of @id_bits in frames' headers, 0 or 4 to 17, but for @fault. */
static void
put_faulty (Writer *self, Fault fault, guint id_bits, guint size_bits)
{
  put (self, fault == SRGB_2 ? 2 : 0, 3);
  put (self, 0, 2);
  put (self, fault == TICKS, 1);
  if (fault == TICKS) {
    put (self, 1, 32);
    put (self, 25, 32);
    put (self, 1, 1);
    put (self, 0, 32); /* an Exponential Golomb code */
    put (self, 0, 1);
  }
  put (self, fault == DELAY, 1);
  put (self, 0, 5);
  put (self, fault == NO_SPATIAL ? 0x001 : fault == NO_TEMPORAL ? 0x100 : 0, 12);
  put (self, fault == LEVEL ? 7 : 4, 5);
  if (fault == DELAY)
    put (self, 0x1f, 5);
  put (self, size_bits - 1, 4);
  put (self, size_bits - 1, 4);
  put (self, SMALL - 1, size_bits);
  put (self, SMALL - 1, size_bits);
  put (self, id_bits > 0, 1);
  if (id_bits) {
    const guint delta = id_bits > 10 ? id_bits - 8 : 2;

    put (self, delta - 2, 4);
    put (self, id_bits - delta - 1, 3);
  }
  put (self, 0, 7);     /* tools */
  put (self, 0, 1);     /* no order */
  put (self, 1, 1);     /* of screen content in each frame */
  put (self, 1, 1);     /* and vectors */
  put (self, 0, 1 + 2); /* filters */
  put_colors (self, fault);
}

/* Appends a buffer's unit, with what @fault puts in front of it. */
static void
add_faulty (Writer *self, GByteArray *stream, Fault fault)
{
  static const struct
  {
    Fault fault;
    guint8 data[16];
    guint size;
  } fronts[] = {
    { ZERO, { 0x00 }, 1 },
    { LONG_LENGTH, { 0x7a, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80 }, 9 },
    { RESERVED, { 0x4a, 0x00 }, 2 },
    /* An inter frame, where there is none before. */
    { BAD_FRAME, { 0x32, 0x04, 0x30, 0x00, 0x00, 0x00 }, 6 },
  };
  g_autoptr (GByteArray) unit = g_byte_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (fronts); i++) {
    if (fronts[i].fault == fault)
      g_byte_array_append (stream, fronts[i].data, fronts[i].size);
  }
  add_unit (self, unit, 1, 0, 0);
  if (fault == FORBIDDEN)
    unit->data[0] |= 0x80;
  if (fault == BEYOND) /* in two bytes, behind perhaps an extension */
    unit->data[unit->data[0] & 4 ? 3 : 2] = 1;
  if (fault == NO_LENGTH) {
    const guint at = unit->data[0] & 4 ? 2 : 1;

    unit->data[0] &= (guint8) ~2;
    g_byte_array_remove_range (unit, at, 2);
  }
  g_byte_array_append (stream, unit->data, unit->len);
}

/* A key frame. */
static void
put_key (Writer *self, guint id_bits, guint size_bits, gboolean own)
{
  put (self, 0, 1 + 2);
  put (self, 1, 1);
  put (self, 0, 1);
  put (self, 0, 1); /* no screen content */
  put (self, 0x15555, id_bits);
  put (self, own, 1);
  if (own) {
    put (self, LARGE - 1, size_bits);
    put (self, LARGE - 2, size_bits);
  }
  put (self, 0, 32);
  put (self, 0, 32);
}

/* Reads what was put into @stream, and empties it. */
static void
read_buffer (WatchHeaders *headers, GByteArray *stream)
{
  watch_headers_read (headers, stream->data, stream->len);
  g_byte_array_set_size (stream, 0);
}

/* A decoder that does not take a sequence reads frames as those of the one before. */
GST_START_TEST (test_refused)
{
  const Fault fault = refused[__i__].fault;
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("video/x-av1");
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  WatchHeaders headers = { 0 };
  Writer writer;

  writer_init (&writer);
  watch_headers_set_caps (&headers, caps);
  put_faulty (&writer, GOOD, 0, 16);
  add_unit (&writer, stream, 1, 0, 0);
  read_buffer (&headers, stream);
  put_faulty (&writer, fault, fault == LONG_ID ? 17 : 15, 16);
  add_faulty (&writer, stream, fault);
  read_buffer (&headers, stream);
  fail_unless (headers.width == SMALL && headers.height == SMALL);
  put_key (&writer, 0, 16, TRUE);
  add_unit (&writer, stream, 6, 0, 0);
  read_buffer (&headers, stream);
  fail_unless (headers.width == LARGE && headers.height == LARGE - 1, "%s: %ux%u",
               refused[__i__].name, headers.width, headers.height);
  writer_clear (&writer);
}
GST_END_TEST;

/* Sequences of other sizes: their frames are read as what they are. */
GST_START_TEST (test_changes)
{
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("video/x-av1");
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  WatchHeaders headers = { 0 };
  Writer writer;

  writer_init (&writer);
  watch_headers_set_caps (&headers, caps);
  for (guint i = 0; i < 1000; i++) {
    put_faulty (&writer, GOOD, 4, 9 + i % 8);
    add_unit (&writer, stream, 1, 0, 0);
    put_key (&writer, 4, 9 + i % 8, FALSE);
    add_unit (&writer, stream, 6, 0, 0);
    read_buffer (&headers, stream);
    fail_unless (headers.width == SMALL && headers.height == SMALL && !headers.unknown, "%u: %ux%u",
                 i, headers.width, headers.height);
  }
  writer_clear (&writer);
}
GST_END_TEST;

/* More sequences than are kept: the stream is refused. */
GST_START_TEST (test_many)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstHarness *harness = gst_harness_new ("identity");
  WatchLimit *limit = watch_limit_new (pipeline, "rtsp://camera", LARGE * LARGE, G_MAXUINT64);
  GstPad *pad = gst_element_get_static_pad (harness->element, "sink");
  g_autoptr (GByteArray) stream = g_byte_array_new ();
  GstBus *bus = gst_element_get_bus (pipeline);
  g_autoptr (GError) error = NULL;
  GstMessage *message;
  Writer writer;

  writer_init (&writer);
  watch_limit_add_pictures (limit, pad);
  gst_harness_set_src_caps_str (harness, "video/x-av1");
  for (guint i = 0; i <= WATCH_HEADERS_LAYOUTS; i++) {
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    fail_unless (!message && gst_harness_buffers_received (harness) == i, "%u", i);
    put_faulty (&writer, GOOD, i % 2 ? 4 : 11, 9 + i / 2);
    if (i == WATCH_HEADERS_LAYOUTS) {
      writer_restart (&writer);
      put_faulty (&writer, GOOD, 5, 16);
    }
    add_unit (&writer, stream, 1, 0, 0);
    gst_harness_push (harness, gst_buffer_new_memdup (stream->data, stream->len));
    g_byte_array_set_size (stream, 0);
  }
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless_equals_string (web_reason_from_error (error)->code, "format-refused");
  fail_unless_equals_int (gst_harness_buffers_received (harness), WATCH_HEADERS_LAYOUTS);
  gst_message_unref (message);
  writer_clear (&writer);
  gst_object_unref (pad);
  gst_harness_teardown (harness);
  watch_limit_unref (limit);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}
GST_END_TEST;

static Suite *
headersav1_suite (void)
{
  Suite *s = suite_create ("headersav1");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_av1_sizes);
  tcase_add_loop_test (tc, test_refused, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tc, test_changes);
  tcase_add_test (tc, test_many);
  return s;
}

GST_CHECK_MAIN (headersav1);
