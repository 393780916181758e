/* cudaccl - the settings of the elements that analyse frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclsettings.h"

#include <math.h>

#include "gstcclfeatures.h"

/* One frame in this many is measured for the statistics. */
#define TIMING_INTERVAL 16

#define ALGORITHM_AUTO 0

static GType
backend_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_BACKEND_AUTO, "CUDA if there is a device, else the CPU", "auto" },
    { CCL_BACKEND_CUDA, "NVIDIA GPU", "cuda" },
    { CCL_BACKEND_CPU, "CPU", "cpu" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCudaCclBackend", values);
}

/* Values are ABI, also in builds without the algorithm. */
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
algorithm_get_type (void)
{
  static GType type = 0;
  static GEnumValue values[G_N_ELEMENTS (algorithms) + 2];
  static gsize filled = 0;
  guint i;

  if (g_once_init_enter (&filled)) {
    values[0] = (GEnumValue){ ALGORITHM_AUTO, "Best algorithm of the backend", "auto" };
    for (i = 0; i < G_N_ELEMENTS (algorithms); i++)
      values[i + 1] = (GEnumValue){ algorithms[i].value, describe_algorithm (algorithms[i].name),
                                    algorithms[i].name };
    g_once_init_leave (&filled, 1);
  }

  return gst_ccl_register_enum (&type, "GstCudaCclAlgorithm", values);
}

/* Returns the engine's name for a value of the enumeration; NULL for auto. */
static const gchar *
algorithm_get_name (gint value)
{
  guint i;

  for (i = 0; i < G_N_ELEMENTS (algorithms); i++) {
    if (algorithms[i].value == value)
      return algorithms[i].name;
  }

  return NULL;
}

static GType
connectivity_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { 4, "Pixels that share an edge", "4" },
    { 8, "Pixels that share an edge or a corner", "8" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCudaCclConnectivity", values);
}

static GType
sync_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_SYNC_AUTO, "Spin briefly, then yield, then sleep", "auto" },
    { CCL_SYNC_SPIN, "Busy-poll: lowest latency, keeps a core busy", "spin" },
    { CCL_SYNC_YIELD, "Busy-poll, but yield to other threads: low latency", "yield" },
    { CCL_SYNC_BLOCK, "Sleep until the device is done: least CPU time", "block" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCudaCclSync", values);
}

static GType
upload_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_UPLOAD_AUTO, "Whichever is faster for the memory of the frames", "auto" },
    { CCL_UPLOAD_PIXELS, "One byte per pixel", "pixels" },
    { CCL_UPLOAD_BITS, "One bit per pixel: the CPU applies the threshold", "bits" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCudaCclUpload", values);
}

