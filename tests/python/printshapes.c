/* cudaccl - prints the shapes of a picture's components, for test_shapes.py
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/ccl.h>

#include <stdio.h>
#include <stdlib.h>

/* printshapes WIDTH HEIGHT CONNECTIVITY < PIXELS prints a line for each component. */
int
main (int argc, char **argv)
{
  CclConfig config;
  CclParams params;
  CclAnalyzer *analyzer;
  CclComponents components;
  const CclShape *shapes;
  CclImage image = { 0 };
  uint8_t *pixels;

  if (argc != 4)
    return EXIT_FAILURE;
  ccl_params_init (&params);
  ccl_config_init (&config, (uint32_t) atoi (argv[1]), (uint32_t) atoi (argv[2]));
  config.connectivity = (unsigned) atoi (argv[3]);
  config.backend = CCL_BACKEND_CPU;
  config.max_components = 1 << 20;
  config.second_order = true;
  config.shapes = CCL_SHAPES_TOPOLOGY | CCL_SHAPES_PERIMETER | CCL_SHAPES_LUMA;
  pixels = malloc ((size_t) config.width * config.height);
  if (!pixels || fread (pixels, config.width, config.height, stdin) != config.height)
    return EXIT_FAILURE;
  image.data = pixels;
  image.stride = config.width;
  if (ccl_analyzer_new (&config, &analyzer) != CCL_OK ||
      ccl_analyzer_analyze (analyzer, &image, &params, &components) != CCL_OK ||
      ccl_analyzer_shapes (analyzer, &shapes) != CCL_OK) {
    fprintf (stderr, "%s\n", ccl_last_error ());
    return EXIT_FAILURE;
  }
  for (uint32_t i = 0; i < components.count; i++) {
    const CclComponent *c = &components.items[i];
    CclEllipse e;

    ccl_component_ellipse (c, &e);
    printf ("%u %u %lld %llu %.15g %.15g %.15g %.15g %.15g %.15g %u %u %.15g\n", c->y, c->first_x,
            (long long) shapes[i].euler, (unsigned long long) shapes[i].edges,
            ccl_shape_perimeter (&shapes[i]), e.major, e.minor, e.orientation, e.eccentricity,
            ccl_component_extent (c), shapes[i].luma_min, shapes[i].luma_max,
            ccl_shape_luma_mean (&shapes[i], c));
  }
  ccl_analyzer_free (analyzer);
  free (pixels);
  return EXIT_SUCCESS;
}
