/* cudaccl - tests of GstCclZonesMeta: copies, transforms, transport between processes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmetatest.h"
#include "tests/lib/ccltest.h"

#include <math.h>
#include <string.h>

#define WIDTH 40
#define HEIGHT 20

static gdouble triangle[] = { 4.0, 2.0, 36.0, 2.0, 20.0, 18.5 };
static gdouble line[] = { 10.0, 0.0, 10.0, 20.0 };

static const GstCclZone zones[] = {
  { (gchar *) "grass", FALSE, 0, 3, triangle, 3, 2, 1 },
  { (gchar *) "g\303\244te", TRUE, 0xff102030, 2, line, G_MAXUINT64, 7, 0 },
};

static const GstCclZoneEvent events[] = {
  { GST_CCL_ZONE_OUT, 1, 5, 0, 8.0, 10.0, 1, 7, 0, 0 },
  { GST_CCL_ZONE_LEAVE, 0, G_MAXUINT, 3 * GST_SECOND, 38.0, 4.0, 3, 2, 1, -40 },
};

static GstCclZonesMeta *
add_meta (GstBuffer *buffer)
{
  return gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, zones, G_N_ELEMENTS (zones), events,
                                        G_N_ELEMENTS (events));
}

/* The same zones and events, at x * scale_x - left, y * scale_y - top. */
static void
check_meta (const GstCclZonesMeta *meta, guint width, guint height, gdouble scale_x,
            gdouble scale_y, gdouble left, gdouble top)
{
  const gdouble scale[2] = { scale_x, scale_y }, move[2] = { left, top };
  guint i, j, n;

  fail_unless (meta != NULL);
  fail_unless_equals_int (meta->width, width);
  fail_unless_equals_int (meta->height, height);
  fail_unless_equals_int (gst_ccl_zones_meta_get_n_zones (meta), G_N_ELEMENTS (zones));
  for (i = 0; i < G_N_ELEMENTS (zones); i++) {
    const GstCclZone *zone = gst_ccl_zones_meta_get_zone (meta, i);
    const gdouble *points = gst_ccl_zone_get_points (zone, &n);

    fail_unless_equals_string (zone->name, zones[i].name);
    fail_unless_equals_int (zone->tripwire, zones[i].tripwire);
    fail_unless_equals_int (zone->color, zones[i].color);
    fail_unless_equals_uint64 (zone->in, zones[i].in);
    fail_unless_equals_uint64 (zone->out, zones[i].out);
    fail_unless_equals_int (zone->inside, zones[i].inside);
    fail_unless_equals_int (n, 2 * zones[i].n_points);
    for (j = 0; j < n; j++)
      fail_unless_equals_float (points[j], zones[i].points[j] * scale[j % 2] - move[j % 2]);
  }
  fail_unless (gst_ccl_zones_meta_get_zone (meta, i) == NULL);

  fail_unless_equals_int (gst_ccl_zones_meta_get_n_events (meta), G_N_ELEMENTS (events));
  for (i = 0; i < G_N_ELEMENTS (events); i++) {
    const GstCclZoneEvent *event = gst_ccl_zones_meta_get_event (meta, i);

    fail_unless_equals_int (event->type, events[i].type);
    fail_unless_equals_int (event->zone, events[i].zone);
    fail_unless_equals_int (event->track, events[i].track);
    fail_unless_equals_uint64 (event->dwell, events[i].dwell);
    fail_unless_equals_float (event->x, events[i].x * scale_x - left);
    fail_unless_equals_float (event->y, events[i].y * scale_y - top);
    fail_unless_equals_uint64 (event->in, events[i].in);
    fail_unless_equals_uint64 (event->out, events[i].out);
    fail_unless_equals_int (event->inside, events[i].inside);
    fail_unless_equals_int64 (event->frame_age, events[i].frame_age);
  }
  fail_unless (gst_ccl_zones_meta_get_event (meta, i) == NULL);
  fail_unless (gst_ccl_zones_meta_get_zones (meta, &n) == meta->zones && n == meta->n_zones);
  fail_unless (gst_ccl_zones_meta_get_events (meta, &n) == meta->events && n == meta->n_events);
}

GST_START_TEST (test_type)
{
  const GstMetaInfo *info;
  const gchar *const *tags = gst_meta_api_type_get_tags (GST_CCL_ZONES_META_API_TYPE);

  fail_unless_equals_int (g_strv_length ((gchar **) tags), 3);
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_STR));
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_SIZE_STR));
  fail_unless (g_strv_contains (tags, GST_META_TAG_VIDEO_ORIENTATION_STR));
  info = GST_CCL_ZONES_META_INFO; /* registers the type */
  fail_unless (info && info == gst_meta_get_info ("GstCclZonesMeta"));
}
GST_END_TEST;

