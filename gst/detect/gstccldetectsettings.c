/* cudaccl - the properties of ccldetect
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldetectsettings.h"

static GType
provider_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_PROVIDER_CPU, "The CPU", "cpu" },
    { GST_CCL_PROVIDER_CUDA, "NVIDIA GPUs, by CUDA and cuDNN", "cuda" },
    { GST_CCL_PROVIDER_TENSORRT, "NVIDIA GPUs, by TensorRT", "tensorrt" },
    { 0 },
  };

  return gst_ccl_register_enum (&type, "GstCclDetectProvider", values);
}

static GType
region_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_DETECT_FRAME, "Whole frames", "frame" },
    { GST_CCL_DETECT_MOVING, "What moves and is not known well", "moving" },
    { 0 },
  };

  return gst_ccl_register_enum (&type, "GstCclDetectRegion", values);
}

static GType
on_error_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_DETECT_STOP, "Post an error, and stop", "stop" },
    { GST_CCL_DETECT_CONTINUE, "Post a warning, and pass frames without detections", "continue" },
    { 0 },
  };

  return gst_ccl_register_enum (&type, "GstCclDetectOnError", values);
}

static GType
output_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_OUTPUT_AUTO, "By the shapes of the outputs and what the model says", "auto" },
    { GST_CCL_OUTPUT_YOLOX, "YOLOX, not decoded", "yolox" },
    { GST_CCL_OUTPUT_YOLOV5, "Rows of box, objectness and classes: YOLOv5, v7", "yolov5" },
    { GST_CCL_OUTPUT_YOLOV8, "Columns of box and classes: YOLOv8 to v26", "yolov8" },
    { GST_CCL_OUTPUT_YOLOV10, "Rows of corners, score and class: YOLOv10, v26", "yolov10" },
    { GST_CCL_OUTPUT_SSD, "Boxes, scores and classes apart: SSD and others", "ssd" },
    { GST_CCL_OUTPUT_DETR, "Boxes and classes of queries: D-FINE, RF-DETR and others", "detr" },
    { 0 },
  };

  return gst_ccl_register_enum (&type, "GstCclDetectOutput", values);
}

static GType
color_order_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_COLOR_ORDER_AUTO, "By the kind of network", "auto" },
    { GST_CCL_COLOR_ORDER_RGB, "Red, green, blue", "rgb" },
    { GST_CCL_COLOR_ORDER_BGR, "Blue, green, red", "bgr" },
    { 0 },
  };

  return gst_ccl_register_enum (&type, "GstCclDetectColorOrder", values);
}

static GType
letterbox_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { GST_CCL_LETTERBOX_AUTO, "By the kind of network", "auto" },
    { GST_CCL_LETTERBOX_TOP_LEFT, "At the top left", "top-left" },
    { GST_CCL_LETTERBOX_CENTER, "In the center", "center" },
    { GST_CCL_LETTERBOX_STRETCH, "Stretched to the whole input", "stretch" },
    { 0 },
  };

  return gst_ccl_register_enum (&type, "GstCclDetectLetterbox", values);
}

/* In functions with the parameters @gobject_class and @offset. */
#define INSTALL(field, pspec)                \
  gst_ccl_properties_install (gobject_class, \
                              GST_CCL_FIELD_AT (offset, GstCclDetectSettings, field), pspec)

