/* cudaccl - fuzzing: deserialisation of GstCclMeta and GstCclZonesMeta
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The bytes come from another process. What is accepted must be a frame with components or zones,
 * survive being written and read again, and be scaled and cropped without criticals. */

#include "tests/fuzz/metainit.h"

#include "tests/fuzz/input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In the byte of the version: zones, not components. */
#define ZONES 128

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_meta_init ();

  return 0;
}

/* Bytes as gst_meta_serialize() collects them. */
static gboolean
resize (GstByteArrayInterface *self, gsize length)
{
  self->data = g_realloc (self->data, length);
  self->len = length;

  return TRUE;
}

static gpointer
deserialize (const GstMetaInfo *type, GstBuffer *buffer, const guint8 *bytes, gsize size,
             guint8 version)
{
  /* Ends with its allocation. */
  guint8 *copy = g_memdup2 (bytes, size);
  GstMeta *meta = type->deserialize_func (type, buffer, copy, size, version);

  g_free (copy);

  return meta;
}

static void
check_same_names (const GstCclClassNames *a, const GstCclClassNames *b)
{
  guint n = a ? gst_ccl_class_names_get_n_names (a) : 0, i;

  fuzz_check (n == (b ? gst_ccl_class_names_get_n_names (b) : 0), "%u names read back as fewer", n);
  for (i = 1; i <= n; i++)
    fuzz_check (
        g_strcmp0 (gst_ccl_class_names_get_name (a, i), gst_ccl_class_names_get_name (b, i)) == 0,
        "the name of class %u reads back as another", i);
}

static void
check_same (const GstCclMeta *a, const GstCclMeta *b)
{
  guint i;

  fuzz_check (b != NULL, "what was written cannot be read");
  fuzz_check (a->width == b->width && a->height == b->height && a->found == b->found &&
                  a->n_components == b->n_components,
              "%ux%u with %u of %u components reads back as %ux%u with %u of %u", a->width,
              a->height, a->n_components, a->found, b->width, b->height, b->n_components, b->found);
  for (i = 0; i < a->n_components; i++) {
    const GstCclComponent *c = &a->components[i], *d = &b->components[i];

    fuzz_check (c->confidence >= 0.0 && c->confidence <= 1.0, "a confidence of %f", c->confidence);
    fuzz_check (c->label == d->label && c->x == d->x && c->y == d->y && c->width == d->width &&
                    c->height == d->height && c->area == d->area && c->track == d->track &&
                    c->age == d->age &&
                    memcmp (&c->centroid_x, &d->centroid_x, 2 * sizeof (gdouble)) == 0 &&
                    c->velocity_x == d->velocity_x && c->velocity_y == d->velocity_y && /* -0.0 */
                    c->class_id == d->class_id && c->confidence == d->confidence &&
                    c->flags == d->flags && c->static_age == d->static_age,
                "component %u reads back as another", i);
  }
  check_same_names (gst_ccl_meta_get_class_names (a), gst_ccl_meta_get_class_names (b));
}

static void
check_use (GstBuffer *buffer, GstCclMeta *meta)
{
  GstVideoInfo in, out;
  GstVideoMetaTransform trans = { &in, &out };
  GstBuffer *scaled = gst_buffer_new ();

  fuzz_check (meta->width > 0 && meta->height > 0 && meta->width <= G_MAXINT &&
                  meta->height <= G_MAXINT,
              "a frame of %ux%u is accepted", meta->width, meta->height);
  fuzz_check (meta->n_components <= meta->found, "%u components of %u found", meta->n_components,
              meta->found);

  gst_video_info_init (&in);
  gst_video_info_init (&out);
  in.width = (gint) meta->width;
  in.height = (gint) meta->height;
  out.width = out.height = 100;
  fuzz_ccl_info->transform_func (scaled, &meta->meta, buffer,
                                 gst_video_meta_transform_scale_get_quark (), &trans);
  gst_ccl_meta_crop (meta, meta->width / 2, 0, 1, meta->height);
  gst_buffer_unref (scaled);
}

