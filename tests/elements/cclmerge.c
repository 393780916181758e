/* cudaccl - tests of the element cclmerge: partners, components, pads, errors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"

#include <math.h>
#include <string.h>

#define HALF_FRAME G_MAXUINT

/* The times of frames and gaps, with a "!" for each event, and what the frames of the video get. */
static const struct
{
  const gchar *name;
  gboolean latest;
  guint limit; /* the tolerance, or with mode=latest the maximum age, in milliseconds */
  const gchar *video, *mask, *frames;
  guint lost; /* events */
} cases[] = {
  { "same times", FALSE, HALF_FRAME, "0 1000 2000", "0! 1000!! 2000", "1:1@0 2:2@0,2@0 3" },
  { "same times, exactly", FALSE, 0, "0 1000 2000", "0 1001 2000", "1 0 3" },
  { "every other", FALSE, HALF_FRAME, "0 1000 2000 3000", "0 2000", "1 0 2 0" },
  { "every other, repeated", FALSE, 1000, "0 1000 2000 3000", "0 2000", "1 1 2 2" },
  { "half a frame late", FALSE, HALF_FRAME, "0 1000 2000", "500 1500 2500", "1 1 2" },
  { "more than that", FALSE, HALF_FRAME, "0 2000", "501", "0 0" },
  { "early", FALSE, HALF_FRAME, "1000 2000", "400 501 1600", "2 3" },
  { "more of them", FALSE, HALF_FRAME, "0 1000", "0 200 400 600 800 990", "1 6" },
  { "ends early", FALSE, HALF_FRAME, "0 1000 2000 3000", "0", "1 0 0 0" },
  { "begins late", FALSE, HALF_FRAME, "0 1000 2000 3000", "3000", "0 0 0 1" },
  { "nothing at all", FALSE, HALF_FRAME, "0 1000", "", "0 0" },
  { "continues after the video", FALSE, HALF_FRAME, "0", "0 1000 2000 3000", "1" },
  { "gap", FALSE, HALF_FRAME, "0 1000 2000 3000", "0 1000+2000 3000", "1 0 0 2" },
  { "gap, and something near", FALSE, 900, "0 1000 2000", "0 500+600 1100", "1 2 2" },
  { "gap at the end", FALSE, HALF_FRAME, "0 1000 2000", "0 1000+9000", "1 0 0" },

  { "events of frames between", FALSE, 500, "0 1000", "0! 200! 400 600! 800! 1000!",
    "1:1@0 6:2@800,4@400,5@200,6@0" },
  { "late events", FALSE, 500, "1000 2000", "1200! 2100!!", "1:1@-200 2:2@-100,2@-100" },
  { "one event, four frames", FALSE, 1000, "0 500 1000 2000", "1000!", "1:1@-1000 1 1 1" },
  { "events without partners", FALSE, 0, "0 1000 2000", "10! 990! 2500!", "0 0:1@990,2@10 0", 1 },
  { "events before the video", FALSE, 0, "2000", "0! 1000! 2000!", "3:1@2000,2@1000,3@0" },
  { "events after the video", FALSE, 0, "0", "0! 1000! 2000!!!", "1:1@0", 4 },

  { "latest, same times", TRUE, 0, "0 1000 2000", "0! 1000!! 2000", "1:1@0 2:2@0,2@0 3" },
  { "latest, earlier", TRUE, 0, "0 1000 2000", "0 999 2000", "1 0 3" },
  { "latest, every other", TRUE, 1000, "0 1000 2000 3000 4000", "0 2000", "1 1 2 2 0" },
  { "latest, every third", TRUE, 5000, "0 1000 2000 3000 4000 5000", "0 3000", "1 1 1 2 2 2" },
  { "latest, never a later one", TRUE, 5000, "0 1000 2000", "1 1001 1999", "0 1 3" },
  { "latest, begins late", TRUE, 9000, "0 1000 2000 3000", "2000", "0 0 1 1" },
  { "latest, a gap brings nothing new", TRUE, 2000, "0 1000 2000 3000", "0 1000+2000 3000",
    "1 1 1 2" },
  { "latest, ends early", TRUE, 2000, "0 1000 2000 3000", "0", "1 1 1 0" },
  { "latest, nothing at all", TRUE, 1000, "0 1000", "", "0 0" },
  { "latest, one event, three frames", TRUE, 5000, "0 1000 2000", "0!", "1:1@0 1 1" },
  { "latest, events between", TRUE, 5000, "0 2000", "0! 500! 1000! 2000!",
    "1:1@0 4:2@1500,3@1000,4@0" },
  { "latest, an event too old", TRUE, 100, "0 1000 2000", "0 500! 2000", "1 0:2@500 3" },
  { "latest, a later event", TRUE, 5000, "0 1000", "1! 1001!", "0 1:1@999", 1 },
};