static void
install_network_properties (GObjectClass *gobject_class, gssize offset)
{
  /**
   * ccldetect:model:
   *
   * The network: an ONNX file.
   *
   * Since: 0.1
   */
  INSTALL (model, g_param_spec_string ("model", "Model", "The network: an ONNX file.", NULL,
                                       GST_CCL_READY));

  /**
   * ccldetect:labels:
   *
   * A text file with the names of the classes, one a line, the first that of class 0 of the
   * network. Without one, names are those in the model's metadata; without those, 80 classes are
   * those of COCO, and others are `class-1`, `class-2` and so on.
   *
   * Since: 0.1
   */
  INSTALL (labels, g_param_spec_string ("labels", "Labels",
                                        "A text file with the names of the classes, one a line.",
                                        NULL, GST_CCL_READY));

  /**
   * ccldetect:classes:
   *
   * The classes to look for, by name or by number from 0 on, separated by commas; empty: all.
   *
   * Since: 0.1
   */
  INSTALL (classes,
           g_param_spec_string ("classes", "Classes",
                                "The classes to look for, separated by commas; empty: all.", NULL,
                                GST_CCL_READY));

  /**
   * ccldetect:provider:
   *
   * What the network runs on. GPUs need a library with this provider, such as that of the Python
   * package `onnxruntime-gpu`. What the provider lacks runs on the CPU. TensorRT prepares a network
   * for minutes when the element starts.
   *
   * Since: 0.1
   */
  INSTALL (provider, g_param_spec_enum ("provider", "Provider", "What the network runs on.",
                                        provider_get_type (), GST_CCL_PROVIDER_CPU, GST_CCL_READY));

  /**
   * ccldetect:cuda-device-id:
   *
   * CUDA device of the network and of the frames, -1: that of the frames, and the first one for the
   * network.
   *
   * Since: 0.1
   */
  INSTALL (device, g_param_spec_int ("cuda-device-id", "CUDA device",
                                     "CUDA device of the network and of the frames, -1: any.", -1,
                                     G_MAXINT, -1, GST_CCL_READY));

  /**
   * ccldetect:library:
   *
   * The library of ONNX Runtime, `libonnxruntime.so`. Without it, the environment variable
   * `CUDACCL_ONNXRUNTIME` names it, or the system finds it.
   *
   * Since: 0.1
   */
  INSTALL (library, g_param_spec_string ("library", "Library",
                                         "The library of ONNX Runtime, libonnxruntime.so.", NULL,
                                         GST_CCL_READY));

  /**
   * ccldetect:threads:
   *
   * Threads that a network on the CPU uses; 0: one for each core.
   *
   * Since: 0.1
   */
  INSTALL (threads,
           g_param_spec_uint ("threads", "Threads",
                              "Threads that a network on the CPU uses; 0: one for each core.", 0,
                              256, 1, GST_CCL_READY));

  /**
   * ccldetect:output:
   *
   * The meaning of the network's outputs. `auto` finds it by their shapes and names, the model's
   * metadata and a file `.modelinfo` beside it; #ccldetect:stats says what. Networks that look like
   * YOLOX but have decoded boxes, such as YOLOv6, need `yolov5`.
   *
   * Since: 0.1
   */
  INSTALL (output, g_param_spec_enum ("output", "Output", "The meaning of the network's outputs.",
                                      output_get_type (), GST_CCL_OUTPUT_AUTO, GST_CCL_READY));

  /**
   * ccldetect:input-width:
   *
   * Width of the input, in pixels, of a network that leaves it open; 0: 640.
   *
   * Since: 0.1
   */
  INSTALL (input_width,
           g_param_spec_uint ("input-width", "Input width",
                              "Width of the input of a network that leaves it open; 0: 640.", 0,
                              CCL_MAX_CROP_PICTURE, 0, GST_CCL_READY));

  /**
   * ccldetect:input-height:
   *
   * Height of the input, in pixels, of a network that leaves it open; 0: 640.
   *
   * Since: 0.1
   */
  INSTALL (input_height,
           g_param_spec_uint ("input-height", "Input height",
                              "Height of the input of a network that leaves it open; 0: 640.", 0,
                              CCL_MAX_CROP_PICTURE, 0, GST_CCL_READY));

  /**
   * ccldetect:color-order:
   *
   * The order of colors in the input. `auto`: blue first for YOLOX, else red.
   *
   * Since: 0.1
   */
  INSTALL (color_order,
           g_param_spec_enum ("color-order", "Color order", "The order of colors in the input.",
                              color_order_get_type (), GST_CCL_COLOR_ORDER_AUTO, GST_CCL_READY));

  /**
   * ccldetect:input-mean:
   *
   * What is subtracted from red, green and blue, of 0 to 255, before #ccldetect:input-scale: a
   * number, or three separated by commas; empty: 0 if #ccldetect:input-scale is set, else by the
   * file `.modelinfo` beside the model or the kind of network, see #ccldetect:input-scale.
   *
   * Since: 0.1
   */
  INSTALL (input_mean, g_param_spec_string ("input-mean", "Input mean",
                                            "What is subtracted from red, green and blue.", NULL,
                                            GST_CCL_READY));

  /**
   * ccldetect:input-scale:
   *
   * What red, green and blue are multiplied by: a number above 0, or three separated by commas;
   * empty: as the `ranges` of the input in the file `.modelinfo` beside the model say, or else 1
   * for YOLOX, ImageNet's mean and deviation for RF-DETR, and 1 / 255 for others. Inputs of uint8
   * get pixels as they are.
   *
   * Since: 0.1
   */
  INSTALL (input_scale, g_param_spec_string ("input-scale", "Input scale",
                                             "What red, green and blue are multiplied by.", NULL,
                                             GST_CCL_READY));
}