static GType
values_get_type (void)
{
  static GType type = 0;
  static const GEnumValue values[] = {
    { CCL_VALUES_ABOVE, "Pixels above the threshold are foreground", "above" },
    { CCL_VALUES_BAND, "Pixels from low to high are foreground", "band" },
    { CCL_VALUES_EQUAL, "Classes: pixels of the same value are connected, 0 is background",
      "equal" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_enum (&type, "GstCudaCclValues", values);
}

/* In functions with the parameters @gobject_class and @offset. */
#define INSTALL(field, pspec)                                                                  \
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD_AT (offset, GstCclSettings, field), \
                              pspec)

static void
install_engine_properties (GObjectClass *gobject_class, gssize offset)
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
  INSTALL (backend, g_param_spec_enum ("backend", "Backend", "Where the frames are analysed.",
                                       backend_get_type (), CCL_BACKEND_AUTO, GST_CCL_READY));

  /**
   * cudaccl:cuda-device-id:
   *
   * The CUDA device that analyses the frames, -1 for any device.
   *
   * Since: 0.1
   */
  INSTALL (cuda_device_id, g_param_spec_int ("cuda-device-id", "CUDA device ID",
                                             "CUDA device that analyses the frames (-1 = any).", -1,
                                             G_MAXINT, -1, GST_CCL_READY));

  /**
   * cudaccl:algorithm:
   *
   * The algorithm that finds the components. All give the same result, at different speeds.
   *
   * Since: 0.1
   */
  INSTALL (algorithm,
           g_param_spec_enum ("algorithm", "Algorithm",
                              "Algorithm that finds the components; does not change the result.",
                              algorithm_get_type (), ALGORITHM_AUTO, GST_CCL_READY));

  /**
   * cudaccl:connectivity:
   *
   * Which pixels are connected: those that share an edge (4), or those that share an edge or a
   * corner (8).
   *
   * Since: 0.1
   */
  INSTALL (connectivity, g_param_spec_enum ("connectivity", "Connectivity",
                                            "Number of neighbours that a pixel is connected to.",
                                            connectivity_get_type (), 8, GST_CCL_READY));

  /**
   * cudaccl:max-components:
   *
   * Maximum number of components per frame. If more are found, only the largest are kept. The
   * metadata and the messages contain the number found, and #cudaccl:stats counts such frames.
   *
   * Since: 0.1
   */
  INSTALL (max_components,
           g_param_spec_uint ("max-components", "Maximum components",
                              "Maximum number of components per frame; the largest are kept.", 1,
                              G_MAXUINT, 1024, GST_CCL_READY));

  /**
   * cudaccl:features:
   *
   * What is measured beyond box, area and centroid, in #GstCclMeta, its JSON and the messages. What
   * is not asked for costs nothing. All but `ellipse` need the label map, which takes longer than
   * finding components; `luma` also uploads pixels as they are.
   *
   * Since: 0.1
   */
  INSTALL (features, g_param_spec_flags ("features", "Features",
                                         "What to measure beyond box, area and centroid.",
                                         gst_ccl_features_get_type (), 0, GST_CCL_READY));

  /**
   * cudaccl:threads:
   *
   * Number of threads that analyse a frame on the CPU, including the streaming thread; 0 uses one
   * for each CPU available to the process. Does not change the result, and has no effect on a GPU.
   *
   * Since: 0.1
   */
  INSTALL (threads, g_param_spec_uint (
                        "threads", "Threads",
                        "Number of threads that analyse a frame on the CPU (0 = one per CPU).", 0,
                        CCL_MAX_THREADS, 1, GST_CCL_READY));

  /**
   * cudaccl:cuda-sync:
   *
   * How the streaming thread waits for the CUDA device. `auto` busy-polls for 0.15 ms, enough for
   * an HD frame, then yields between polls, and finally sleeps between them. In live streams, it
   * first sleeps for as long as frames usually take. On GPUs that share memory with the host
   * (Jetson) it is the same as `block`, which uses the least CPU time, but adds about 30 us to each
   * frame.
   *
   * Since: 0.1
   */
  INSTALL (cuda_sync, g_param_spec_enum ("cuda-sync", "CUDA synchronization",
                                         "How the streaming thread waits for the CUDA device.",
                                         sync_get_type (), CCL_SYNC_AUTO, GST_CCL_READY));
}

void
gst_ccl_install_morphology (GObjectClass *gobject_class, gssize offset, const gchar *initial)
{
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD_AT (offset, GstCclSettings, morphology, .not_null = TRUE),
      g_param_spec_string (
          "morphology", "Morphology",
          "Operations that clean the mask, e.g. median5,close5x11,fill,drop50; auto, or none.",
          initial, GST_CCL_READY));
}

static void
install_foreground_properties (GObjectClass *gobject_class, gssize offset)
{
  /**
   * cudaccl:invert:
   *
   * Inverts the mask: pixels up to #cudaccl:threshold are foreground.
   *
   * Since: 0.1
   */
  INSTALL (invert,
           g_param_spec_boolean ("invert", "Invert",
                                 "Invert the mask: pixels up to the threshold are foreground.",
                                 FALSE, GST_CCL_PLAYING));

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
   * W and H are odd, up to 255. At most 16 operations. Pixels of the frame do not change.
   *
   * `none` are none, and `auto` chooses operations for masks of moving objects, as
   * #cclmotion:morphology describes. The field `morphology` of #cudaccl:stats has the operations in
   * use.
   *
   * Since: 0.1
   */
  gst_ccl_install_morphology (gobject_class, offset, "none");

  /**
   * cudaccl:include:
   *
   * Polygons outside which everything is background: `x,y x,y x,y; ...` as fractions of the frame
   * from 0 to 1. Applied before #cudaccl:morphology.
   *
   * Since: 0.1
   */
  INSTALL (include,
           g_param_spec_string (
               "include", "Include",
               "Polygons to analyse: x,y x,y x,y; ... as fractions of the frame from 0 to 1.", NULL,
               GST_CCL_READY));

  /**
   * cudaccl:exclude:
   *
   * Polygons inside which everything is background, in the format of #cudaccl:include, over which
   * they take precedence.
   *
   * Since: 0.1
   */
  INSTALL (exclude,
           g_param_spec_string (
               "exclude", "Exclude",
               "Polygons to ignore: x,y x,y x,y; ... as fractions of the frame from 0 to 1.", NULL,
               GST_CCL_READY));

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
  INSTALL (region_file,
           g_param_spec_string ("region-file", "Region file",
                                "PNG or PGM (P5) file whose bright pixels are analysed.", NULL,
                                GST_CCL_READY));
}

