/* cudaccl - tests of all elements with neighbours that break the rules
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <string.h>

static GstHarness *
hostile_new (const gchar *line, const gchar *format)
{
  GstElement *element = ccl_test_parse ("%s", line);

  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "backend"))
    gst_util_set_object_arg (G_OBJECT (element), "backend", "cpu");

  return ccl_test_harness_new (element, format, PICTURE_WIDTH, PICTURE_HEIGHT);
}

/* Pixels without the padding of rows, which may have any value; all bytes if it is not video. */
static GBytes *
get_bytes (GstHarness *h, GstBuffer *buffer)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
  GByteArray *bytes = g_byte_array_new ();
  GstVideoFrame frame;
  GstVideoInfo info;
  GstMapInfo map;

  if (gst_video_info_from_caps (&info, caps)) {
    fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
    for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (&frame); c++)
      for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (&frame, c); y++)
        for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (&frame, c); x++)
          g_byte_array_append (bytes,
                               (guint8 *) GST_VIDEO_FRAME_COMP_DATA (&frame, c) +
                                   y * GST_VIDEO_FRAME_COMP_STRIDE (&frame, c) +
                                   x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, c),
                               (GST_VIDEO_FRAME_COMP_DEPTH (&frame, c) + 7u) / 8);
    gst_video_frame_unmap (&frame);
  } else {
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    g_byte_array_append (bytes, map.data, (guint) map.size);
    gst_buffer_unmap (buffer, &map);
  }
  gst_caps_unref (caps);

  return g_byte_array_free_to_bytes (bytes);
}

/* The element's output for the picture, without the number and time of day of ccljson's lines. */
static GBytes *
push_frame (GstHarness *h, const gchar *format)
{
  GstBuffer *buffer = ccl_test_picture_new (format, LAYOUT_PACKED);
  const gchar *text, *start;
  GBytes *bytes;
  gsize size;

  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  buffer = gst_harness_pull (h);
  bytes = get_bytes (h, buffer);
  gst_buffer_unref (buffer);
  text = g_bytes_get_data (bytes, &size);
  start = g_strstr_len (text, (gssize) size, "\"timestamp\"");
  if (start) {
    GBytes *whole = bytes;

    bytes = g_bytes_new_from_bytes (whole, (gsize) (start - text), size - (gsize) (start - text));
    g_bytes_unref (whole);
  }

  return bytes;
}

/* Caps that an element refuses, and what it says. */
static const struct
{
  const gchar *element, *output, *caps, *text;
} refused[] = {
  { "cclcolor", "video/x-raw,format=RGB",
    "video/x-raw,format=GRAY8,width=65535,height=65535,framerate=1/1", "smaller frames" },
  { "cclcolor", "video/x-raw,format=RGBA",
    "video/x-raw,format=GRAY8,width=600000000,height=1,framerate=1/1", "smaller frames" },
  { "cclcolor", "video/x-raw,format=GRAY16_BE",
    "video/x-raw,format=GRAY8,width=65536,height=65536,framerate=1/1", "smaller frames" },
  { "cclmask", NULL, "video/x-raw,format=GRAY8,width=1,height=2147483647,framerate=1/1",
    "smaller frames" },
  { "cclmotion", NULL, "video/x-raw,format=GRAY8,width=65536,height=65536,framerate=1/1", "65536" },
  { "cudaccl", NULL, "video/x-raw,format=GRAY8,width=65536,height=65536,framerate=1/1", "65536" },
  { "ccljson", NULL, "video/x-raw,format=GRAY8,width=2000,framerate=1/1", "frame size" },
#ifdef HAVE_OVERLAY
  { "ccloverlay", NULL, "video/x-raw,format=GRAY8,width=2000,framerate=1/1", "frame size" },
  { "ccloverlay", NULL, "video/x-raw,format=GRAY8,width=1,height=40000,framerate=1/1",
    "smaller frames" },
#endif
  { "ccltrack", NULL, "video/x-raw,format=GRAY8,width=2000,framerate=1/1", "frame size" },
  { "cclzones", NULL, "video/x-raw,format=GRAY8,width=2000,framerate=1/1", "frame size" },
  /* One field per buffer. */
  { "cudaccl", NULL,
    "video/x-raw,format=GRAY8,width=13,height=7,interlace-mode=alternate,framerate=1/1",
    "Deinterlace" },
  { "cclcolor", "video/x-raw,format=RGB",
    "video/x-raw,format=GRAY8,width=13,height=7,interlace-mode=alternate,framerate=1/1",
    "Deinterlace" },
  { "cclmask", NULL,
    "video/x-raw,format=GRAY8,width=13,height=7,interlace-mode=alternate,framerate=1/1",
    "Deinterlace" },
};

