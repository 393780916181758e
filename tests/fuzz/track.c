/* cudaccl - fuzzing: ccltrack and cclzones with hostile metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames without pixels, whose components and regions of interest move, jump, or make no sense. Ids
 * must be unique in a frame. */

#include "tests/fuzz/elements.h"
#include "tests/fuzz/metas.h"

#include <string.h>

#define MOST_FRAMES 24
#define MOST_OBJECTS 5

static const gchar *const launches[] = {
  "ccltrack",
  "ccltrack objects=false",
  "ccltrack min-persistence=1 ! cclzones zones=\"a: 0,0 0.5,0 0.5,1 0,1\" tripwires=\"0.5,0 "
  "0.5,1\"",
  "ccltrack min-persistence=1 max-tracks=3 ! cclzones zones=\"0,0 300,0 300,300; 9,9 90,9 9,90\" "
  "dwell-time=100000000 evaluation-point=centroid",
};

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_gst_init ();

  return 0;
}

/* Of frames whose components had no ids before. */
static void
check_ids (gpointer data, GstBuffer *buffer)
{
  gboolean objects = *(const gboolean *) data;
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint i, k;

  if (!meta)
    return;
  objects &= GST_BUFFER_OFFSET (buffer) != 0;
  fuzz_check (meta->n_components <= meta->found, "%u components of %u found", meta->n_components,
              meta->found);
  for (i = 0; objects && i < meta->n_components; i++)
    for (k = 0; k < i; k++)
      fuzz_check (!meta->components[i].track ||
                      meta->components[i].track != meta->components[k].track,
                  "two objects with id %u", meta->components[i].track);
}

/* Objects that move, so that there are tracks. */
static void
add_objects (FuzzInput *input, GstBuffer *buffer, guint frame, guint n)
{
  GstCclComponent components[MOST_OBJECTS];
  guint i, k = 0;

  for (i = 0; i < n; i++) {
    GstCclComponent *component = &components[k];
    guint motion = fuzz_u8 (input);

    if (motion % 8 == 7)
      continue; /* hidden */
    memset (component, 0, sizeof (*component));
    component->label = k + 1;
    component->x = (20 + 90 * i + frame * (i + 1)) % 600 + motion % 8;
    component->y = (10 + 40 * i + frame * 2) % 400 + motion / 8 % 8;
    component->width = 20 + (motion / 64 == 3 ? 30 : 0);
    component->height = 30;
    component->area = (guint64) component->width * 25;
    component->centroid_x = component->x + component->width / 2.0;
    component->centroid_y = component->y + 15.0;
    k++;
  }
  if (k > 0 && fuzz_one_in (input, 6)) {
    fuzz_component (input, 640, 480, &components[k - 1]);
    components[k - 1].track = 0; /* ids of another tracker stay where there is no track */
  }
  gst_buffer_add_ccl_meta (buffer, 640, 480, k, components, k);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  guint launch = fuzz_below (&input, G_N_ELEMENTS (launches));
  guint frames = 1 + fuzz_below (&input, MOST_FRAMES), n = fuzz_below (&input, MOST_OBJECTS + 1), i;
  gboolean objects = launch != 1;
  GstVideoInfo info;
  GstSegment segment;
  GError *error = NULL;
  FuzzRig rig;

  fuzz_rig_init (&rig, gst_parse_bin_from_description (launches[launch], TRUE, &error));
  fuzz_check (error == NULL, "%s", error ? error->message : "");
  rig.output = check_ids;
  rig.data = &objects;
  fuzz_check (fuzz_rig_start (&rig), "ccltrack does not start");
  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, 640, 480);
  fuzz_rig_push_caps (&rig, gst_video_info_to_caps (&info));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  fuzz_rig_push_segment (&rig, &segment);
  for (i = 0; i < frames; i++) {
    GstBuffer *buffer = gst_buffer_new ();

    switch (fuzz_below (&input, 8)) {
    case 0:
      fuzz_add_metas (&input, buffer, 640, 480);
      GST_BUFFER_OFFSET (buffer) = 0;
      break;
    case 1:
      fuzz_segment (&input, &segment);
      fuzz_rig_push_segment (&rig, &segment);
      break;
    default:
      add_objects (&input, buffer, i, n);
    }
    fuzz_times (&input, buffer, i);
    fuzz_rig_push (&rig, buffer);
  }
  fuzz_rig_clear (&rig);

  return 0;
}