static void
install_result_properties (GObjectClass *gobject_class, gssize offset,
                           void (*areas_changed) (gpointer self))
{
  /**
   * cudaccl:min-area:
   *
   * Minimum component area in pixels; smaller ones are dropped.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD_AT (offset, GstCclSettings, min_area, .changed = areas_changed),
      g_param_spec_uint64 ("min-area", "Minimum area",
                           "Minimum component area in pixels; smaller ones are dropped.", 0,
                           G_MAXUINT64, 1, GST_CCL_PLAYING));

  /**
   * cudaccl:max-area:
   *
   * Maximum component area in pixels; larger ones are dropped.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD_AT (offset, GstCclSettings, max_area, .changed = areas_changed),
      g_param_spec_uint64 ("max-area", "Maximum area",
                           "Maximum component area in pixels; larger ones are dropped.", 0,
                           G_MAXUINT64, G_MAXUINT64, GST_CCL_PLAYING));

  /**
   * cudaccl:min-relative-area:
   *
   * Minimum component area as a share of the frame's area; smaller ones are dropped. The larger of
   * this and #cudaccl:min-area applies.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class,
      GST_CCL_FIELD_AT (offset, GstCclSettings, min_relative_area, .changed = areas_changed),
      g_param_spec_double (
          "min-relative-area", "Minimum relative area",
          "Minimum component area as a share of the frame; smaller ones are dropped.", 0.0, 1.0,
          0.0, GST_CCL_PLAYING));

  /**
   * cudaccl:min-width:
   *
   * Minimum width of a component's bounding box in pixels; narrower ones are dropped.
   *
   * Since: 0.1
   */
  INSTALL (min_width,
           g_param_spec_uint ("min-width", "Minimum width",
                              "Minimum component width in pixels; narrower ones are dropped.", 0,
                              G_MAXUINT, 1, GST_CCL_PLAYING));

  /**
   * cudaccl:min-height:
   *
   * Minimum height of a component's bounding box in pixels; flatter ones are dropped.
   *
   * Since: 0.1
   */
  INSTALL (min_height,
           g_param_spec_uint ("min-height", "Minimum height",
                              "Minimum component height in pixels; flatter ones are dropped.", 0,
                              G_MAXUINT, 1, GST_CCL_PLAYING));

  /**
   * cudaccl:attach:
   *
   * Metadata to attach to frames. `analytics` needs GStreamer 1.24; with 1.26, `cclcolor` and
   * `cclmask` then also attach their picture as a segmentation.
   *
   * Since: 0.1
   */
  INSTALL (attach, g_param_spec_flags (
                       "attach", "Attach", "Metadata to attach to frames.", GST_TYPE_CCL_ATTACH,
                       GST_CCL_ATTACH_COMPONENTS | GST_CCL_ATTACH_ROI, GST_CCL_PLAYING));

  /**
   * cudaccl:roi-type:
   *
   * Type of the regions of interest and object detections.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (
      gobject_class, GST_CCL_FIELD_AT (offset, GstCclSettings, roi_type, .not_null = TRUE),
      g_param_spec_string ("roi-type", "ROI type",
                           "Type of the regions of interest and object detections.", "blob",
                           GST_CCL_PLAYING));

  /**
   * cudaccl:post-messages:
   *
   * Post an element message with the components of each frame.
   *
   * Since: 0.1
   */
  INSTALL (post_messages,
           g_param_spec_boolean ("post-messages", "Post messages",
                                 "Post an element message with the components of each frame.",
                                 FALSE, GST_CCL_PLAYING));
}

void
gst_ccl_install_properties (GObjectClass *gobject_class, gssize offset,
                            void (*areas_changed) (gpointer self))
{
  install_engine_properties (gobject_class, offset);
  install_foreground_properties (gobject_class, offset);
  install_result_properties (gobject_class, offset, areas_changed);
}

