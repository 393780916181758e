/* cudaccl - the writable properties of the elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclproperties.h"

static GType
register_enum (GType *type, const gchar *name, const GEnumValue *values)
{
  if (g_once_init_enter (type))
    g_once_init_leave (type, g_enum_register_static (name, values));

  return *type;
}

GType
gst_cuda_ccl_backend_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_BACKEND_AUTO, "CUDA if there is a device, else the CPU", "auto" },
    { CCL_BACKEND_CUDA, "NVIDIA GPU", "cuda" },
    { CCL_BACKEND_CPU, "CPU", "cpu" },
    { 0, NULL, NULL },
  };

  return register_enum (&type, "GstCudaCclBackend", values);
}

/* Values never change, not even in builds without an algorithm. */
static const struct
{
  gint value;
  const gchar *name;
} algorithms[] = {
  { 1, "tile" },           { 2, "flsl-cd" }, { 3, "ha4" },     { 4, "flsl-otf" },
  { 5, "flsl" },           { 6, "ha4-otf" }, { 7, "ha4-cd" },  { 8, "ha4-32" },
  { 9, "naive" },          { 10, "bke" },    { 11, "bke-ic" }, { 12, "buf" },
  { 13, "buf-ic" },        { 14, "uf" },     { 15, "lbuf" },   { 16, "ke" },
  { 17, "playne" },        { 18, "dlp" },    { 19, "be" },     { 20, "label-equivalence" },
  { 21, "row-col-unify" }, { 100, "runs" },
};

static const gchar *
describe_algorithm (const gchar *name)
{
  const CclAlgorithm *algorithm;
  gsize i;

  for (i = 0; (algorithm = ccl_algorithm (i)); i++) {
    if (g_str_equal (algorithm->name, name))
      return algorithm->description;
  }

  return "Not in this build";
}

static GType
register_algorithms (void)
{
  /* GObject never frees the array. */
  GEnumValue *values = g_new0 (GEnumValue, G_N_ELEMENTS (algorithms) + 2);
  guint i;

  values[0].value = GST_CUDA_CCL_ALGORITHM_AUTO;
  values[0].value_name = "Best algorithm of the backend";
  values[0].value_nick = "auto";

  for (i = 0; i < G_N_ELEMENTS (algorithms); i++) {
    values[i + 1].value = algorithms[i].value;
    values[i + 1].value_name = describe_algorithm (algorithms[i].name);
    values[i + 1].value_nick = algorithms[i].name;
  }

  return g_enum_register_static ("GstCudaCclAlgorithm", values);
}

GType
gst_cuda_ccl_algorithm_get_type (void)
{
  static GType type = 0;

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, register_algorithms ());

  return type;
}

const gchar *
gst_cuda_ccl_algorithm_get_name (gint value)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (algorithms); i++) {
    if (algorithms[i].value == value)
      return algorithms[i].name;
  }

  return NULL;
}

GType
gst_cuda_ccl_connectivity_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { 4, "Pixels that share an edge", "4" },
    { 8, "Pixels that share an edge or a corner", "8" },
    { 0, NULL, NULL },
  };

  return register_enum (&type, "GstCudaCclConnectivity", values);
}

GType
gst_cuda_ccl_sync_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_SYNC_AUTO, "Spin briefly, then yield, then sleep", "auto" },
    { CCL_SYNC_SPIN, "Busy-poll: lowest latency, keeps a core busy", "spin" },
    { CCL_SYNC_YIELD, "Busy-poll, but yield to other threads: low latency", "yield" },
    { CCL_SYNC_BLOCK, "Sleep until the device is done: least CPU time", "block" },
    { 0, NULL, NULL },
  };

  return register_enum (&type, "GstCudaCclSync", values);
}

GType
gst_cuda_ccl_upload_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_UPLOAD_AUTO, "Whichever is faster for the memory of the frames", "auto" },
    { CCL_UPLOAD_PIXELS, "One byte per pixel", "pixels" },
    { CCL_UPLOAD_BITS, "One bit per pixel: the CPU applies the threshold", "bits" },
    { 0, NULL, NULL },
  };

  return register_enum (&type, "GstCudaCclUpload", values);
}

