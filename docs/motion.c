/* cudaccl - finds what moves in grey frames with libcudaccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/cudaccl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 320
#define HEIGHT 240

/* A frame of a camera: a bright square that moves over a grey wall. */
static void
shoot (uint8_t *frame, int number)
{
  memset (frame, 90, WIDTH * HEIGHT);
  for (int y = 100; number >= 25 && y < 140; y++)
    memset (frame + y * WIDTH + 4 * (number - 25), 200, 40);
}

int
main (void)
{
  static uint8_t frame[WIDTH * HEIGHT];
  CclMotionConfig motion;
  CclConfig config;
  CclParams params;
  CclImage image;
  CclAnalyzer *analyzer;

  ccl_motion_config_init (&motion);
  motion.format = CCL_MOTION_LUMA;
  ccl_config_init (&config, WIDTH, HEIGHT);
  config.motion = &motion;
  config.auto_operations = true; /* clean the mask by the size of the objects */
  ccl_params_init (&params);
  params.elapsed = 40000000; /* nanoseconds: 25 frames a second */
  ccl_image_init (&image, frame, WIDTH);
  if (ccl_analyzer_new (&config, &analyzer) != CCL_OK) {
    fprintf (stderr, "%s\n", ccl_last_error ());
    return 1;
  }
  for (int number = 0; number < 75; number++) {
    CclComponents found;

    shoot (frame, number);
    if (ccl_analyzer_analyze (analyzer, &image, &params, &found) != CCL_OK) {
      fprintf (stderr, "%s\n", ccl_last_error ());
      ccl_analyzer_free (analyzer);
      return 1;
    }
    for (uint32_t i = 0; number % 25 == 24 && i < found.count; i++)
      printf ("frame %d: at (%" PRIu32 ", %" PRIu32 ")\n", number, found.items[i].x,
              found.items[i].y);
  }
  ccl_analyzer_free (analyzer);
  return 0;
}
