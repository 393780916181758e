/* cudaccl - reads places of a frame and of its background
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclplaces.h"

#include <string.h>
#include "memory/gstcclcropper.h"

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

void
gst_ccl_places_init (GstCclPlaces *self, GstCclSession *session)
{
  self->session = session;
}

void
gst_ccl_places_clear (GstCclPlaces *self)
{
  g_clear_pointer (&self->cropper, ccl_cropper_free);
  g_clear_pointer (&self->background, g_free);
  self->width = self->height = 0;
  self->warned = FALSE;
}

void
gst_ccl_places_set_frame (GstCclPlaces *self, GstBuffer *buffer)
{
  self->buffer = buffer;
  self->width = self->height = 0;
}

static gboolean
gst_ccl_places_ensure_cropper (GstCclPlaces *self, const GstCclDevice *device)
{
  return gst_ccl_cropper_ensure (&self->cropper, &self->device, device, GST_CCL_PATCH_SIDE,
                                 GST_CCL_PATCH_SIDE);
}

/* Draws a part of an image of @width by @height pixels, whose luma is shrunk by @scale. */
static gboolean
gst_ccl_places_draw (GstCclPlaces *self, const CclImage *image, guint width, guint height,
                     guint scale, GstCclPatch *patch)
{
  const gsize plane = GST_CCL_PATCH_SIDE * GST_CCL_PATCH_SIDE;
  CclCrop crop = { .x = patch->x / scale,
                   .y = patch->y / scale,
                   .to_width = patch->columns,
                   .to_height = patch->rows };
  CclImage luma = *image;
  const uint8_t *picture;
  guint x, y;

  luma.chroma = NULL;
  crop.width = MIN ((patch->x + patch->width + scale - 1) / scale, width) - crop.x;
  crop.height = MIN ((patch->y + patch->height + scale - 1) / scale, height) - crop.y;
  if (ccl_cropper_draw (self->cropper, &luma, width, height, CCL_COLORS_BT601_FULL, &crop, 1,
                        &picture) != CCL_OK)
    return FALSE;

  for (y = 0; y < patch->rows; y++) {
    const uint8_t *row = picture + (gsize) y * GST_CCL_PATCH_SIDE;

    for (x = 0; x < patch->columns; x++)
      patch->samples[y * patch->columns + x] =
          (guint8) ((77 * row[x] + 150 * row[plane + x] + 29 * row[2 * plane + x] + 128) / 256);
  }

  return TRUE;
}

/* Copies the background, once a frame. */
static gboolean
gst_ccl_places_ensure_background (GstCclPlaces *self)
{
  CclAnalyzer *analyzer = self->session->analyzer;
  CclInfo info;

  if (self->width > 0)
    return TRUE;

  ccl_analyzer_info (analyzer, &info);
  self->background = g_realloc (self->background, (gsize) info.motion.width * info.motion.height);
  if (ccl_analyzer_background (analyzer, self->background, info.motion.width) != CCL_OK)
    return FALSE;
  ccl_image_init (&self->image, self->background, info.motion.width);
  self->width = info.motion.width;
  self->height = info.motion.height;

  return TRUE;
}

static gboolean
gst_ccl_places_read_background (GstCclPlaces *self, GstCclPatch *patch)
{
  return gst_ccl_places_ensure_cropper (self, &self->session->device) &&
         gst_ccl_places_ensure_background (self) &&
         gst_ccl_places_draw (self, &self->image, self->width, self->height,
                              self->session->motion.scale, patch);
}

static gboolean
gst_ccl_places_read_frame (GstCclPlaces *self, GstCclPatch *patch)
{
  GstCclSession *session = self->session;
  const GstCclMapperClass *klass = session->mapper->klass;
  GstCclFrame frame = { .device = session->device };
  gboolean drawn;

  if (!klass->map (session->mapper, &frame, &session->info, self->buffer, 1, NULL))
    return FALSE;
  drawn = gst_ccl_places_ensure_cropper (self, &frame.device) &&
          gst_ccl_places_draw (self, &frame.image, (guint) GST_VIDEO_INFO_WIDTH (&session->info),
                               (guint) GST_VIDEO_INFO_HEIGHT (&session->info), 1, patch);
  klass->unmap (session->mapper, &frame);
  if (drawn)
    gst_ccl_patch_blur (patch, session->motion.scale);

  return drawn;
}

gboolean
gst_ccl_places_read (GstCclPlaces *self, gboolean background, GstCclPatch *patch)
{
  const gboolean read = background ? gst_ccl_places_read_background (self, patch)
                                   : gst_ccl_places_read_frame (self, patch);

  if (!read && !self->warned) {
    GST_WARNING_OBJECT (self->session->element, "could not read what stands: %s",
                        ccl_last_error ());
    self->warned = TRUE;
  }

  return read;
}