GType
gst_cuda_ccl_attach_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CUDA_CCL_ATTACH_COMPONENTS, "One GstCclMeta with all components", "components" },
    { GST_CUDA_CCL_ATTACH_ROI, "One GstVideoRegionOfInterestMeta for each component", "roi" },
#ifdef HAVE_ANALYTICS
    { GST_CUDA_CCL_ATTACH_ANALYTICS, "One GstAnalytics object detection for each component",
      "analytics" },
#endif
    { GST_CUDA_CCL_ATTACH_NVDS, "One NvDsObjectMeta of DeepStream for each component", "nvds" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_flags_register_static ("GstCudaCclAttach", values));

  return type;
}

#define DEFAULT_BACKEND CCL_BACKEND_AUTO
#define DEFAULT_CUDA_DEVICE_ID -1
#define DEFAULT_ALGORITHM GST_CUDA_CCL_ALGORITHM_AUTO
#define DEFAULT_CONNECTIVITY 8
#define DEFAULT_MAX_COMPONENTS 1024
#define DEFAULT_THREADS 1
#define DEFAULT_CUDA_SYNC CCL_SYNC_AUTO
#define DEFAULT_UPLOAD CCL_UPLOAD_AUTO
#define DEFAULT_THRESHOLD 127
#define DEFAULT_INVERT FALSE
#define DEFAULT_MIN_AREA 1
#define DEFAULT_MAX_AREA G_MAXUINT64
#define DEFAULT_MIN_RELATIVE_AREA 0.0
#define DEFAULT_MIN_WIDTH 1
#define DEFAULT_MIN_HEIGHT 1
#define DEFAULT_ATTACH (GST_CUDA_CCL_ATTACH_COMPONENTS | GST_CUDA_CCL_ATTACH_ROI)
#define DEFAULT_ROI_TYPE "blob"
#define DEFAULT_POST_MESSAGES FALSE

/* One of this many frames is measured for the statistics. */
#define TIMING_INTERVAL 16

#define READY_FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)
#define PLAYING_FLAGS (G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING)

enum
{
  PROP_BACKEND = GST_CCL_SETTINGS_FIRST_ID,
  PROP_CUDA_DEVICE_ID,
  PROP_ALGORITHM,
  PROP_CONNECTIVITY,
  PROP_MAX_COMPONENTS,
  PROP_CUDA_SYNC,
  PROP_THRESHOLD,
  PROP_INVERT,
  PROP_MIN_AREA,
  PROP_MAX_AREA,
  PROP_ATTACH,
  PROP_ROI_TYPE,
  PROP_POST_MESSAGES,
  PROP_THREADS,
  PROP_UPLOAD,
  PROP_MORPHOLOGY,
  PROP_INCLUDE,
  PROP_EXCLUDE,
  PROP_REGION_FILE,
  PROP_MIN_RELATIVE_AREA,
  PROP_MIN_WIDTH,
  PROP_MIN_HEIGHT,
};

void
gst_ccl_settings_init (GstCclSettings *settings)
{
  settings->backend = DEFAULT_BACKEND;
  settings->cuda_device_id = DEFAULT_CUDA_DEVICE_ID;
  settings->algorithm = DEFAULT_ALGORITHM;
  settings->connectivity = DEFAULT_CONNECTIVITY;
  settings->max_components = DEFAULT_MAX_COMPONENTS;
  settings->threads = DEFAULT_THREADS;
  settings->cuda_sync = DEFAULT_CUDA_SYNC;
  settings->upload = DEFAULT_UPLOAD;
  settings->cleaning = (GstCclCleaningSettings){ NULL };

  ccl_params_init (&settings->params);
  settings->params.threshold = DEFAULT_THRESHOLD;
  settings->params.invert = DEFAULT_INVERT;
  settings->params.min_area = DEFAULT_MIN_AREA;
  settings->params.max_area = DEFAULT_MAX_AREA;
  settings->params.min_width = DEFAULT_MIN_WIDTH;
  settings->params.min_height = DEFAULT_MIN_HEIGHT;
  settings->min_relative_area = DEFAULT_MIN_RELATIVE_AREA;

  settings->attach = DEFAULT_ATTACH;
  settings->roi_type = g_quark_from_static_string (DEFAULT_ROI_TYPE);
  settings->post_messages = DEFAULT_POST_MESSAGES;
}