static void
set_limit (Pair *pair, gboolean latest, guint64 limit)
{
  g_object_set (pair->video->element, "mode", latest, latest ? "max-age" : "tolerance", limit,
                NULL);
}

/* Each frame gets the components of its partner, and each event is delivered once or counted as
 * lost. */
GST_START_TEST (test_partners)
{
  guint64 limit = cases[__i__].limit;
  PairBranch video, mask;
  gchar *frames;
  Pair pair;

  pair_branch_parse (&video, cases[__i__].video);
  pair_branch_parse (&mask, cases[__i__].mask);
  pair_init (&pair);
  set_limit (&pair, cases[__i__].latest,
             limit == HALF_FRAME ? GST_CLOCK_TIME_NONE : limit * GST_MSECOND);
  frames = pair_run (&pair, &video, &mask);
  fail_unless (g_str_equal (frames, cases[__i__].frames), "%s: %s, not %s", cases[__i__].name,
               frames, cases[__i__].frames);
  fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "lost-events"), cases[__i__].lost);
  fail_unless_equals_int (ccl_test_count_warnings (pair.video, "after the last frame"),
                          cases[__i__].lost > 0);
  g_free (frames);
  pair_clear (&pair);
}
GST_END_TEST;

/* The partner of a frame as documented: a number from 1 on, or 0 for none. */
static guint
expected_partner (guint time, const PairBranch *mask, gboolean latest, guint limit)
{
  guint i, number = 0, best = 0, best_distance = G_MAXUINT;

  for (i = 0; i < mask->n; i++) {
    const PairItem *item = &mask->items[i];
    guint distance = (guint) ABS ((gint) time - (gint) item->time);

    if (item->gap > 0)
      continue;
    number++;
    if (distance <= limit && distance < best_distance && (!latest || item->time <= time)) {
      best = number;
      best_distance = distance;
    }
  }

  return best;
}

/* Checks that a frame delivers events in their order, and with their ages. */
static void
check_events (const gchar *text, guint time, const guint *times, guint *delivered, guint *last)
{
  while (*text == ':' || *text == ',') {
    gchar *end;
    guint number = (guint) g_ascii_strtoull (text + 1, &end, 10);
    gint age = (gint) g_ascii_strtoll (end + 1, &end, 10);

    fail_unless_equals_int ((gint) time - age, times[number]);
    fail_unless (number >= *last);
    *last = number;
    delivered[number]++;
    text = end;
  }
}

static guint
random_step (GRand *random, guint most)
{
  return (guint) g_rand_int_range (random, 1, (gint32) most);
}

/* Random rates, jitter, gaps and events: frames have the partners documented, and each event is
 * delivered once, by a frame of the right time, or counted as lost. */
GST_START_TEST (test_random)
{
  guint32 seed = __i__ % 2 ? g_random_int () : (guint32) __i__;
  GRand *random = g_rand_new_with_seed (seed);
  gboolean latest = __i__ / 2 % 2;
  guint limit = (guint) g_rand_int_range (random, 0, 120), step = random_step (random, 150) + 1;
  guint times[PAIR_MAX_ITEMS + 1], n_events[PAIR_MAX_ITEMS + 1];
  guint delivered[PAIR_MAX_ITEMS + 1] = { 0 }, time, i, number = 0, last = 0, n_lost = 0;
  PairBranch video = { .n = PAIR_MAX_ITEMS }, mask = { .n = PAIR_MAX_ITEMS };
  gchar *text, **frames, *events;
  Pair pair;

  g_print ("seed %u\n", seed);
  for (i = 0, time = (guint) g_rand_int_range (random, 0, 200); i < video.n; i++) {
    video.items[i].time = time;
    time += random_step (random, 100);
  }
  for (i = 0, time = (guint) g_rand_int_range (random, 0, 300); i < mask.n; i++) {
    guint length = random_step (random, step);

    mask.items[i].time = time;
    if (g_rand_int_range (random, 0, 3) == 0) {
      mask.items[i].gap = length;
    } else {
      mask.items[i].n_events = (guint) g_rand_int_range (random, 0, 3);
      times[++number] = time;
      n_events[number] = mask.items[i].n_events;
    }
    time += length;
  }

  pair_init (&pair);
  set_limit (&pair, latest, limit * GST_MSECOND);
  text = pair_run (&pair, &video, &mask);
  frames = g_strsplit (text, " ", -1);
  for (i = 0; i < video.n; i++) {
    guint partner = (guint) g_ascii_strtoull (frames[i], &events, 10);

    fail_unless_equals_int (partner, expected_partner (video.items[i].time, &mask, latest, limit));
    check_events (events, video.items[i].time, times, delivered, &last);
  }
  for (i = 1; i <= number; i++) {
    fail_unless (delivered[i] == n_events[i] || times[i] > video.items[video.n - 1].time,
                 "frame %u: %u events", i, delivered[i]);
    fail_unless (delivered[i] <= n_events[i]);
    n_lost += n_events[i] - delivered[i];
  }
  fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "lost-events"), n_lost);
  g_strfreev (frames);
  g_free (text);
  pair_clear (&pair);
  g_rand_free (random);
}
GST_END_TEST;