/* GstBaseTransform does not set the old caps again: the element must still go by them. Downstream
 * takes no GstVideoMeta, so the frames are of the size that the element expects. */
GST_START_TEST (test_refused_caps)
{
  GstHarness *h;
  GBytes *before, *after;
  GstCaps *old, *caps;

  GST_INFO ("%s: %s", refused[__i__].element, refused[__i__].caps);
  h = hostile_new (refused[__i__].element, "GRAY8");
  if (refused[__i__].output)
    gst_harness_set_sink_caps_str (h, refused[__i__].output);
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (h->element), "empty-frames"))
    g_object_set (h->element, "empty-frames", TRUE, NULL);
  before = push_frame (h, "GRAY8");

  old = gst_pad_get_current_caps (h->srcpad);
  caps = gst_caps_from_string (refused[__i__].caps);
  fail_if (ccl_test_send_caps (h, caps));
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, refused[__i__].text);
  fail_unless (ccl_test_send_caps (h, old));
  after = push_frame (h, "GRAY8");
  fail_unless (g_bytes_equal (before, after), "the output differs from that before");
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR));

  gst_caps_unref (caps);
  gst_caps_unref (old);
  g_bytes_unref (before);
  g_bytes_unref (after);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The same after caps for which memory does not suffice, in any step of setting them. */
