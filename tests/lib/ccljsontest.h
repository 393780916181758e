/* cudaccl - helpers for the tests of ccljson
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_JSON_TEST_H__
#define __CCL_JSON_TEST_H__

#include <json-glib/json-glib.h>

#include "tests/lib/ccltest.h"

#define WIDTH 64
#define HEIGHT 48
#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=1/1"

GstHarness *json_harness_new (const gchar *caps);

/* A buffer without pixels: ccljson needs none. */
GstBuffer *frame_new (GstClockTime pts, GstClockTime duration);

/* The text of a line. Asserts that its only newline is at the end, and removes it; @buffer is
 * consumed. */
gchar *take_line (GstBuffer *buffer);

/* The object of a line; @buffer is consumed. */
JsonObject *take_object (GstBuffer *buffer);

/* Assert that a member exists with that type and value. Doubles are rounded to thousandths. */
void check_integer (JsonObject *object, const gchar *name, guint64 expected);
void check_double (JsonObject *object, const gchar *name, gdouble expected);
void check_null (JsonObject *object, const gchar *name);

/* The same for an integer or, for GST_CLOCK_TIME_NONE, null. */
void check_time (JsonObject *object, const gchar *name, GstClockTime expected);

void check_components (JsonObject *object, const GstCclComponent *components, guint n_components);

#endif /* __CCL_JSON_TEST_H__ */