static void
check_same_zones (const GstCclZonesMeta *a, const GstCclZonesMeta *b)
{
  guint i;

  fuzz_check (b != NULL, "what was written cannot be read");
  fuzz_check (a->width == b->width && a->height == b->height && a->n_zones == b->n_zones &&
                  a->n_events == b->n_events,
              "%ux%u with %u zones and %u events reads back as %ux%u with %u and %u", a->width,
              a->height, a->n_zones, a->n_events, b->width, b->height, b->n_zones, b->n_events);
  for (i = 0; i < a->n_zones; i++) {
    const GstCclZone *c = &a->zones[i], *d = &b->zones[i];

    fuzz_check (strcmp (c->name, d->name) == 0 && c->tripwire == d->tripwire &&
                    c->color == d->color && c->in == d->in && c->out == d->out &&
                    c->inside == d->inside && c->n_points == d->n_points &&
                    (c->n_points == 0 ||
                     memcmp (c->points, d->points, 2 * sizeof (gdouble) * c->n_points) == 0),
                "zone %u reads back as another", i);
  }
  for (i = 0; i < a->n_events; i++) {
    const GstCclZoneEvent *c = &a->events[i], *d = &b->events[i];

    fuzz_check (c->type == d->type && c->zone == d->zone && c->track == d->track &&
                    c->dwell == d->dwell && memcmp (&c->x, &d->x, 2 * sizeof (gdouble)) == 0 &&
                    c->in == d->in && c->out == d->out && c->inside == d->inside &&
                    c->frame_age == d->frame_age && c->class_id == d->class_id,
                "event %u reads back as another", i);
  }
  check_same_names (gst_ccl_zones_meta_get_class_names (a), gst_ccl_zones_meta_get_class_names (b));
}

static void
check_zones_use (GstBuffer *buffer, GstCclZonesMeta *meta)
{
  GstVideoInfo in, out;
  GstVideoMetaTransform trans = { &in, &out };
  GstBuffer *scaled = gst_buffer_new ();
  guint i, j;

  fuzz_check (meta->width > 0 && meta->height > 0 && meta->width <= G_MAXINT &&
                  meta->height <= G_MAXINT,
              "a frame of %ux%u is accepted", meta->width, meta->height);
  gst_video_info_init (&in);
  gst_video_info_init (&out);
  in.width = in.height = 1;
  out.width = out.height = G_MAXINT;
  fuzz_zones_info->transform_func (scaled, &meta->meta, buffer,
                                   gst_video_meta_transform_scale_get_quark (), &trans);
  gst_ccl_zones_meta_crop (meta, meta->width / 2, 0, 1, meta->height);

  meta = gst_buffer_get_ccl_zones_meta (scaled);
  for (i = 0; i < meta->n_zones; i++) {
    fuzz_check (g_utf8_validate (meta->zones[i].name, -1, NULL), "a name is not UTF-8");
    for (j = 0; j < 2 * meta->zones[i].n_points; j++)
      fuzz_check (isfinite (meta->zones[i].points[j]), "point %u of zone %u is not finite", j, i);
  }
  for (i = 0; i < meta->n_events; i++) {
    fuzz_check (meta->events[i].zone < meta->n_zones, "event %u has no zone", i);
    fuzz_check (isfinite (meta->events[i].x) && isfinite (meta->events[i].y),
                "event %u is not finite", i);
  }
  gst_buffer_unref (scaled);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  GstBuffer *buffer = gst_buffer_new (), *again = gst_buffer_new ();
  GstByteArrayInterface bytes = { NULL, 0, resize };
  guint8 version = fuzz_u8 (&input), written;
  const GstMetaInfo *type = version & ZONES ? fuzz_zones_info : fuzz_ccl_info;
  gpointer meta = deserialize (type, buffer, input.data, input.size, (guint8) (version & ~ZONES)),
           copy;

  if (meta) {
    fuzz_check (type->serialize_func (meta, &bytes, &written), "cannot be written");
    copy = deserialize (type, again, bytes.data, bytes.len, written);
    if (version & ZONES) {
      check_same_zones (meta, copy);
      check_zones_use (buffer, meta);
    } else {
      check_same (meta, copy);
      check_use (buffer, meta);
    }
  } else {
    fuzz_check (gst_buffer_get_ccl_meta (buffer) == NULL &&
                    gst_buffer_get_ccl_zones_meta (buffer) == NULL,
                "metadata in spite of an error");
  }
  g_free (bytes.data);
  gst_buffer_unref (again);
  gst_buffer_unref (buffer);

  return 0;
}
