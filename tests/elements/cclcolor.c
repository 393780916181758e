/* cudaccl - tests of the element cclcolor
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <string.h>

/* The byte of each channel in a pixel; -1: the format holds label numbers instead of colours. */
typedef struct
{
  const gchar *name;
  guint size;
  gint red, green, blue, alpha;
} Format;

static const Format formats[] = {
  { "RGBx", 4, 0, 1, 2, -1 }, { "BGRx", 4, 2, 1, 0, -1 },        { "xRGB", 4, 1, 2, 3, -1 },
  { "xBGR", 4, 3, 2, 1, -1 }, { "RGBA", 4, 0, 1, 2, 3 },         { "BGRA", 4, 2, 1, 0, 3 },
  { "ARGB", 4, 1, 2, 3, 0 },  { "ABGR", 4, 3, 2, 1, 0 },         { "RGB", 3, 0, 1, 2, -1 },
  { "BGR", 3, 2, 1, 0, -1 },  { "GRAY16_LE", 2, -1, -1, -1, 0 }, { "GRAY16_BE", 2, -1, -1, -1, 1 },
};

static GstHarness *
color_harness_new (gint backend, guint max_components, const Format *format, gint width,
                   gint height)
{
  GstElement *element = gst_element_factory_make ("cclcolor", NULL);
  GstHarness *h;
  gchar *caps;

  fail_unless (element != NULL);
  gst_util_set_object_arg (G_OBJECT (element), "backend", ccl_test_backend (backend));
  g_object_set (element, "max-components", max_components, NULL);
  h = ccl_test_harness_new (element, "GRAY8", width, height);
  caps = g_strdup_printf ("video/x-raw,format=%s", format->name);
  gst_harness_set_sink_caps_str (h, caps);
  g_free (caps);

  return h;
}

static void
check_pixel (const Format *format, const guint8 *pixel, guint32 label, guint x, guint y)
{
  guint32 color = gst_ccl_label_get_color (label);
  guint number = MIN (label, 65535);
  gboolean right;

  if (format->red < 0)
    right = pixel[format->alpha] == (number & 255) && pixel[1 - format->alpha] == number >> 8;
  else
    right = pixel[format->red] == color >> 16 && pixel[format->green] == (color >> 8 & 255) &&
            pixel[format->blue] == (color & 255) &&
            (format->alpha < 0 || pixel[format->alpha] == 255);

  fail_unless (right, "%s: (%u, %u) is not what the label %u should be", format->name, x, y, label);
}

/* Asserts that @picture shows these labels; it is consumed. */
static void
check_picture (const Format *format, GstBuffer *picture, guint width, guint height,
               const CclLabels *labels)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  guint x, y;

  gst_video_info_set_format (&info, gst_video_format_from_string (format->name), width, height);
  fail_unless (gst_video_frame_map (&frame, &info, picture, GST_MAP_READ));
  for (y = 0; y < height; y++) {
    const guint32 *row =
        labels ? (const guint32 *) ((const guint8 *) labels->data + y * labels->stride) : NULL;
    const guint8 *pixels = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
                           y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);

    for (x = 0; x < width; x++)
      check_pixel (format, pixels + x * format->size, row ? row[x] : 0, x, y);
  }
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (picture);
}

/* The result of the engine itself. */
static CclAnalyzer *
analyse (const guint8 *pixels, guint width, guint height, gsize stride, const CclParams *params,
         guint max_components, CclLabels *labels)
{
  CclImage image = { .data = pixels, .stride = stride };
  CclComponents components;
  CclAnalyzer *analyzer;
  CclConfig config;

  ccl_config_init (&config, width, height);
  config.backend = CCL_BACKEND_CPU;
  config.labels = true;
  config.max_components = max_components;
  fail_unless_equals_int (ccl_analyzer_new (&config, &analyzer), CCL_OK);
  fail_unless_equals_int (ccl_analyzer_analyze (analyzer, &image, params, &components), CCL_OK);
  fail_unless_equals_int (ccl_analyzer_labels (analyzer, labels), CCL_OK);

  return analyzer;
}

/* Noise of density 0.4 in rows that are @stride bytes apart. */
static GstBuffer *
noise_new (guint width, guint height, gint stride, guint32 seed)
{
  GRand *random = g_rand_new_with_seed (seed);
  gsize size = (gsize) stride * height, offset[GST_VIDEO_MAX_PLANES] = { 0 }, i;
  gint strides[GST_VIDEO_MAX_PLANES] = { stride };
  guint8 *data = g_malloc (size);
  GstBuffer *buffer;

  for (i = 0; i < size; i++)
    data[i] = g_rand_int_range (random, 0, 10) < 4 ? 255 : 0;
  g_rand_free (random);
  buffer = gst_buffer_new_wrapped (data, size);
  GST_BUFFER_PTS (buffer) = GST_SECOND;
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width,
                                  height, 1, offset, strides);

  return buffer;
}

