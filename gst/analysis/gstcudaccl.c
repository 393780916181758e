/* cudaccl - finds the connected components of video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cudaccl
 * @title: cudaccl
 * @short_description: finds the connected components (blobs) of video frames
 *
 * Finds the connected components of binary frames, such as masks made by background subtraction or
 * thresholding, on an NVIDIA GPU or on the CPU, and attaches the bounding box, area and centroid of
 * each to the frame. For colour formats only the luma is analysed. Pixels are neither changed nor
 * copied: a frame shared with other branches of the pipeline stays shared. RGB, YUY2, UYVY, GRAY16
 * and video of 10 and 12 bits are converted to luma first, which takes a third of a millisecond for
 * 1920x1080 on a CPU with AVX-512. Of samples of more than 8 bits, the highest 8 are used, or with
 * #cudaccl:values the whole sample as it is stored: up to 1023 in I420_10LE, multiples of 64 in
 * P010_10LE.
 *
 * A pixel is foreground if its value is above #cudaccl:threshold; with #cudaccl:values, if it is in
 * a band, or classes are told apart. #cudaccl:morphology cleans noisy masks; #cudaccl:include,
 * #cudaccl:exclude and #cudaccl:region-file limit the analysis to regions. Components are sorted by
 * their first pixel in raster order, independent of backend and algorithm. Gaps without pixels pass
 * through.
 *
 * ## Classes
 *
 * With #cudaccl:values `equal`, a frame is a map of classes, as segmentation networks make it: the
 * value of each pixel is the number of its class, 0 the background. Components are connected pixels
 * of one class, all found in one pass, with their class in #GstCclComponent and its name, see
 * #cudaccl:labels, in the metadata, in regions of interest, object detections and messages.
 *
 * With #cudaccl:segmentation, this mask is that of the frame's first GstAnalyticsSegmentationMtd
 * (GStreamer 1.26), of GRAY8 or GRAY16, and the frame itself only passes: so it can have any size
 * and colours. Values are the ids of regions. Boxes, centroids and areas are in the frame's pixels:
 * a box covers all that its mask pixels touch. Limits of size count pixels of the mask, and
 * regions are fractions of it. Frames without segmentation pass as they are.
 *
 * ## Memory
 *
 * Frames in system memory are uploaded to the GPU, see #cudaccl:upload. The element proposes a pool
 * of pinned buffers upstream, unless downstream proposes memory of its own: the GPU reads
 * these without the CPU, and without any transfer if it shares the host's memory.
 *
 * Frames in `memory:CUDAMemory` are read in place, in builds with GstCuda (GStreamer 1.22) and the
 * CUDA backend. The element works in the CUDA context of the frames, and shares that of its
 * neighbours and of the application. If they have none, all elements of this plugin in a process
 * share one context for each device, its primary one, and give it to neighbours that ask, such as
 * decoders. With several devices, set #cudaccl:cuda-device-id to the neighbours': the default
 * shares the context of device 0. Frames on a device other than #cudaccl:cuda-device-id are an
 * error. `cudaupload` passes system memory through if downstream accepts it, as this element does;
 * `video/x-raw(memory:CUDAMemory)` caps after it make it upload.
 *
 * Frames in `memory:NVMM` (Jetson, DeepStream; experimental) are read in place too, in builds with
 * the CUDA backend; block-linear ones are copied once, on the device.
 *
 * With #cudaccl:backend `cpu`, only system memory is accepted.
 *
 * ## Metadata
 *
 * Depending on #cudaccl:attach, each frame gets
 *
 * * one #GstCclMeta with all components,
 * * one #GstVideoRegionOfInterestMeta for each component, of the type #cudaccl:roi-type. Ids are
 *   0, 1, 2..., or, if other regions of the frame have one of these ids, continue after the highest
 *   of theirs. A parameter structure named `cudaccl` has the fields
 *   * `label` (#guint): 1...n, in order,
 *   * `area` (#guint64): the number of pixels,
 *   * `centroid-x`, `centroid-y` (#gdouble): the centroid, in pixel centres,
 * * one object detection for each component in the frame's `GstAnalyticsRelationMeta`, beside those
 *   of other elements, in builds with GstAnalytics (GStreamer 1.24). The type is
 *   #cudaccl:roi-type, the confidence 1.0. If there are more than 4096 components, only the largest
 *   are added, since this metadata has a matrix of n x n bytes,
 * * experimental: one `NvDsObjectMeta` for each component in the frame's `NvDsBatchMeta`, for
 * DeepStream's elements behind `nvstreammux batch-size=1`. The label is #cudaccl:roi-type, the
 * confidence 1.0, the class 0. Frames without `NvDsBatchMeta` get none, and the element posts a
 * warning.
 *
 * Metadata of an earlier `cudaccl` is removed, except for object detections and DeepStream's
 * objects. Coordinates are relative to the visible part of the frame if it has a #GstVideoCropMeta.
 *
 * ## Messages
 *
 * If #cudaccl:post-messages is set, the element posts one element message named `cudaccl` for each
 * frame, with the fields
 *
 * * #guint64 `timestamp`: the timestamp of the frame,
 * * #guint64 `stream-time`: the stream time of the frame,
 * * #guint64 `running-time`: the running time of the frame,
 * * #guint64 `duration`: the duration of the frame; all times are in nanoseconds, or
 *   #GST_CLOCK_TIME_NONE,
 * * #guint `width`, `height`: the size of the frame,
 * * #guint `found`: the number of components found,
 * * #GstValueList of #GstStructure `components`: at most #cudaccl:max-components components, each
 *   with
 *   * #guint `label`, `x`, `y`, `width`, `height`,
 *   * #guint64 `area`,
 *   * #gdouble `centroid-x`, `centroid-y`.
 *
 * ## Statistics
 *
 * #cudaccl:stats is reset when the element starts, and has the fields
 *
 * * #guint64 `frames`: the number of analysed frames,
 * * #guint64 `components`: the number of components in all frames,
 * * #guint64 `truncated`: the number of frames with more than #cudaccl:max-components components,
 * * #gchararray `backend`, `algorithm`, `device`, and #gint `device-index`: what analyses the
 *   frames; the index is -1 on the CPU,
 * * #gchararray `upload`: what of the last frame crossed the bus to the device: `pixels`, `bits`,
 *   or `none` on the CPU and for frames that were on the device already,
 * * #gchararray `morphology`: the operations that clean the masks, which #cudaccl:morphology `auto`
 *   chooses,
 * * #guint64 `allocations`, `allocated-bytes`: how often memory was allocated for the analysis, and
 *   its current size; both change only with the size of the frames,
 * * #guint64 `average-time`: the average time per frame, in nanoseconds, and the parts of it that
 *   the backend measures: `average-upload-time`, `average-analysis-time`, `average-download-time`.
 *   The parts are averages of the frames that are measured: on a CUDA device one in 16.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 !
 * cudaccl post-messages=true ! fakesink
 * ]|
 * Prints the position of the ball.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! segmentation test-mode=true ! videoconvert !
 * video/x-raw,format=GRAY8 ! cudaccl min-area=50 ! ccloverlay ! videoconvert ! autovideosink
 * ]|
 * Marks moving objects in the mask of a camera's video.
 * |[
 * gst-launch-1.0 filesrc location=depth.raw ! rawvideoparse format=gray16-le width=640 height=480 !
 * cudaccl values=band low=500 high=1500 min-area=200 ! ccljson ! filesink location=near.json
 * ]|
 * Finds what is 0.5 to 1.5 m away from a depth camera.
 * |[
 * gst-launch-1.0 -m filesrc location=video.h264 ! h264parse ! nvh264dec !
 * 'video/x-raw(memory:CUDAMemory)' ! cudaccl threshold=200 post-messages=true ! fakesink
 * ]|
 * Finds bright spots in a video that stays on the GPU.
 *
 * Since: 0.1
 */