GST_START_TEST (test_boxed)
{
  GstCclZone *zone = gst_ccl_zone_new ("a", TRUE, line, 4);
  GstCclZone *copy = g_boxed_copy (GST_TYPE_CCL_ZONE, zone);
  GstCclZoneEvent *event = g_boxed_copy (GST_TYPE_CCL_ZONE_EVENT, &events[1]);

  gst_ccl_zone_free (zone);
  fail_unless_equals_string (copy->name, "a");
  fail_unless (copy->tripwire && copy->n_points == 2 && copy->in == 0);
  fail_unless (copy->points != line && memcmp (copy->points, line, sizeof (line)) == 0);
  g_boxed_free (GST_TYPE_CCL_ZONE, copy);
  fail_unless_equals_int (event->track, G_MAXUINT);
  g_boxed_free (GST_TYPE_CCL_ZONE_EVENT, event);
}
GST_END_TEST;

/* A second one is added to the first, in the first one's pixels. */
GST_START_TEST (test_add)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclZonesMeta *meta = add_meta (buffer);

  fail_unless (gst_buffer_add_ccl_zones_meta (buffer, 2 * WIDTH, 4 * HEIGHT, zones, 2, events, 1) ==
               meta);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_ZONES_META_API_TYPE), 1);
  fail_unless_equals_int (meta->width, WIDTH);
  fail_unless_equals_int (meta->n_zones, 4);
  fail_unless_equals_int (meta->n_events, 3);
  fail_unless_equals_int (meta->events[2].zone, 3);
  fail_unless_equals_float (meta->events[2].x, 4.0);
  fail_unless_equals_float (meta->zones[3].points[3], 5.0);

  g_test_expect_message ("GStreamer-Ccl", G_LOG_LEVEL_CRITICAL, "*.zone < n_zones*");
  fail_unless (gst_buffer_add_ccl_zones_meta (buffer, 1, 1, zones, 1, events, 1) == NULL);
  g_test_assert_expected_messages ();
  gst_buffer_unref (buffer);
}
GST_END_TEST;

GST_START_TEST (test_copy_is_deep)
{
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
  GstBuffer *copies[3];
  GstCclZonesMeta *meta = add_meta (buffer);
  guint i;

  copies[0] = gst_buffer_copy (buffer);
  copies[1] = gst_buffer_copy_deep (buffer);
  copies[2] = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 16, 32);
  memset (meta->zones[0].points, 0, sizeof (triangle));
  memset (meta->zones[0].name, 'x', 5);
  memset (meta->events, 0, sizeof (events));
  gst_buffer_unref (buffer);

  for (i = 0; i < G_N_ELEMENTS (copies); i++) {
    check_meta (gst_buffer_get_ccl_zones_meta (copies[i]), WIDTH, HEIGHT, 1.0, 1.0, 0.0, 0.0);
    gst_buffer_unref (copies[i]);
  }
}
GST_END_TEST;

static gboolean
scale (GstBuffer *out, GstBuffer *in, guint in_width, guint in_height, guint out_width,
       guint out_height)
{
  GstVideoInfo in_info, out_info;
  GstVideoMetaTransform trans = { &in_info, &out_info };

  gst_video_info_init (&in_info);
  gst_video_info_init (&out_info);
  in_info.width = (gint) in_width;
  in_info.height = (gint) in_height;
  out_info.width = (gint) out_width;
  out_info.height = (gint) out_height;

  return GST_CCL_ZONES_META_INFO->transform_func (out, &gst_buffer_get_ccl_zones_meta (in)->meta,
                                                  in, gst_video_meta_transform_scale_get_quark (),
                                                  &trans);
}

/* Sizes of the frame before and after scaling, and of the metadata, whose frame may be another. */
static const struct
{
  guint in[2], out[2], meta[2];
} scales[] = {
  { { WIDTH, HEIGHT }, { WIDTH, HEIGHT }, { WIDTH, HEIGHT } },
  { { WIDTH, HEIGHT }, { 2 * WIDTH, 3 * HEIGHT }, { 2 * WIDTH, 3 * HEIGHT } },
  { { WIDTH, HEIGHT }, { 13, 7 }, { 13, 7 } },
  { { WIDTH, HEIGHT }, { 1, G_MAXINT }, { 1, G_MAXINT } },
  { { 2 * WIDTH, 2 * HEIGHT }, { WIDTH, HEIGHT }, { WIDTH / 2, HEIGHT / 2 } },
  { { G_MAXINT, G_MAXINT }, { 1, 1 }, { 1, 1 } },
  { { 1, 1 }, { G_MAXINT, G_MAXINT }, { G_MAXINT, G_MAXINT } },
  /* Not possible. */
  { { 0, HEIGHT }, { WIDTH, HEIGHT }, { 0, 0 } },
  { { WIDTH, HEIGHT }, { WIDTH, 0 }, { 0, 0 } },
  { { 1u << 31, 1 }, { 1, 1 }, { 0, 0 } },
  { { 1, 1 }, { 1, G_MAXUINT }, { 0, 0 } },
};

