/* cudaccl - a fake ONNX Runtime
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __ORT_FAKE_H__
#define __ORT_FAKE_H__

#include "gst/detect/gstccloutputs.h"

#define ORT_FAKE_EXPORT __attribute__ ((visibility ("default")))

/* The library's behaviour. Tests change it while no element has a network. */
typedef struct
{
  gboolean old; /* the library is older than needed */

  /* The call of slot @fail_slot after @fail_after others fails; 0: none. */
  guint fail_slot, fail_after;

  /* The model: an input, and outputs with the data of the first picture, which all pictures of a
   * batch share. Dimensions of -1 are open; of outputs they are the batch. */
  GstCclTensor input, second; /* @second is the size of the picture */
  gboolean no_input;          /* it is not a tensor */
  gsize n_inputs, n_outputs;
  const gchar *names, *end_to_end; /* in its metadata, or NULL */
  GstCclTensor outputs[4];
  gulong delay; /* of a run, in microseconds */

  /* Calls so far. */
  guint n_sessions, n_runs, n_pictures;
  gfloat first[2][3];    /* the first samples of each channel of the last picture, in its order */
  gdouble sizes[2];      /* the second input's last pair */
  const gchar *provider; /* "cuda", "tensorrt" or NULL */
  gint live;             /* objects that were not freed */
} OrtFake;

ORT_FAKE_EXPORT extern OrtFake ort_fake;

/* The file of the library. */
ORT_FAKE_EXPORT const gchar *ort_fake_path (void);

#endif /* __ORT_FAKE_H__ */