/* Pushes noise and compares the picture with the engine's label map. */
static void
check_noise (GstHarness *h, const Format *format, guint width, guint height, gint stride,
             const CclParams *params, guint max_components)
{
  GstBuffer *buffer = noise_new (width, height, stride, width * 131 + height);
  CclAnalyzer *analyzer;
  CclLabels labels;
  GstMapInfo map;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  analyzer = analyse (map.data, width, height, (gsize) stride, params, max_components, &labels);
  gst_buffer_unmap (buffer, &map);

  check_picture (format, gst_harness_push_and_pull (h, buffer), width, height, &labels);
  ccl_analyzer_free (analyzer);
}

/* Every format; size and format change in mid-stream. */
GST_START_TEST (test_noise)
{
  static const guint sizes[][3] = { { 1, 1, 1 },   { 2, 3, 8 },    { 7, 5, 7 },     { 33, 17, 40 },
                                    { 64, 4, 64 }, { 5, 131, 12 }, { 131, 67, 131 } };
  GstHarness *h = color_harness_new (__i__, 10000, &formats[0], 1, 1);
  CclParams params;
  guint i, k;

  ccl_params_init (&params);
  for (i = 0; i < G_N_ELEMENTS (formats); i++) {
    gchar *out = g_strdup_printf ("video/x-raw,format=%s", formats[i].name);

    gst_harness_set_sink_caps_str (h, out);
    g_free (out);
    for (k = 0; k < G_N_ELEMENTS (sizes); k++) {
      ccl_test_set_caps (h, "GRAY8", sizes[k][0], sizes[k][1]);
      check_noise (h, &formats[i], sizes[k][0], sizes[k][1], (gint) sizes[k][2], &params, 10000);
    }
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The luma of every format in every layout; the metadata equals cudaccl's. */
GST_START_TEST (test_layouts)
{
  GstHarness *h = color_harness_new (__i__, 10000, &formats[8], 1, 1);
  GstBuffer *plain = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  CclAnalyzer *analyzer;
  CclParams params;
  CclLabels labels;
  GstMapInfo map;
  guint i, layout;

  ccl_params_init (&params);
  fail_unless (gst_buffer_map (plain, &map, GST_MAP_READ));
  analyzer = analyse (map.data, PICTURE_WIDTH, PICTURE_HEIGHT, GST_ROUND_UP_4 (PICTURE_WIDTH),
                      &params, 100, &labels);
  gst_buffer_unmap (plain, &map);

  for (i = 0; picture_formats[i]; i++) {
    ccl_test_set_caps (h, picture_formats[i], PICTURE_WIDTH, PICTURE_HEIGHT);
    for (layout = 0; layout < N_LAYOUTS; layout++) {
      GstBuffer *out =
          gst_harness_push_and_pull (h, ccl_test_picture_new (picture_formats[i], layout));

      ccl_test_check_picture (out);
      fail_if (gst_buffer_get_video_crop_meta (out));
      fail_unless_equals_uint64 (GST_BUFFER_PTS (out), GST_SECOND);
      fail_unless_equals_uint64 (GST_BUFFER_DURATION (out), GST_SECOND);
      check_picture (&formats[8], out, PICTURE_WIDTH, PICTURE_HEIGHT, &labels);
    }
  }

  ccl_analyzer_free (analyzer);
  gst_buffer_unref (plain);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A pool with padded rows. */
static GstPadProbeReturn
offer_pool (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  GstBufferPool *pool;
  GstStructure *config;
  GstVideoAlignment align;
  GstVideoInfo video;
  GstCaps *caps;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;

  gst_query_parse_allocation (query, &caps, NULL);
  fail_unless (gst_video_info_from_caps (&video, caps));
  gst_video_alignment_reset (&align);
  align.padding_left = 8;
  align.padding_right = 24;
  align.padding_top = 3;
  pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, (guint) GST_VIDEO_INFO_SIZE (&video), 0, 0);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  gst_buffer_pool_config_set_video_alignment (config, &align);
  fail_unless (gst_buffer_pool_set_config (pool, config));

  gst_query_add_allocation_pool (query, pool, (guint) GST_VIDEO_INFO_SIZE (&video), 0, 0);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_object_unref (pool);

  return GST_PAD_PROBE_HANDLED;
}

GST_START_TEST (test_pool)
{
  GstHarness *h = color_harness_new (__i__, 10000, &formats[9], 1, 1);
  GstBuffer *buffer;
  CclParams params;
  guint i;

  ccl_params_init (&params);
  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool, NULL, NULL);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=33,height=17,framerate=1/1");

  /* The pool's buffers are reused. */
  for (i = 0; i < 20; i++)
    check_noise (h, &formats[9], 33, 17, 36, &params, 10000);

  buffer = gst_harness_push_and_pull (h, noise_new (33, 17, 36, 1));
  fail_unless (gst_buffer_get_video_meta (buffer)->stride[0] > 3 * 36);
  fail_unless (buffer->pool != NULL);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Components left out of the metadata are black. */
GST_START_TEST (test_left_out)
{
  GstHarness *h = color_harness_new (__i__, 20, &formats[1], 131, 67);
  CclParams params;

  ccl_params_init (&params);
  params.min_area = 3;
  params.max_area = 40;
  g_object_set (h->element, "min-area", params.min_area, "max-area", params.max_area, NULL);
  check_noise (h, &formats[1], 131, 67, 140, &params, 20);

  fail_unless_equals_uint64 (ccl_test_stat (h->element, "truncated"), 1);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Labels belong to the cleaned mask. */
GST_START_TEST (test_operations)
{
  GstHarness *h = color_harness_new (__i__, 10, &formats[10], 16, 16);
  GstBuffer *buffer = ccl_test_black_new (16, 16);
  guint32 map[16 * 16] = { 0 };
  CclLabels labels = { map, 16 * sizeof (*map) };
  guint x, y;

  for (y = 3; y < 11; y++) {
    gst_buffer_memset (buffer, 16 * y + 3, 255, 8);
    for (x = 3; x < 11; x++)
      map[16 * y + x] = 1;
  }
  gst_buffer_memset (buffer, 16 * 6 + 5, 0, 2);   /* a hole */
  gst_buffer_memset (buffer, 16 * 1 + 1, 255, 1); /* a speck, the first component */

  g_object_set (h->element, "morphology", "fill,drop2", NULL);
  ccl_test_restart (h, GST_STATE_READY);
  ccl_test_set_caps (h, "GRAY8", 16, 16);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->n_components, 1);
  check_picture (&formats[10], buffer, 16, 16, &labels);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* More components than 16-bit numbers and than colours. */
GST_START_TEST (test_many)
{
  const guint side = 530, n = (side / 2) * (side / 2);
  const Format *const tried[] = { &formats[0], &formats[8], &formats[10], &formats[11] };
  guint32 *map = g_new0 (guint32, side * side);
  CclLabels labels = { map, side * sizeof (*map) };
  guint i, x, y;

  fail_unless (n > 65535 + GST_CCL_N_COLORS);
  for (i = 0; i < n; i++)
    map[(i / (side / 2)) * 2 * side + i % (side / 2) * 2] = i + 1;

  for (i = 0; i < G_N_ELEMENTS (tried); i++) {
    GstHarness *h = color_harness_new (__i__, n, tried[i], (gint) side, (gint) side);
    GstBuffer *buffer = ccl_test_black_new (side, side);
    gint stride = GST_ROUND_UP_4 ((gint) side);
    GstMapInfo pixels;

    g_object_set (h->element, "attach", 0, NULL);
    fail_unless (gst_buffer_map (buffer, &pixels, GST_MAP_WRITE));
    for (y = 0; y < side; y += 2) {
      for (x = 0; x < side; x += 2)
        pixels.data[y * (guint) stride + x] = 255;
    }
    gst_buffer_unmap (buffer, &pixels);
    buffer = gst_harness_push_and_pull (h, buffer);
    ccl_test_check_nothing (buffer);
    check_picture (tried[i], buffer, side, side, &labels);
    ccl_test_harness_free (h);
  }
  g_free (map);
}
GST_END_TEST;

/* Gaps without pixels are black and stay gaps; those with pixels are frames. */
GST_START_TEST (test_gaps)
{
  GstHarness *h = color_harness_new (__i__, 10000, &formats[4], PICTURE_WIDTH, PICTURE_HEIGHT);
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  GST_BUFFER_PTS (buffer) = 5;
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), 5);
  ccl_test_check_nothing (buffer);
  check_picture (&formats[4], buffer, PICTURE_WIDTH, PICTURE_HEIGHT, NULL);

  buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  buffer = gst_harness_push_and_pull (h, buffer);
  ccl_test_check_picture (buffer);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  static const gchar *const large[] = {
    "video/x-raw,format=GRAY8,width=600000000,height=1,framerate=1/1",
    "video/x-raw,format=GRAY8,width=32768,height=32768,framerate=1/1",
  };
  GstHarness *h = color_harness_new (__i__, 10000, &formats[0], PICTURE_WIDTH, PICTURE_HEIGHT);
  GstElement *element;
  gboolean have_cuda = ccl_algorithm (0)->backend == CCL_BACKEND_CUDA;
  guint i;

  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "needs 112 bytes");
  ccl_test_harness_free (h);

  /* The mask would fit in memory, its picture would not. */
  h = color_harness_new (__i__, 1024, &formats[0], PICTURE_WIDTH, PICTURE_HEIGHT);
  for (i = 0; i < G_N_ELEMENTS (large); i++) {
    gst_harness_set_src_caps_str (h, large[i]);
    fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_NOT_NEGOTIATED);
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "smaller");
  }
  ccl_test_harness_free (h);

  element = gst_element_factory_make ("cclcolor", NULL);
  g_object_set (element, "cuda-device-id", 99, NULL);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  ccl_test_check_start_fails (element, have_cuda ? GST_RESOURCE_ERROR : GST_LIBRARY_ERROR,
                              have_cuda ? (gint) GST_RESOURCE_ERROR_NOT_FOUND
                                        : (gint) GST_LIBRARY_ERROR_SETTINGS,
                              "device");
}
GST_END_TEST;