GST_START_TEST (test_scale)
{
  const guint *from = scales[__i__].in, *to = scales[__i__].out, *size = scales[__i__].meta;
  GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();

  add_meta (in);
  fail_unless_equals_int (scale (out, in, from[0], from[1], to[0], to[1]), size[0] > 0);
  fail_unless_equals_int (gst_buffer_get_ccl_zones_meta (out) != NULL, size[0] > 0);
  if (size[0] > 0) {
    gdouble scale_x = (gdouble) to[0] / from[0], scale_y = (gdouble) to[1] / from[1];

    /* Old scalers copy the metadata as well, afterwards. */
    gst_buffer_copy_into (out, in, GST_BUFFER_COPY_METADATA, 0, -1);
    check_meta (gst_buffer_get_ccl_zones_meta (out), size[0], size[1], scale_x, scale_y, 0.0, 0.0);
  }
  check_meta (gst_buffer_get_ccl_zones_meta (in), WIDTH, HEIGHT, 1.0, 1.0, 0.0, 0.0);

  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;

/* Metadata of broken elements: criticals are fatal. */
GST_START_TEST (test_hostile)
{
  gdouble points[] = { NAN, INFINITY, -1e300, 1e300, 0.0, -0.0 };
  GstCclZone zone = { NULL, TRUE, 0, 3, points, 0, 0, 0 };
  GstCclZoneEvent event = { (GstCclZoneEventType) 99, 0, 0, 0, NAN, -INFINITY, 0, 0, 0, 0 };
  GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
  GstCclZonesMeta *meta = gst_buffer_add_ccl_zones_meta (in, 1, 1, &zone, 1, &event, 1);

  fail_unless (gst_ccl_zone_event_type_get_name (meta->events[0].type) == NULL);
  meta->width = 0;
  meta->height = G_MAXUINT;
  fail_unless (scale (out, in, 1, 1, 2, 2));
  fail_unless (GST_CCL_ZONES_META_INFO->transform_func (
      out, &meta->meta, in, gst_video_meta_transform_scale_get_quark (), NULL));
  meta = gst_buffer_get_ccl_zones_meta (out);
  fail_unless_equals_int (meta->width, 1);
  fail_unless_equals_int (meta->height, G_MAXINT);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;

/* GStreamer's scaler scales the metadata. */
GST_START_TEST (test_videoscale)
{
  GstHarness *h = gst_harness_new ("videoscale");
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);

  gst_harness_set_caps_str (h, "video/x-raw,format=GRAY8,width=40,height=20,framerate=1/1",
                            "video/x-raw,format=GRAY8,width=80,height=60,framerate=1/1");
  add_meta (buffer);
  buffer = gst_harness_push_and_pull (h, buffer);
  check_meta (gst_buffer_get_ccl_zones_meta (buffer), 80, 60, 2.0, 3.0, 0.0, 0.0);
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);
}
GST_END_TEST;

static const struct
{
  guint x, y, width, height;
  gboolean fits;
} crops[] = {
  { 0, 0, WIDTH, HEIGHT, TRUE }, { 3, 2, 9, 5, TRUE },       { WIDTH - 1, 0, 1, HEIGHT, TRUE },
  { 0, 0, 0, HEIGHT, FALSE },    { 0, 0, WIDTH, 0, FALSE },  { 1, 0, WIDTH, HEIGHT, FALSE },
  { 0, G_MAXUINT, 1, 1, FALSE }, { 0, HEIGHT, 1, 1, FALSE }, { 1, 1, G_MAXUINT, 1, FALSE },
};

GST_START_TEST (test_crop)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstCclZonesMeta *meta = add_meta (buffer);
  gboolean fits = gst_ccl_zones_meta_crop (meta, crops[__i__].x, crops[__i__].y, crops[__i__].width,
                                           crops[__i__].height);

  fail_unless_equals_int (fits, crops[__i__].fits);
  if (fits)
    check_meta (meta, crops[__i__].width, crops[__i__].height, 1.0, 1.0, crops[__i__].x,
                crops[__i__].y);
  else
    check_meta (meta, WIDTH, HEIGHT, 1.0, 1.0, 0.0, 0.0);
  gst_buffer_unref (buffer);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 28, 0)
/* A mirror, a quarter turn, and a projection that has the event and a point of the triangle behind
 * it. The left side of the tripwire stays its left side. */
