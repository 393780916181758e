/* cudaccl - fuzzing: the elements that analyse frames, with valid settings that change
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Frames of any format, size and layout; properties, caps and segments change between them, and
 * each is valid. So no start, no caps and no frame may fail, each frame comes out, and its
 * components are inside it. */

#include "tests/fuzz/elements.h"
#include "tests/fuzz/metas.h"
#include "tests/fuzz/values.h"

#include <cudaccl/ccl.h>
#include <string.h>

#define MOST_STEPS 40
#define FRAME (GST_SECOND / 25)

static const gchar *const elements[] = { "cudaccl", "cclcolor", "cclmotion", "cclmask" };

static const GstVideoFormat formats[] = {
  GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_NV12,      GST_VIDEO_FORMAT_NV21,
  GST_VIDEO_FORMAT_I420,      GST_VIDEO_FORMAT_YV12,      GST_VIDEO_FORMAT_Y42B,
  GST_VIDEO_FORMAT_Y444,      GST_VIDEO_FORMAT_YUY2,      GST_VIDEO_FORMAT_UYVY,
  GST_VIDEO_FORMAT_RGB,       GST_VIDEO_FORMAT_BGR,       GST_VIDEO_FORMAT_RGBx,
  GST_VIDEO_FORMAT_BGRx,      GST_VIDEO_FORMAT_xRGB,      GST_VIDEO_FORMAT_xBGR,
  GST_VIDEO_FORMAT_RGBA,      GST_VIDEO_FORMAT_BGRA,      GST_VIDEO_FORMAT_ARGB,
  GST_VIDEO_FORMAT_ABGR,      GST_VIDEO_FORMAT_GRAY16_LE, GST_VIDEO_FORMAT_GRAY16_BE,
  GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_Y444_10LE, GST_VIDEO_FORMAT_P010_10LE,
  GST_VIDEO_FORMAT_I422_12LE, GST_VIDEO_FORMAT_P016_LE,
};

/* An element that plays. */
typedef struct
{
  FuzzRig rig;
  GstBus *bus;
  GstVideoInfo info;
  GstClockTime time;
  gboolean classes;   /* since the start: the values of pixels are classes */
  gboolean no_gray16; /* since the start: the settings are not for samples of 16 bits */
  guint8 background;
  guint n_pushed;
} Player;

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  fuzz_gst_init ();

  return 0;
}

/* Ends the program with the element's own error. */
static void
check_ok (Player *self, gboolean ok, const gchar *what)
{
  GstMessage *message;
  GError *error = NULL;

  if (ok)
    return;
  message = gst_bus_pop_filtered (self->bus, GST_MESSAGE_ERROR);
  if (message)
    gst_message_parse_error (message, &error, NULL);
  fuzz_check (FALSE, "%s, frame %u: %s failed: %s", GST_OBJECT_NAME (self->rig.element),
              self->n_pushed, what, error ? error->message : "without an error message");
}

static void
check_output (gpointer data, GstBuffer *buffer)
{
  Player *self = data;
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  guint width = (guint) self->info.width, height = (guint) self->info.height, i;

  for (i = 0;
       !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && meta && i < meta->n_components;
       i++) {
    const GstCclComponent *c = &meta->components[i];

    fuzz_check (c->width > 0 && c->height > 0 && c->x < width && c->y < height &&
                    c->width <= width - c->x && c->height <= height - c->y,
                "a component of %ux%u at %u,%u in a frame of %ux%u", c->width, c->height, c->x,
                c->y, width, height);
  }
}

/* Returns whether all values of the property are for any build and machine. */
static gboolean
is_drawn (const GParamSpec *spec)
{
  static const gchar *const left_out[] = { "algorithm", "segmentation", "cuda-device-id", NULL };

  return (spec->flags & G_PARAM_WRITABLE) && spec->owner_type != GST_TYPE_OBJECT &&
         !g_strv_contains (left_out, spec->name);
}

static void
set_property (FuzzInput *input, GstElement *element)
{
  guint n, n_drawn = 0, i;
  GParamSpec **specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
  const GParamSpec *spec;
  gchar *value;

  for (i = 0; i < n; i++)
    if (is_drawn (specs[i]))
      specs[n_drawn++] = specs[i];
  spec = specs[fuzz_below (input, n_drawn)];
  if (g_str_equal (spec->name, "scale"))
    value = g_strdup_printf ("%u", 1u << fuzz_below (input, 3));
  else if (g_str_equal (spec->name, "backend"))
    value = g_strdup (fuzz_one_in (input, 2) ? "cpu" : "auto");
  else
    value = fuzz_valid_value (input, spec);
  gst_util_set_object_arg (G_OBJECT (element), spec->name, value);
  g_free (value);
  g_free (specs);
}

