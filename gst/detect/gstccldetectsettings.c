/* cudaccl - the properties of ccldetect
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldetectsettings.h"

enum
{
  PROP_0,
  PROP_MODEL,
  PROP_LABELS,
  PROP_CLASSES,
  PROP_THRESHOLD,
  PROP_IOU_THRESHOLD,
  PROP_PROVIDER,
  PROP_CUDA_DEVICE_ID,
  PROP_LIBRARY,
  PROP_THREADS,
  PROP_REGION,
  PROP_REFRESH,
  PROP_INTERVAL,
  PROP_BUDGET,
  PROP_WAIT,
  PROP_ON_ERROR,
  PROP_OUTPUT,
  PROP_INPUT_WIDTH,
  PROP_INPUT_HEIGHT,
  PROP_COLOR_ORDER,
  PROP_LETTERBOX,
  PROP_INPUT_MEAN,
  PROP_INPUT_SCALE,
};

#define DEFAULT_THRESHOLD 0.3
#define DEFAULT_IOU_THRESHOLD 0.45
#define DEFAULT_REFRESH (4 * GST_SECOND)

void
gst_ccl_detect_settings_init (GstCclDetectSettings *self)
{
  *self = (GstCclDetectSettings){
    .threshold = DEFAULT_THRESHOLD,
    .iou_threshold = DEFAULT_IOU_THRESHOLD,
    .device = -1,
    .threads = 1,
    .refresh = DEFAULT_REFRESH,
  };
}

void
gst_ccl_detect_settings_copy (const GstCclDetectSettings *from, GstCclDetectSettings *to)
{
  *to = *from;
  to->model = g_strdup (from->model);
  to->labels = g_strdup (from->labels);
  to->classes = g_strdup (from->classes);
  to->library = g_strdup (from->library);
  to->input_mean = g_strdup (from->input_mean);
  to->input_scale = g_strdup (from->input_scale);
}

void
gst_ccl_detect_settings_clear (GstCclDetectSettings *self)
{
  g_free (self->model);
  g_free (self->labels);
  g_free (self->classes);
  g_free (self->library);
  g_free (self->input_mean);
  g_free (self->input_scale);
}

/* Frees what a string property had, and sets it. */
static void
set_string (gchar **to, const GValue *value)
{
  g_free (*to);
  *to = g_value_dup_string (value);
}

void
gst_ccl_detect_settings_set (GstCclDetectSettings *self, guint prop_id, const GValue *value)
{
  switch (prop_id) {
  case PROP_MODEL:
    set_string (&self->model, value);
    break;
  case PROP_LABELS:
    set_string (&self->labels, value);
    break;
  case PROP_CLASSES:
    set_string (&self->classes, value);
    break;
  case PROP_THRESHOLD:
    self->threshold = g_value_get_double (value);
    break;
  case PROP_IOU_THRESHOLD:
    self->iou_threshold = g_value_get_double (value);
    break;
  case PROP_PROVIDER:
    self->provider = g_value_get_enum (value);
    break;
  case PROP_CUDA_DEVICE_ID:
    self->device = g_value_get_int (value);
    break;
  case PROP_LIBRARY:
    set_string (&self->library, value);
    break;
  case PROP_THREADS:
    self->threads = g_value_get_uint (value);
    break;
  case PROP_REGION:
    self->region = g_value_get_enum (value);
    break;
  case PROP_REFRESH:
    self->refresh = g_value_get_uint64 (value);
    break;
  case PROP_INTERVAL:
    self->interval = g_value_get_uint64 (value);
    break;
  case PROP_BUDGET:
    self->budget = g_value_get_double (value);
    break;
  case PROP_WAIT:
    self->wait = g_value_get_boolean (value);
    break;
  case PROP_ON_ERROR:
    self->on_error = g_value_get_enum (value);
    break;
  case PROP_OUTPUT:
    self->output = g_value_get_enum (value);
    break;
  case PROP_INPUT_WIDTH:
    self->input_width = g_value_get_uint (value);
    break;
  case PROP_INPUT_HEIGHT:
    self->input_height = g_value_get_uint (value);
    break;
  case PROP_COLOR_ORDER:
    self->color_order = g_value_get_enum (value);
    break;
  case PROP_LETTERBOX:
    self->letterbox = g_value_get_enum (value);
    break;
  case PROP_INPUT_MEAN:
    set_string (&self->input_mean, value);
    break;
  case PROP_INPUT_SCALE:
    set_string (&self->input_scale, value);
    break;
  default:
    g_assert_not_reached ();
    break;
  }
}