void
gst_ccl_settings_clear (GstCclSettings *settings)
{
  gst_ccl_cleaning_settings_clear (&settings->cleaning);
}

static void
install_analyzer_properties (GObjectClass *gobject_class)
{
  /**
   * cudaccl:backend:
   *
   * Where the frames are analysed. `auto` uses the CPU if there is no CUDA device, which it logs at
   * INFO level. If the device fails, for example because its memory is full, the element posts a
   * warning and the CPU analyses the frames until the next caps or start; this needs frames in
   * system memory and #cudaccl:cuda-device-id -1. Otherwise, and with `cuda`, it is an error.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_BACKEND,
      g_param_spec_enum ("backend", "Backend", "Where the frames are analysed.",
                         GST_TYPE_CUDA_CCL_BACKEND, DEFAULT_BACKEND, READY_FLAGS));

  /**
   * cudaccl:cuda-device-id:
   *
   * The CUDA device that analyses the frames, -1 for any device.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_CUDA_DEVICE_ID,
      g_param_spec_int ("cuda-device-id", "CUDA device ID",
                        "CUDA device that analyses the frames (-1 = any).", -1, G_MAXINT,
                        DEFAULT_CUDA_DEVICE_ID, READY_FLAGS));

  /**
   * cudaccl:algorithm:
   *
   * The algorithm that finds the components. All give the same result, at different speeds.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_ALGORITHM,
      g_param_spec_enum ("algorithm", "Algorithm",
                         "Algorithm that finds the components; does not change the result.",
                         GST_TYPE_CUDA_CCL_ALGORITHM, DEFAULT_ALGORITHM, READY_FLAGS));

  /**
   * cudaccl:connectivity:
   *
   * Which pixels are connected: those that share an edge (4), or those that share an edge or a
   * corner (8).
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_CONNECTIVITY,
      g_param_spec_enum ("connectivity", "Connectivity",
                         "Number of neighbours that a pixel is connected to.",
                         GST_TYPE_CUDA_CCL_CONNECTIVITY, DEFAULT_CONNECTIVITY, READY_FLAGS));

  /**
   * cudaccl:max-components:
   *
   * Maximum number of components per frame. If more are found, only the largest are kept. The
   * metadata and the messages contain the number found, and #cudaccl:stats counts such frames.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_MAX_COMPONENTS,
      g_param_spec_uint ("max-components", "Maximum components",
                         "Maximum number of components per frame; the largest are kept.", 1,
                         G_MAXUINT, DEFAULT_MAX_COMPONENTS, READY_FLAGS));

  /**
   * cudaccl:threads:
   *
   * Number of threads that analyse a frame on the CPU, including the streaming thread; 0 uses one
   * for each CPU available to the process. Does not change the result, and has no effect on a GPU.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_THREADS,
      g_param_spec_uint ("threads", "Threads",
                         "Number of threads that analyse a frame on the CPU (0 = one per CPU).", 0,
                         CCL_MAX_THREADS, DEFAULT_THREADS, READY_FLAGS));

  /**
   * cudaccl:cuda-sync:
   *
   * How the streaming thread waits for the CUDA device. `auto` busy-polls for 0.15 ms, enough for
   * an HD frame, then yields between polls, and finally sleeps between them; on GPUs that share
   * memory with the host (Jetson) it is the same as `block`. `block` uses the least CPU time, but
   * adds about 30 us to each frame.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_CUDA_SYNC,
      g_param_spec_enum ("cuda-sync", "CUDA synchronization",
                         "How the streaming thread waits for the CUDA device.",
                         GST_TYPE_CUDA_CCL_SYNC, DEFAULT_CUDA_SYNC, READY_FLAGS));
}

static void
install_cleaning_properties (GObjectClass *gobject_class)
{
  /**
   * cudaccl:morphology:
   *
   * Operations that clean the mask before the analysis, in order, separated by commas, such as
   * `median5,close5x11,fill,drop50`:
   *
   * * `median3`, `median5`: the majority of the square around each pixel,
   * * `erodeWxH`, `dilateWxH`: foreground where the whole rectangle, or any pixel of it, is
   *   foreground,
   * * `openWxH`: erosion, then dilation: removes everything smaller than the rectangle,
   * * `closeWxH`: dilation, then erosion: closes gaps smaller than the rectangle,
   * * `fill`, `fillN`: fills all holes, or those of at most N pixels,
   * * `dropN`: removes components of fewer than N pixels.
   *
   * W and H are odd, up to 31. At most 16 operations. Pixels of the frame do not change.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_MORPHOLOGY,
      g_param_spec_string ("morphology", "Morphology",
                           "Operations that clean the mask, e.g. median5,close5x11,fill,drop50.",
                           NULL, READY_FLAGS));

  /**
   * cudaccl:include:
   *
   * Polygons outside which everything is background: `x,y x,y x,y; ...` as fractions of the frame
   * from 0 to 1. Applied before #cudaccl:morphology.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_INCLUDE,
      g_param_spec_string (
          "include", "Include",
          "Polygons to analyse: x,y x,y x,y; ... as fractions of the frame from 0 to 1.", NULL,
          READY_FLAGS));

  /**
   * cudaccl:exclude:
   *
   * Polygons inside which everything is background, in the format of #cudaccl:include, over which
   * they take precedence.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_EXCLUDE,
      g_param_spec_string (
          "exclude", "Exclude",
          "Polygons to ignore: x,y x,y x,y; ... as fractions of the frame from 0 to 1.", NULL,
          READY_FLAGS));

  /**
   * cudaccl:region-file:
   *
   * Path of a PNG file, or a binary PGM file (P5, 8 bits), whose dark pixels are background: pixels
   * above half of the maximum value are analysed, unless #cudaccl:include or #cudaccl:exclude make
   * them background. In PNG files, colours become grey, and transparent pixels are blended with
   * black. The file is read when the element starts, and scaled to the frame (nearest neighbour).
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_REGION_FILE,
      g_param_spec_string ("region-file", "Region file",
                           "PNG or PGM (P5) file whose bright pixels are analysed.", NULL,
                           READY_FLAGS));
}

static void
install_analysis_properties (GObjectClass *gobject_class)
{
  /**
   * cudaccl:invert:
   *
   * Inverts the mask: pixels up to #cudaccl:threshold are foreground.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_INVERT,
      g_param_spec_boolean ("invert", "Invert",
                            "Invert the mask: pixels up to the threshold are foreground.",
                            DEFAULT_INVERT, PLAYING_FLAGS));

  /**
   * cudaccl:min-area:
   *
   * Minimum component area in pixels; smaller ones are dropped.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_MIN_AREA,
      g_param_spec_uint64 ("min-area", "Minimum area",
                           "Minimum component area in pixels; smaller ones are dropped.", 0,
                           G_MAXUINT64, DEFAULT_MIN_AREA, PLAYING_FLAGS));

  /**
   * cudaccl:max-area:
   *
   * Maximum component area in pixels; larger ones are dropped.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_MAX_AREA,
      g_param_spec_uint64 ("max-area", "Maximum area",
                           "Maximum component area in pixels; larger ones are dropped.", 0,
                           G_MAXUINT64, DEFAULT_MAX_AREA, PLAYING_FLAGS));

  /**
   * cudaccl:min-relative-area:
   *
   * Minimum component area as a share of the frame's area; smaller ones are dropped. The larger of
   * this and #cudaccl:min-area applies.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_MIN_RELATIVE_AREA,
      g_param_spec_double ("min-relative-area", "Minimum relative area",
                           "Minimum component area as a share of the frame; smaller ones are "
                           "dropped.",
                           0.0, 1.0, DEFAULT_MIN_RELATIVE_AREA, PLAYING_FLAGS));

  /**
   * cudaccl:min-width:
   *
   * Minimum width of a component's bounding box in pixels; narrower ones are dropped.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_MIN_WIDTH,
      g_param_spec_uint ("min-width", "Minimum width",
                         "Minimum component width in pixels; narrower ones are dropped.", 0,
                         G_MAXUINT, DEFAULT_MIN_WIDTH, PLAYING_FLAGS));

  /**
   * cudaccl:min-height:
   *
   * Minimum height of a component's bounding box in pixels; flatter ones are dropped.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_MIN_HEIGHT,
      g_param_spec_uint ("min-height", "Minimum height",
                         "Minimum component height in pixels; flatter ones are dropped.", 0,
                         G_MAXUINT, DEFAULT_MIN_HEIGHT, PLAYING_FLAGS));
}

static void
install_result_properties (GObjectClass *gobject_class)
{
  /**
   * cudaccl:attach:
   *
   * Metadata to attach to frames.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_ATTACH,
      g_param_spec_flags ("attach", "Attach", "Metadata to attach to frames.",
                          GST_TYPE_CUDA_CCL_ATTACH, DEFAULT_ATTACH, PLAYING_FLAGS));

  /**
   * cudaccl:roi-type:
   *
   * Type of the regions of interest and object detections.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_ROI_TYPE,
      g_param_spec_string ("roi-type", "ROI type",
                           "Type of the regions of interest and object detections.",
                           DEFAULT_ROI_TYPE, PLAYING_FLAGS));

  /**
   * cudaccl:post-messages:
   *
   * Post an element message with the components of each frame.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_POST_MESSAGES,
      g_param_spec_boolean ("post-messages", "Post messages",
                            "Post an element message with the components of each frame.",
                            DEFAULT_POST_MESSAGES, PLAYING_FLAGS));
}

void
gst_ccl_settings_install_properties (GObjectClass *gobject_class)
{
  install_analyzer_properties (gobject_class);
  install_cleaning_properties (gobject_class);
  install_analysis_properties (gobject_class);
  install_result_properties (gobject_class);
}

void
gst_ccl_settings_install_mask_properties (GObjectClass *gobject_class)
{
  /**
   * cudaccl:threshold:
   *
   * Pixels above this value are foreground. The default excludes the shadows of background
   * subtraction (127) and video range black (16).
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_THRESHOLD,
      g_param_spec_uint ("threshold", "Threshold", "Pixels above this value are foreground.", 0,
                         G_MAXUINT8, DEFAULT_THRESHOLD, PLAYING_FLAGS | GST_PARAM_CONTROLLABLE));

  /**
   * cudaccl:upload:
   *
   * How frames in system memory are transferred to the CUDA device: as they are, or as one bit per
   * pixel, for which the CPU applies #cudaccl:threshold first. Up to 4 threads per process share
   * this work unless #cudaccl:cuda-sync is `block`. Does not change the result, and has no effect
   * on the CPU or on frames in device memory.
   *
   * Since: 0.1
   */
  g_object_class_install_property (
      gobject_class, PROP_UPLOAD,
      g_param_spec_enum ("upload", "Upload",
                         "How frames in system memory are transferred to the CUDA device.",
                         GST_TYPE_CUDA_CCL_UPLOAD, DEFAULT_UPLOAD, READY_FLAGS));
}