#include <gst/base/gstcclregister.h>

#include "gstcclanalysis.h"
#include "gstcclelements.h"

struct _GstCudaCcl
{
  GstCclAnalysis parent;
};

G_DECLARE_FINAL_TYPE (GstCudaCcl, gst_cuda_ccl, GST, CUDA_CCL, GstCclAnalysis)
G_DEFINE_TYPE (GstCudaCcl, gst_cuda_ccl, GST_TYPE_CCL_ANALYSIS)
GST_CCL_REGISTER_DEFINE (cudaccl, gst_cuda_ccl_get_type ())

static void
gst_cuda_ccl_install_properties (GObjectClass *gobject_class)
{
  gst_ccl_install_mask_properties (gobject_class, GST_CCL_SETTINGS_OFFSET);

  /**
   * cudaccl:segmentation:
   *
   * Analyse the mask of each frame's first GstAnalyticsSegmentationMtd, as classes (#cudaccl:values
   * `equal`), instead of its pixels. Needs GStreamer 1.26. See Classes.
   *
   * Since: 0.1
   */
  gst_ccl_properties_install (gobject_class, GST_CCL_FIELD (GstCclAnalysis, settings.segmentation),
                              g_param_spec_boolean ("segmentation", "Segmentation",
                                                    "Analyse the masks of segmentation metadata.",
                                                    FALSE, GST_CCL_READY));
}

static void
gst_cuda_ccl_class_init (GstCudaCclClass *klass)
{
  gst_cuda_ccl_install_properties (G_OBJECT_CLASS (klass));
  gst_element_class_set_static_metadata (
      GST_ELEMENT_CLASS (klass), "Connected components", "Filter/Analyzer/Video/Hardware",
      "Finds the connected components of video frames on a GPU or on the CPU",
      "The cudaccl authors");
  gst_ccl_analysis_class_pass_frames (GST_CCL_ANALYSIS_CLASS (klass));
}

static void
gst_cuda_ccl_init (GstCudaCcl *self)
{
}
