/* cudaccl - finds the components of a volume with libcudaccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/cudaccl.h>
#include <inttypes.h>
#include <stdio.h>

/* Three slices of two rows. */
static const char voxels[] = "xx.."
                             "...."

                             "x..."
                             "...x"

                             "...."
                             "..xx";

int
main (void)
{
  CclVolumeConfig config;
  CclParams params;
  CclImage image;
  CclVolumeComponents found;
  CclVolume *volume;

  ccl_volume_config_init (&config, 4, 2, 3);
  config.connectivity = 6; /* voxels touch at their faces */
  ccl_params_init (&params);
  params.threshold = '.';                               /* what is above is foreground */
  ccl_image_init (&image, (const uint8_t *) voxels, 4); /* slices follow each other */
  if (ccl_volume_new (&config, &volume) != CCL_OK) {
    fprintf (stderr, "%s\n", ccl_last_error ());
    return 1;
  }
  if (ccl_volume_analyze (volume, &image, &params, &found) != CCL_OK) {
    fprintf (stderr, "%s\n", ccl_last_error ());
    ccl_volume_free (volume);
    return 1;
  }
  for (const CclVolumeComponent *c = found.items; c < found.items + found.count; c++)
    printf ("%" PRIu32 ": %" PRIu64 " voxels from (%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")\n",
            c->label, c->volume, c->x, c->y, c->z);
  ccl_volume_free (volume);
  return 0;
}
