/* cudaccl - finds what moves in video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmotion
 * @title: cclmotion
 * @short_description: finds what moves in the frames of a fixed camera
 *
 * Finds moving objects in the camera's own frames: a model of the background gives a mask of the
 * pixels that differ from it, and `cclmotion` does with the mask what `cudaccl` does, with the same
 * messages, metadata and statistics, and the same properties except for #cudaccl:threshold and
 * #cudaccl:upload. With #cudaccl:invert it finds what does not move. Pixels are neither changed nor
 * copied, and no colour conversion is needed. Gaps without pixels pass through.
 *
 * ## Model
 *
 * The background is a slow mean of the pixels that are not foreground. A pixel is foreground when
 * it differs from the background by more than its noise, in luma or, in colour formats, in chroma.
 * Pixels that are darker but keep the texture and chroma of the background are shadows. An object
 * that stands still for #cclmotion:learning-time becomes background. A new model learns faster, so
 * that objects in the first frames soon leave no ghosts; #cclmotion:warm-up suppresses their
 * components.
 *
 * When the light changes in much of the picture, fast or slowly, the background follows within
 * 0.2 s, and objects stay foreground: a lamp that is switched on, a cloud, a camera's exposure or
 * its change to infrared starts no new model.
 *
 * Learning goes by running time, not by the number of frames: it does not depend on the frame
 * rate, and copes with gaps and dropped frames. Frames without timestamps, and the first one after
 * a jump, which the element warns of, count for their duration or at the frame rate.
 *
 * The two fields of an interlaced frame are analysed as one picture. Separate fields
 * (`interlace-mode=alternate`) are not supported.
 *
 * The model survives PAUSED. New caps, flushing seeks, another scene (see
 * #cclmotion:light-change) and the signal #cclmotion::reset start a new one.
 *
 * The model runs where the analysis runs: on the GPU, from pixels to components without a copy or a
 * wait in between, or on the CPU. Both give the same result. On the CPU, #cudaccl:threads applies
 * to the model, too.
 *
 * All memory types and formats of `cudaccl` are supported. On the GPU, frames in system memory are
 * uploaded whole, fastest from the pool of pinned buffers that the element proposes. A change
 * of the frames' CUDA context starts a new model, and so does a fallback to the CPU, see
 * #cudaccl:backend `auto`.
 *
 * #cudaccl:stats has more fields of type #guint64: `model-bytes`, the memory of the model, which is
 * also part of `allocated-bytes`, and numbers of frames so far: `starts`, with which a model began,
 * `relit`, in which the light changed and the background with it, `aligned`, which were shifted
 * since the camera shakes, and `flickered`, which were divided by the gains of their rows since
 * lamps flicker. They begin anew with a new analyzer, such as after a change of the format. `veil`,
 * a #guint, is how many grey levels fog adds to all others, and `displaced`, another one, how often
 * the camera was moved for good. `far-places` is another: in how many places of the picture small
 * objects count beside near ones. `waves`, a #gboolean, is true while leaves wave. The model's time
 * is part of `average-analysis-time`.
 *
 * ## Objects
 *
 * No property needs to be set: #cclmotion:morphology `auto` chooses the operations that make
 * objects of the mask. If objects reach over half of the picture most of the time, the element
 * posts a warning, once a stream: they cover each other, so motion alone cannot count them; a
 * detector can.
 *
 * For elements behind this one that ask for it, as `ccltrack` does, components get signatures
 * (gst_ccl_meta_get_signatures()): histograms of their colours, found where the frame is. On the
 * CPU, those of 20 persons of 60x180 pixels take 0.05 ms of a frame; on the GPU, the frame waits
 * for another kernel.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! cclmotion ! ccloverlay !
 * videoconvert ! autovideosink
 * ]|
 * Marks the moving objects of a recording.
 * |[
 * gst-launch-1.0 v4l2src ! video/x-raw,format=NV12 ! cclmotion scale=2
 * warm-up=2000000000 ! ccljson ! fdsink
 * ]|
 * Prints the boxes of what moves in front of a camera.
 * |[
 * gst-launch-1.0 filesrc location=video.h264 ! h264parse ! nvh264dec !
 * 'video/x-raw(memory:CUDAMemory)' ! cclmotion ! ccljson ! fdsink
 * ]|
 * The same for a video that stays on the GPU.
 *
 * Since: 0.1
 */
#include <gst/base/gstcclregister.h>

#include "gstcclelements.h"
#include "gstcclmotionanalysis.h"

struct _GstCclMotion
{
  GstCclMotionAnalysis parent;
};

G_DECLARE_FINAL_TYPE (GstCclMotion, gst_ccl_motion, GST, CCL_MOTION, GstCclMotionAnalysis)
G_DEFINE_TYPE (GstCclMotion, gst_ccl_motion, GST_TYPE_CCL_MOTION_ANALYSIS)
GST_CCL_REGISTER_DEFINE (cclmotion, gst_ccl_motion_get_type ())

static void
gst_ccl_motion_class_init (GstCclMotionClass *klass)
{
  gst_element_class_set_static_metadata (
      GST_ELEMENT_CLASS (klass), "Moving objects", "Filter/Analyzer/Video/Hardware",
      "Finds what moves in the frames of a fixed camera", "The cudaccl authors");
  gst_ccl_analysis_class_pass_frames (GST_CCL_ANALYSIS_CLASS (klass));
}

static void
gst_ccl_motion_init (GstCclMotion *self)
{
}