GST_START_TEST (test_no_memory)
{
  static const gchar *const elements[] = { "cudaccl", "cclmotion", "cclmask", "cclcolor" };
  GstCaps *caps = gst_caps_from_string ("video/x-raw,format=GRAY8,width=4000,height=3000,"
                                        "framerate=1/1");
  GstHarness *h = hostile_new (elements[__i__], "GRAY8");
  guint megabytes, n_refused = 0;
  gboolean taken = FALSE;
  GstCaps *old;

  gst_harness_set_sink_caps_str (h, __i__ == 3 ? "video/x-raw,format=RGB" : "video/x-raw");
  g_bytes_unref (push_frame (h, "GRAY8"));
  old = gst_pad_get_current_caps (h->srcpad);
  for (megabytes = 8; !taken; megabytes += megabytes / 4) {
    if (!ccl_test_limit_memory ((gsize) megabytes << 20))
      break;
    taken = ccl_test_send_caps (h, caps);
    n_refused += !taken;
    ccl_test_unlimit_memory ();
    fail_unless (ccl_test_send_caps (h, old));
    g_bytes_unref (push_frame (h, "GRAY8"));
  }
  fail_unless (megabytes == 8 || n_refused > 0);

  gst_caps_unref (caps);
  gst_caps_unref (old);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The fault of a frame of 13x7 pixels in I420. */
typedef enum
{
  NO_FORMAT,
  OTHER_FORMAT,
  NO_SUCH_FORMAT,
  NO_PLANES,
  TOO_MANY_PLANES,
  SHORT_STRIDE,
  LONG_STRIDE,
  NEGATIVE_STRIDE,
  NEGATIVE_OFFSET,
  PAST_THE_END,
  CROP_FAR_RIGHT,
  CROP_WRAPS,
  N_FAULTS
} Fault;

static const gchar *const fault_names[] = {
  "no format",     "another format", "no such format", "no planes",
  "five planes",   "a short stride", "a long stride",  "a negative stride",
  "offset 2^64-1", "past the end",   "crop far right", "crop wraps around",
};

static void
add_fault (GstBuffer *buffer, Fault fault)
{
  GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  GstVideoCropMeta *crop;

  switch (fault) {
  case NO_FORMAT:
    meta->format = GST_VIDEO_FORMAT_UNKNOWN;
    break;
  case OTHER_FORMAT:
    meta->format = GST_VIDEO_FORMAT_RGB16;
    break;
  case NO_SUCH_FORMAT:
    meta->format = (GstVideoFormat) 99999;
    break;
  case NO_PLANES:
    meta->n_planes = 0;
    break;
  case TOO_MANY_PLANES:
    meta->n_planes = GST_VIDEO_MAX_PLANES + 1;
    break;
  case SHORT_STRIDE:
    meta->stride[0] = 12;
    break;
  case LONG_STRIDE:
    meta->stride[0] = G_MAXINT;
    break;
  case NEGATIVE_STRIDE:
    meta->stride[0] = G_MININT;
    break;
  case NEGATIVE_OFFSET:
    meta->offset[0] = G_MAXSIZE;
    break;
  case PAST_THE_END:
    meta->offset[0] = gst_buffer_get_size (buffer) - 1;
    break;
  case CROP_FAR_RIGHT:
  case CROP_WRAPS:
    crop = gst_buffer_add_video_crop_meta (buffer);
    crop->x = fault == CROP_WRAPS ? G_MAXUINT - 2 : 2147483500;
    crop->y = fault == CROP_WRAPS ? G_MAXUINT : 0;
    crop->width = 2147483600;
    crop->height = 2147483600;
    break;
  case N_FAULTS:
    g_assert_not_reached ();
  }
}

/* Every element that reads pixels refuses such frames with an error about the format, and takes the
 * next good one. */
GST_START_TEST (test_faulty_frames)
{
  static const gchar *const elements[] = { "cudaccl", "cclcolor", "cclmotion", "cclmask" };
  const gchar *name = elements[__i__];
  GstHarness *h = hostile_new (name, "I420");
  guint fault;

  for (fault = 0; fault < N_FAULTS; fault++) {
    GstBuffer *buffer = ccl_test_picture_new ("I420", LAYOUT_PADDED);

    add_fault (buffer, (Fault) fault);
    fail_unless (gst_harness_push (h, buffer) == GST_FLOW_ERROR, "%s took a frame with %s", name,
                 fault_names[fault]);
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "frame");
    g_bytes_unref (push_frame (h, "I420"));
    fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR));
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Only the model reads chroma. */
GST_START_TEST (test_faulty_chroma)
{
  GstHarness *h = hostile_new ("cclmotion", "I420");
  guint i;

  for (i = 0; i < 4; i++) {
    GstBuffer *buffer = ccl_test_picture_new ("I420", LAYOUT_PADDED);
    GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

    switch (i) {
    case 0:
      meta->n_planes = 2;
      break;
    case 1:
      meta->offset[2] = gst_buffer_get_size (buffer) - 4;
      break;
    case 2:
      meta->stride[1] = 6;
      break;
    default:
      meta->stride[2] = G_MAXINT;
      break;
    }
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "frame");
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

#define TARGET_SIZE (7 * 40)

/* Metadata of a pool of downstream, whose memory is as small as the caps allow. */
typedef struct
{
  GstVideoFormat format;
  guint width, height, n_planes;
  gint stride;
  gsize offset;
  gboolean good;
} Target;

static const Target targets[] = {
  { GST_VIDEO_FORMAT_RGB, 13, 7, 1, 40, 0, TRUE },
  { GST_VIDEO_FORMAT_RGB, 13, 7, 1, 39, 7, TRUE },
  { GST_VIDEO_FORMAT_RGB, 4000, 4000, 1, 40, 0, TRUE }, /* only the frame is written */
  { GST_VIDEO_FORMAT_RGB, 12, 7, 1, 40, 0, FALSE },
  { GST_VIDEO_FORMAT_RGB, 13, 6, 1, 40, 0, FALSE },
  { GST_VIDEO_FORMAT_RGB, 13, 7, 1, 38, 0, FALSE },
  { GST_VIDEO_FORMAT_RGB, 13, 7, 1, 47, 0, FALSE },
  { GST_VIDEO_FORMAT_RGB, 13, 7, 1, G_MAXINT, 0, FALSE },
  { GST_VIDEO_FORMAT_RGB, 13, 7, 1, -40, 240, FALSE },
  { GST_VIDEO_FORMAT_RGB, 13, 7, 1, 40, 2, FALSE },
  { GST_VIDEO_FORMAT_RGB, 13, 7, 1, 40, G_MAXSIZE, FALSE },
  { GST_VIDEO_FORMAT_RGB, 13, 7, 0, 40, 0, FALSE },
  { GST_VIDEO_FORMAT_RGBA, 13, 7, 1, 52, 0, FALSE },
  { GST_VIDEO_FORMAT_UNKNOWN, 13, 7, 1, 40, 0, FALSE },
};

typedef struct
{
  GstBufferPool parent;

  const Target *target;
} TargetPool;

typedef GstBufferPoolClass TargetPoolClass;

static GType target_pool_get_type (void);
G_DEFINE_TYPE (TargetPool, target_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn
target_pool_alloc_buffer (GstBufferPool *pool, GstBuffer **buffer,
                          GstBufferPoolAcquireParams *params)
{
  const Target *target = ((TargetPool *) pool)->target;
  GstVideoMeta *meta;

  *buffer = gst_buffer_new_wrapped (g_malloc0 (TARGET_SIZE), TARGET_SIZE);
  meta =
      gst_buffer_add_video_meta (*buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_RGB, 13, 7);
  meta->format = target->format;
  meta->width = target->width;
  meta->height = target->height;
  meta->n_planes = target->n_planes;
  meta->stride[0] = target->stride;
  meta->offset[0] = target->offset;

  return GST_FLOW_OK;
}

static void
target_pool_class_init (TargetPoolClass *klass)
{
  klass->alloc_buffer = target_pool_alloc_buffer;
}

static void
target_pool_init (TargetPool *pool)
{
}

static GstPadProbeReturn
offer_target (GstPad *pad, GstPadProbeInfo *info, gpointer target)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY (info);
  TargetPool *pool;

  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;

  pool = g_object_new (target_pool_get_type (), NULL);
  pool->target = target;
  gst_query_add_allocation_pool (query, GST_BUFFER_POOL (pool), TARGET_SIZE, 0, 0);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_object_unref (pool);

  return GST_PAD_PROBE_HANDLED;
}

GST_START_TEST (test_faulty_targets)
{
  GstHarness *h = hostile_new ("cclcolor", "GRAY8");
  const Target *target = &targets[__i__];
  GstBuffer *buffer;

  gst_harness_set_sink_caps_str (h, "video/x-raw,format=RGB");
  gst_pad_add_probe (h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_target,
                     (gpointer) target, NULL);
  ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
  fail_unless_equals_int (gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED)),
                          target->good ? GST_FLOW_OK : GST_FLOW_ERROR);
  buffer = gst_harness_try_pull (h);
  fail_unless_equals_int (buffer != NULL, target->good);
  if (!buffer)
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "frame");
  gst_clear_buffer (&buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Splits the memory of @buffer in three, and keeps its metadata. */
static void
split_memory (GstBuffer *buffer, gsize first, gsize second)
{
  GstMemory *all = gst_buffer_get_all_memory (buffer);
  gsize at[] = { 0, first, second, gst_memory_get_sizes (all, NULL, NULL) };
  GstMapInfo map;
  guint i;

  fail_unless (gst_memory_map (all, &map, GST_MAP_READ));
  gst_buffer_remove_all_memory (buffer);
  for (i = 0; i < 3; i++) {
    gsize size = at[i + 1] - at[i];
    gpointer part = g_memdup2 (map.data + at[i], size);

    gst_buffer_append_memory (buffer, gst_memory_new_wrapped (GST_MEMORY_FLAG_READONLY, part, size,
                                                              0, size, part, g_free));
  }
  gst_memory_unmap (all, &map);
  gst_memory_unref (all);
}

/* Planes that span several memories, in every layout; the memories stay as they are. */
GST_START_TEST (test_split_memory)
{
  static const gchar *const elements[] = { "cudaccl", "cclmotion", "cclcolor" };
  static const gchar *const formats[] = { "GRAY8", "NV12", "I420" };
  guint i, layout, at;

  for (i = 0; i < G_N_ELEMENTS (formats); i++) {
    GstHarness *h = hostile_new (elements[__i__], formats[i]);

    for (layout = 0; layout < N_LAYOUTS; layout++) {
      for (at = 1; at < 100; at += 7) {
        GstBuffer *buffer = ccl_test_picture_new (formats[i], layout);
        GstMemory *memories[3];
        guint k;

        split_memory (buffer, at, (at + gst_buffer_get_size (buffer)) / 2);
        for (k = 0; k < 3; k++)
          memories[k] = gst_buffer_peek_memory (buffer, k);
        buffer = gst_harness_push_and_pull (h, buffer);
        fail_unless (buffer != NULL, "%s in layout %u, split at %u", formats[i], layout, at);
        if (__i__ != 1)
          ccl_test_check_picture (buffer);
        for (k = 0; k < 3 && __i__ != 2; k++)
          fail_unless (gst_buffer_n_memory (buffer) == 3 &&
                           gst_buffer_peek_memory (buffer, k) == memories[k],
                       "the buffer does not have its memory any more");
        gst_buffer_unref (buffer);
      }
    }
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

static const guint odd_numbers[] = {
  0, 1, 12, 13, 14, G_MAXINT - 1, G_MAXINT, 1u << 31, G_MAXUINT
};

static guint
odd_number (GRand *random)
{
  return odd_numbers[g_rand_int_range (random, 0, G_N_ELEMENTS (odd_numbers))];
}

static gdouble
odd_double (GRand *random)
{
  static const gdouble numbers[] = { 0.0, -1.0, 6.5, G_MAXDOUBLE, -G_MAXDOUBLE, G_MINDOUBLE };

  return numbers[g_rand_int_range (random, 0, G_N_ELEMENTS (numbers))];
}

static void
add_odd_component (GstBuffer *buffer, GRand *random)
{
  GstCclComponent components[3];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (components); i++)
    components[i] = (GstCclComponent){
      .label = odd_number (random),
      .x = odd_number (random),
      .y = odd_number (random),
      .width = odd_number (random),
      .height = odd_number (random),
      .area = (guint64) odd_number (random) << g_rand_int_range (random, 0, 33),
      .centroid_x = odd_double (random),
      .centroid_y = odd_double (random),
      .track = odd_number (random),
      .age = odd_number (random),
      .velocity_x = odd_double (random),
      .velocity_y = odd_double (random),
    };
  gst_buffer_add_ccl_meta (buffer, odd_number (random), odd_number (random), G_MAXUINT, components,
                           g_rand_int_range (random, 0, 4));
}

static void
add_odd_region (GstBuffer *buffer, GRand *random)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
      buffer, "odd", odd_number (random), odd_number (random), odd_number (random),
      odd_number (random));

  roi->id = (gint) odd_number (random);
  if (g_rand_boolean (random))
    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("cudaccl", "label", G_TYPE_UINT, odd_number (random), "area",
                                G_TYPE_UINT64, G_MAXUINT64, "centroid-x", G_TYPE_DOUBLE,
                                odd_double (random), "centroid-y", G_TYPE_STRING, "right", NULL));
}