/* Drops what classes exclude, and remembers what frames must not have. Changes of these properties
 * take effect with the next start. */
static void
reconcile (Player *self)
{
  GObject *element = G_OBJECT (self->rig.element);
  gint values = CCL_VALUES_ABOVE;
  guint features;

  g_object_get (element, "features", &features, NULL);
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (element), "values"))
    g_object_get (element, "values", &values, NULL);
  self->classes = values == CCL_VALUES_EQUAL;
  if (self->classes)
    g_object_set (element, "morphology", "none", "features", features & GST_CCL_FEATURE_ELLIPSE,
                  NULL);
  self->no_gray16 = values == CCL_VALUES_BAND && (features & GST_CCL_FEATURE_LUMA);
}

static gboolean
can_take (const Player *self, GstVideoFormat format)
{
  if (GST_VIDEO_FORMAT_INFO_DEPTH (gst_video_format_get_info (format), 0) > 8)
    return !self->no_gray16;

  switch (format) {
  case GST_VIDEO_FORMAT_GRAY8:
  case GST_VIDEO_FORMAT_NV12:
  case GST_VIDEO_FORMAT_NV21:
  case GST_VIDEO_FORMAT_I420:
  case GST_VIDEO_FORMAT_YV12:
  case GST_VIDEO_FORMAT_Y42B:
  case GST_VIDEO_FORMAT_Y444:
    return TRUE;
  default:
    return !self->classes;
  }
}

static void
push_caps (FuzzInput *input, Player *self)
{
  static const gint rates[][2] = { { 25, 1 }, { 30000, 1001 }, { 0, 1 }, { G_MAXINT, 1 } };
  GstVideoFormat format = formats[fuzz_below (input, G_N_ELEMENTS (formats))];
  guint rate = fuzz_below (input, G_N_ELEMENTS (rates)), wide = fuzz_one_in (input, 8) ? 500 : 90;

  gst_video_info_set_format (&self->info, can_take (self, format) ? format : GST_VIDEO_FORMAT_GRAY8,
                             1 + fuzz_below (input, wide), 1 + fuzz_below (input, 50));
  self->info.fps_n = rates[rate][0];
  self->info.fps_d = rates[rate][1];
  check_ok (self, fuzz_rig_push_caps (&self->rig, gst_video_info_to_caps (&self->info)), "caps");
}

static void
push_segment (FuzzInput *input, Player *self)
{
  GstSegment segment;

  fuzz_segment (input, &segment);
  check_ok (self, fuzz_rig_push_segment (&self->rig, &segment), "a segment");
  self->time = segment.format == GST_FORMAT_TIME ? segment.start : 0;
}

/* Accepted by the next element from now on. */
static void
draw_downstream (FuzzInput *input, Player *self)
{
  static const gchar *const kinds[] = { "RGB", "BGRx", "xRGB", "ARGB", "GRAY16_LE", "GRAY16_BE" };
  const gchar *name = GST_OBJECT_NAME (gst_element_get_factory (self->rig.element));

  gst_clear_caps (&self->rig.caps);
  if (g_str_equal (name, "cclcolor") && fuzz_one_in (input, 2))
    self->rig.caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
                                          kinds[fuzz_below (input, G_N_ELEMENTS (kinds))], NULL);
  self->rig.video_meta = fuzz_one_in (input, 2);
  self->rig.crop_meta = fuzz_one_in (input, 2);
}

static void
start (FuzzInput *input, Player *self)
{
  guint n = fuzz_below (input, 6);

  for (; n > 0; n--)
    set_property (input, self->rig.element);
  reconcile (self);
  draw_downstream (input, self);
  check_ok (self, fuzz_rig_start (&self->rig), "the start");
  push_caps (input, self);
  push_segment (input, self);
}

