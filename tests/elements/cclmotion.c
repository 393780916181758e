/* cudaccl - tests of the elements cclmotion and cclmask
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"
#include "tests/lib/sanitizer.h"

#include <gst/base/gstbasetransform.h>
#include <stdlib.h>
#include <string.h>
#ifdef HAVE_MALLINFO2
#include <malloc.h>
#include <unistd.h>
#endif

#define FRAME_WIDTH 96
#define FRAME_HEIGHT 64
#define INTERVAL (40 * GST_MSECOND)

#define SQUARE_Y 20
#define SQUARE_WIDTH 20
#define SQUARE_HEIGHT 16
#define SHADE_WIDTH 52
#define NO_SQUARE -1000

/* Margins around the visible part of a crop. */
#define LEFT 6
#define TOP 4

/* The square's appearance. */
typedef enum
{
  BRIGHT,
  COLOURED, /* chroma alone */
  SHADE,    /* it casts a shadow around and on itself */
  SHADED,   /* a bright square in such a shadow */
} Look;

/* A camera, and the element that sees its frames. */
typedef struct
{
  GstHarness *h;
  const gchar *format;
  Layout layout;
  Look look;
  GstClockTime now, interval;
  gint brightness;
  gint field_shift; /* of the lower field, in pixels */
  gboolean lossy;   /* two of three frames are lost */

  GstClockTime (*stamp) (GstClockTime now); /* the timestamp of a frame; NULL: @now */
  gboolean no_durations;
} Camera;

static void
camera_init (Camera *camera, const gchar *name, const gchar *format)
{
  GstElement *element = gst_element_factory_make (name, NULL);

  fail_unless (element != NULL);
  memset (camera, 0, sizeof (*camera));
  camera->format = format;
  camera->interval = INTERVAL;
  camera->h = ccl_test_harness_new (element, format, FRAME_WIDTH, FRAME_HEIGHT);
}

static gboolean
in_square (gint x, gint y, gint square_x)
{
  return square_x != NO_SQUARE && x >= square_x && x < square_x + SQUARE_WIDTH && y >= SQUARE_Y &&
         y < SQUARE_Y + SQUARE_HEIGHT;
}

static guint8
luma_at (const Camera *camera, gint x, gint y, gint square_x)
{
  gint luma = 100 + camera->brightness + (x / 4 * 5 + y / 4 * 3) % 8;

  if (camera->look == SHADE || (camera->look == SHADED && !in_square (x, y, square_x)))
    return (guint8) (ABS (x - square_x - SQUARE_WIDTH / 2) < SHADE_WIDTH / 2 ? luma * 7 / 10
                                                                             : luma);

  return camera->look != COLOURED && in_square (x, y, square_x) ? 220 : (guint8) luma;
}

static void
draw (const Camera *camera, GstVideoFrame *frame, gint left, gint top, gint square_x)
{
  static const gint8 rgb_offsets[] = { 0, -19, 98, 0 };
  const gboolean rgb = GST_VIDEO_INFO_IS_RGB (&frame->info);
  guint component;
  gint x, y;

  for (component = 0; component < GST_VIDEO_FRAME_N_COMPONENTS (frame); component++) {
    gint w_sub = (gint) GST_VIDEO_FORMAT_INFO_W_SUB (frame->info.finfo, component);
    gint h_sub = (gint) GST_VIDEO_FORMAT_INFO_H_SUB (frame->info.finfo, component);

    for (y = 0; y < FRAME_HEIGHT >> h_sub; y++) {
      guint8 *row = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, component) +
                    (y + (top >> h_sub)) * GST_VIDEO_FRAME_COMP_STRIDE (frame, component);

      for (x = 0; x < FRAME_WIDTH >> w_sub; x++) {
        guint8 *sample =
            row + (x + (left >> w_sub)) * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, component);

        guint8 value =
            camera->look == COLOURED && in_square (x << w_sub, y << h_sub, square_x) ? 60 : 128;

        if (component == GST_VIDEO_COMP_Y || rgb)
          value = luma_at (camera, x, y, y % 2 ? square_x + camera->field_shift : square_x);
        /* GStreamer's offset in P010 (1.22) is that in NV12. */
        if (GST_VIDEO_FRAME_COMP_DEPTH (frame, component) > 8)
          sample += GST_VIDEO_FRAME_COMP_POFFSET (frame, component) % 2;
        ccl_test_write_sample (frame->info.finfo, component, sample, value);
        /* As bright as around it, but for rounding. */
        if (rgb && camera->look == COLOURED && in_square (x, y, square_x))
          *sample += rgb_offsets[component];
      }
    }
  }
}

