/* cudaccl - fuzzing: what ccldetect reads from networks and files, and where it looks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Outputs of any shapes and values, names of classes, and components that move anywhere: boxes are
 * finite, inside of the frame and not too many, and crops can be drawn. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gst/detect/gstccllabels.h"
#include "gst/detect/gstccllooks.h"
#include "gst/detect/gstcclort.h"
#include "tests/fuzz/input.h"

#define MOST_ELEMENTS 20000
#define MOST_THINGS 16

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  gst_init (argc, argv);

  return 0;
}

static gfloat
fuzz_float (FuzzInput *input)
{
  const double value =
      fuzz_one_in (input, 4) ? fuzz_hostile_double (input) : fuzz_below (input, 100);

  return fabs (value) <= G_MAXFLOAT || isnan (value) ? (gfloat) value : INFINITY;
}

/* A tensor whose data is to be freed. */
static GstCclTensor
make_tensor (FuzzInput *input, guint width, guint height)
{
  static const gchar *const names[] = { "output0", "boxes",  "scores", "labels", "detection_boxes",
                                        "classes", "logits", "dets",   NULL };
  static const gint types[] = { ORT_TYPE_FLOAT, ORT_TYPE_FLOAT, ORT_TYPE_FLOAT,
                                ORT_TYPE_INT64, ORT_TYPE_INT32, ORT_TYPE_UINT8 };
  const guint cells =
      (width / 8) * (height / 8) + (width / 16) * (height / 16) + (width / 32) * (height / 32);
  const guint sizes[] = { 0, 1, 2, 4, 5, 6, 7, 85, 100, cells, 3 * cells, fuzz_u8 (input) };
  GstCclTensor tensor = { names[fuzz_below (input, G_N_ELEMENTS (names))],
                          types[fuzz_below (input, G_N_ELEMENTS (types))],
                          fuzz_below (input, GST_CCL_TENSOR_MAX_DIMS + 1) };
  gsize n = 1, i;
  guint8 *data;

  for (i = 0; i < tensor.n_dims; i++) {
    tensor.dims[i] = sizes[fuzz_below (input, G_N_ELEMENTS (sizes))];
    if (n * (gsize) tensor.dims[i] > MOST_ELEMENTS)
      tensor.dims[i] = 1;
    n *= (gsize) tensor.dims[i];
  }
  /* As large as it must be, so that reading more is found. */
  data = malloc (MAX (n * (tensor.type == ORT_TYPE_INT64   ? 8
                           : tensor.type == ORT_TYPE_UINT8 ? 1
                                                           : 4),
                      1));
  fuzz_bytes (input, data, tensor.type == ORT_TYPE_UINT8 ? n : 4 * n);
  if (tensor.type == ORT_TYPE_INT64)
    fuzz_bytes (input, data, 8 * n);
  for (i = 0; tensor.type == ORT_TYPE_FLOAT && i < n && input->size > 0; i++)
    ((gfloat *) (gpointer) data)[i] = fuzz_float (input);
  tensor.data = data;

  return tensor;
}

static void
check_boxes (const GArray *boxes, gdouble width, gdouble height)
{
  guint i;

  fuzz_check (boxes->len <= GST_CCL_MAX_BOXES, "%u boxes", boxes->len);
  for (i = 0; i < boxes->len; i++) {
    const GstCclBox *box = &g_array_index (boxes, GstCclBox, i);

    fuzz_check (box->width > 0 && box->height > 0 && box->confidence > 0 && box->confidence <= 1,
                "a box of %g x %g, confidence %g", box->width, box->height, box->confidence);
    fuzz_check (box->x >= 0 && box->y >= 0 && box->x + box->width <= width + 0.01 * width + 1 &&
                    box->y + box->height <= height + 0.01 * height + 1,
                "a box at %g, %g of %g x %g in a frame of %g x %g", box->x, box->y, box->width,
                box->height, width, height);
  }
}