/* Metadata about the content is copied, metadata about the memory layout is not. */
GST_START_TEST (test_metas)
{
  GstHarness *h = color_harness_new (__i__, 10000, &formats[0], PICTURE_WIDTH, PICTURE_HEIGHT);
  GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_WINDOW);
  GstCaps *caps = gst_caps_new_empty_simple ("timestamp/x-test");
  GstVideoRegionOfInterestMeta *roi;

  ccl_test_set_times (buffer);
  gst_buffer_add_reference_timestamp_meta (buffer, caps, 77, GST_CLOCK_TIME_NONE);
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4);
  roi->id = 99;
  gst_buffer_add_ccl_meta (buffer, 4, 4, 9, NULL, 0);
  buffer = gst_harness_push_and_pull (h, buffer);

  ccl_test_check_times (buffer);
  fail_unless_equals_uint64 (gst_buffer_get_reference_timestamp_meta (buffer, caps)->timestamp, 77);
  roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, 99);
  fail_unless (roi && roi->x == 1 && roi->h == 4);
  fail_unless_equals_int (gst_buffer_get_n_meta (buffer, GST_CCL_META_API_TYPE), 1);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->found, n_picture_blobs);
  fail_unless (!gst_buffer_get_video_meta (buffer) ||
               gst_buffer_get_video_meta (buffer)->format == GST_VIDEO_FORMAT_RGBx);

  gst_buffer_unref (buffer);
  gst_caps_unref (caps);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Only the format and its colorimetry change in the caps. */
