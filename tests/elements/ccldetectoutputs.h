/* cudaccl - for tests of the outputs of networks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_DETECT_OUTPUTS_TEST_H__
#define __CCL_DETECT_OUTPUTS_TEST_H__

#include <math.h>
#include <gst/check/gstcheck.h>

#include "gst/detect/gstccloutputs.h"
#include "gst/detect/gstcclort.h"

#define SIZE 64 /* of the network's input */

static GArray *boxes;

static void
setup (void)
{
  boxes = g_array_new (FALSE, FALSE, sizeof (GstCclBox));
}

static void
teardown (void)
{
  g_array_unref (boxes);
}

static const GstCclHints no_hints;

static GstCclOutputFormat
recognise_as (const GstCclTensor *tensors, guint n, GstCclOutput wanted, const GstCclHints *hints)
{
  GstCclOutputFormat format;
  GError *error = NULL;

  fail_unless (gst_ccl_outputs_recognise (tensors, n, SIZE, SIZE, wanted, hints, &format, &error),
               "%s", error ? error->message : "");

  return format;
}

static GstCclOutput
recognise (const GstCclTensor *tensors, guint n)
{
  return recognise_as (tensors, n, GST_CCL_OUTPUT_AUTO, &no_hints).output;
}

static void
read_boxes (const GstCclTensor *tensors, guint n, GstCclOutput output, guint index, guint batch)
{
  const GstCclOutputFormat format = recognise_as (tensors, n, output, &no_hints);
  GError *error = NULL;

  fail_unless (gst_ccl_outputs_read (tensors, n, &format, SIZE, SIZE, index, batch, 0.3, 0.5, NULL,
                                     boxes, &error),
               "%s", error ? error->message : "");
}

static void
check_box (guint index, gfloat x, gfloat y, gfloat width, gfloat height, gfloat confidence,
           guint class_id)
{
  const GstCclBox *box = &g_array_index (boxes, GstCclBox, index);

  fail_unless (index < boxes->len);
  fail_unless (fabsf (box->x - x) < 1e-3f && fabsf (box->y - y) < 1e-3f, "%g, %g", box->x, box->y);
  fail_unless (fabsf (box->width - width) < 1e-3f && fabsf (box->height - height) < 1e-3f);
  fail_unless (fabsf (box->confidence - confidence) < 1e-5f, "%g", box->confidence);
  fail_unless_equals_int (box->class_id, class_id);
}

#endif