/* A frame with the square at @square_x; all around it is noise that changes from frame to frame. */
static GstBuffer *
shoot (const Camera *camera, gint square_x)
{
  gboolean crop = camera->layout == LAYOUT_CROP_META;
  GstVideoAlignment align;
  GstVideoFrame frame;
  GstVideoInfo info;
  GstBuffer *buffer;
  GstMapInfo map;
  gsize i;

  gst_video_info_set_format (&info, gst_video_format_from_string (camera->format),
                             FRAME_WIDTH + (crop ? 2 * LEFT : 0),
                             FRAME_HEIGHT + (crop ? 2 * TOP : 0));
  gst_video_alignment_reset (&align);
  if (camera->layout == LAYOUT_PADDED)
    align.padding_right = align.padding_bottom = 8;
  fail_unless (gst_video_info_align (&info, &align));

  buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (i = 0; i < map.size; i++)
    map.data[i] = (guint8) g_random_int ();
  gst_buffer_unmap (buffer, &map);

  if (camera->layout != LAYOUT_PACKED)
    gst_buffer_add_video_meta_full (
        buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (&info),
        (guint) GST_VIDEO_INFO_WIDTH (&info), (guint) GST_VIDEO_INFO_HEIGHT (&info),
        GST_VIDEO_INFO_N_PLANES (&info), info.offset, info.stride);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  draw (camera, &frame, crop ? LEFT : 0, crop ? TOP : 0, square_x);
  gst_video_frame_unmap (&frame);
  if (crop)
    ccl_test_crop (buffer, (guint) GST_VIDEO_INFO_WIDTH (&info),
                   (guint) GST_VIDEO_INFO_HEIGHT (&info), LEFT, TOP, FRAME_WIDTH, FRAME_HEIGHT);

  return buffer;
}

/* Pushes a frame and returns the output. */
static GstBuffer *
push_shot (Camera *camera, gint square_x)
{
  GstBuffer *buffer = shoot (camera, square_x);

  GST_BUFFER_PTS (buffer) = camera->stamp ? camera->stamp (camera->now) : camera->now;
  GST_BUFFER_DURATION (buffer) = camera->no_durations ? GST_CLOCK_TIME_NONE : camera->interval;
  camera->now += camera->interval * (camera->lossy ? (guint) g_random_int_range (1, 6) : 1);
  buffer = gst_harness_push_and_pull (camera->h, buffer);
  fail_unless (buffer != NULL);

  return buffer;
}

/* Pushes a frame; returns the number of components, and the first one, which may be NULL. */
static guint
count (Camera *camera, gint square_x, GstCclComponent *first)
{
  GstBuffer *buffer = push_shot (camera, square_x);
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint n;

  fail_unless (meta != NULL);
  n = meta->n_components;
  if (n > 0 && first)
    *first = meta->components[0];
  gst_buffer_unref (buffer);

  return n;
}

/* Pushes frames without changes for this time. */
static void
wait_for (Camera *camera, GstClockTime time, gint square_x)
{
  GstClockTime end = camera->now + time;

  while (camera->now < end)
    gst_buffer_unref (push_shot (camera, square_x));
}

/* Asserts that the square, and nothing else, is found where it is. */
static void
check_square (Camera *camera, gint square_x, guint tolerance)
{
  GstCclComponent c = { 0 };

  fail_unless_equals_int (count (camera, square_x, &c), 1);
  fail_unless (ABS ((gint) c.x - square_x) <= (gint) tolerance &&
                   ABS ((gint) c.y - SQUARE_Y) <= (gint) tolerance &&
                   ABS ((gint) c.width - SQUARE_WIDTH) <= 2 * (gint) tolerance &&
                   ABS ((gint) c.height - SQUARE_HEIGHT) <= 2 * (gint) tolerance,
               "%s, layout %d: the square at %d is found as %ux%u at (%u, %u)", camera->format,
               (gint) camera->layout, square_x, c.width, c.height, c.x, c.y);
}

