/* cudaccl - motion-picture: what a background model makes of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Shows a frame, its background, its mask and its boxes side by side: pipelines/motion.sh. */

#include <cudaccl/mask.h>
#include "tests/lib/image.h"
#include "tests/lib/parse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GAP 8 /* pixels between the panels */
#define PANELS 4
#define SHADOW 96 /* grey level in the mask's panel */

static const char usage[] = "\
Usage: motion-picture WIDTHxHEIGHT FRAME DURATION OPERATIONS\n\
Reads raw frames in NV12 from standard input, DURATION milliseconds each, up to number FRAME (from 0).\n\
Writes a picture in RGB to standard output, 4 WIDTH + 24 by HEIGHT pixels: the frame, the model's\n\
background, its mask (white; shadows are grey), and the boxes that remain after OPERATIONS\n\
(auto: those that the engine chooses).\n";

typedef struct Picture
{
  uint8_t *pixels; /* RGB */
  uint32_t width, height, stride;
} Picture;

static uint8_t
clamp (int value)
{
  return (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
}

static uint8_t *
panel_at (const Picture *picture, uint32_t panel, uint32_t x, uint32_t y)
{
  return picture->pixels + (size_t) y * picture->stride +
         3 * (panel * ((size_t) picture->width + GAP) + x);
}

/* BT.601, limited range. */
static void
draw_frame (const Picture *picture, uint32_t panel, const uint8_t *frame)
{
  const uint8_t *chroma = frame + (size_t) picture->width * picture->height;

  for (uint32_t y = 0; y < picture->height; y++) {
    for (uint32_t x = 0; x < picture->width; x++) {
      const uint8_t *uv = chroma + (size_t) (y / 2) * picture->width + x / 2 * 2;
      int luma = 298 * (frame[(size_t) y * picture->width + x] - 16) + 128;
      int u = uv[0] - 128, v = uv[1] - 128;
      uint8_t *pixel = panel_at (picture, panel, x, y);

      pixel[0] = clamp ((luma + 409 * v) / 256);
      pixel[1] = clamp ((luma - 100 * u - 208 * v) / 256);
      pixel[2] = clamp ((luma + 516 * u) / 256);
    }
  }
}

static void
draw_background (const Picture *picture, uint32_t panel, CclAnalyzer *model)
{
  uint8_t *luma = test_alloc ((size_t) picture->width * picture->height);

  if (ccl_analyzer_background (model, luma, picture->width) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  for (uint32_t y = 0; y < picture->height; y++) {
    for (uint32_t x = 0; x < picture->width; x++)
      memset (panel_at (picture, panel, x, y),
              clamp (298 * (luma[(size_t) y * picture->width + x] - 16) / 256), 3);
  }
  free (luma);
}

static bool
bit_at (const CclMask *mask, uint32_t x, uint32_t y)
{
  return mask->words[y * mask->pitch + x / 64] >> x % 64 & 1;
}

static void
draw_mask (const Picture *picture, uint32_t panel, const CclMask *mask, const CclMask *shadows)
{
  for (uint32_t y = 0; y < picture->height; y++) {
    for (uint32_t x = 0; x < picture->width; x++)
      memset (panel_at (picture, panel, x, y),
              bit_at (mask, x, y)      ? 255
              : bit_at (shadows, x, y) ? SHADOW
                                       : 0,
              3);
  }
}

static void
draw_box (const Picture *picture, uint32_t panel, const CclComponent *box)
{
  for (uint32_t y = box->y; y < box->y + box->height; y++) {
    for (uint32_t x = box->x; x < box->x + box->width; x++) {
      uint8_t *pixel = panel_at (picture, panel, x, y);

      if (x >= box->x + 2 && x + 2 < box->x + box->width && y >= box->y + 2 &&
          y + 2 < box->y + box->height)
        continue;
      pixel[0] = 255;
      pixel[1] = 220;
      pixel[2] = 0;
    }
  }
}

/* Plays the video up to @last, which stays in @frame. Two analyzers have the same model: of one the
 * mask is shown, of the other the components, which are those of the clean mask. */
static void
play (const Picture *picture, CclAnalyzer *raw, CclAnalyzer *clean, unsigned last,
      uint64_t duration, uint8_t *frame, CclComponents *components)
{
  const size_t pixels = (size_t) picture->width * picture->height, size = pixels * 3 / 2;
  const CclChroma chroma = {
    { { .data = frame + pixels, .stride = picture->width },
      { .data = frame + pixels + 1, .stride = picture->width } },
    .step = 2,
  };
  const CclImage image = { .data = frame, .stride = picture->width, .chroma = &chroma };
  CclParams params;

  ccl_params_init (&params);
  params.elapsed = duration;
  for (unsigned i = 0; i <= last; i++) {
    CclComponents unclean;

    if (fread (frame, 1, size, stdin) != size)
      test_fatal ("there is no frame %u, only %u frames", last, i);
    if (ccl_analyzer_analyze (raw, &image, &params, &unclean) != CCL_OK ||
        ccl_analyzer_analyze (clean, &image, &params, components) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
  }
}

static CclAnalyzer *
new_model (const Picture *picture, const char *operations)
{
  CclOperation list[CCL_MAX_OPERATIONS];
  CclMotionConfig motion;
  CclAnalyzer *model;
  CclConfig config;

  ccl_motion_config_init (&motion);
  motion.shadows = true;
  ccl_config_init (&config, picture->width, picture->height);
  config.backend = CCL_BACKEND_CPU;
  config.motion = &motion;
  config.mask = true;
  config.operations = list;
  config.auto_operations = strcmp (operations, "auto") == 0;
  if ((!config.auto_operations &&
       ccl_operations_parse (operations, list, &config.n_operations) != CCL_OK) ||
      ccl_analyzer_new (&config, &model) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  return model;
}

int
main (int argc, char **argv)
{
  Picture picture = { 0 };
  CclMask mask, shadows;
  uint64_t duration;
  uint8_t *frame;
  const char *size;
  CclAnalyzer *raw, *clean;
  CclComponents components;
  size_t bytes;

  if (argc != 5) {
    fputs (usage, stderr);
    return EXIT_FAILURE;
  }
  size = argv[1];
  picture.width = (uint32_t) test_parse_number (&size, 2, 8192);
  if (*size++ != 'x')
    test_fatal ("a size such as 768x576 is expected");
  picture.height = (uint32_t) test_parse_whole_number (size, 2, 8192);
  if (picture.width % 2 || picture.height % 2)
    test_fatal ("width and height must be even");
  duration = test_parse_whole_number (argv[3], 1, 10000) * UINT64_C (1000000);

  picture.stride = 3 * (PANELS * picture.width + (PANELS - 1) * GAP);
  bytes = (size_t) picture.stride * picture.height;
  picture.pixels = test_alloc (bytes);
  memset (picture.pixels, 255, bytes);
  frame = test_alloc ((size_t) picture.width * picture.height * 3 / 2);
  raw = new_model (&picture, "");
  clean = new_model (&picture, argv[4]);
  play (&picture, raw, clean, (unsigned) test_parse_whole_number (argv[2], 0, 1000000), duration,
        frame, &components);
  if (ccl_analyzer_mask (raw, &mask) != CCL_OK || ccl_analyzer_shadows (raw, &shadows) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  draw_frame (&picture, 0, frame);
  draw_background (&picture, 1, raw);
  draw_mask (&picture, 2, &mask, &shadows);
  draw_frame (&picture, 3, frame);
  for (size_t i = 0; i < components.count; i++)
    draw_box (&picture, 3, &components.items[i]);
  if (fwrite (picture.pixels, 1, bytes, stdout) != bytes || fflush (stdout) != 0)
    test_fatal ("cannot write the picture");

  ccl_analyzer_free (raw);
  ccl_analyzer_free (clean);
  free (picture.pixels);
  free (frame);
  return EXIT_SUCCESS;
}