static const GstCclComponent components[] = {
  { 1, 0, 0, 2, 1, 2, 0.1, 0.3 },
  { 2, 63, 47, 1, 1, 1, 63.0, 47.0 },
  { 3, 5, 6, 7, 8, 33, 0.1 + 8.0, 9.0 + 1.0 / 3.0 },
  { 9, 0, 0, 64, 48, 3000, 31.4, 23.7 },
};

/* The components as libgstccl scales them. */
static void
scale (guint width, guint height, GstCclComponent *scaled)
{
  GstBuffer *before = gst_buffer_new (), *after;
  GstCclMeta *meta = gst_buffer_add_ccl_meta (before, MASK_WIDTH, MASK_HEIGHT, 4, components, 4);

  after = ccl_test_scaled_new (before, &meta->meta, MASK_WIDTH, MASK_HEIGHT, width, height);
  memcpy (scaled, gst_buffer_get_ccl_meta (after)->components, 4 * sizeof (*scaled));
  gst_buffer_unref (before);
  gst_buffer_unref (after);
}

static void
check_roi (GstBuffer *buffer, gint id, const GstCclComponent *expected)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, id);
  GstCclComponent component = { 0 };
  GstStructure *param;
  gint tracker;

  fail_unless (roi != NULL, "no region of interest %d", id);
  fail_unless_equals_string (g_quark_to_string (roi->roi_type), "blob");
  component.x = roi->x;
  component.y = roi->y;
  component.width = roi->w;
  component.height = roi->h;

  param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
  fail_unless (param != NULL);
  fail_unless_equals_int (gst_structure_n_fields (param), 5);
  fail_unless_equals_string (gst_structure_get_string (param, "colour"), "red");
  fail_unless (gst_structure_get (param, "label", G_TYPE_UINT, &component.label, "area",
                                  G_TYPE_UINT64, &component.area, "centroid-x", G_TYPE_DOUBLE,
                                  &component.centroid_x, "centroid-y", G_TYPE_DOUBLE,
                                  &component.centroid_y, NULL));
  ccl_test_check_component (&component, expected, 0.0);

  param = gst_video_region_of_interest_meta_get_param (roi, "tracker");
  fail_unless (param && gst_structure_get_int (param, "id", &tracker) && tracker == 7);
}

/* The metadata of a mask; flags. */
enum
{
  KIND_META = 1,
  KIND_ROI = 2,
};

static const guint sizes[][2] = {
  { MASK_WIDTH, MASK_HEIGHT }, { 128, 96 }, { 3840, 2160 }, { 641, 479 }, { 7, 5 }, { 1, 1 }
};

/* Components are scaled from the mask's size to the video's. The video's earlier components are
 * replaced; other elements' metadata stays. */