static void
check_empty (Camera *camera, gint square_x)
{
  fail_unless_equals_int (count (camera, square_x, NULL), 0);
}

static gboolean
has_property (GstElement *element, const gchar *name)
{
  return g_object_class_find_property (G_OBJECT_GET_CLASS (element), name) != NULL;
}

/* The elements have abstract parents only, and just the properties that mean something for them. */
GST_START_TEST (test_siblings)
{
  static const struct
  {
    const gchar *name;
    gboolean takes_masks;
  } elements[] = {
    { "cudaccl", TRUE }, { "cclcolor", TRUE }, { "cclmotion", FALSE }, { "cclmask", FALSE }
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstElement *element = gst_element_factory_make (elements[i].name, NULL);
    GType type;

    for (type = g_type_parent (G_OBJECT_TYPE (element)); type; type = g_type_parent (type))
      fail_unless (G_TYPE_IS_ABSTRACT (type) || !g_type_is_a (type, GST_TYPE_BASE_TRANSFORM));
    fail_unless (has_property (element, "invert"));
    fail_unless (has_property (element, "threshold") == elements[i].takes_masks);
    fail_unless (has_property (element, "upload") == elements[i].takes_masks);
    fail_unless (has_property (element, "scale") != elements[i].takes_masks);
    fail_unless ((g_signal_lookup ("reset", G_OBJECT_TYPE (element)) == 0) ==
                 elements[i].takes_masks);
    gst_object_unref (element);
  }
}
GST_END_TEST;

/* Every format in every layout. */
GST_START_TEST (test_moving)
{
  static const Layout layouts[] = { LAYOUT_PACKED, LAYOUT_PADDED, LAYOUT_CROP_META };
  guint i, k;
  gint x;

  for (i = 0; picture_formats[i]; i++) {
    Camera camera;

    camera_init (&camera, "cclmotion", picture_formats[i]);
    for (k = 0; k < G_N_ELEMENTS (layouts); k++) {
      camera.layout = layouts[k];
      wait_for (&camera, GST_SECOND, NO_SQUARE);
      check_empty (&camera, NO_SQUARE);
      for (x = 0; x < FRAME_WIDTH - SQUARE_WIDTH; x += 3)
        check_square (&camera, x, 2);
    }
    ccl_test_harness_free (camera.h);
  }
}
GST_END_TEST;

/* A difference in chroma alone is found in colour formats. */
GST_START_TEST (test_chroma)
{
  guint i;

  for (i = 0; picture_formats[i]; i++) {
    Camera camera;

    camera_init (&camera, "cclmotion", picture_formats[i]);
    camera.look = COLOURED;
    wait_for (&camera, GST_SECOND, NO_SQUARE);
    if (g_str_has_prefix (picture_formats[i], "GRAY"))
      check_empty (&camera, 30);
    else
      check_square (&camera, 30, 4);
    ccl_test_harness_free (camera.h);
  }
}
GST_END_TEST;

/* The fields of interlaced frames are one picture; an object that moves has combs at its sides. */
GST_START_TEST (test_interlaced)
{
  static const gchar *const modes[] = { "interleaved", "mixed" };
  GstCaps *caps;
  Camera camera;
  guint i;

  camera_init (&camera, "cclmotion", "NV12");
  for (i = 0; i < G_N_ELEMENTS (modes); i++) {
    caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "NV12", "width", G_TYPE_INT,
                                FRAME_WIDTH, "height", G_TYPE_INT, FRAME_HEIGHT, "framerate",
                                GST_TYPE_FRACTION, 25, 1, "interlace-mode", G_TYPE_STRING, modes[i],
                                NULL);
    gst_harness_set_src_caps (camera.h, caps);
    wait_for (&camera, GST_SECOND, NO_SQUARE);
    camera.field_shift = 3;
    check_square (&camera, 30, 4);
    camera.field_shift = 0;
  }

  caps = gst_caps_from_string ("video/x-raw(format:Interlaced),format=NV12,width=96,height=64,"
                               "framerate=25/1,interlace-mode=alternate");
  fail_if (gst_pad_peer_query_accept_caps (camera.h->srcpad, caps));
  gst_caps_unref (caps);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

