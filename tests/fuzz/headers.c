/* cudaccl - fuzzing: headers of encoded video
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Codec data and pictures in any format. The largest size never shrinks. */

#include "apps/watch/camera/headers.h"
#include "tests/fuzz/input.h"

#include <stdlib.h>
#include <string.h>

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  g_log_set_always_fatal (G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL);
  gst_init (argc, argv);
  return 0;
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  static const char *const media[] = { "video/x-h264", "video/x-h265", "video/x-vp8", "video/x-vp9",
                                       "video/x-av1",  "image/jpeg",   "image/png",   "image/bmp" };
  FuzzInput input = { data, size };
  GstCaps *caps = gst_caps_new_empty_simple (media[fuzz_below (&input, G_N_ELEMENTS (media))]);
  WatchHeaders headers = { 0 };

  if (fuzz_one_in (&input, 2)) {
    size_t n = fuzz_u8 (&input);
    GstBuffer *buffer;

    n = MIN (n, input.size);
    buffer = gst_buffer_new_allocate (NULL, n, NULL);
    gst_buffer_fill (buffer, 0, input.data, n);
    gst_caps_set_simple (caps, "codec_data", GST_TYPE_BUFFER, buffer, NULL);
    gst_buffer_unref (buffer);
    input.data += n;
    input.size -= n;
  }
  watch_headers_set_caps (&headers, caps);
  gst_caps_unref (caps);
  while (input.size > 0) {
    size_t n = fuzz_below (&input, 4096);
    WatchHeaders before = headers;
    guint8 *picture;

    n = MIN (n, input.size);
    /* Of exactly this size, so that sanitizers see what is read behind it. */
    picture = malloc (n ? n : 1);
    memcpy (picture, input.data, n);
    watch_headers_read (&headers, picture, n);
    watch_headers_are_open (&headers, picture, n);
    free (picture);
    fuzz_check ((guint64) headers.width * headers.height >=
                        (guint64) before.width * before.height &&
                    headers.memory >= before.memory,
                "the largest picture shrank");
    input.data += n;
    input.size -= n;
  }
  return 0;
}