/* Components that no analysis finds: elements that read only metadata neither crash nor warn. The
 * undefined-behaviour sanitizer sees more. */
GST_START_TEST (test_odd_components)
{
  static const gchar *const elements[] = { "ccltrack", "cclzones", "cudaccl", "ccljson" };
  guint32 seed = g_random_int ();
  GRand *random = g_rand_new_with_seed (seed);
  GstHarness *h = hostile_new (elements[__i__], "GRAY8");
  guint i, k;

  g_print ("%s: seed %u\n", elements[__i__], seed);
  if (g_str_equal (elements[__i__], "cclzones"))
    g_object_set (h->element, "zones", "a: 0,0 1,0 1,1", NULL);

  for (i = 0; i < 2000; i++) {
    GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PADDED);

    GST_BUFFER_PTS (buffer) = i * GST_MSECOND;
    if (g_rand_boolean (random))
      add_odd_component (buffer, random);
    for (k = 0; k < 3; k++) {
      if (g_rand_boolean (random))
        add_odd_region (buffer, random);
    }
    gst_harness_push (h, buffer);
    ccl_test_drain (h);
    while ((buffer = gst_harness_try_pull (h)))
      gst_buffer_unref (buffer);
  }
  g_rand_free (random);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cclhostile_suite (void)
{
  Suite *s = suite_create ("cclhostile");
  TCase *tc = tcase_create ("neighbours");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_refused_caps, 0, G_N_ELEMENTS (refused));
  tcase_add_loop_test (tc, test_no_memory, 0, 4);
  tcase_add_loop_test (tc, test_faulty_frames, 0, 4);
  tcase_add_test (tc, test_faulty_chroma);
  tcase_add_loop_test (tc, test_faulty_targets, 0, G_N_ELEMENTS (targets));
  tcase_add_loop_test (tc, test_split_memory, 0, 3);
#ifdef HAVE_JSON_GLIB
  tcase_add_loop_test (tc, test_odd_components, 0, 4);
#else
  tcase_add_loop_test (tc, test_odd_components, 0, 3);
#endif

  return s;
}

GST_CHECK_MAIN (cclhostile);