void
gst_ccl_detect_settings_install (GObjectClass *gobject_class, gssize offset)
{
  install_network_properties (gobject_class, offset);

  /**
   * ccldetect:threshold:
   *
   * Minimum confidence of objects.
   *
   * Since: 0.1
   */
  INSTALL (threshold,
           g_param_spec_double ("threshold", "Threshold", "Minimum confidence of objects.", 0.01,
                                1.0, 0.3, GST_CCL_PLAYING));

  /**
   * ccldetect:iou-threshold:
   *
   * Of boxes of one class that overlap by more, only the best is kept: their intersection over
   * their union. -1: by the kind of network: 0.45 for those with boxes of cells or anchors; none
   * are dropped where the network has one box for each object, as DETRs, YOLOv10 and end-to-end
   * YOLO26, or has dropped them itself.
   *
   * Since: 0.1
   */
  INSTALL (iou_threshold,
           g_param_spec_double ("iou-threshold", "IoU threshold",
                                "Overlap of boxes of one class of which only the best is kept; "
                                "-1: by the kind of network.",
                                -1.0, 1.0, -1.0, GST_CCL_PLAYING));

  /**
   * ccldetect:region:
   *
   * Where to look. `moving` needs `cclmotion`, or another element that attaches #GstCclMeta, before
   * this one.
   *
   * Since: 0.1
   */
  INSTALL (region, g_param_spec_enum ("region", "Region", "Where to look.", region_get_type (),
                                      GST_CCL_DETECT_FRAME, GST_CCL_PLAYING));

  /**
   * ccldetect:refresh:
   *
   * With #ccldetect:region `moving`: after how long the network looks again at something that moves
   * but has not changed, in nanoseconds.
   *
   * Since: 0.1
   */
  INSTALL (refresh, g_param_spec_uint64 (
                        "refresh", "Refresh",
                        "After how long the network looks again at what moves, in nanoseconds.", 0,
                        G_MAXUINT64, 4 * GST_SECOND, GST_CCL_PLAYING));

  /**
   * ccldetect:interval:
   *
   * Time from a look at the whole frame to the next, in nanoseconds. 0 means, with
   * #ccldetect:region `frame`, as often as the network can, with `moving` never.
   *
   * Since: 0.1
   */
  INSTALL (interval,
           g_param_spec_uint64 ("interval", "Interval",
                                "Time from a look at the whole frame to the next, in nanoseconds.",
                                0, G_MAXUINT64, 0, GST_CCL_PLAYING));

  /**
   * ccldetect:budget:
   *
   * Most inferences in a second of running time; 0: no limit.
   *
   * Since: 0.1
   */
  INSTALL (budget,
           g_param_spec_double ("budget", "Budget", "Most inferences in a second; 0: no limit.",
                                0.0, 1000.0, 0.0, GST_CCL_PLAYING));

  /**
   * ccldetect:wait:
   *
   * Hold each frame that the network looks at until it is done, and attach its results to it: they
   * are the same each time, however fast the network is. For recordings.
   *
   * Since: 0.1
   */
  INSTALL (wait,
           g_param_spec_boolean ("wait", "Wait", "Hold each frame until its results are there.",
                                 FALSE, GST_CCL_PLAYING));

  /**
   * ccldetect:on-error:
   *
   * What to do without a model that works, or if it fails. Frames pass without detections with
   * `continue`, which posts a warning when the network begins to fail.
   *
   * Since: 0.1
   */
  INSTALL (on_error,
           g_param_spec_enum ("on-error", "On error", "What to do without a model that works.",
                              on_error_get_type (), GST_CCL_DETECT_STOP, GST_CCL_PLAYING));

  /**
   * ccldetect:letterbox:
   *
   * How the frame lies in the input. `auto`: at the top left for YOLOX, stretched for SSD and DETR,
   * else in the center. Parts of the frame always keep their aspect ratio.
   *
   * Since: 0.1
   */
  INSTALL (letterbox,
           g_param_spec_enum ("letterbox", "Letterbox", "How the frame lies in the input.",
                              letterbox_get_type (), GST_CCL_LETTERBOX_AUTO, GST_CCL_PLAYING));
}