static void
take_string (gchar **string, const GValue *value)
{
  g_free (*string);
  *string = g_value_dup_string (value);
}

gboolean
gst_ccl_settings_set (GstCclSettings *settings, guint prop_id, const GValue *value)
{
  const gchar *roi_type;

  switch (prop_id) {
  case PROP_BACKEND:
    settings->backend = (CclBackend) g_value_get_enum (value);
    break;
  case PROP_CUDA_DEVICE_ID:
    settings->cuda_device_id = g_value_get_int (value);
    break;
  case PROP_ALGORITHM:
    settings->algorithm = g_value_get_enum (value);
    break;
  case PROP_CONNECTIVITY:
    settings->connectivity = (guint) g_value_get_enum (value);
    break;
  case PROP_MAX_COMPONENTS:
    settings->max_components = g_value_get_uint (value);
    break;
  case PROP_CUDA_SYNC:
    settings->cuda_sync = (CclSync) g_value_get_enum (value);
    break;
  case PROP_THRESHOLD:
    settings->params.threshold = (guint8) g_value_get_uint (value);
    break;
  case PROP_INVERT:
    settings->params.invert = g_value_get_boolean (value);
    break;
  case PROP_MIN_AREA:
    settings->params.min_area = g_value_get_uint64 (value);
    break;
  case PROP_MAX_AREA:
    settings->params.max_area = g_value_get_uint64 (value);
    break;
  case PROP_ATTACH:
    settings->attach = (GstCudaCclAttach) g_value_get_flags (value);
    break;
  case PROP_ROI_TYPE:
    roi_type = g_value_get_string (value);
    settings->roi_type = g_quark_from_string (roi_type ? roi_type : DEFAULT_ROI_TYPE);
    break;
  case PROP_POST_MESSAGES:
    settings->post_messages = g_value_get_boolean (value);
    break;
  case PROP_THREADS:
    settings->threads = g_value_get_uint (value);
    break;
  case PROP_UPLOAD:
    settings->upload = (CclUpload) g_value_get_enum (value);
    break;
  case PROP_MORPHOLOGY:
    take_string (&settings->cleaning.morphology, value);
    break;
  case PROP_INCLUDE:
    take_string (&settings->cleaning.include, value);
    break;
  case PROP_EXCLUDE:
    take_string (&settings->cleaning.exclude, value);
    break;
  case PROP_REGION_FILE:
    take_string (&settings->cleaning.region_file, value);
    break;
  case PROP_MIN_RELATIVE_AREA:
    settings->min_relative_area = g_value_get_double (value);
    break;
  case PROP_MIN_WIDTH:
    settings->params.min_width = g_value_get_uint (value);
    break;
  case PROP_MIN_HEIGHT:
    settings->params.min_height = g_value_get_uint (value);
    break;
  default:
    return FALSE;
  }

  return TRUE;
}

