/* cudaccl - for tests of ccldetect with a fake of ONNX Runtime
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_DETECT_TEST_H__
#define __CCL_DETECT_TEST_H__

#include <math.h>
#include <string.h>
#include <glib/gstdio.h>

#include "gst/detect/gstcclort.h"
#include "tests/lib/ccltest.h"
#include "tests/lib/ortfake/ortfake.h"

#define WIDTH 128
#define HEIGHT 64

/* YOLOX for an input of 64 x 64: 8 x 8, 4 x 4 and 2 x 2 cells, and 2 classes. */
#define SIZE 64
#define CELLS 84
#define COLUMNS 7

static gfloat table[CELLS * COLUMNS];
static gchar *model;

/* The fake's model finds one object of class 1, of 16 x 16 pixels of the input around (28, 20),
 * which are 32 x 32 of the frame around (56, 40). */
static void
setup (void)
{
  gfloat *row = table + (2 * 8 + 3) * COLUMNS;

  fail_unless_equals_int (ort_fake.live, 0);
  ort_fake = (OrtFake){
    .input = { "images", ORT_TYPE_FLOAT, 4, { 1, 3, SIZE, SIZE } },
    .n_inputs = 1,
    .n_outputs = 1,
    .outputs = { { "output", ORT_TYPE_FLOAT, 3, { 1, CELLS, COLUMNS }, table } },
  };
  memset (table, 0, sizeof (table));
  row[0] = row[1] = 0.5f;
  row[2] = row[3] = (gfloat) log (2);
  row[4] = 0.9f;
  row[6] = 1.0f;
}

static void
teardown (void)
{
  fail_unless_equals_int (ort_fake.live, 0);
}

static GstElement *
element_new (const gchar *first, ...)
{
  GstElement *element = gst_element_factory_make ("ccldetect", NULL);
  va_list args;

  g_object_set (element, "model", model, "library", ort_fake_path (), NULL);
  va_start (args, first);
  if (first)
    g_object_set_valist (G_OBJECT (element), first, args);
  va_end (args);

  return element;
}

static GstBuffer *
look_at (GstHarness *h, guint number)
{
  return gst_harness_push_and_pull (h, ccl_test_frame_new (WIDTH, HEIGHT, number));
}

/* The regions of interest of @type; @first: one of them. */
static guint
count_regions (GstBuffer *buffer, const gchar *type, const GstVideoRegionOfInterestMeta **first)
{
  gpointer state = NULL;
  GstMeta *meta;
  guint n = 0;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    const GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;

    if (roi->roi_type != g_quark_from_string (type))
      continue;
    n++;
    if (first)
      *first = roi;
  }

  return n;
}

static void
make_model (void)
{
  gint fd;

  model = g_build_filename (g_get_tmp_dir (), "ccldetect-model-XXXXXX", NULL);
  fd = g_mkstemp (model);
  fail_unless (fd >= 0);
  g_close (fd, NULL);
}

static void
remove_model (void)
{
  g_remove (model);
  g_clear_pointer (&model, g_free);
}

#endif /* __CCL_DETECT_TEST_H__ */