/* Still objects become background after the same time at any frame rate, and with lost frames. */
GST_START_TEST (test_standing)
{
  static const struct
  {
    GstClockTime interval;
    gboolean lossy;
  } cameras[] = {
    { INTERVAL / 2, FALSE },
    { INTERVAL, FALSE },
    { 5 * INTERVAL, FALSE },
    { INTERVAL, TRUE },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cameras); i++) {
    Camera camera;

    camera_init (&camera, "cclmotion", "NV12");
    camera.interval = cameras[i].interval;
    camera.lossy = cameras[i].lossy;
    g_object_set (camera.h->element, "learning-time", 4 * GST_SECOND, NULL);
    wait_for (&camera, 12 * GST_SECOND, NO_SQUARE);
    wait_for (&camera, 2 * GST_SECOND, 30);
    check_square (&camera, 30, 2);
    wait_for (&camera, 6 * GST_SECOND, 30);
    check_empty (&camera, 30);
    ccl_test_harness_free (camera.h);
  }
}
GST_END_TEST;

/* When timestamps begin to lie. */
#define LIE_TIME (8 * GST_SECOND)
#define DAY (24 * 3600 * GST_SECOND)
#define WRAP (G_GUINT64_CONSTANT (47721858844444)) /* of RTP timestamps at 90 kHz */

static GstClockTime
no_stamp (GstClockTime now)
{
  return GST_CLOCK_TIME_NONE;
}

static GstClockTime
stamp_every_other (GstClockTime now)
{
  return now / INTERVAL % 2 ? GST_CLOCK_TIME_NONE : now;
}

static GstClockTime
jump_ahead (GstClockTime now)
{
  return now < LIE_TIME ? now : now + DAY;
}

static GstClockTime
jump_back (GstClockTime now)
{
  return now < LIE_TIME ? now + DAY : now;
}

static GstClockTime
jump_both_ways (GstClockTime now)
{
  return now / GST_SECOND == LIE_TIME / GST_SECOND ? now + DAY : now;
}

static GstClockTime
wrap (GstClockTime now)
{
  return (now + WRAP - LIE_TIME) % WRAP;
}

static GstClockTime
go_backwards (GstClockTime now)
{
  return DAY - now;
}

static const struct
{
  const gchar *name;
  GstClockTime (*stamp) (GstClockTime now);
  gboolean no_durations;
  gdouble rate; /* of the segment */
  gboolean lossy;
  guint n_warnings;
} times[] = {
  { "right", NULL, FALSE, 1 },
  { "right, no durations", NULL, TRUE, 1 },
  { "none", no_stamp, FALSE, 1 },
  { "none, no durations", no_stamp, TRUE, 1 },
  { "some", stamp_every_other, FALSE, 1 },
  { "a jump ahead", jump_ahead, FALSE, 1, FALSE, 1 },
  { "a jump back", jump_back, TRUE, 1, FALSE, 1 },
  { "jumps both ways", jump_both_ways, FALSE, 1, FALSE, 1 }, /* one a minute */
  { "wrapped", wrap, FALSE, 1, FALSE, 1 },
  { "dropped frames", NULL, FALSE, 1, TRUE },
  { "backwards", go_backwards, FALSE, -1 },
  { "twice as fast", NULL, FALSE, 2 },
};

/* With any timestamps, an object becomes background when it stood still for the learning time,
 * and others are found. */