static void
check_scaling (guint width, guint height, guint kinds)
{
  GstBuffer *mask = empty_mask_new (0), *video = video_new (0);
  GstCclComponent scaled[4], stale = { 1, 0, 0, 1, 1, 1, 0.0, 0.0 };
  gboolean same = width == MASK_WIDTH && height == MASK_HEIGHT;
  GstCclMeta *meta;
  Pair pair;
  guint i;

  pair_init (&pair);
  ccl_test_set_caps (pair.video, "NV12", width, height);
  scale (width, height, scaled);

  gst_buffer_add_video_region_of_interest_meta (mask, "face", 1, 2, 3, 4)->id = 0;
  if (kinds & KIND_META)
    gst_buffer_add_ccl_meta (mask, MASK_WIDTH, MASK_HEIGHT, 11, components, 4);
  for (i = 4; (kinds & KIND_ROI) && i > 0; i--)
    add_roi (mask, "blob", (gint) i + 5, &components[i - 1]);
  gst_buffer_add_ccl_meta (video, width, height, 1, &stale, 1);
  add_roi (video, "stale", 5, &stale);
  gst_buffer_add_video_region_of_interest_meta (video, "face", 5, 6, 7, 8)->id = 77;

  video = pair_merge (&pair, mask, video);
  meta = gst_buffer_get_ccl_meta (video);
  fail_unless_equals_int (meta != NULL, (kinds & KIND_META) != 0);
  if (meta) {
    fail_unless_equals_int (meta->width, width);
    fail_unless_equals_int (meta->height, height);
    fail_unless_equals_int (meta->found, 11);
    fail_unless_equals_int (meta->n_components, 4);
  }
  for (i = 0; i < 4; i++) {
    if (meta)
      ccl_test_check_component (&meta->components[i], same ? &components[i] : &scaled[i], 0.0);
    if (kinds & KIND_ROI)
      check_roi (video, (gint) i, same ? &components[i] : &scaled[i]);
  }
  fail_unless_equals_int (gst_buffer_get_n_meta (video, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
                          (kinds & KIND_ROI) ? 5 : 1);
  fail_unless_equals_int (gst_buffer_get_video_region_of_interest_meta_id (video, 77)->x, 5);

  gst_buffer_unref (video);
  pair_clear (&pair);
}

GST_START_TEST (test_scaling)
{
  guint kinds;

  for (kinds = KIND_META; kinds <= (KIND_META | KIND_ROI); kinds++)
    check_scaling (sizes[__i__][0], sizes[__i__][1], kinds);
}
GST_END_TEST;

/* Both sizes change in mid-stream. */
GST_START_TEST (test_renegotiation)
{
  Pair pair;
  guint i;

  pair_init (&pair);
  for (i = 0; i < 10; i++) {
    guint width = 20 + 13 * i, mask_width = 100 - 7 * i;
    GstCclComponent component = { 1, 0, 0, mask_width, 10, mask_width * 10, 1.0, 1.0 };
    GstBuffer *mask = empty_mask_new (i * GST_SECOND), *out;

    add_roi (mask, "blob", 0, &component);
    ccl_test_set_caps (pair.video, "NV12", width, 40);
    ccl_test_set_caps (pair.mask, "GRAY8", mask_width, 10);
    out = pair_merge (&pair, mask, video_new (i * GST_SECOND));
    fail_unless_equals_int (gst_buffer_get_video_region_of_interest_meta_id (out, 0)->w, width);
    fail_unless_equals_int (gst_buffer_get_video_region_of_interest_meta_id (out, 0)->h, 40);
    gst_buffer_unref (out);
  }
  pair_clear (&pair);
}
GST_END_TEST;

/* Without a frame rate nothing but equal times match by default. */
GST_START_TEST (test_no_rate)
{
  Pair pair;

  pair_init (&pair);
  gst_harness_set_src_caps_str (pair.video, "video/x-raw,format=GRAY8,width=128,height=96");
  gst_harness_push (pair.mask, mask_new (400 * GST_MSECOND, 1));
  gst_harness_push (pair.video, video_new (0));
  gst_harness_push_event (pair.mask, gst_event_new_eos ());
  fail_unless_equals_int (pair_pull_label (&pair, 0), 0);
  pair_clear (&pair);
}
GST_END_TEST;

/* A mask whose lower right was cropped out behind cudaccl: both kinds of metadata are cropped, then
 * scaled.
 * @first is outside and goes; @second keeps its parameters. */
GST_START_TEST (test_later_crop)
{
  static const GstCclComponent first = { 1, 5, 4, 4, 3, 12, 6.5, 5.0 };
  static const GstCclComponent second = { 2, 34, 26, 4, 3, 12, 35.5, 27.0 };
  const GstCclComponent components[] = { first, second };
  GstBuffer *mask = empty_mask_new (0), *out;
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *param;
  GstCclMeta *meta;
  guint label = 0;
  Pair pair;

  pair_init (&pair);
  ccl_test_set_caps (pair.mask, "GRAY8", 32, 24);
  gst_buffer_add_ccl_meta (mask, MASK_WIDTH, MASK_HEIGHT, 2, components, 2);
  add_roi (mask, "blob", 0, &first);
  add_roi (mask, "blob", 1, &second);
  gst_buffer_append_memory (mask, gst_allocator_alloc (NULL, MASK_WIDTH * MASK_HEIGHT, NULL));
  ccl_test_crop (mask, MASK_WIDTH, MASK_HEIGHT, 32, 24, 32, 24);
  out = pair_merge (&pair, mask, video_new (0));

  meta = gst_buffer_get_ccl_meta (out);
  fail_unless (meta && meta->width == VIDEO_WIDTH && meta->n_components == 1);
  fail_unless_equals_int (meta->components[0].label, 2);
  fail_unless_equals_int (meta->components[0].x, 8);
  fail_unless_equals_int (meta->components[0].y, 8);
  fail_unless_equals_int (meta->components[0].width, 16);
  fail_unless_equals_int (meta->components[0].height, 12);

  fail_unless_equals_int (gst_buffer_get_n_meta (out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
                          1);
  roi = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
  fail_unless (roi && roi->x == 8 && roi->y == 8 && roi->w == 16 && roi->h == 12);
  param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
  fail_unless (gst_structure_get_uint (param, "label", &label));
  fail_unless_equals_int (label, 2);

  gst_buffer_unref (out);
  pair_clear (&pair);
}
GST_END_TEST;

/* The buffer is passed through if it gets no components or is not shared. */
GST_START_TEST (test_same_buffer)
{
  GstBuffer *in, *out;
  Pair pair;
  guint i;

  pair_init (&pair);
  for (i = 0; i < 2; i++) {
    in = video_new (i * GST_SECOND);
    out = pair_merge (&pair, i == 0 ? empty_mask_new (0) : mask_new (GST_SECOND, 1), in);
    fail_unless (out == in);
    fail_unless_equals_int (gst_buffer_get_ccl_meta (out) != NULL, i);
    gst_buffer_unref (out);
  }
  pair_clear (&pair);
}
GST_END_TEST;

/* A shared buffer is shallow-copied: the copy has the same memory, even if that is NO_SHARE. */
GST_START_TEST (test_shared_buffer)
{
  GstBuffer *in = video_new (0), *mask = mask_new (0, 3), *out;
  Pair pair;

  pair_init (&pair);
  GST_MINI_OBJECT_FLAG_SET (gst_buffer_peek_memory (in, 0), GST_MEMORY_FLAG_NO_SHARE);
  gst_buffer_add_video_region_of_interest_meta (in, "face", 1, 2, 3, 4)->id = 77;
  out = pair_merge (&pair, gst_buffer_ref (mask), gst_buffer_ref (in));

  fail_unless (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (in, 0));
  fail_unless_equals_int (gst_buffer_get_ccl_meta (out)->n_components, 1);
  fail_unless (gst_buffer_get_video_region_of_interest_meta_id (out, 77) != NULL);
  fail_unless (gst_buffer_get_ccl_meta (in) == NULL);
  fail_unless_equals_int (gst_buffer_get_n_meta (in, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
                          1);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (mask)->components[0].x, 8);

  gst_buffer_unref (out);
  pair_clear (&pair);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (in), 1);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (mask), 1);
  gst_buffer_unref (in);
  gst_buffer_unref (mask);
}
GST_END_TEST;

