/* cudaccl - long runs: frames through all elements, whose size changes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/soak/soak.h"

#include <string.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#define SAME_SIZE 250 /* frames of each chain, at most */
#define SAMPLES 16    /* of memory, at least */
#define OBJECTS 5

static const struct
{
  const gchar *launch, *format;
} chains[] = {
  { "cudaccl name=b max-components=64 morphology=median3,fill ! ccltrack min-persistence=0 ! "
    "cclzones zones=\"a: 0,0 0.5,0 0.5,1 0,1\" tripwires=\"0.5,0 0.5,1\" ! ccljson",
    "GRAY8" },
  { "cclmotion min-area=4 ! ccltrack ! ccloverlay draw=boxes+centroids+labels+areas+tracks",
    "I420" },
  { "cclcolor name=b post-messages=true", "GRAY8" },
  { "cclmask shadows=mark scale=2", "NV12" },
};

static const guint sizes[][2] = { { 96, 54 },   { 160, 90 }, { 64, 48 },
                                  { 192, 108 }, { 97, 31 },  { 128, 96 } };

/* A frame of noise in which squares move. */
static GstBuffer *
draw (const GstVideoInfo *info, guint64 index)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, info->size, NULL);
  guint width = (guint) info->width, height = (guint) info->height, i, y;
  gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
  GstMapInfo map;

  gst_buffer_map (buffer, &map, GST_MAP_WRITE);
  memset (map.data, 60, map.size);
  for (i = 0; i < 20; i++)
    map.data[soak_random ((guint32) map.size)] = (guint8) soak_random (256);
  for (i = 0; i < OBJECTS; i++) {
    guint side = 6 + i, x = (guint) ((index * (i + 1) + i * 37) % (width - side));
    guint top = (guint) ((index / 2 + i * 11) % (height - side));

    for (y = top; y < top + side; y++)
      memset (map.data + y * (guint) stride + x, 200, side);
  }
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = index * (GST_SECOND / 25);
  GST_BUFFER_DURATION (buffer) = GST_SECOND / 25;

  return buffer;
}

static GstHarness *
chain_new (const SoakOptions *options, guint chain)
{
  GstHarness *h = gst_harness_new_parse (chains[chain].launch);
  GstElement *analyzer = gst_bin_get_by_name (GST_BIN (h->element), "b");

  if (analyzer) {
    gst_util_set_object_arg (G_OBJECT (analyzer), "backend", options->backend);
    gst_object_unref (analyzer);
  }

  return h;
}

/* Pushes frames of one size. */
static gboolean
push (GstHarness *h, guint chain, const guint *size, guint64 *index, guint64 n)
{
  GstVideoInfo info;
  guint64 i;

  gst_video_info_set_format (&info, gst_video_format_from_string (chains[chain].format), size[0],
                             size[1]);
  info.fps_n = 25;
  gst_harness_set_src_caps (h, gst_video_info_to_caps (&info));
  for (i = 0; i < n; i++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, draw (&info, (*index)++));
    GstEvent *event;

    if (!buffer) {
      g_printerr ("frames: no frame from %s\n", chains[chain].launch);
      return FALSE;
    }
    gst_buffer_unref (buffer);
    while ((event = gst_harness_try_pull_event (h)))
      gst_event_unref (event);
    while ((event = gst_harness_try_pull_upstream_event (h)))
      gst_event_unref (event);
  }

  return TRUE;
}

gboolean
soak_frames (const SoakOptions *options)
{
  GstHarness *h[G_N_ELEMENTS (chains)];
  guint64 index[G_N_ELEMENTS (chains)] = { 0 }, left = options->frames;
  guint64 same = left / (G_N_ELEMENTS (chains) * G_N_ELEMENTS (sizes) * SAMPLES);
  gboolean ok = TRUE;
  SoakWatch watch;
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (chains); i++)
    h[i] = chain_new (options, i);
  same = CLAMP (same, 1, SAME_SIZE);
  soak_watch_init (&watch, "frames");
  /* A sample after each round of sizes. */
  while (ok && left > 0) {
    for (k = 0; ok && left > 0 && k < G_N_ELEMENTS (sizes); k++)
      for (i = 0; ok && left > 0 && i < G_N_ELEMENTS (chains); i++) {
        guint64 n = MIN (left, same);

        ok = push (h[i], i, sizes[k], &index[i], n);
        left -= n;
      }
    if (k == G_N_ELEMENTS (sizes) && i == G_N_ELEMENTS (chains))
      soak_watch_sample (&watch);
  }
  for (i = 0; i < G_N_ELEMENTS (chains); i++)
    gst_harness_teardown (h[i]);

  return soak_watch_report (&watch, options->frames, "frames") && ok;
}
