/* cudaccl - the UTC time of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclutc.h"

#define MAX_DIFFERENCE (10 * GST_MSECOND)

/* Caps of reference timestamps, and what to subtract for the time since 1970. PTP counts atomic
 * time, which has been 37 s ahead of UTC since 2017. */
static const struct
{
  const gchar *name;
  GstClockTime epoch;
} references[] = {
  { "timestamp/x-unix", 0 },
  { "timestamp/x-ntp", G_GUINT64_CONSTANT (2208988800) * GST_SECOND },
  { "timestamp/x-ptp", 37 * GST_SECOND },
};

GstClockTime
gst_ccl_utc_from_reference (GstBuffer *buffer)
{
  guint best = G_N_ELEMENTS (references), i;
  GstClockTime utc = GST_CLOCK_TIME_NONE;
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_REFERENCE_TIMESTAMP_META_API_TYPE))) {
    const GstReferenceTimestampMeta *reference = (GstReferenceTimestampMeta *) meta;
    const GstStructure *structure;

    if (!reference->reference || gst_caps_get_size (reference->reference) == 0 ||
        !GST_CLOCK_TIME_IS_VALID (reference->timestamp))
      continue;

    structure = gst_caps_get_structure (reference->reference, 0);
    for (i = 0; i < best; i++) {
      if (gst_structure_has_name (structure, references[i].name) &&
          reference->timestamp >= references[i].epoch) {
        best = i;
        utc = reference->timestamp - references[i].epoch;
      }
    }
  }

  return utc;
}

GstClockTime
gst_ccl_utc_from_clock (GstCclUtc *self, GstElement *element, GstClockTime running_time)
{
  GstClock *clock = gst_element_get_clock (element);
  GstClockTimeDiff offset, difference, utc;
  GstClockTime before, after;

  if (!clock || !GST_CLOCK_TIME_IS_VALID (running_time) || running_time > G_MAXINT64 / 4) {
    gst_clear_object (&clock);
    return GST_CLOCK_TIME_NONE;
  }

  before = gst_clock_get_time (clock);
  offset = g_get_real_time () * (gint64) GST_USECOND;
  after = gst_clock_get_time (clock);
  gst_object_unref (clock);

  offset -= (GstClockTimeDiff) (before + (after - before) / 2);
  difference = offset - self->offset;
  if (!self->known || ABS (difference) > (GstClockTimeDiff) MAX_DIFFERENCE) {
    self->known = TRUE;
    self->offset = offset;
  }

  utc = (GstClockTimeDiff) (gst_element_get_base_time (element) + running_time) + self->offset;

  return utc >= 0 ? (GstClockTime) utc : GST_CLOCK_TIME_NONE;
}