void
gst_ccl_install_mask_properties (GObjectClass *gobject_class, gssize offset)
{
  /**
   * cudaccl:threshold:
   *
   * Pixels above this value are foreground. The default excludes the shadows of background
   * subtraction (127) and video range black (16).
   *
   * Since: 0.1
   */
  INSTALL (threshold,
           g_param_spec_uint ("threshold", "Threshold", "Pixels above this value are foreground.",
                              0, G_MAXUINT8, 127, GST_CCL_PLAYING | GST_PARAM_CONTROLLABLE));

  /**
   * cudaccl:values:
   *
   * What the values of pixels mean: foreground is `above` #cudaccl:threshold, or in the `band` from
   * #cudaccl:low to #cudaccl:high. With `equal` they are classes, such as the output of a
   * segmentation network: 0 is background, and only pixels of the same value are connected. The
   * value becomes the class of the component, see #cudaccl:labels. `equal` needs frames in GRAY8,
   * GRAY16 or with a plane of luma, and has neither #cudaccl:morphology nor #cudaccl:features but
   * `ellipse`; on CUDA, only the algorithms `tile`, `flsl-cd` and `flsl` have it.
   *
   * Since: 0.1
   */
  INSTALL (values, g_param_spec_enum ("values", "Values", "What the values of pixels mean.",
                                      values_get_type (), CCL_VALUES_ABOVE, GST_CCL_READY));

  /**
   * cudaccl:low:
   *
   * The lowest value of foreground with #cudaccl:values `band`. Of samples of more than 8 bits, the
   * whole sample counts: of depth cameras, low and high are distances.
   *
   * Since: 0.1
   */
  INSTALL (low, g_param_spec_uint ("low", "Low", "The lowest value of a band.", 0, G_MAXUINT16, 1,
                                   GST_CCL_PLAYING | GST_PARAM_CONTROLLABLE));

  /**
   * cudaccl:high:
   *
   * The highest value of foreground with #cudaccl:values `band`. Below #cudaccl:low, there is no
   * foreground.
   *
   * Since: 0.1
   */
  INSTALL (high, g_param_spec_uint ("high", "High", "The highest value of a band.", 0, G_MAXUINT16,
                                    G_MAXUINT16, GST_CCL_PLAYING | GST_PARAM_CONTROLLABLE));

  /**
   * cudaccl:labels:
   *
   * A text file with the names of the classes of #cudaccl:values `equal`, one a line, the first
   * that of value 0, the background. They become the types of regions of interest and object
   * detections.
   *
   * Since: 0.1
   */
  INSTALL (labels,
           g_param_spec_string ("labels", "Labels",
                                "A text file with the names of the classes, that of value 0 first.",
                                NULL, GST_CCL_READY));

  /**
   * cudaccl:cuda-graphs:
   *
   * Replays the work on frames as CUDA graphs, which saves about 3 us per frame and does not change
   * the result. Graphs are captured whenever a buffer or a setting is new, also long after the
   * start. While one is captured, NVIDIA's driver (580) can crash if another thread creates a
   * decoder or calls cuCtxSynchronize(): only set this where neither happens while frames come.
   *
   * Since: 0.2
   */
  INSTALL (cuda_graphs, g_param_spec_boolean ("cuda-graphs", "CUDA graphs",
                                              "Replay the work on frames as CUDA graphs.", FALSE,
                                              GST_CCL_READY));

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
  INSTALL (upload,
           g_param_spec_enum ("upload", "Upload",
                              "How frames in system memory are transferred to the CUDA device.",
                              upload_get_type (), CCL_UPLOAD_AUTO, GST_CCL_READY));
}

void
gst_ccl_settings_get_config (const GstCclSettings *settings, CclConfig *config)
{
  ccl_config_init (config, 1, 1);
  config->connectivity = settings->connectivity;
  config->backend = settings->backend;
  config->algorithm = algorithm_get_name (settings->algorithm);
  config->device = settings->cuda_device_id;
  config->max_components = settings->max_components;
  config->threads = settings->threads;
  gst_ccl_features_configure (settings->features, config);
  config->values = settings->values;
  config->sync = settings->cuda_sync;
  config->graphs = settings->cuda_graphs;
  config->upload = settings->upload;
  config->timing = true;
  config->timing_interval = TIMING_INTERVAL;
}

void
gst_ccl_settings_get_params (const GstCclSettings *settings, gdouble pixels, CclParams *params)
{
  /* Tolerates that shares such as 0.07 are not exact: 7 of 100 pixels are enough. */
  guint64 min_area = (guint64) ceil (settings->min_relative_area * pixels * (1.0 - 1e-12));

  ccl_params_init (params);
  params->threshold = (guint8) settings->threshold;
  params->invert = settings->invert;
  params->low = (uint16_t) settings->low;
  params->high = (uint16_t) settings->high;
  params->min_area = MAX (settings->min_area, min_area);
  params->max_area = settings->max_area;
  params->min_width = settings->min_width;
  params->min_height = settings->min_height;
}