GST_START_TEST (test_caps)
{
  GstHarness *h = color_harness_new (__i__, 10000, &formats[0], 16, 16);
  GstCaps *caps, *expected;

  gst_harness_set_sink_caps_str (h, "video/x-raw,format={RGB,GRAY16_BE}");
  caps = gst_pad_peer_query_caps (h->srcpad, NULL);
  expected = gst_caps_from_string ("video/x-raw,format={GRAY8,NV12,NV21,I420,YV12,Y42B,Y444,"
                                   "YUY2,UYVY,RGB,BGR,RGBx,BGRx,xRGB,xBGR,RGBA,BGRA,ARGB,ABGR,"
                                   "GRAY16_LE,GRAY16_BE}");
  fail_unless (gst_caps_can_intersect (caps, expected));
  gst_caps_unref (expected);
  expected = gst_caps_from_string ("video/x-raw,format={RGB16,v210}");
  fail_if (gst_caps_can_intersect (caps, expected));
  gst_caps_unref (expected);
  gst_caps_unref (caps);

  gst_harness_set_src_caps_str (h, "video/x-raw,format=NV12,width=16,height=8,framerate=30/1,"
                                   "pixel-aspect-ratio=4/3,colorimetry=bt601,chroma-site=mpeg2");
  ccl_test_push (h, gst_buffer_new_allocate (NULL, 16 * 12, NULL));
  caps = gst_pad_get_current_caps (h->sinkpad);
  expected = gst_caps_from_string ("video/x-raw,format=RGB,width=16,height=8,framerate=30/1,"
                                   "pixel-aspect-ratio=4/3");
  fail_unless (gst_caps_is_equal (caps, expected), "the caps are %" GST_PTR_FORMAT, caps);
  gst_caps_unref (expected);
  gst_caps_unref (caps);

  /* A format that cclcolor does not make. */
  gst_harness_set_sink_caps_str (h, "video/x-raw,format=NV12");
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new_allocate (NULL, 16 * 12, NULL)),
                          GST_FLOW_NOT_NEGOTIATED);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static GstEvent *
