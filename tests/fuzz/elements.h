/* cudaccl - fuzzing: elements without a pipeline
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_FUZZ_ELEMENTS_H
#define TESTS_FUZZ_ELEMENTS_H

#include <gst/gst.h>
#include "tests/fuzz/input.h"

/* Initialises GStreamer without a registry and with the plugins of this build only, and makes
 * criticals fatal. */
void fuzz_gst_init (void);

/* Makes criticals fatal, except those about values that are out of a property's range, and drops
 * all other messages of GLib. */
void fuzz_catch_criticals (void);

/* An element, or a bin, between two pads. It is PAUSED, and all that reaches it comes from the
 * calling thread. */
typedef struct
{
  GstElement *element;
  GstPad *src, *sink; /* peers of the element's pads; NULL if it has no such pad */
  GstCaps *caps;      /* what the peer of the element's source pad accepts; NULL for all */
  gboolean video_meta, crop_meta, composition;       /* what it says it can take */
  guint width, height;                               /* of the composition, or 0 */
  void (*output) (gpointer data, GstBuffer *buffer); /* called with each buffer that comes out */
  gpointer data;
  guint n_buffers; /* that came out */
} FuzzRig;

/* Takes ownership of @element, which may be floating. Fields below the pads may be set before
 * fuzz_rig_start(). */
void fuzz_rig_init (FuzzRig *rig, GstElement *element);
gboolean fuzz_rig_start (FuzzRig *rig);
void fuzz_rig_clear (FuzzRig *rig);

/* Takes ownership of @caps. */
gboolean fuzz_rig_push_caps (FuzzRig *rig, GstCaps *caps);

/* Takes ownership of @buffer. At exit, a line tells how many frames were pushed, and how many
 * without an error. */
GstFlowReturn fuzz_rig_push (FuzzRig *rig, GstBuffer *buffer);
gboolean fuzz_rig_push_segment (FuzzRig *rig, const GstSegment *segment);

/* A segment in time format, seldom a simple one. */
void fuzz_segment (FuzzInput *input, GstSegment *segment);

/* Sets the timestamp, duration and flags: usually the frame @index of 25 a second. */
void fuzz_times (FuzzInput *input, GstBuffer *buffer, guint index);

#endif