void
gst_ccl_detect_settings_get (const GstCclDetectSettings *self, guint prop_id, GValue *value)
{
  switch (prop_id) {
  case PROP_MODEL:
    g_value_set_string (value, self->model);
    break;
  case PROP_LABELS:
    g_value_set_string (value, self->labels);
    break;
  case PROP_CLASSES:
    g_value_set_string (value, self->classes);
    break;
  case PROP_THRESHOLD:
    g_value_set_double (value, self->threshold);
    break;
  case PROP_IOU_THRESHOLD:
    g_value_set_double (value, self->iou_threshold);
    break;
  case PROP_PROVIDER:
    g_value_set_enum (value, (gint) self->provider);
    break;
  case PROP_CUDA_DEVICE_ID:
    g_value_set_int (value, self->device);
    break;
  case PROP_LIBRARY:
    g_value_set_string (value, self->library);
    break;
  case PROP_THREADS:
    g_value_set_uint (value, self->threads);
    break;
  case PROP_REGION:
    g_value_set_enum (value, (gint) self->region);
    break;
  case PROP_REFRESH:
    g_value_set_uint64 (value, self->refresh);
    break;
  case PROP_INTERVAL:
    g_value_set_uint64 (value, self->interval);
    break;
  case PROP_BUDGET:
    g_value_set_double (value, self->budget);
    break;
  case PROP_WAIT:
    g_value_set_boolean (value, self->wait);
    break;
  case PROP_ON_ERROR:
    g_value_set_enum (value, (gint) self->on_error);
    break;
  case PROP_OUTPUT:
    g_value_set_enum (value, (gint) self->output);
    break;
  case PROP_INPUT_WIDTH:
    g_value_set_uint (value, self->input_width);
    break;
  case PROP_INPUT_HEIGHT:
    g_value_set_uint (value, self->input_height);
    break;
  case PROP_COLOR_ORDER:
    g_value_set_enum (value, (gint) self->color_order);
    break;
  case PROP_LETTERBOX:
    g_value_set_enum (value, (gint) self->letterbox);
    break;
  case PROP_INPUT_MEAN:
    g_value_set_string (value, self->input_mean);
    break;
  case PROP_INPUT_SCALE:
    g_value_set_string (value, self->input_scale);
    break;
  default:
    g_assert_not_reached ();
    break;
  }
}

static GType
provider_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_PROVIDER_CPU, "The CPU", "cpu" },
    { GST_CCL_PROVIDER_CUDA, "NVIDIA GPUs, by CUDA and cuDNN", "cuda" },
    { GST_CCL_PROVIDER_TENSORRT, "NVIDIA GPUs, by TensorRT", "tensorrt" },
    { 0 },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclDetectProvider", values));

  return type;
}

static GType
region_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_DETECT_FRAME, "Whole frames", "frame" },
    { GST_CCL_DETECT_MOVING, "What moves and is not known well", "moving" },
    { 0 },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclDetectRegion", values));

  return type;
}

static GType
on_error_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_DETECT_STOP, "Post an error, and stop", "stop" },
    { GST_CCL_DETECT_CONTINUE, "Post a warning, and pass frames without detections", "continue" },
    { 0 },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclDetectOnError", values));

  return type;
}

static GType
output_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_OUTPUT_AUTO, "By the shapes of the outputs", "auto" },
    { GST_CCL_OUTPUT_YOLOX, "YOLOX, not decoded", "yolox" },
    { GST_CCL_OUTPUT_YOLOV5, "Rows of box, objectness and classes: YOLOv5, v7", "yolov5" },
    { GST_CCL_OUTPUT_YOLOV8, "Columns of box and classes: YOLOv8, v9, v11", "yolov8" },
    { GST_CCL_OUTPUT_YOLOV10, "Rows of corners, score and class: YOLOv10", "yolov10" },
    { GST_CCL_OUTPUT_SSD, "Boxes, scores and classes apart: SSD and others", "ssd" },
    { 0 },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclDetectOutput", values));

  return type;
}

static GType
color_order_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_COLOR_ORDER_AUTO, "By the kind of network", "auto" },
    { GST_CCL_COLOR_ORDER_RGB, "Red, green, blue", "rgb" },
    { GST_CCL_COLOR_ORDER_BGR, "Blue, green, red", "bgr" },
    { 0 },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclDetectColorOrder", values));

  return type;
}