GST_START_TEST (test_times)
{
  GstSegment segment;
  Camera camera;
  GstCaps *caps;

  camera_init (&camera, "cclmotion", "NV12");
  caps = gst_pad_get_current_caps (camera.h->srcpad);
  caps = gst_caps_make_writable (caps);
  gst_caps_set_simple (caps, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  gst_harness_set_src_caps (camera.h, caps);
  camera.stamp = times[__i__].stamp;
  camera.no_durations = times[__i__].no_durations;
  camera.lossy = times[__i__].lossy;
  g_object_set (camera.h->element, "learning-time", 4 * GST_SECOND, NULL);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = times[__i__].rate;
  segment.stop = segment.rate < 0 ? DAY : GST_CLOCK_TIME_NONE;
  fail_unless (gst_harness_push_event (camera.h, gst_event_new_segment (&segment)));

  wait_for (&camera, LIE_TIME - 3 * GST_SECOND / 2, NO_SQUARE);
  wait_for (&camera, 3 * GST_SECOND, 30);
  check_square (&camera, 30, 2);
  wait_for (&camera, 3 * GST_SECOND, 30);
  check_empty (&camera, 30);
  wait_for (&camera, 6 * GST_SECOND, NO_SQUARE);
  check_square (&camera, 60, 2);

  fail_unless_equals_int (ccl_test_check_warnings (camera.h, "timestamps of frames jump"),
                          times[__i__].n_warnings);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

/* While the model is frozen, nothing becomes background. */
GST_START_TEST (test_freeze)
{
  Camera camera;

  camera_init (&camera, "cclmotion", "I420");
  g_object_set (camera.h->element, "learning-time", GST_SECOND, NULL);
  wait_for (&camera, 3 * GST_SECOND, NO_SQUARE);
  g_object_set (camera.h->element, "freeze", TRUE, NULL);
  wait_for (&camera, 5 * GST_SECOND, 30);
  check_square (&camera, 30, 2);
  g_object_set (camera.h->element, "freeze", FALSE, NULL);
  wait_for (&camera, 5 * GST_SECOND, 30);
  check_empty (&camera, 30);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

GST_START_TEST (test_warm_up)
{
  Camera camera;

  camera_init (&camera, "cclmotion", "NV12");
  g_object_set (camera.h->element, "warm-up", GST_SECOND, NULL);
  wait_for (&camera, GST_SECOND / 2, NO_SQUARE);
  check_empty (&camera, 30);
  wait_for (&camera, GST_SECOND / 2, NO_SQUARE);
  check_square (&camera, 60, 2);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

/* A change of light has no components; a lasting one starts a new model. */
GST_START_TEST (test_light_change)
{
  Camera camera;

  camera_init (&camera, "cclmotion", "NV12");
  wait_for (&camera, 2 * GST_SECOND, NO_SQUARE);
  camera.brightness = 60;
  check_empty (&camera, NO_SQUARE);
  wait_for (&camera, GST_SECOND, NO_SQUARE);
  check_square (&camera, 30, 2);

  g_object_set (camera.h->element, "light-change", 0, NULL);
  camera.brightness = 120;
  fail_unless (count (&camera, NO_SQUARE, NULL) > 0);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

/* Boxes are in the frame's own pixels. */
GST_START_TEST (test_scale)
{
  static const guint scales[] = { 2, 4 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (scales); i++) {
    Camera camera;

    camera_init (&camera, "cclmotion", "NV12");
    g_object_set (camera.h->element, "scale", scales[i], NULL);
    ccl_test_restart (camera.h, GST_STATE_READY);
    ccl_test_set_caps (camera.h, "NV12", FRAME_WIDTH, FRAME_HEIGHT);
    wait_for (&camera, GST_SECOND, NO_SQUARE);
    check_square (&camera, 32, 2 * scales[i]);
    check_square (&camera, FRAME_WIDTH - SQUARE_WIDTH, 2 * scales[i]);
    ccl_test_harness_free (camera.h);
  }
}
GST_END_TEST;

/* The statistics tell whether lamps flicker. */
GST_START_TEST (test_flicker)
{
  guint i, k;

  for (i = 0; i < 2; i++) {
    Camera camera;

    camera_init (&camera, "cclmotion", "NV12");
    for (k = 0; k < 50; k++) {
      camera.brightness = i == 0 ? 0 : k % 2 ? 10 : -10;
      wait_for (&camera, INTERVAL, NO_SQUARE);
    }
    fail_unless_equals_uint64 (ccl_test_stat (camera.h->element, "starts"), 1);
    fail_unless ((ccl_test_stat (camera.h->element, "flickered") > 20) == (i == 1));
    fail_unless_equals_uint64 (ccl_test_stat (camera.h->element, "aligned"), 0);
    ccl_test_harness_free (camera.h);
  }
}
GST_END_TEST;

/* The model's memory is part of the analyzer's. */
GST_START_TEST (test_model_bytes)
{
  guint64 bytes, model_bytes;
  Camera camera;

  camera_init (&camera, "cclmotion", "NV12");
  wait_for (&camera, GST_SECOND / 5, NO_SQUARE);
  bytes = ccl_test_stat (camera.h->element, "allocated-bytes");
  model_bytes = ccl_test_stat (camera.h->element, "model-bytes");
  fail_unless (model_bytes >= 2 * FRAME_WIDTH * FRAME_HEIGHT && model_bytes < bytes);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

static void
reset (Camera *camera)
{
  g_signal_emit_by_name (camera->h->element, "reset");
}

static void
flush (Camera *camera)
{
  ccl_test_flush (camera->h, shoot (camera, NO_SQUARE));
  camera->now = 0;
}

static void
repeat_caps (Camera *camera)
{
  ccl_test_set_caps (camera->h, camera->format, FRAME_WIDTH, FRAME_HEIGHT);
}

/* As after a seek that does not flush: the next frame is an hour later. */
static void
send_segment (Camera *camera)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  camera->now += 3600 * GST_SECOND;
  segment.start = segment.time = segment.position = camera->now;
  fail_unless (gst_harness_push_event (camera->h, gst_event_new_segment (&segment)));
}

/* Lightning in the segment's first frame does not last for an hour. */
static void
flash_in_new_segment (Camera *camera)
{
  send_segment (camera);
  camera->brightness = 60;
  check_empty (camera, NO_SQUARE);
  camera->brightness = 0;
}

static void
change_caps (Camera *camera)
{
  camera->format = "I420";
  ccl_test_set_caps (camera->h, camera->format, FRAME_WIDTH, FRAME_HEIGHT);
}

static void
stop (Camera *camera)
{
  ccl_test_restart (camera->h, GST_STATE_READY);
  ccl_test_set_caps (camera->h, camera->format, FRAME_WIDTH, FRAME_HEIGHT);
  camera->now = 0;
}

static void
start_stream (Camera *camera)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_harness_push_event (camera->h, gst_event_new_stream_start ("another")));
  fail_unless (gst_harness_push_event (camera->h, gst_event_new_segment (&segment)));
  camera->now = 0;
}

/* For longer than without a jump. */
static void
announce_gap (Camera *camera)
{
  GstClockTime gap = 60 * GST_SECOND;

  fail_unless (gst_harness_push_event (camera->h, gst_event_new_gap (camera->now, gap)));
  camera->now += gap;
}

static void
pause_element (Camera *camera)
{
  fail_unless (gst_element_set_state (camera->h->element, GST_STATE_PAUSED) !=
               GST_STATE_CHANGE_FAILURE);
  fail_unless (gst_element_set_state (camera->h->element, GST_STATE_PLAYING) !=
               GST_STATE_CHANGE_FAILURE);
}

static void
skip_a_minute (Camera *camera)
{
  camera->now += 60 * GST_SECOND;
}

static void
go_back (Camera *camera)
{
  camera->now = 0;
}

static void
send_gap (Camera *camera)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  GST_BUFFER_PTS (buffer) = camera->now;
  camera->now += camera->interval;
  buffer = gst_harness_push_and_pull (camera->h, buffer);
  ccl_test_check_nothing (buffer);
  gst_buffer_unref (buffer);
}

static void
lose_timestamps (Camera *camera)
{
  camera->now = GST_CLOCK_TIME_NONE;
  camera->interval = 0;
}

/* Events that start a new model or not, and whether the element warns about a jump. */
static const struct
{
  void (*happen) (Camera *camera);
  gboolean survives, warns;
} events[] = {
  { reset, FALSE },
  { flush, FALSE },
  { change_caps, FALSE },
  { stop, FALSE },
  { pause_element, TRUE },
  { skip_a_minute, TRUE, TRUE },
  { go_back, TRUE, TRUE },
  { send_gap, TRUE },
  { lose_timestamps, TRUE },
  { repeat_caps, TRUE },
  { send_segment, TRUE, TRUE },
  { flash_in_new_segment, TRUE, TRUE },
  { start_stream, TRUE },
  { announce_gap, TRUE },
};

GST_START_TEST (test_events)
{
  GstMessage *message;
  Camera camera;

  camera_init (&camera, "cclmotion", "NV12");
  wait_for (&camera, 2 * GST_SECOND, NO_SQUARE);
  check_square (&camera, 30, 2);
  events[__i__].happen (&camera);
  if (!events[__i__].survives) {
    check_empty (&camera, 50);
    wait_for (&camera, GST_SECOND, NO_SQUARE);
  }
  check_square (&camera, 50, 2);
  message = ccl_test_pop_message (camera.h, GST_MESSAGE_WARNING);
  fail_unless_equals_int (message != NULL, events[__i__].warns);
  gst_clear_message (&message);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

/* A new model warms up, too. */
GST_START_TEST (test_warm_up_again)
{
  Camera camera;

  camera_init (&camera, "cclmotion", "NV12");
  g_object_set (camera.h->element, "warm-up", GST_SECOND, NULL);
  wait_for (&camera, 2 * GST_SECOND, NO_SQUARE);
  check_square (&camera, 30, 2);
  flush (&camera);
  camera.now = 0;
  wait_for (&camera, GST_SECOND / 2, NO_SQUARE);
  check_empty (&camera, 50);
  wait_for (&camera, GST_SECOND, NO_SQUARE);
  check_square (&camera, 50, 2);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

/* The memory is allocated with the caps. */
GST_START_TEST (test_allocations)
{
  guint64 before;
  Camera camera;

  camera_init (&camera, "cclmotion", "NV12");
  check_empty (&camera, NO_SQUARE);
  before = ccl_test_allocations (camera.h);
  wait_for (&camera, GST_SECOND, 10);
  fail_unless_equals_uint64 (ccl_test_allocations (camera.h), before);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

GST_START_TEST (test_settings)
{
  static const struct
  {
    const gchar *name, *value, *text;
  } wrong[] = {
    { "scale", "3", "1, 2 or 4" },
    { "learning-time", "10", "10, in nanoseconds" }, /* seconds were meant */
    { "learning-time", "86400000000001", "a day" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (wrong); i++) {
    GstElement *element = gst_element_factory_make ("cclmotion", NULL);

    gst_util_set_object_arg (G_OBJECT (element), wrong[i].name, wrong[i].value);
    ccl_test_check_start_fails (element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                                wrong[i].text);
  }
}
GST_END_TEST;

/* The chroma planes are missing. */
GST_START_TEST (test_short_frame)
{
  GstBuffer *buffer;
  Camera camera;

  camera_init (&camera, "cclmotion", "NV12");
  camera.layout = LAYOUT_PADDED;
  buffer = shoot (&camera, NO_SQUARE);
  gst_buffer_set_size (buffer, (gssize) (gst_buffer_get_video_meta (buffer)->offset[1] + 1));
  fail_unless_equals_int (gst_harness_push (camera.h, buffer), GST_FLOW_ERROR);
  ccl_test_check_error (camera.h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "bytes");
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

/* The share of a value in the square of a mask, in percent; @buffer is consumed. */
static guint
share_of (GstBuffer *buffer, guint8 value, gint square_x)
{
  guint n = 0;
  GstMapInfo map;
  gint x, y;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_int (map.size, FRAME_WIDTH * FRAME_HEIGHT);
  for (y = 0; y < FRAME_HEIGHT; y++) {
    for (x = 0; x < FRAME_WIDTH; x++)
      n += in_square (x, y, square_x) && map.data[y * FRAME_WIDTH + x] == value;
  }
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);

  return 100 * n / (SQUARE_WIDTH * SQUARE_HEIGHT);
}

GST_START_TEST (test_masks)
{
  GstBuffer *buffer;
  Camera camera;
  guint scale;

  for (scale = 1; scale <= 4; scale *= 2) {
    camera_init (&camera, "cclmask", "NV12");
    g_object_set (camera.h->element, "scale", scale, NULL);
    ccl_test_restart (camera.h, GST_STATE_READY);
    ccl_test_set_caps (camera.h, "NV12", FRAME_WIDTH, FRAME_HEIGHT);
    wait_for (&camera, 2 * GST_SECOND, NO_SQUARE);
    check_square (&camera, 32, 2 * scale);
    fail_unless (share_of (push_shot (&camera, 32), 255, 32) > 90);
    fail_unless_equals_int (share_of (push_shot (&camera, NO_SQUARE), 0, 32), 100);

    camera.look = SHADE;
    fail_unless (share_of (push_shot (&camera, 32), 0, 32) > 90);
    gst_util_set_object_arg (G_OBJECT (camera.h->element), "shadows", "mark");
    fail_unless (share_of (push_shot (&camera, 32), 127, 32) > 90);
    gst_util_set_object_arg (G_OBJECT (camera.h->element), "shadows", "keep");
    fail_unless (share_of (push_shot (&camera, 32), 255, 32) > 90);

    buffer = gst_buffer_new ();
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
    fail_unless_equals_int (share_of (gst_harness_push_and_pull (camera.h, buffer), 0, 32), 100);
    ccl_test_harness_free (camera.h);
  }
}
GST_END_TEST;

/* Where operations make a shadow foreground, the mask has foreground. */
GST_START_TEST (test_foreground_over_shadows)
{
  const guint in = (SQUARE_Y - 6) * FRAME_WIDTH + 42, out = (SQUARE_Y - 15) * FRAME_WIDTH + 42;
  GstBuffer *buffer;
  GstMapInfo map;
  Camera camera;

  camera_init (&camera, "cclmask", "NV12");
  gst_util_set_object_arg (G_OBJECT (camera.h->element), "shadows", "mark");
  gst_util_set_object_arg (G_OBJECT (camera.h->element), "morphology", "dilate17x17");
  stop (&camera);
  wait_for (&camera, 2 * GST_SECOND, NO_SQUARE);
  camera.look = SHADED;
  buffer = push_shot (&camera, 32);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless_equals_int (map.data[in], 255);
  fail_unless_equals_int (map.data[out], 127);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (camera.h);
}
GST_END_TEST;

#if defined HAVE_MALLINFO2 && !TEST_SANITIZER /* which touch what is allocated */
static gsize
get_resident_pages (void)
{
  gsize pages;
  gchar *text;

  fail_unless (g_file_get_contents ("/proc/self/statm", &text, NULL, NULL));
  pages = strtoul (strchr (text, ' '), NULL, 10);
  g_free (text);

  return pages;
}

/* Caps of large frames cost no memory until a frame comes. */
GST_START_TEST (test_memory)
{
  static const gchar *const names[] = { "cudaccl", "cclcolor", "cclmotion", "cclmask" };
  guint i;

  mallopt (M_PERTURB, 0); /* Meson sets it, and then memory is written when it is allocated */
  mallopt (M_MMAP_THRESHOLD, 1 << 20); /* it grows otherwise, and calloc() clears what was freed */
  for (i = 0; i < G_N_ELEMENTS (names); i++) {
    GstElement *element = gst_element_factory_make (names[i], NULL);
    GstHarness *h;
    gsize before;

    gst_util_set_object_arg (G_OBJECT (element), "backend", "cpu");
    gst_util_set_object_arg (G_OBJECT (element), "morphology", "median3,close5x5,fill");
    h = ccl_test_harness_new (element, "NV12", 320, 240);
    before = get_resident_pages ();
    ccl_test_set_caps (h, "NV12", 16384, 8192);
    fail_unless (get_resident_pages () < before + (16 << 20) / (gsize) sysconf (_SC_PAGESIZE),
                 "%s has %" G_GSIZE_FORMAT " pages more", names[i], get_resident_pages () - before);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;
#endif

static Suite *
cclmotion_suite (void)
{
  Suite *s = suite_create ("cclmotion");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_siblings);
  tcase_add_test (tc, test_moving);
  tcase_add_test (tc, test_chroma);
  tcase_add_test (tc, test_interlaced);
  tcase_add_test (tc, test_standing);
  tcase_add_loop_test (tc, test_times, 0, G_N_ELEMENTS (times));
  tcase_add_test (tc, test_freeze);
  tcase_add_test (tc, test_warm_up);
  tcase_add_test (tc, test_light_change);
  tcase_add_test (tc, test_scale);
  tcase_add_loop_test (tc, test_events, 0, G_N_ELEMENTS (events));
  tcase_add_test (tc, test_flicker);
  tcase_add_test (tc, test_model_bytes);
  tcase_add_test (tc, test_warm_up_again);
  tcase_add_test (tc, test_allocations);
  tcase_add_test (tc, test_settings);
  tcase_add_test (tc, test_short_frame);
  tcase_add_test (tc, test_masks);
  tcase_add_test (tc, test_foreground_over_shadows);
#if defined HAVE_MALLINFO2 && !TEST_SANITIZER
  tcase_add_test (tc, test_memory);
#endif

  return s;
}

GST_CHECK_MAIN (cclmotion);