/* Noise, or an object that moves over a background: bytes of any format. */
static void
draw_pixels (FuzzInput *input, Player *self, GstBuffer *buffer)
{
  gsize row = 1 + (gsize) self->info.stride[0], width, y, at;
  GstMapInfo map;

  fuzz_check (gst_buffer_map (buffer, &map, GST_MAP_WRITE), "cannot map a buffer");
  if (fuzz_one_in (input, 3)) {
    fuzz_bytes (input, map.data, map.size);
  } else {
    if (fuzz_one_in (input, 12))
      self->background = fuzz_u8 (input);
    memset (map.data, self->background, map.size);
    width = 1 + fuzz_below (input, 40);
    at = fuzz_below (input, 4096);
    for (y = 1 + fuzz_below (input, 20); y > 0 && at + width <= map.size; y--, at += row)
      memset (map.data + at, fuzz_u8 (input) | 1, width);
  }
  gst_buffer_unmap (buffer, &map);
}

/* The same bytes in two memories, of which elements may have to make one. */
static GstBuffer *
split (FuzzInput *input, GstBuffer *buffer)
{
  gsize size = gst_buffer_get_size (buffer), first = fuzz_below (input, (guint) size + 1);
  GstBuffer *parts = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_ALL, 0, first);

  parts = gst_buffer_append (parts, gst_buffer_copy_region (buffer, GST_BUFFER_COPY_MEMORY, first,
                                                            (gssize) (size - first)));
  gst_buffer_unref (buffer);

  return parts;
}

static void
push_frame (FuzzInput *input, Player *self)
{
  GstBuffer *buffer = fuzz_frame (input, &self->info, FUZZ_METAS_TRUE), *shared = NULL;
  guint before = self->rig.n_buffers;

  draw_pixels (input, self, buffer);
  if (fuzz_one_in (input, 8))
    buffer = split (input, buffer);
  if (fuzz_one_in (input, 8))
    gst_buffer_set_size (buffer, 0);
  fuzz_times (input, buffer, 0);
  if (gst_buffer_get_size (buffer) == 0)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  if (!fuzz_one_in (input, 16))
    GST_BUFFER_PTS (buffer) = self->time;
  self->time += fuzz_one_in (input, 4) ? fuzz_u8 (input) * FRAME : FRAME;
  if (fuzz_one_in (input, 8))
    shared = gst_buffer_ref (buffer);
  self->n_pushed++;
  check_ok (self, fuzz_rig_push (&self->rig, buffer) == GST_FLOW_OK, "a frame");
  fuzz_check (self->rig.n_buffers == before + 1, "%u frames came out for one",
              self->rig.n_buffers - before);
  gst_clear_buffer (&shared);
}

static void
step (FuzzInput *input, Player *self)
{
  GstStructure *stats;

  switch (fuzz_below (input, 20)) {
  case 0:
    push_caps (input, self);
    break;
  case 1:
  case 2:
  case 3:
    set_property (input, self->rig.element);
    break;
  case 4:
    gst_pad_push_event (self->rig.src, gst_event_new_flush_start ());
    gst_pad_push_event (self->rig.src, gst_event_new_flush_stop (TRUE));
    push_segment (input, self);
    break;
  case 5:
    gst_pad_push_event (self->rig.src,
                        gst_event_new_gap (self->time, fuzz_below (input, 100) * FRAME));
    break;
  case 6:
    gst_element_set_state (self->rig.element, GST_STATE_READY);
    start (input, self);
    break;
  case 7:
    draw_downstream (input, self);
    gst_pad_push_event (self->rig.sink, gst_event_new_reconfigure ());
    break;
  case 8:
    if (g_signal_lookup ("reset", G_OBJECT_TYPE (self->rig.element)))
      g_signal_emit_by_name (self->rig.element, "reset");
    g_object_get (self->rig.element, "stats", &stats, NULL);
    gst_structure_free (stats);
    break;
  default:
    push_frame (input, self);
  }
  /* Messages with components would fill the memory. */
  gst_bus_set_flushing (self->bus, TRUE);
  gst_bus_set_flushing (self->bus, FALSE);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  guint element = fuzz_below (&input, G_N_ELEMENTS (elements)), steps;
  Player self = { .bus = gst_bus_new () };

  fuzz_rig_init (&self.rig, gst_element_factory_make (elements[element], NULL));
  gst_element_set_bus (self.rig.element, self.bus);
  self.rig.output = check_output;
  self.rig.data = &self;
  start (&input, &self);
  for (steps = fuzz_below (&input, MOST_STEPS + 1); steps > 0; steps--)
    step (&input, &self);
  if (fuzz_one_in (&input, 2))
    gst_pad_push_event (self.rig.src, gst_event_new_eos ());
  gst_element_set_bus (self.rig.element, NULL);
  fuzz_rig_clear (&self.rig);
  gst_object_unref (self.bus);

  return 0;
}