/* The video's buffer must not return to its pool while its memory is in use downstream; the
 * mask's must, as only its components are needed. */
GST_START_TEST (test_pools)
{
  GstBufferPool *pools[2];
  GstBuffer *buffers[2], *out;
  Pair pair;
  guint i;

  pair_init (&pair);
  for (i = 0; i < 2; i++) {
    pools[i] = ccl_test_pool_new (64, &buffers[i]);
    GST_BUFFER_PTS (buffers[i]) = 0;
  }
  gst_buffer_add_ccl_meta (buffers[1], MASK_WIDTH, MASK_HEIGHT, 0, NULL, 0);

  out = pair_merge (&pair, buffers[1], gst_buffer_ref (buffers[0]));
  fail_unless (gst_buffer_get_ccl_meta (out) != NULL);
  gst_buffer_unref (buffers[0]);
  ccl_test_check_pool (pools[0], FALSE);
  ccl_test_check_pool (pools[1], TRUE);
  gst_buffer_unref (out);
  ccl_test_check_pool (pools[0], TRUE);

  for (i = 0; i < 2; i++) {
    gst_buffer_pool_set_active (pools[i], FALSE);
    gst_object_unref (pools[i]);
  }
  pair_clear (&pair);
}
GST_END_TEST;

/* Without a components pad, frames pass at once. While there is one, linked or not, they wait
 * until it is released. A second one is refused. */