static GType
letterbox_get_type (void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_LETTERBOX_AUTO, "By the kind of network", "auto" },
    { GST_CCL_LETTERBOX_TOP_LEFT, "At the top left", "top-left" },
    { GST_CCL_LETTERBOX_CENTER, "In the center", "center" },
    { GST_CCL_LETTERBOX_STRETCH, "Stretched to the whole input", "stretch" },
    { 0 },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_enum_register_static ("GstCclDetectLetterbox", values));

  return type;
}

static void
install_network_properties (GObjectClass *gobject_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY;

  /**
   * ccldetect:model:
   *
   * The network: an ONNX file.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_MODEL,
      g_param_spec_string ("model", "Model", "The network: an ONNX file.", NULL, flags));

  /**
   * ccldetect:labels:
   *
   * A text file with the names of the classes, one a line, the first that of class 0 of the
   * network. Without one, names are those in the model's metadata; without those, 80 classes are
   * those of COCO, and others are `class-1`, `class-2` and so on.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_LABELS,
      g_param_spec_string ("labels", "Labels",
                           "A text file with the names of the classes, one a line.", NULL, flags));

  /**
   * ccldetect:classes:
   *
   * The classes to look for, by name or by number from 0 on, separated by commas; empty: all.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_CLASSES,
      g_param_spec_string ("classes", "Classes",
                           "The classes to look for, separated by commas; empty: all.", NULL,
                           flags));

  /**
   * ccldetect:provider:
   *
   * What the network runs on. GPUs need a library with this provider, such as that of the Python
   * package `onnxruntime-gpu`. What the provider lacks runs on the CPU. TensorRT prepares a network
   * for minutes when the element starts.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_PROVIDER,
      g_param_spec_enum ("provider", "Provider", "What the network runs on.", provider_get_type (),
                         GST_CCL_PROVIDER_CPU, flags));

  /**
   * ccldetect:cuda-device-id:
   *
   * CUDA device of the network and of the frames, -1: that of the frames, and the first one for the
   * network.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_CUDA_DEVICE_ID,
      g_param_spec_int ("cuda-device-id", "CUDA device",
                        "CUDA device of the network and of the frames, -1: any.", -1, G_MAXINT, -1,
                        flags));

  /**
   * ccldetect:library:
   *
   * The library of ONNX Runtime, `libonnxruntime.so`. Without it, the environment variable
   * `CUDACCL_ONNXRUNTIME` names it, or the system finds it.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_LIBRARY,
      g_param_spec_string ("library", "Library", "The library of ONNX Runtime, libonnxruntime.so.",
                           NULL, flags));

  /**
   * ccldetect:threads:
   *
   * Threads that a network on the CPU uses; 0: one for each core.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_THREADS,
      g_param_spec_uint ("threads", "Threads",
                         "Threads that a network on the CPU uses; 0: one for each core.", 0, 256, 1,
                         flags));

  /**
   * ccldetect:output:
   *
   * What the outputs of the network mean. `auto` finds it by their shapes; #ccldetect:stats says
   * what. Networks that look like YOLOX but have decoded boxes, such as YOLOv6, need `yolov5`.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_OUTPUT,
      g_param_spec_enum ("output", "Output", "What the outputs of the network mean.",
                         output_get_type (), GST_CCL_OUTPUT_AUTO, flags));

  /**
   * ccldetect:input-width:
   *
   * Width of the input, in pixels, of a network that leaves it open; 0: 640.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_INPUT_WIDTH,
      g_param_spec_uint ("input-width", "Input width",
                         "Width of the input of a network that leaves it open; 0: 640.", 0,
                         CCL_MAX_CROP_PICTURE, 0, flags));

  /**
   * ccldetect:input-height:
   *
   * Height of the input, in pixels, of a network that leaves it open; 0: 640.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_INPUT_HEIGHT,
      g_param_spec_uint ("input-height", "Input height",
                         "Height of the input of a network that leaves it open; 0: 640.", 0,
                         CCL_MAX_CROP_PICTURE, 0, flags));

  /**
   * ccldetect:color-order:
   *
   * The order of colors in the input. `auto`: blue first for YOLOX, else red.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_COLOR_ORDER,
      g_param_spec_enum ("color-order", "Color order", "The order of colors in the input.",
                         color_order_get_type (), GST_CCL_COLOR_ORDER_AUTO, flags));

  /**
   * ccldetect:input-mean:
   *
   * What is subtracted from red, green and blue, of 0 to 255, before #ccldetect:input-scale: a
   * number, or three separated by commas; empty: 0.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_INPUT_MEAN,
      g_param_spec_string ("input-mean", "Input mean",
                           "What is subtracted from red, green and blue.", NULL, flags));

  /**
   * ccldetect:input-scale:
   *
   * What red, green and blue are multiplied by: a number above 0, or three separated by commas;
   * empty: 1 for YOLOX, else 1 / 255. Inputs of uint8 get pixels as they are.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_INPUT_SCALE,
      g_param_spec_string ("input-scale", "Input scale",
                           "What red, green and blue are multiplied by.", NULL, flags));
}

void
gst_ccl_detect_settings_install (GObjectClass *gobject_class)
{
  const GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  install_network_properties (gobject_class);

  /**
   * ccldetect:threshold:
   *
   * Minimum confidence of objects.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_THRESHOLD,
                                   g_param_spec_double ("threshold", "Threshold",
                                                        "Minimum confidence of objects.", 0.01, 1.0,
                                                        DEFAULT_THRESHOLD, flags));

  /**
   * ccldetect:iou-threshold:
   *
   * Of boxes of one class that overlap by more, only the best is kept: their intersection over
   * their union.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_IOU_THRESHOLD,
      g_param_spec_double ("iou-threshold", "IoU threshold",
                           "Overlap of boxes of one class of which only the best is kept.", 0.0,
                           1.0, DEFAULT_IOU_THRESHOLD, flags));

  /**
   * ccldetect:region:
   *
   * Where to look. `moving` needs `cclmotion`, or another element that attaches #GstCclMeta, before
   * this one.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_REGION,
                                   g_param_spec_enum ("region", "Region", "Where to look.",
                                                      region_get_type (), GST_CCL_DETECT_FRAME,
                                                      flags));

  /**
   * ccldetect:refresh:
   *
   * With #ccldetect:region `moving`: after how long the network looks again at something that moves
   * but has not changed, in nanoseconds.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_REFRESH,
      g_param_spec_uint64 ("refresh", "Refresh",
                           "After how long the network looks again at what moves, in nanoseconds.",
                           0, G_MAXUINT64, DEFAULT_REFRESH, flags));

  /**
   * ccldetect:interval:
   *
   * Time from a look at the whole frame to the next, in nanoseconds. 0 means, with
   * #ccldetect:region `frame`, as often as the network can, with `moving` never.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_INTERVAL,
      g_param_spec_uint64 ("interval", "Interval",
                           "Time from a look at the whole frame to the next, in nanoseconds.", 0,
                           G_MAXUINT64, 0, flags));

  /**
   * ccldetect:budget:
   *
   * Most inferences in a second of running time; 0: no limit.
   *
   * Since: 0.1
   */
  g_object_class_install_property (gobject_class, PROP_BUDGET,
                                   g_param_spec_double ("budget", "Budget",
                                                        "Most inferences in a second; 0: no limit.",
                                                        0.0, 1000.0, 0.0, flags));

  /**
   * ccldetect:wait:
   *
   * Hold each frame that the network looks at until it is done, and attach its results to it: they
   * are the same each time, however fast the network is. For recordings.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_WAIT,
      g_param_spec_boolean ("wait", "Wait", "Hold each frame until its results are there.", FALSE,
                            flags));

  /**
   * ccldetect:on-error:
   *
   * What to do without a model that works, or if it fails. Frames pass without detections with
   * `continue`, which posts a warning when the network begins to fail.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_ON_ERROR,
      g_param_spec_enum ("on-error", "On error", "What to do without a model that works.",
                         on_error_get_type (), GST_CCL_DETECT_STOP, flags));

  /**
   * ccldetect:letterbox:
   *
   * How the frame lies in the input. `auto`: at the top left for YOLOX, stretched for SSD, else in
   * the center. Parts of the frame always keep their aspect ratio.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_LETTERBOX,
      g_param_spec_enum ("letterbox", "Letterbox", "How the frame lies in the input.",
                         letterbox_get_type (), GST_CCL_LETTERBOX_AUTO, flags));

  gst_type_mark_as_plugin_api (provider_get_type (), 0);
  gst_type_mark_as_plugin_api (region_get_type (), 0);
  gst_type_mark_as_plugin_api (on_error_get_type (), 0);
  gst_type_mark_as_plugin_api (output_get_type (), 0);
  gst_type_mark_as_plugin_api (color_order_get_type (), 0);
  gst_type_mark_as_plugin_api (letterbox_get_type (), 0);
}
