/* cudaccl - fuzzing: ccloverlay with hostile metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames of any format and size, with components, crops and strides that a broken element or
 * another process may attach. They are drawn into the pixels, which must not overflow, or attached.
 */

#include "tests/fuzz/elements.h"
#include "tests/fuzz/metas.h"

#include <string.h>

#define MOST_FRAMES 4

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_gst_init ();

  return 0;
}

/* Maps each rectangle to draw, as a sink does. */
static void
check_composition (gpointer data, GstBuffer *buffer)
{
  GstVideoOverlayCompositionMeta *meta = gst_buffer_get_video_overlay_composition_meta (buffer);
  guint n = meta ? gst_video_overlay_composition_n_rectangles (meta->overlay) : 0, i;

  for (i = 0; i < n; i++) {
    GstVideoOverlayRectangle *rectangle =
        gst_video_overlay_composition_get_rectangle (meta->overlay, i);
    gint x, y;
    guint width, height;

    fuzz_check (
        gst_video_overlay_rectangle_get_render_rectangle (rectangle, &x, &y, &width, &height),
        "a rectangle without a place");
    fuzz_check (gst_video_overlay_rectangle_get_pixels_unscaled_argb (
                    rectangle, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE) != NULL,
                "a rectangle without pixels");
  }
}

static void
set_properties (FuzzInput *input, GstElement *element)
{
  guint draw = fuzz_u32 (input);

  g_object_set (element, "draw", draw & 4095, "color-by-class", draw >> 12 & 1, "color",
                fuzz_u32 (input), NULL);
  if (fuzz_one_in (input, 3))
    g_object_set (element, "line-width", fuzz_below (input, 1001), NULL);
  if (fuzz_one_in (input, 3))
    g_object_set (element, "font-size", fuzz_below (input, 1001), NULL);
}

static void
push_caps (FuzzInput *input, FuzzRig *rig, GstVideoInfo *info)
{
  static const GstVideoFormat formats[] = {
    GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_I420,  GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_RGBx,  GST_VIDEO_FORMAT_RGB,   GST_VIDEO_FORMAT_BGRA,
    GST_VIDEO_FORMAT_YUY2,  GST_VIDEO_FORMAT_RGB16, GST_VIDEO_FORMAT_P010_10LE,
    GST_VIDEO_FORMAT_Y42B,  GST_VIDEO_FORMAT_v210,  GST_VIDEO_FORMAT_GRAY16_LE,
    GST_VIDEO_FORMAT_A420,  GST_VIDEO_FORMAT_AYUV,  GST_VIDEO_FORMAT_UYVY,
  };

  gst_video_info_set_format (info, formats[fuzz_below (input, G_N_ELEMENTS (formats))],
                             1 + fuzz_below (input, 200), 1 + fuzz_below (input, 120));
  info->fps_n = 25;
  fuzz_rig_push_caps (rig, gst_video_info_to_caps (info));
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  guint frames = 1 + fuzz_below (&input, MOST_FRAMES), i;
  GstVideoInfo info;
  GstSegment segment;
  FuzzRig rig;

  fuzz_rig_init (&rig, gst_element_factory_make ("ccloverlay", NULL));
  rig.output = check_composition;
  rig.video_meta = fuzz_one_in (&input, 2);
  rig.crop_meta = fuzz_one_in (&input, 2);
  rig.composition = fuzz_one_in (&input, 3);
  if (rig.composition && fuzz_one_in (&input, 2)) {
    rig.width = fuzz_one_in (&input, 4) ? fuzz_hostile_u32 (&input) : fuzz_u8 (&input);
    rig.height = fuzz_one_in (&input, 4) ? fuzz_hostile_u32 (&input) : fuzz_u8 (&input);
  }
  set_properties (&input, rig.element);
  fuzz_check (fuzz_rig_start (&rig), "ccloverlay does not start");
  push_caps (&input, &rig, &info);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fuzz_rig_push_segment (&rig, &segment);
  for (i = 0; i < frames; i++) {
    GstBuffer *buffer = fuzz_frame (&input, &info, FUZZ_METAS_FIT);

    fuzz_times (&input, buffer, i);
    fuzz_rig_push (&rig, buffer);
    if (fuzz_one_in (&input, 6))
      set_properties (&input, rig.element);
    if (fuzz_one_in (&input, 6))
      push_caps (&input, &rig, &info);
  }
  fuzz_rig_clear (&rig);

  return 0;
}
