/* cudaccl - writes the components of frames as ONVIF metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclonvif
 * @title: cclonvif
 * @short_description: writes the components of frames as ONVIF metadata
 *
 * Converts frames with metadata of `cudaccl` to the XML that video management systems read: a
 * document `tt:MetadataStream` of the ONVIF schema (Analytics Service Specification) for each
 * frame, in a buffer with the timestamp and duration of the frame. GStreamer's ONVIF elements send,
 * store and draw it. Only the metadata of the frames is read; they may be in any memory.
 *
 * ## Documents
 *
 * A document has a `tt:VideoAnalytics` with one `tt:Frame`:
 *
 * * its `UtcTime` is the frame's time of day, as `ccljson` describes it. If there is none, as when
 *   a file is read, it is the time at which the element started plus the running time,
 * * its `Source` is the property #ccljson:source,
 * * it has a `tt:Object` for each component, whose `ObjectId` is the id of `ccltrack`. Without
 *   `ccltrack` objects have no id, and clients cannot follow them from frame to frame,
 * * `tt:BoundingBox` and `tt:CenterOfGravity` are in the frame's normalised coordinates, from -1 to
 *   1, from left to right and from bottom to top, with six digits.
 *
 * Clients find the frame of the video by `UtcTime`, so both must use the same clock. The buffer has
 * this time as #GstReferenceTimestampMeta with the caps `timestamp/x-unix`.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -q videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=GRAY8 ! cudaccl !
 * ccltrack ! cclonvif ! fdsink
 * ]|
 * Prints the documents.
 * |[
 * gst-launch-1.0 rtspsrc location=rtsp://CAMERA/stream add-reference-timestamp-meta=true !
 * application/x-rtp,media=video ! decodebin ! videoconvert ! segmentation test-mode=true !
 * videoconvert ! video/x-raw,format=GRAY8 ! cudaccl min-area=100 ! ccltrack !
 * cclonvif source=gate ! rtponvifmetadatapay ! udpsink host=VMS port=5000
 * ]|
 * Sends the objects to a video management system, as RTP with the camera's own time.
 * `rtponvifmetadatapay` is in GStreamer's plugin `rsonvif` (gst-plugins-rs). In a server of
 * `gst-rtsp-server`, name it `pay1` beside the video's `pay0`.
 *
 * Since: 0.1
 */

#include "gstcclonvif.h"

#include "gstcclonvifwriter.h"

struct _GstCclOnvif
{
  GstCclJson parent;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS,
    GST_STATIC_CAPS ("application/x-onvif-metadata, encoding=(string)utf8, parsed=(boolean)true"));

G_DEFINE_TYPE (GstCclOnvif, gst_ccl_onvif, GST_TYPE_CCL_JSON)
GST_ELEMENT_REGISTER_DEFINE (cclonvif, "cclonvif", GST_RANK_NONE, GST_TYPE_CCL_ONVIF)

static void
gst_ccl_onvif_class_init (GstCclOnvifClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstCclJsonClass *json_class = GST_CCL_JSON_CLASS (klass);

  gst_element_class_set_static_metadata (
      element_class, "Components as ONVIF metadata", "Converter/Video",
      "Writes the components of video frames as ONVIF metadata", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &src_template);

  json_class->write = gst_ccl_onvif_write_frame;
  json_class->needs_utc = TRUE;
}

static void
gst_ccl_onvif_init (GstCclOnvif *self)
{
}