segment_event_new (gdouble rate, guint64 start)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = rate;
  segment.start = segment.time = start;

  return gst_event_new_segment (&segment);
}

/* Flushes and seeks: frames before and after them are equal, and the segment passes unchanged. */
GST_START_TEST (test_flush)
{
  GstHarness *h = color_harness_new (__i__, 10000, &formats[4], PICTURE_WIDTH, PICTURE_HEIGHT);
  CclParams params;
  GstEvent *event;
  guint i;

  ccl_params_init (&params);
  for (i = 1; i < 4; i++) {
    const GstSegment *segment;
    gint64 start;

    check_noise (h, &formats[4], PICTURE_WIDTH, PICTURE_HEIGHT, 20, &params, 10000);
    gst_harness_push_upstream_event (h, gst_event_new_seek (1.0 * i, GST_FORMAT_TIME,
                                                            GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET,
                                                            i * GST_SECOND, GST_SEEK_TYPE_NONE, 0));
    while ((event = gst_harness_try_pull_upstream_event (h)) &&
           GST_EVENT_TYPE (event) != GST_EVENT_SEEK)
      gst_event_unref (event);
    fail_unless (event != NULL, "the seek %u did not pass", i);
    gst_event_parse_seek (event, NULL, NULL, NULL, NULL, &start, NULL, NULL);
    fail_unless_equals_int64 (start, i * GST_SECOND);
    gst_event_unref (event);

    gst_harness_push_event (h, gst_event_new_flush_start ());
    fail_unless_equals_int (gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED)),
                            GST_FLOW_FLUSHING);
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    event = ccl_test_pull_event (h, GST_EVENT_FLUSH_STOP);
    fail_unless (event != NULL);
    gst_event_unref (event);

    gst_harness_push_event (h, segment_event_new (i, i * GST_SECOND));
    event = ccl_test_pull_event (h, GST_EVENT_SEGMENT);
    fail_unless (event != NULL, "the segment %u did not pass", i);
    gst_event_parse_segment (event, &segment);
    fail_unless (segment->rate == i && segment->start == i * GST_SECOND);
    gst_event_unref (event);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* EOS passes once, with nothing after it; a flush restarts the stream. */
GST_START_TEST (test_eos)
{
  GstHarness *h = color_harness_new (__i__, 10000, &formats[8], PICTURE_WIDTH, PICTURE_HEIGHT);
  CclParams params;
  guint i;

  ccl_params_init (&params);
  for (i = 0; i < 2; i++) {
    GstEvent *event;

    check_noise (h, &formats[8], PICTURE_WIDTH, PICTURE_HEIGHT, 20, &params, 10000);
    gst_harness_push_event (h, gst_event_new_eos ());
    event = ccl_test_pull_event (h, GST_EVENT_EOS);
    fail_unless (event != NULL);
    gst_event_unref (event);
    fail_unless_equals_int (gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED)),
                            GST_FLOW_EOS);
    fail_if (gst_harness_try_pull (h) || gst_harness_try_pull_event (h));

    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (h, segment_event_new (1.0, 0));
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cclcolor_suite (void)
{
  Suite *s = suite_create ("cclcolor");
  TCase *tc = tcase_create ("general");
  gint n_backends = (gint) ccl_test_n_backends ();

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_noise, 0, n_backends);
  tcase_add_loop_test (tc, test_layouts, 0, n_backends);
  tcase_add_loop_test (tc, test_pool, 0, n_backends);
  tcase_add_loop_test (tc, test_left_out, 0, n_backends);
  tcase_add_loop_test (tc, test_operations, 0, n_backends);
  tcase_add_loop_test (tc, test_many, 0, n_backends);
  tcase_add_loop_test (tc, test_gaps, 0, n_backends);
  tcase_add_loop_test (tc, test_errors, 0, n_backends);
  tcase_add_loop_test (tc, test_metas, 0, n_backends);
  tcase_add_loop_test (tc, test_caps, 0, n_backends);
  tcase_add_loop_test (tc, test_flush, 0, n_backends);
  tcase_add_loop_test (tc, test_eos, 0, n_backends);

  return s;
}

GST_CHECK_MAIN (cclcolor);