gboolean
gst_ccl_settings_get (const GstCclSettings *settings, guint prop_id, GValue *value)
{
  switch (prop_id) {
  case PROP_BACKEND:
    g_value_set_enum (value, settings->backend);
    break;
  case PROP_CUDA_DEVICE_ID:
    g_value_set_int (value, settings->cuda_device_id);
    break;
  case PROP_ALGORITHM:
    g_value_set_enum (value, settings->algorithm);
    break;
  case PROP_CONNECTIVITY:
    g_value_set_enum (value, (gint) settings->connectivity);
    break;
  case PROP_MAX_COMPONENTS:
    g_value_set_uint (value, settings->max_components);
    break;
  case PROP_CUDA_SYNC:
    g_value_set_enum (value, (gint) settings->cuda_sync);
    break;
  case PROP_THRESHOLD:
    g_value_set_uint (value, settings->params.threshold);
    break;
  case PROP_INVERT:
    g_value_set_boolean (value, settings->params.invert);
    break;
  case PROP_MIN_AREA:
    g_value_set_uint64 (value, settings->params.min_area);
    break;
  case PROP_MAX_AREA:
    g_value_set_uint64 (value, settings->params.max_area);
    break;
  case PROP_ATTACH:
    g_value_set_flags (value, settings->attach);
    break;
  case PROP_ROI_TYPE:
    g_value_set_string (value, g_quark_to_string (settings->roi_type));
    break;
  case PROP_POST_MESSAGES:
    g_value_set_boolean (value, settings->post_messages);
    break;
  case PROP_THREADS:
    g_value_set_uint (value, settings->threads);
    break;
  case PROP_UPLOAD:
    g_value_set_enum (value, (gint) settings->upload);
    break;
  case PROP_MORPHOLOGY:
    g_value_set_string (value, settings->cleaning.morphology);
    break;
  case PROP_INCLUDE:
    g_value_set_string (value, settings->cleaning.include);
    break;
  case PROP_EXCLUDE:
    g_value_set_string (value, settings->cleaning.exclude);
    break;
  case PROP_REGION_FILE:
    g_value_set_string (value, settings->cleaning.region_file);
    break;
  case PROP_MIN_RELATIVE_AREA:
    g_value_set_double (value, settings->min_relative_area);
    break;
  case PROP_MIN_WIDTH:
    g_value_set_uint (value, settings->params.min_width);
    break;
  case PROP_MIN_HEIGHT:
    g_value_set_uint (value, settings->params.min_height);
    break;
  default:
    return FALSE;
  }

  return TRUE;
}

void
gst_ccl_settings_get_config (const GstCclSettings *settings, CclConfig *config)
{
  ccl_config_init (config, 1, 1);
  config->connectivity = settings->connectivity;
  config->backend = settings->backend;
  config->algorithm = gst_cuda_ccl_algorithm_get_name (settings->algorithm);
  config->device = settings->cuda_device_id;
  config->max_components = settings->max_components;
  config->threads = settings->threads;
  config->sync = settings->cuda_sync;
  config->upload = settings->upload;
  config->timing = true;
  config->timing_interval = TIMING_INTERVAL;
}
