/* cudaccl - fuzzing: ONVIF metadata of cameras
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A document is read, or refused with a reason. Objects are inside their frames, and documents
 * within their limits. */

#include <gst/report/gstcclonvifparser.h>
#include "tests/fuzz/input.h"

#include <math.h>

#define WIDTH 320
#define HEIGHT 240

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  gst_init (argc, argv);

  return 0;
}

static void
check_frame (const GstCclOnvifFrame *frame, GstCclClassNames *names)
{
  for (guint i = 0; i < frame->components->len; i++) {
    const GstCclComponent *c = &g_array_index (frame->components, GstCclComponent, i);

    fuzz_check (c->width > 0 && c->height > 0 && c->x < WIDTH && c->y < HEIGHT &&
                    c->width <= WIDTH - c->x && c->height <= HEIGHT - c->y,
                "a box of %ux%u at %u, %u", c->width, c->height, c->x, c->y);
    fuzz_check (isfinite (c->centroid_x) && isfinite (c->centroid_y), "a centroid that is none");
    fuzz_check (c->confidence >= 0.0 && c->confidence <= 1.0, "a confidence of %f", c->confidence);
    fuzz_check (c->class_id == 0 || (names && gst_ccl_class_names_get_name (names, c->class_id)),
                "class %u has no name", c->class_id);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  GstCclClasses *classes = gst_ccl_classes_new ();
  GError *error = NULL;
  GArray *frames = gst_ccl_onvif_parse ((const gchar *) data, size, WIDTH, HEIGHT, classes, &error);
  guint n = 0;

  fuzz_check (!frames == (error != NULL), "neither frames nor a reason, or both");
  fuzz_check (!frames || frames->len <= GST_CCL_ONVIF_MAX_FRAMES, "too many frames");
  for (guint i = 0; frames && i < frames->len; i++) {
    const GstCclOnvifFrame *frame = &g_array_index (frames, GstCclOnvifFrame, i);

    n += frame->components->len;
    check_frame (frame, gst_ccl_classes_get_names (classes));
  }
  fuzz_check (n <= GST_CCL_ONVIF_MAX_OBJECTS, "too many objects");
  g_clear_pointer (&frames, g_array_unref);
  g_clear_error (&error);
  gst_ccl_classes_free (classes);

  return 0;
}
