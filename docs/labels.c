/* cudaccl - labels the pixels of a mask with libcudaccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/cudaccl.h>
#include <stdio.h>

#define WIDTH 8
#define HEIGHT 4

static const char pixels[] = "xx......"
                             "xx...xx."
                             "......x."
                             "x......x";

int
main (void)
{
  CclConfig config;
  CclParams params;
  CclImage image;
  CclComponents found;
  CclAnalyzer *analyzer;
  uint32_t labels[HEIGHT][WIDTH];

  ccl_config_init (&config, WIDTH, HEIGHT);
  config.connectivity = 4;
  config.labels = true;
  ccl_params_init (&params);
  params.threshold = '.'; /* what is above is foreground */
  params.min_area = 2;    /* smaller components have no labels, either */
  ccl_image_init (&image, (const uint8_t *) pixels, WIDTH);
  if (ccl_analyzer_new (&config, &analyzer) != CCL_OK) {
    fprintf (stderr, "%s\n", ccl_last_error ());
    return 1;
  }
  if (ccl_analyzer_analyze (analyzer, &image, &params, &found) != CCL_OK ||
      ccl_analyzer_write_labels (analyzer, labels[0], sizeof labels[0], CCL_MEMORY_HOST) !=
          CCL_OK) {
    fprintf (stderr, "%s\n", ccl_last_error ());
    ccl_analyzer_free (analyzer);
    return 1;
  }
  for (int y = 0; y < HEIGHT; y++) {
    for (int x = 0; x < WIDTH; x++)
      printf ("%u", labels[y][x]);
    printf ("\n");
  }
  ccl_analyzer_free (analyzer);
  return 0;
}
