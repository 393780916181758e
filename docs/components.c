/* cudaccl - finds the components of a mask with libcudaccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/cudaccl.h>
#include <inttypes.h>
#include <stdio.h>

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

  ccl_config_init (&config, 8, 4);
  ccl_params_init (&params);
  params.threshold = '.'; /* what is above is foreground */
  ccl_image_init (&image, (const uint8_t *) pixels, 8);
  if (ccl_analyzer_new (&config, &analyzer) != CCL_OK ||
      ccl_analyzer_analyze (analyzer, &image, &params, &found) != CCL_OK) {
    fprintf (stderr, "%s\n", ccl_last_error ());
    return 1;
  }
  if (!ccl_components_are_all (&found))
    printf ("the largest %" PRIu32 " of %" PRIu32 ":\n", found.count, found.found);
  for (const CclComponent *c = found.items; c < found.items + found.count; c++)
    printf ("%" PRIu32 ": %" PRIu32 "x%" PRIu32 " at (%" PRIu32 ", %" PRIu32 "), area %" PRIu64
            "\n",
            c->label, c->width, c->height, c->x, c->y, c->area);
  ccl_analyzer_free (analyzer);
  return 0;
}