GST_START_TEST (test_pads)
{
  GstHarness *h = gst_harness_new_with_padnames ("cclmerge", "video", "src");
  GstPadTemplate *templ = gst_element_get_pad_template (h->element, "components");
  GstPad *pad, *second;
  GstBuffer *in, *out;
  guint i;

  gst_harness_set_live (h, FALSE);
  ccl_test_set_caps (h, "NV12", VIDEO_WIDTH, VIDEO_HEIGHT);
  for (i = 0; i < 3; i++) {
    in = video_new (i);
    out = gst_harness_push_and_pull (h, in);
    fail_unless (out == in);
    gst_buffer_unref (out);

    pad = gst_element_request_pad_simple (h->element, "components");
    fail_unless (pad != NULL);
    second = gst_element_request_pad (h->element, templ, NULL, NULL);
    fail_unless (second == NULL);
    in = video_new (i);
    gst_harness_push (h, in);
    fail_if (gst_harness_try_pull (h));
    gst_element_release_request_pad (h->element, pad);
    gst_object_unref (pad);
    out = gst_harness_pull (h);
    fail_unless (out == in);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Caps without a frame size are refused with an error that says so. */
GST_START_TEST (test_caps_without_size)
{
  static const gchar *const wrong[] = {
    "video/x-raw,format=NV12,height=96,framerate=1/1",
    "video/x-raw,format=NV12,width=128,framerate=1/1",
    "video/x-raw,format=NV12,width=0,height=96,framerate=1/1",
  };
  Pair pair;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (wrong); i++) {
    pair_init (&pair);
    gst_harness_set_src_caps_str (pair.video, wrong[i]);
    gst_harness_push (pair.video, video_new (0));
    ccl_test_check_error (pair.video, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "size");
    fail_if (gst_harness_try_pull (pair.video));
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Components of a frame whose size is 0 or unknown are dropped; the next ones are not. */
GST_START_TEST (test_mask_without_size)
{
  static const GstCclComponent component = { 1, 8, 6, 4, 3, 12, 9.5, 7.0 };
  Pair pair;
  guint i;

  pair_init (&pair);
  gst_harness_set_src_caps_str (pair.mask, "video/x-raw,format=GRAY8");
  for (i = 0; i < 3; i++) {
    GstBuffer *mask = empty_mask_new (i * GST_SECOND);

    if (i > 0)
      gst_buffer_add_ccl_meta (mask, i == 1 ? 0 : MASK_WIDTH, MASK_HEIGHT, 1, &component, 1);
    add_roi (mask, "blob", 0, &component);
    gst_harness_push (pair.mask, mask);
    pair_push_video (&pair, i * GST_SECOND, i == 2 ? 1 : 0);
  }
  pair_clear (&pair);
}
GST_END_TEST;

static GstFlowReturn
refuse (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);

  return GST_FLOW_ERROR;
}

/* A flow error from downstream reaches both branches. */
GST_START_TEST (test_refusal)
{
  GstFlowReturn ret[2] = { GST_FLOW_OK, GST_FLOW_OK };
  Pair pair;
  guint i;

  pair_init (&pair);
  gst_pad_set_chain_function (pair.video->sinkpad, refuse);
  for (i = 0; i < 100 && (ret[0] == GST_FLOW_OK || ret[1] == GST_FLOW_OK); i++) {
    ret[0] = gst_harness_push (pair.mask, mask_new (i * GST_SECOND, 1));
    ret[1] = gst_harness_push (pair.video, video_new (i * GST_SECOND));
  }
  fail_unless_equals_int (ret[0], GST_FLOW_ERROR);
  fail_unless_equals_int (ret[1], GST_FLOW_ERROR);
  pair_clear (&pair);
}
GST_END_TEST;

/* Segments in bytes have no running time, so frames have no partners. */
GST_START_TEST (test_bytes)
{
  GstSegment segment;
  guint is_mask;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  for (is_mask = 0; is_mask < 2; is_mask++) {
    Pair pair;

    pair_init (&pair);
    gst_harness_push_event (is_mask ? pair.mask : pair.video, gst_event_new_segment (&segment));
    gst_harness_push (pair.mask, mask_new (0, 1));
    gst_harness_push_event (pair.mask, gst_event_new_eos ());
    pair_push_video (&pair, 0, 0);
    pair_clear (&pair);
  }
}
GST_END_TEST;

#define HALF (G_GUINT64_CONSTANT (1) << 62) /* of the largest running time */

/* Running times at the ends of their range: segments' starts, timestamps, and whether they match.
 * Times beyond it match nothing. */
static const struct
{
  guint64 video_start, video, mask_start, mask;
  gboolean match;
} extremes[] = {
  { 0, HALF, 0, HALF, TRUE },
  { 0, HALF + HALF - 1, 0, HALF + HALF - 1, TRUE },
  { 0, HALF + HALF - 2, 0, HALF + HALF - 1, TRUE },
  { 0, HALF + HALF - 1, 0, HALF + HALF - 2, TRUE },
  { HALF + HALF - 1, 0, HALF + HALF - 1, 0, TRUE },
  { HALF + HALF - 1, 0, HALF + HALF - 1, 1, TRUE },
  { 0, HALF, HALF, 0, FALSE }, /* 2^63 apart, which is negative in 64 bits */
  { HALF, 0, 0, HALF, FALSE },
  { HALF + HALF - 1, 0, 0, HALF + HALF - 1, FALSE },
  { 0, HALF + HALF - 1, HALF + HALF - 1, 0, FALSE },
  { 0, HALF + HALF, 0, HALF + HALF, FALSE },
  { 0, G_MAXUINT64 - 1, 0, G_MAXUINT64 - 1, FALSE },
  { G_MAXUINT64 - 1, 0, G_MAXUINT64 - 1, 0, FALSE },
};

GST_START_TEST (test_extreme_timestamps)
{
  guint latest;

  for (latest = 0; latest < 2; latest++) {
    gboolean match =
        extremes[__i__].match && (!latest || extremes[__i__].mask <= extremes[__i__].video);
    Pair pair;

    pair_init (&pair);
    g_object_set (pair.video->element, "mode", latest, "max-age", G_MAXUINT64, NULL);
    ccl_test_push_segment (pair.video, extremes[__i__].video_start, 0);
    ccl_test_push_segment (pair.mask, extremes[__i__].mask_start, 0);
    gst_harness_push (pair.mask, mask_new (extremes[__i__].mask, 7));
    gst_harness_push_event (pair.mask, gst_event_new_gap (G_MAXUINT64 - 2, G_MAXUINT64 - 1));
    gst_harness_push_event (pair.mask, gst_event_new_eos ());
    gst_harness_push (pair.video, video_new (extremes[__i__].video));
    if (!latest || extremes[__i__].match)
      fail_unless_equals_int (pair_pull_label (&pair, extremes[__i__].video), match ? 7 : 0);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* The age of the components' frame is in both kinds of metadata, adds up behind an earlier
 * cclmerge, and survives copies and scaling. */
GST_START_TEST (test_frame_age)
{
  static const gint64 ages[] = { -400, 0, 400 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (ages); i++) {
    const GstClockTime time = 10 * GST_SECOND;
    gint64 age = ages[i] * GST_MSECOND, found = 0;
    GstBuffer *mask = mask_new (time - age, 1), *out, *copy;
    GstVideoRegionOfInterestMeta *roi;
    GstStructure *param;
    Pair pair;

    gst_buffer_get_ccl_meta (mask)->frame_age = 5;
    roi = gst_buffer_get_video_region_of_interest_meta_id (mask, 0);
    param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
    gst_structure_set (param, "frame-age", G_TYPE_INT64, G_GINT64_CONSTANT (5), NULL);
    pair_init (&pair);
    gst_harness_push (pair.mask, mask);
    gst_harness_push_event (pair.mask, gst_event_new_eos ());
    out = gst_harness_push_and_pull (pair.video, video_new (time));
    copy = gst_buffer_copy (out);
    fail_unless_equals_int64 (gst_buffer_get_ccl_meta (copy)->frame_age, age + 5);
    roi = gst_buffer_get_video_region_of_interest_meta_id (out, 0);
    param = gst_video_region_of_interest_meta_get_param (roi, "cudaccl");
    fail_unless (gst_structure_get_int64 (param, "frame-age", &found));
    fail_unless_equals_int64 (found, age + 5);
    gst_buffer_unref (copy);
    gst_buffer_unref (out);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Frames that should have components and have none are counted, and there is a warning for the
 * tenth one and for each thousandth after it; not for those outside of the branch's time. */
GST_START_TEST (test_warnings)
{
  static const struct
  {
    const gchar *mode, *text; /* what the warnings say, NULL for none */
    gboolean eos, gap;
  } cases[] = {
    { "wait", "tolerance", FALSE, FALSE }, { "latest", "max-age", FALSE, FALSE },
    { "wait", NULL, TRUE, FALSE },         { "latest", NULL, TRUE, FALSE },
    { "wait", NULL, FALSE, TRUE },
  };
  GstClockTime end = 5000 * GST_SECOND;
  GstStructure *stats;
  guint64 frames = 0, matched = 0, unmatched = 0, late = 1;
  GstMessage *message;
  guint i, n = 0;
  Pair pair;

  pair_init (&pair);
  gst_util_set_object_arg (G_OBJECT (pair.video->element), "mode", cases[__i__].mode);
  g_object_set (pair.video->element, "max-age", (guint64) 1000, NULL);
  pair_push_partners (&pair, 0, 1);
  if (cases[__i__].gap)
    gst_harness_push_event (pair.mask, gst_event_new_gap (1, end));
  else if (cases[__i__].eos)
    gst_harness_push_event (pair.mask, gst_event_new_eos ());
  else
    gst_harness_push (pair.mask, mask_new (end, 2));
  for (i = 1; i < 1500; i++) {
    pair_push_video (&pair, i * GST_SECOND, 0);
  }

  while ((message = ccl_test_pop_message (pair.video, GST_MESSAGE_WARNING))) {
    GError *error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    if (!strstr (error->message, " jump ")) { /* of the components, to the end */
      fail_unless (cases[__i__].text && strstr (error->message, cases[__i__].text), "%s",
                   error->message);
      fail_unless (strstr (error->message, n == 0 ? "10 of 11 frames" : "1010 of 1011 frames") !=
                       NULL,
                   "%s", error->message);
      n++;
    }
    g_clear_error (&error);
    gst_message_unref (message);
  }
  fail_unless_equals_int (n, cases[__i__].text ? 2 : 0);

  g_object_get (pair.video->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "frames", G_TYPE_UINT64, &frames, "matched", G_TYPE_UINT64,
                                  &matched, "unmatched", G_TYPE_UINT64, &unmatched, "late",
                                  G_TYPE_UINT64, &late, NULL));
  fail_unless_equals_uint64 (frames, 1500);
  fail_unless_equals_uint64 (matched, 1);
  fail_unless_equals_uint64 (unmatched, 1499);
  fail_unless_equals_uint64 (late, 0);
  gst_structure_free (stats);
  pair_clear (&pair);
}
GST_END_TEST;

/* Video metadata that describes no frame: formats without planes, and sizes that differ from the
 * caps. Neither is an error, as pixels are not read. */
GST_START_TEST (test_hostile_video_meta)
{
  static const struct
  {
    GstVideoFormat format;
    guint n_planes, width, height;
  } metas[] = {
    { GST_VIDEO_FORMAT_UNKNOWN, 0, 0, 0 },
    { GST_VIDEO_FORMAT_UNKNOWN, 1, MASK_WIDTH, MASK_HEIGHT },
    { GST_VIDEO_FORMAT_GRAY8, 0, MASK_WIDTH, MASK_HEIGHT },
    { GST_VIDEO_FORMAT_ENCODED, 0, 1, 1 },
    { GST_VIDEO_FORMAT_NV12, 1, G_MAXUINT, G_MAXUINT },
    { GST_VIDEO_FORMAT_GRAY8, 1, MASK_WIDTH, MASK_HEIGHT },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (metas); i++) {
    GstBuffer *frames[2] = { video_new (0), mask_new (0, 3) };
    Pair pair;
    guint k;

    pair_init (&pair);
    for (k = 0; k < 2; k++) {
      GstVideoMeta *meta = gst_buffer_add_video_meta (frames[k], GST_VIDEO_FRAME_FLAG_NONE,
                                                      GST_VIDEO_FORMAT_GRAY8, 8, 8);
      GstVideoCropMeta *crop;

      meta->format = metas[i].format;
      meta->n_planes = metas[i].n_planes;
      meta->width = metas[i].width;
      meta->height = metas[i].height;
      crop = gst_buffer_add_video_crop_meta (frames[k]);
      crop->x = G_MAXINT32;
      crop->width = G_MAXUINT;
      crop->height = 2;
      gst_harness_push (k ? pair.mask : pair.video, gst_buffer_ref (frames[k]));
    }
    gst_buffer_unref (gst_harness_pull (pair.video));
    for (k = 0; k < 2; k++)
      gst_buffer_unref (frames[k]);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Fields of interlaced video have half the height of the caps; components cover the whole frame,
 * so only the caps count. */
GST_START_TEST (test_alternate)
{
  Pair pair;
  GstBuffer *out;

  pair_init (&pair);
  gst_harness_set_src_caps_str (pair.video,
                                "video/x-raw(format:Interlaced),format=NV12,width=128,height=96,"
                                "interlace-mode=alternate,framerate=1/1");
  gst_harness_push (pair.mask, mask_new (0, 3));
  out = gst_harness_push_and_pull (pair.video, video_new (0));
  fail_unless_equals_int (gst_buffer_get_ccl_meta (out)->height, 96);
  gst_buffer_unref (out);
  pair_clear (&pair);
}
GST_END_TEST;

static Suite *
cclmerge_suite (void)
{
  Suite *s = suite_create ("cclmerge");
  TCase *tc;

  tc = tcase_create ("partners");
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_partners, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tc, test_random, 0, 60);
  tcase_add_loop_test (tc, test_scaling, 0, G_N_ELEMENTS (sizes));
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_later_crop);
  tcase_add_test (tc, test_no_rate);

  tc = tcase_create ("buffers");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_same_buffer);
  tcase_add_test (tc, test_shared_buffer);
  tcase_add_test (tc, test_pools);
  tcase_add_test (tc, test_pads);
  tcase_add_test (tc, test_caps_without_size);
  tcase_add_test (tc, test_mask_without_size);
  tcase_add_test (tc, test_refusal);
  tcase_add_test (tc, test_bytes);
  tcase_add_loop_test (tc, test_extreme_timestamps, 0, G_N_ELEMENTS (extremes));
  tcase_add_test (tc, test_frame_age);
  tcase_add_loop_test (tc, test_warnings, 0, 5);
  tcase_add_test (tc, test_hostile_video_meta);
  tcase_add_test (tc, test_alternate);

  return s;
}

GST_CHECK_MAIN (cclmerge);