static void
read_outputs (FuzzInput *input)
{
  const guint width = 32 * (1 + fuzz_below (input, 3)), height = 32 * (1 + fuzz_below (input, 3));
  const guint n = 1 + fuzz_below (input, 4), batch = 1 + fuzz_below (input, 2);
  const guint frame_width = 1 + fuzz_below (input, 4000);
  const guint frame_height = 1 + fuzz_below (input, 4000);
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (GstCclBox));
  const GstCclOutput output = fuzz_below (input, GST_CCL_OUTPUT_DETR + 1);
  const GstCclHints hints = { .output = fuzz_below (input, GST_CCL_OUTPUT_DETR + 1),
                              .n_names = fuzz_below (input, 100),
                              .end_to_end = fuzz_below (input, 2),
                              .takes_sizes = fuzz_below (input, 2) };
  GstCclOutputFormat found;
  GPtrArray *outlines = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_ccl_outline_free);
  GstCclTensor tensors[4];
  GstCclView view;
  guint i;

  for (i = 0; i < n; i++)
    tensors[i] = make_tensor (input, width, height);
  if (gst_ccl_outputs_recognise (tensors, n, width, height, output, &hints, &found, NULL)) {
    fuzz_check (found.n_classes < MOST_ELEMENTS, "many classes");
    for (i = 0; i < batch; i++) {
      if (gst_ccl_outputs_read (tensors, n, &found, width, height, i, batch, 0.3, 0.5, NULL, boxes,
                                NULL)) {
        g_ptr_array_set_size (outlines, 0);
        gst_ccl_masks_read (tensors, n, &found, width, height, i, boxes, outlines);
        gst_ccl_view_set_frame (&view, frame_width, frame_height, width, height,
                                1 + fuzz_below (input, GST_CCL_LETTERBOX_STRETCH));
        gst_ccl_view_map (&view, frame_width, frame_height, 0.5, boxes, outlines);
        check_boxes (boxes, frame_width, frame_height);
      }
    }
  }
  for (i = 0; i < n; i++)
    free ((gpointer) tensors[i].data);
  g_array_unref (boxes);
  g_ptr_array_unref (outlines);
}

static void
read_names (FuzzInput *input)
{
  char *list = fuzz_text (input, 100), *text = fuzz_text (input, input->size);
  GError *error = NULL;
  gchar **names = gst_ccl_labels_parse (text, strlen (text), "a file", &error);
  GArray *classes;
  guint i;

  fuzz_check ((names != NULL) == (error == NULL), "an error, or names");
  g_clear_error (&error);
  for (i = 0; names && names[i]; i++)
    fuzz_check (names[i][0] && g_utf8_validate (names[i], -1, NULL), "name %u", i);
  if (names) {
    classes = gst_ccl_classes_parse (list, names, &error);
    fuzz_check ((classes != NULL) == (error == NULL), "an error, or classes");
    fuzz_check (!classes || classes->len == i, "%u classes", classes ? classes->len : 0);
    g_clear_pointer (&classes, g_array_unref);
    g_clear_error (&error);
  }
  g_strfreev (names);
  names = gst_ccl_labels_parse_dictionary (text, fuzz_below (input, 4));
  for (i = 0; names && names[i]; i++)
    fuzz_check (names[i][0] && g_utf8_validate (names[i], -1, NULL), "name %u", i);
  g_strfreev (names);
  free (text);
  free (list);
}

static void
look (FuzzInput *input)
{
  const guint width = 1 + fuzz_below (input, 4000), height = 1 + fuzz_below (input, 4000);
  const guint to_width = 1 + fuzz_below (input, 700), to_height = 1 + fuzz_below (input, 700);
  GstCclLooks *looks = gst_ccl_looks_new ();
  GstClockTime time = 0;
  guint frame, i;

  for (frame = 0; frame < 30 && input->size > 0; frame++) {
    GstCclComponent things[MOST_THINGS] = { { 0 } };
    const guint n = fuzz_below (input, MOST_THINGS + 1);
    GstCclView view;

    for (i = 0; i < n; i++) {
      things[i].x = fuzz_below (input, width);
      things[i].y = fuzz_below (input, height);
      things[i].width = fuzz_below (input, width - things[i].x + 1);
      things[i].height = fuzz_below (input, height - things[i].y + 1);
    }
    time += fuzz_below (input, 1000) * GST_MSECOND;
    if (!gst_ccl_looks_update (looks, time, GST_SECOND, things, n, width, height))
      continue;
    gst_ccl_looks_choose (looks, to_width, to_height, fuzz_below (input, 4), &view);
    fuzz_check (view.n > 0 && view.n <= CCL_MAX_CROPS, "%u crops", view.n);
    for (i = 0; i < view.n; i++) {
      const CclCrop *crop = &view.crops[i];

      fuzz_check (crop->width > 0 && crop->height > 0 && crop->x + crop->width <= width &&
                      crop->y + crop->height <= height,
                  "a crop of %ux%u at %u, %u", crop->width, crop->height, crop->x, crop->y);
      fuzz_check (
          crop->to_width > 0 && crop->to_height > 0 && crop->to_x + crop->to_width <= to_width &&
              crop->to_y + crop->to_height <= to_height,
          "a place of %ux%u at %u, %u", crop->to_width, crop->to_height, crop->to_x, crop->to_y);
    }
  }
  gst_ccl_looks_free (looks);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };

  switch (fuzz_below (&input, 3)) {
  case 0:
    read_outputs (&input);
    break;
  case 1:
    read_names (&input);
    break;
  default:
    look (&input);
    break;
  }

  return 0;
}
