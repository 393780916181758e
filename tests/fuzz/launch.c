/* cudaccl - fuzzing: caps and properties of every element
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* gst_parse_launch() with any of our elements, one to three in a row, with any of their properties
 * set to anything, mostly to what they accept; then caps, also refused ones, frames, changes of
 * properties, and stops. */

#include "tests/fuzz/elements.h"
#include "tests/fuzz/metas.h"
#include "tests/fuzz/values.h"

#include <string.h>

#define MOST_STEPS 10
#define MOST_BYTES (1 << 20) /* of a frame */

static const gchar *const elements[] = { "cudaccl",  "cclcolor",   "cclmotion",
                                         "cclmask",  "ccloverlay", "ccltrack",
                                         "cclzones", "ccljson",    "ccldetect" };

/* The properties of each that can be set. */
static GPtrArray *properties[G_N_ELEMENTS (elements)];

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  guint i, k, n;

  fuzz_gst_init ();
  for (i = 0; i < G_N_ELEMENTS (elements); i++) {
    GstElement *element = gst_element_factory_make (elements[i], NULL);
    GParamSpec **specs;

    properties[i] = g_ptr_array_new ();
    if (!element) /* the build lacks it */
      continue;
    gst_object_ref_sink (element);
    specs = g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);
    for (k = 0; k < n; k++)
      if ((specs[k]->flags & G_PARAM_WRITABLE) && specs[k]->owner_type != GST_TYPE_OBJECT)
        g_ptr_array_add (properties[i], specs[k]);
    g_free (specs);
    gst_object_unref (element);
  }

  return 0;
}

static gchar *
draw_text (FuzzInput *input, const gchar *name)
{
  static const gchar *const files[] = { "", "/nowhere", "/dev/null", "/" };
  gchar *raw, *text;

  /* No devices that never end. */
  if (g_str_equal (name, "region-file") || g_str_equal (name, "labels") ||
      g_str_equal (name, "model") || g_str_equal (name, "library"))
    return g_strdup (files[fuzz_below (input, G_N_ELEMENTS (files))]);
  raw = fuzz_text (input, fuzz_below (input, 100));
  text = g_strdup (raw);
  free (raw);

  return text;
}

/* A value of the property as text, or something else. */
static gchar *
draw_value (FuzzInput *input, const GParamSpec *spec)
{
  GType type = G_TYPE_FUNDAMENTAL (spec->value_type);

  /* Of hostile values alone, nearly every frame would be an error. */
  if (!fuzz_one_in (input, 8))
    return fuzz_valid_value (input, spec);
  /* So many would take the time of all others. */
  if (g_str_equal (spec->name, "threads"))
    return g_strdup_printf ("%u", fuzz_one_in (input, 8) ? 1000 : 1 + fuzz_below (input, 3));
  if (fuzz_one_in (input, 12))
    return draw_text (input, spec->name);
  switch (type) {
  case G_TYPE_BOOLEAN:
    return g_strdup (fuzz_one_in (input, 2) ? "true" : "false");
  case G_TYPE_ENUM: {
    const GEnumClass *klass = G_PARAM_SPEC_ENUM (spec)->enum_class;

    return g_strdup (klass->values[fuzz_below (input, klass->n_values)].value_nick);
  }
  case G_TYPE_FLAGS:
    return g_strdup_printf ("%u", fuzz_u8 (input) & G_PARAM_SPEC_FLAGS (spec)->flags_class->mask);
  case G_TYPE_INT:
  case G_TYPE_INT64:
    return g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) fuzz_hostile_u64 (input));
  case G_TYPE_UINT:
    return g_strdup_printf ("%u", fuzz_hostile_u32 (input));
  case G_TYPE_UINT64:
    return g_strdup_printf ("%" G_GUINT64_FORMAT, fuzz_hostile_u64 (input));
  case G_TYPE_FLOAT:
  case G_TYPE_DOUBLE:
    return g_strdup_printf ("%.17g", fuzz_hostile_double (input));
  default:
    return draw_text (input, spec->name);
  }
}

static void
append_property (FuzzInput *input, GString *launch, guint element)
{
  const GParamSpec *spec;
  gchar *value, *escaped;

  if (properties[element]->len == 0)
    return;
  spec = g_ptr_array_index (properties[element], fuzz_below (input, properties[element]->len));
  value = draw_value (input, spec);
  escaped = g_strescape (value, NULL);
  if (fuzz_one_in (input, 16))
    g_string_append_printf (launch, " %s=%s", spec->name, value);
  else
    g_string_append_printf (launch, " %s=\"%s\"", spec->name, escaped);
  g_free (escaped);
  g_free (value);
}