GST_START_TEST (test_matrix)
{
  static const struct
  {
    gfloat matrix[3][3];
    gint width, height;
    guint n_points;
    gdouble line[4], event[2];
  } cases[] = {
    { { { -1, 0, 40 }, { 0, 1, 0 }, { 0, 0, 1 } }, 40, 20, 3, { 30, 20, 30, 0 }, { 32, 10 } },
    { { { 0, -1, 20 }, { 1, 0, 0 }, { 0, 0, 1 } }, 20, 40, 3, { 20, 10, 0, 10 }, { 10, 8 } },
    { { { 1, 0, 0 }, { 0, 1, 0 }, { 0.25, 0, -2.25f } }, 40, 20, 0, { 40, 80, 40, 0 }, { -1, -1 } },
  };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
    GstVideoRectangle in_rect = { 0, 0, WIDTH, HEIGHT };
    GstVideoRectangle out_rect = { 0, 0, cases[i].width, cases[i].height };
    GstVideoMetaTransformMatrix trans;
    GstVideoInfo in_info, out_info;
    GstCclZonesMeta *meta = add_meta (in);

    gst_video_info_set_format (&in_info, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
    gst_video_info_set_format (&out_info, GST_VIDEO_FORMAT_GRAY8, out_rect.w, out_rect.h);
    gst_video_meta_transform_matrix_init (&trans, &in_info, &in_rect, &out_info, &out_rect);
    memcpy (trans.matrix, cases[i].matrix, sizeof (trans.matrix));
    fail_unless (GST_CCL_ZONES_META_INFO->transform_func (
        out, &meta->meta, in, gst_video_meta_transform_matrix_get_quark (), &trans));
    meta = gst_buffer_get_ccl_zones_meta (out);
    fail_unless_equals_int (meta->width, cases[i].width);
    fail_unless_equals_int (meta->zones[0].n_points, cases[i].n_points);
    for (j = 0; j < 4; j++)
      fail_unless_equals_float (meta->zones[1].points[j], cases[i].line[j]);
    fail_unless_equals_float (meta->events[0].x, cases[i].event[0]);
    fail_unless_equals_float (meta->events[0].y, cases[i].event[1]);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
}
GST_END_TEST;
#endif

#if GST_CHECK_VERSION(1, 28, 0)
/* A frame without pixels is refused. The size of the zones' frame may differ from that of the
 * input, or be none; coordinates that are no numbers stay nowhere. */
GST_START_TEST (test_matrix_limits)
{
  static const struct
  {
    guint width, height; /* of the metadata */
    gint out[2];
    gdouble x; /* of the event */
    gboolean done;
    gdouble projected;
  } cases[] = {
    { WIDTH, HEIGHT, { WIDTH, HEIGHT }, 8, TRUE, 8 },
    { WIDTH / 2, HEIGHT / 2, { WIDTH, HEIGHT }, 8, TRUE, 16 },
    { 0, 0, { WIDTH, HEIGHT }, 0.5, TRUE, WIDTH / 2 },
    { WIDTH, HEIGHT, { WIDTH, HEIGHT }, NAN, TRUE, -1 },
    { WIDTH, HEIGHT, { WIDTH, HEIGHT }, INFINITY, TRUE, -1 },
    { WIDTH, HEIGHT, { 0, HEIGHT }, 8, FALSE },
    { WIDTH, HEIGHT, { WIDTH, -1 }, 8, FALSE },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
    GstVideoRectangle rectangle = { 0, 0, WIDTH, HEIGHT };
    GstVideoMetaTransformMatrix trans;
    GstVideoInfo in_info, out_info;
    GstCclZonesMeta *meta = add_meta (in);

    gst_video_info_set_format (&in_info, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
    gst_video_info_set_format (&out_info, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT);
    gst_video_meta_transform_matrix_init (&trans, &in_info, &rectangle, &out_info, &rectangle);
    out_info.width = cases[i].out[0];
    out_info.height = cases[i].out[1];
    meta->width = cases[i].width;
    meta->height = cases[i].height;
    meta->events[0].x = cases[i].x;
    fail_unless_equals_int (
        GST_CCL_ZONES_META_INFO->transform_func (
            out, &meta->meta, in, gst_video_meta_transform_matrix_get_quark (), &trans),
        cases[i].done);
    meta = gst_buffer_get_ccl_zones_meta (out);
    fail_unless_equals_int (meta != NULL, cases[i].done);
    if (meta)
      fail_unless_equals_float (meta->events[0].x, cases[i].projected);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
}
GST_END_TEST;
#endif

GST_START_TEST (test_unknown_transform)
{
  GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
  GstCclZonesMeta *meta = add_meta (in);

  fail_if (GST_CCL_ZONES_META_INFO->transform_func (
      out, &meta->meta, in, g_quark_from_static_string ("test-transform"), NULL));
  fail_unless (gst_buffer_get_ccl_zones_meta (out) == NULL);
  gst_buffer_unref (in);
  gst_buffer_unref (out);
}
GST_END_TEST;

#if GST_CHECK_VERSION(1, 24, 0)
static void
check_round_trip (GstBuffer *in, gsize max_size)
{
  GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (in), *copy;
  GByteArray *data = g_byte_array_new ();
  GstBuffer *out = gst_buffer_new ();
  guint32 consumed = 0;
  guint i;

  fail_unless (gst_meta_serialize_simple (&meta->meta, data));
  fail_unless (data->len <= max_size, "%u bytes", data->len);
  copy = (GstCclZonesMeta *) gst_meta_deserialize (out, data->data, data->len, &consumed);
  fail_unless (copy != NULL);
  fail_unless_equals_int (consumed, data->len);
  fail_unless_equals_int (copy->width, meta->width);
  fail_unless_equals_int (copy->height, meta->height);
  fail_unless_equals_int (copy->n_zones, meta->n_zones);
  fail_unless_equals_int (copy->n_events, meta->n_events);
  for (i = 0; i < meta->n_zones; i++) {
    const GstCclZone *a = &meta->zones[i], *b = &copy->zones[i];

    fail_unless_equals_string (a->name, b->name);
    fail_unless (a->tripwire == b->tripwire && a->color == b->color && a->n_points == b->n_points &&
                 a->in == b->in && a->out == b->out && a->inside == b->inside);
    /* To the last bit. */
    fail_unless (a->n_points == 0 ||
                 memcmp (a->points, b->points, 2 * sizeof (gdouble) * a->n_points) == 0);
  }
  for (i = 0; i < meta->n_events; i++) {
    const GstCclZoneEvent *a = &meta->events[i], *b = &copy->events[i];

    fail_unless (a->type == b->type && a->zone == b->zone && a->track == b->track &&
                 a->dwell == b->dwell && memcmp (&a->x, &b->x, 2 * sizeof (gdouble)) == 0 &&
                 a->in == b->in && a->out == b->out && a->inside == b->inside &&
                 a->frame_age == b->frame_age);
  }
  g_byte_array_unref (data);
  gst_buffer_unref (out);
  gst_buffer_unref (in);
}

GST_START_TEST (test_serialize)
{
  gdouble odd_points[] = { -0.0, 1e-300, -1e15, 0.1, G_MAXINT, G_MININT };
  gdouble whole[] = { G_MAXINT, -G_MAXINT, -G_MAXINT, G_MAXINT, 0.0, 1.0 };
  const GstCclZone odd[] = {
    { (gchar *) "", FALSE, G_MAXUINT, 3, odd_points, 0, G_MAXUINT64, G_MAXUINT },
    { (gchar *) "w", TRUE, 1, 3, whole, G_MAXUINT64, 0, 0 },
    { (gchar *) "none", FALSE, 0, 0, NULL, 0, 0, 0 },
  };
  const GstCclZoneEvent odd_events[] = {
    { GST_CCL_ZONE_ENTER, 2, 0, G_MAXUINT64, -1e15, 1e-300, 0, 0, G_MAXUINT, G_MAXINT64 },
    { GST_CCL_ZONE_IN, 0, G_MAXUINT, 0, -0.0, 0.1, G_MAXUINT64, G_MAXUINT64, 0, G_MININT64 },
    { GST_CCL_ZONE_DWELL, 1, 1, 1, 0.0, 0.0, 0, 0, 0, -1 },
    { GST_CCL_ZONE_REMOVED, 0, 7, 5, 1.0, 2.0, 0, 0, 0, 0 },
  };
  GstBuffer *buffer = gst_buffer_new ();

  add_meta (buffer);
  check_round_trip (buffer, 220);

  buffer = gst_buffer_new ();
  gst_buffer_add_ccl_zones_meta (buffer, G_MAXINT, G_MAXINT, odd, 3, odd_events, 3);
  check_round_trip (buffer, 500);

  buffer = gst_buffer_new ();
  gst_buffer_add_ccl_zones_meta (buffer, 9, 9, odd, 3, odd_events, 4);
  check_round_trip (buffer, 500);

  buffer = gst_buffer_new ();
  gst_buffer_add_ccl_zones_meta (buffer, 1, 1, NULL, 0, NULL, 0);
  check_round_trip (buffer, 100);
}
GST_END_TEST;

/* Broken elements attach coordinates that receivers would not take, and no name. */
GST_START_TEST (test_serialize_hostile)
{
  static const struct
  {
    gdouble sent, received;
  } values[] = {
    { NAN, 0.0 },
    { INFINITY, 1e15 },
    { -INFINITY, -1e15 },
    { 1e16, 1e15 },
    { (gdouble) G_MAXINT + 1, (gdouble) G_MAXINT + 1 },
    { -1e300, -1e15 },
    { 0.5, 0.5 },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    gdouble points[] = { values[i].sent, 1.0 };
    const GstCclZone zone = { NULL, FALSE, 0, 1, points, 0, 0, 0 };
    const GstCclZoneEvent event = { GST_CCL_ZONE_ENTER, 0, 0, 0, 1.0, values[i].sent };
    GstBuffer *in = gst_buffer_new (), *out = gst_buffer_new ();
    GstCclZonesMeta *meta = gst_buffer_add_ccl_zones_meta (in, 1, 1, &zone, 1, &event, 1);
    GByteArray *data = g_byte_array_new ();
    guint32 consumed;

    fail_unless (gst_meta_serialize_simple (&meta->meta, data));
    meta = (GstCclZonesMeta *) gst_meta_deserialize (out, data->data, data->len, &consumed);
    fail_unless (meta != NULL);
    fail_unless_equals_string (meta->zones[0].name, "");
    fail_unless (meta->zones[0].points[0] == values[i].received &&
                 meta->events[0].y == values[i].received);
    g_byte_array_unref (data);
    gst_buffer_unref (in);
    gst_buffer_unref (out);
  }
}
GST_END_TEST;

/* Version and bytes that another process may send, and their fault: a frame of 40x20 pixels with
 * the tripwire `ab`, from 10, 0 to 10, 20, and an event. */
#define SIZE "\x28\x14"
#define ZONE \
  "\x05\x02" \
  "ab"       \
  "\x02\x14\x00\x00\x28\x03\x02\x00"
#define EIGHT "\x00\x00\x00\x00\x00\x00\x20\x40"
#define TEN "\x00\x00\x00\x00\x00\x00\x24\x40"
#define EVENT_REST "\x00\x05" EIGHT TEN "\x01\x07\x00"
#define EVENT "\x04" EVENT_REST
#define NOT_A_NUMBER "\x01\x00\x00\x00\x00\x00\xf8\x7f"
#define INFINITE "\x00\x00\x00\x00\x00\x00\xf0\xff"
#define LARGE "\x00\x00\x00\x00\x00\x00\x00\x44" /* 2^65 */

#define BYTES(bytes) bytes, sizeof (bytes) - 1

static const CclTestSerialized sent[] = {
  { "all as it should be", 1, BYTES (SIZE "\x01" ZONE "\x01" EVENT), TRUE },
  { "no event", 1, BYTES (SIZE "\x01" ZONE "\x00"), TRUE },
  { "nothing in the frame", 1, BYTES (SIZE "\x00\x00"), TRUE },
  { "version 0", 0, BYTES (SIZE "\x01" ZONE "\x01" EVENT), FALSE },
  { "version 4", 4, BYTES (SIZE "\x00\x01" ZONE "\x01" EVENT), FALSE },
  { "version 3", 3, BYTES (SIZE "\x00\x01" ZONE "\x01" EVENT), TRUE },
  { "something removed in version 2", 2, BYTES (SIZE "\x00\x01" ZONE "\x01\x07" EVENT_REST),
    FALSE },
  { "an unknown event", 3, BYTES (SIZE "\x00\x01" ZONE "\x01\x08" EVENT_REST), FALSE },
  { "version 2", 2, BYTES (SIZE "\x00\x01" ZONE "\x01" EVENT), TRUE },
  { "a class", 2,
    BYTES (SIZE "\x01\x03"
                "cat"
                "\x01" ZONE "\x01\x44" EVENT_REST "\x01"),
    TRUE },
  { "a class in version 1", 1, BYTES (SIZE "\x01" ZONE "\x01\x44" EVENT_REST "\x01"), FALSE },
  { "a class above 2^32 - 1", 2,
    BYTES (SIZE "\x00\x01" ZONE "\x01\x44" EVENT_REST "\x80\x80\x80\x80\x10"), FALSE },
  { "the name of a class that is not UTF-8", 2,
    BYTES (SIZE "\x01\x03"
                "c\xff"
                "t"
                "\x01" ZONE "\x01" EVENT),
    FALSE },
  { "an event with all fields", 2,
    BYTES (SIZE "\x00\x01" ZONE "\x01\x74\x00\x05\xac\x02" EIGHT TEN "\x01\x07\x00\x4f\x01"),
    TRUE },
  { "a track above 2^32 - 1", 1,
    BYTES (SIZE "\x01" ZONE "\x01\x04\x00\x80\x80\x80\x80\x10" EIGHT TEN "\x01\x07\x00"), FALSE },
  { "a dwell time of more than 64 bits", 1,
    BYTES (SIZE "\x01" ZONE "\x01\x14\x00\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02" EIGHT TEN
                "\x01\x07\x00"),
    FALSE },
  { "an event inside more than 2^32 - 1", 1,
    BYTES (SIZE "\x01" ZONE "\x01\x04\x00\x05" EIGHT TEN "\x01\x07\x80\x80\x80\x80\x10"), FALSE },
  { "a coloured zone", 1,
    BYTES (SIZE "\x01\x07\x02"
                "ab"
                "\xaa\x01\x02\x14\x00\x00\x28\x03\x02\x00\x00"),
    TRUE },
  { "a point that moves by 2^63", 1,
    BYTES (SIZE "\x01\x04\x01"
                "a"
                "\x02\x02\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x03\x02\x00\x00"),
    FALSE },
  { "nothing", 1, BYTES (""), FALSE },
  { "width 0", 1, BYTES ("\x00\x14\x00\x00"), FALSE },
  { "height 0", 1, BYTES ("\x28\x00\x00\x00"), FALSE },
  { "width 2^31", 1, BYTES ("\x80\x80\x80\x80\x08\x14\x00\x00"), FALSE },
  { "height 2^31", 1, BYTES ("\x28\x80\x80\x80\x80\x08\x00\x00"), FALSE },
  { "2^32 - 1 zones", 1, BYTES (SIZE "\xff\xff\xff\xff\x0f" ZONE "\x00"), FALSE },
  { "2^32 + 1 zones", 1, BYTES (SIZE "\x81\x80\x80\x80\x10" ZONE "\x00"), FALSE },
  { "2^32 - 1 events", 1, BYTES (SIZE "\x01" ZONE "\xff\xff\xff\xff\x0f" EVENT), FALSE },
  { "a byte too many", 1, BYTES (SIZE "\x01" ZONE "\x01" EVENT "\x00"), FALSE },
  { "an unknown flag of a zone", 1,
    BYTES (SIZE "\x01\x0d\x02"
                "ab"
                "\x02\x14\x00\x00\x28\x03\x02\x00\x00"),
    FALSE },
  { "a name that is too long", 1,
    BYTES (SIZE "\x01\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                "ab"
                "\x00\x03\x02\x00\x00"),
    FALSE },
  { "a name that is not UTF-8", 1,
    BYTES (SIZE "\x01\x05\x02"
                "a\xff"
                "\x02\x14\x00\x00\x28\x03\x02\x00\x00"),
    FALSE },
  { "a name with a NUL", 1,
    BYTES (SIZE "\x01\x05\x02"
                "a\0"
                "\x02\x14\x00\x00\x28\x03\x02\x00\x00"),
    FALSE },
  { "a colour of more than 32 bits", 1,
    BYTES (SIZE "\x01\x06\x01"
                "a"
                "\xff\xff\xff\xff\x1f\x00\x03\x02\x00\x00"),
    FALSE },
  { "2^32 - 1 points", 1,
    BYTES (SIZE "\x01\x04\x01"
                "a"
                "\xff\xff\xff\xff\x0f\x00\x00\x03\x02\x00\x00"),
    FALSE },
  { "more points than bytes", 1,
    BYTES (SIZE "\x01\x04\x01"
                "a"
                "\x05\x00\x00\x03\x02\x00\x00"),
    FALSE },
  { "a point beyond 2^31", 1,
    BYTES (SIZE "\x01\x04\x01"
                "a"
                "\x01\x80\x80\x80\x80\x10\x00\x03\x02\x00\x00"),
    FALSE },
  { "a point beyond 2^31, in two steps", 1,
    BYTES (SIZE "\x01\x04\x01"
                "a"
                "\x02\xfe\xff\xff\xff\x0f\x00\x02\x00\x03\x02\x00\x00"),
    FALSE },
  { "a point that is no number", 1,
    BYTES (SIZE "\x01\x00\x01"
                "a"
                "\x01" NOT_A_NUMBER TEN "\x03\x02\x00\x00"),
    FALSE },
  { "an infinite point", 1,
    BYTES (SIZE "\x01\x00\x01"
                "a"
                "\x01" TEN INFINITE "\x03\x02\x00\x00"),
    FALSE },
  { "a point at 2^65", 1,
    BYTES (SIZE "\x01\x00\x01"
                "a"
                "\x01" LARGE TEN "\x03\x02\x00\x00"),
    FALSE },
  { "more than 2^32 - 1 inside", 1,
    BYTES (SIZE "\x01\x04\x01"
                "a"
                "\x00\x03\x02\x80\x80\x80\x80\x10\x00"),
    FALSE },
  { "an event of a zone that is not there", 1,
    BYTES (SIZE "\x01" ZONE "\x01\x04\x01\x05" EIGHT TEN "\x01\x07\x00"), FALSE },
  { "an event without zones", 1, BYTES (SIZE "\x00\x01" EVENT), FALSE },
  { "an unknown event", 1, BYTES (SIZE "\x01" ZONE "\x01\x05\x00\x05" EIGHT TEN "\x01\x07\x00"),
    FALSE },
  { "an unknown flag of an event", 1,
    BYTES (SIZE "\x01" ZONE "\x01\x44\x00\x05" EIGHT TEN "\x01\x07\x00"), FALSE },
  { "an event nowhere", 1,
    BYTES (SIZE "\x01" ZONE "\x01\x04\x00\x05" EIGHT NOT_A_NUMBER "\x01\x07\x00"), FALSE },
};

static gboolean
receive (const gchar *bytes, gsize size, guint8 version)
{
  /* Ends with its allocation, so that memory checkers see every overrun. */
  guint8 *copy = g_memdup2 (bytes, size);
  GstBuffer *buffer = gst_buffer_new ();
  GstMeta *meta = GST_CCL_ZONES_META_INFO->deserialize_func (GST_CCL_ZONES_META_INFO, buffer, copy,
                                                             size, version);
  GstCclZonesMeta *zones_meta = (GstCclZonesMeta *) meta;

  fail_unless (zones_meta == gst_buffer_get_ccl_zones_meta (buffer));
  if (meta && zones_meta->n_zones > 0) {
    const GstCclZone *zone = &zones_meta->zones[0];

    fail_unless (zones_meta->width == WIDTH && zones_meta->height == HEIGHT);
    fail_unless_equals_string (zone->name, "ab");
    fail_unless (zone->tripwire && zone->n_points == 2 && zone->in == 3 && zone->out == 2);
    fail_unless (memcmp (zone->points, line, sizeof (line)) == 0);
  }
  if (meta && zones_meta->n_events > 0 && zones_meta->events[0].dwell)
    fail_unless (zones_meta->events[0].dwell == 300 && zones_meta->events[0].frame_age == -40 &&
                 zones_meta->events[0].class_id == 1);
  if (meta && zones_meta->n_events > 0)
    fail_unless (memcmp (&zones_meta->events[0].x, &events[0].x, 2 * sizeof (gdouble)) == 0 &&
                 zones_meta->events[0].type == GST_CCL_ZONE_OUT &&
                 zones_meta->events[0].track == 5);
  gst_buffer_unref (buffer);
  g_free (copy);

  return meta != NULL;
}

/* Invalid bytes are dropped, with a warning. */
GST_START_TEST (test_received)
{
  ccl_test_check_received (&sent[__i__], receive);
}
GST_END_TEST;
#endif

/* Not in the program with newer.h, where GStreamer has no such elements. */
#if GST_CHECK_VERSION(1, 24, 0) && !defined(TESTS_FUZZ_NEWER_H)
/* Zones of one pipeline arrive in another through a socket. */
GST_START_TEST (test_unixfd)
{
  CclTestSocket socket;
  guint i;

  if (!ccl_test_socket_open (
          &socket,
          "videotestsrc is-live=true pattern=ball ! "
          "video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1 ! cudaccl backend=cpu "
          "threshold=100 ! ccltrack min-persistence=1 min-relative-area=0 ! "
          "cclzones zones=\"all: 0,0 1,0 1,1 0,1\" tripwires=\"32,0 32,48\""))
    return;

  for (i = 0; i < 5; i++) {
    GstBuffer *buffer = gst_harness_pull (socket.receiver);
    GstCclZonesMeta *meta;

    fail_unless (buffer != NULL);
    meta = gst_buffer_get_ccl_zones_meta (buffer);
    fail_unless (meta && meta->n_zones == 2 && meta->width == 64 && meta->height == 48);
    fail_unless_equals_string (meta->zones[0].name, "all");
    fail_unless_equals_int (meta->zones[0].inside, 1);
    fail_unless (meta->zones[1].tripwire && meta->zones[1].points[2] == 32.0);
    gst_buffer_unref (buffer);
  }

  ccl_test_socket_close (&socket);
}
GST_END_TEST;
#endif

static Suite *
cclzonesmeta_suite (void)
{
  Suite *suite = suite_create ("cclzonesmeta");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_type);
  tcase_add_test (tcase, test_boxed);
  tcase_add_test (tcase, test_add);
  tcase_add_test (tcase, test_copy_is_deep);
  tcase_add_loop_test (tcase, test_scale, 0, G_N_ELEMENTS (scales));
  tcase_add_test (tcase, test_hostile);
  tcase_add_test (tcase, test_videoscale);
  tcase_add_loop_test (tcase, test_crop, 0, G_N_ELEMENTS (crops));
#if GST_CHECK_VERSION(1, 28, 0)
  tcase_add_test (tcase, test_matrix);
  tcase_add_test (tcase, test_matrix_limits);
#endif
  tcase_add_test (tcase, test_unknown_transform);
#if GST_CHECK_VERSION(1, 24, 0)
  tcase_add_test (tcase, test_serialize);
  tcase_add_test (tcase, test_serialize_hostile);
  tcase_add_loop_test (tcase, test_received, 0, G_N_ELEMENTS (sent));
#endif
#if GST_CHECK_VERSION(1, 24, 0) && !defined(TESTS_FUZZ_NEWER_H)
  tcase_add_test (tcase, test_unixfd);
#endif

  return suite;
}

GST_CHECK_MAIN (cclzonesmeta)