static GstElement *
parse (FuzzInput *input)
{
  GString *launch = g_string_new (NULL);
  guint n = 1 + (fuzz_one_in (input, 3) ? fuzz_below (input, 3) : 0), i;
  GError *error = NULL;
  GstElement *bin;

  for (i = 0; i < n; i++) {
    guint element = fuzz_below (input, G_N_ELEMENTS (elements));
    guint n_properties = fuzz_below (input, 5), k;

    g_string_append_printf (launch, "%s%s", i > 0 ? " ! " : "", elements[element]);
    for (k = 0; k < n_properties; k++)
      append_property (input, launch, element);
  }
  bin = gst_parse_bin_from_description (launch->str, TRUE, &error);
  g_clear_error (&error);
  g_string_free (launch, TRUE);

  return bin;
}

/* Caps that say nothing useful, contradict themselves, or ask for too much. */
static GstCaps *
hostile_caps (FuzzInput *input)
{
  static const gchar *const kinds[] = {
    "video/x-raw",
    "video/x-raw,width=(int)16",
    "video/x-raw,format=(string)GRAY8,width=(int)0,height=(int)0",
    "video/x-raw,format=(string)GRAY8,width=(int)-5,height=(int)7",
    "video/x-raw,format=(string)GRAY8,width=(int)65535,height=(int)16383",
    "video/x-raw,format=(string)RGB,width=(int)65535,height=(int)16383",
    "video/x-raw,format=(string)GRAY8,width=(int)2147483647,height=(int)1",
    "video/x-raw,format=(string)NV12,width=(int)2147483647,height=(int)2147483647",
    "video/x-raw,format=(string)GRAY8,width=(string)16,height=(string)16",
    "video/x-raw(memory:CUDAMemory),format=(string)NV12,width=(int)16,height=(int)16",
    "video/x-raw(memory:NVMM),format=(string)NV12,width=(int)16,height=(int)16",
    "video/x-raw(format:Interlaced),format=(string)NV12,width=(int)16,height=(int)16",
    "video/x-raw,format=(string)nonsense,width=(int)16,height=(int)16",
    "application/x-json",
    "audio/x-raw",
  };
  GstCaps *caps = NULL;

  if (fuzz_one_in (input, 3)) {
    char *fields = fuzz_text (input, 100);
    gchar *text = g_strconcat ("video/x-raw,", fields, NULL);

    /* GStreamer itself fails an assertion on an invalid name of a second structure. */
    if (!strchr (text, ';'))
      caps = gst_caps_from_string (text);
    g_free (text);
    free (fields);
  }
  if (caps && !gst_caps_is_fixed (caps))
    gst_clear_caps (&caps);

  return caps ? caps : gst_caps_from_string (kinds[fuzz_below (input, G_N_ELEMENTS (kinds))]);
}

static GstCaps *
draw_caps (FuzzInput *input, GstVideoInfo *info)
{
  static const GstVideoFormat formats[] = {
    GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8,     GST_VIDEO_FORMAT_NV12,
    GST_VIDEO_FORMAT_I420,  GST_VIDEO_FORMAT_NV21,      GST_VIDEO_FORMAT_YV12,
    GST_VIDEO_FORMAT_Y42B,  GST_VIDEO_FORMAT_Y444,      GST_VIDEO_FORMAT_RGB,
    GST_VIDEO_FORMAT_BGRx,  GST_VIDEO_FORMAT_P010_10LE,
  };
  static const gint rates[][2] = { { 25, 1 }, { 30000, 1001 }, { 0, 1 }, { G_MAXINT, 1 } };
  guint rate = fuzz_below (input, 4);
  GstCaps *caps;

  if (fuzz_one_in (input, 8)) {
    caps = hostile_caps (input);
    if (!gst_video_info_from_caps (info, caps))
      gst_video_info_init (info);
    return caps;
  }
  gst_video_info_set_format (info, formats[fuzz_below (input, G_N_ELEMENTS (formats))],
                             1 + fuzz_below (input, 90), 1 + fuzz_below (input, 40));
  info->fps_n = rates[rate][0];
  info->fps_d = rates[rate][1];

  return gst_video_info_to_caps (info);
}

/* The caps that the next element accepts. */
static GstCaps *
draw_downstream (FuzzInput *input)
{
  static const gchar *const kinds[] = {
    "video/x-raw,format=(string)RGB",
    "video/x-raw,format=(string)GRAY16_BE",
    "video/x-raw,width=(int)16",
    "video/x-raw,format=(string){ GRAY8, BGRA }",
    "video/x-raw(ANY)",
    "application/x-json",
    "EMPTY",
  };

  return gst_caps_from_string (kinds[fuzz_below (input, G_N_ELEMENTS (kinds))]);
}

/* Pixels, so that there are components. */
static void
draw_pixels (FuzzInput *input, GstBuffer *buffer)
{
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_WRITE))
    return;
  if (map.size > 0)
    fuzz_bytes (input, map.data, map.size);
  gst_buffer_unmap (buffer, &map);
}

static void
push_frame (FuzzInput *input, FuzzRig *rig, const GstVideoInfo *info, guint index)
{
  GstBuffer *buffer;

  if (GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_UNKNOWN || info->size > MOST_BYTES ||
      info->width <= 0 || info->height <= 0) {
    buffer = gst_buffer_new_allocate (NULL, fuzz_u8 (input), NULL);
    gst_buffer_memset (buffer, 0, 200, (gsize) -1);
  } else {
    buffer = fuzz_frame (input, info, fuzz_one_in (input, 4) ? FUZZ_METAS_FIT : FUZZ_METAS_TRUE);
    if (fuzz_one_in (input, 2))
      draw_pixels (input, buffer);
  }
  fuzz_times (input, buffer, index);
  fuzz_rig_push (rig, buffer);
}

/* Sets a property of one of the elements while it runs. */
static void
change_property (FuzzInput *input, GstElement *bin)
{
  GList *children = GST_BIN (bin)->children;
  GstElement *child = g_list_nth_data (children, fuzz_below (input, g_list_length (children)));
  const gchar *name = GST_OBJECT_NAME (gst_element_get_factory (child));
  gchar *value;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (elements) && !g_str_equal (elements[i], name); i++)
    ;
  if (i < G_N_ELEMENTS (elements) && properties[i]->len > 0) {
    GParamSpec *spec = g_ptr_array_index (properties[i], fuzz_below (input, properties[i]->len));

    value = draw_value (input, spec);
    gst_util_set_object_arg (G_OBJECT (child), spec->name, value);
    g_free (value);
  }
}

static void
step (FuzzInput *input, FuzzRig *rig, GstVideoInfo *info, guint index)
{
  GstSegment segment;

  switch (fuzz_below (input, 12)) {
  case 0:
  case 1:
    fuzz_rig_push_caps (rig, draw_caps (input, info));
    break;
  case 2:
    change_property (input, rig->element);
    break;
  case 3:
    gst_pad_push_event (rig->src, gst_event_new_flush_start ());
    gst_pad_push_event (rig->src, gst_event_new_flush_stop (TRUE));
    fuzz_segment (input, &segment);
    fuzz_rig_push_segment (rig, &segment);
    break;
  case 4:
    gst_pad_push_event (rig->src, gst_event_new_gap (fuzz_u32 (input), fuzz_u32 (input)));
    break;
  case 5:
    gst_element_set_state (rig->element, GST_STATE_READY);
    gst_element_set_state (rig->element, GST_STATE_PAUSED);
    break;
  case 6:
    gst_pad_push_event (rig->sink, gst_event_new_reconfigure ());
    rig->video_meta = fuzz_one_in (input, 2);
    break;
  default:
    push_frame (input, rig, info, index);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  GstElement *bin = parse (&input);
  GstVideoInfo info;
  GstSegment segment;
  FuzzRig rig;
  guint steps, i;

  if (!bin)
    return 0;
  fuzz_rig_init (&rig, bin);
  rig.video_meta = fuzz_one_in (&input, 2);
  rig.crop_meta = fuzz_one_in (&input, 2);
  rig.composition = fuzz_one_in (&input, 4);
  if (fuzz_one_in (&input, 8))
    rig.caps = draw_downstream (&input);
  if (rig.src && rig.sink && fuzz_rig_start (&rig)) {
    fuzz_rig_push_caps (&rig, draw_caps (&input, &info));
    fuzz_segment (&input, &segment);
    fuzz_rig_push_segment (&rig, &segment);
    steps = fuzz_below (&input, MOST_STEPS + 1);
    for (i = 0; i < steps; i++)
      step (&input, &rig, &info, i);
    if (fuzz_one_in (&input, 2))
      gst_pad_push_event (rig.src, gst_event_new_eos ());
  }
  fuzz_rig_clear (&rig);

  return 0;
}
