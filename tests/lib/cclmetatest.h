/* cudaccl - helpers for tests of serialized metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_META_TEST_H__
#define __CCL_META_TEST_H__

#include <gst/check/gstharness.h>

/* Serialized metadata, and whether it is valid. */
typedef struct
{
  const gchar *what;
  guint8 version;
  const gchar *bytes;
  gsize size;
  gboolean valid;
} CclTestSerialized;

/* Deserialises and checks @bytes; returns whether they were accepted. */
typedef gboolean (*CclTestReceiveFunc) (const gchar *bytes, gsize size, guint8 version);

/* Counts the warnings of metadata in @n, instead of printing them, until counting stops. */
void ccl_test_count_logged (guint *n);
void ccl_test_stop_counting (void);

/* Checks that @receive accepts valid bytes, and drops invalid and truncated ones with one warning
 * each. */
void ccl_test_check_received (const CclTestSerialized *sent, CclTestReceiveFunc receive);

/* A pipeline that sends frames through a socket, and the receiver. */
typedef struct
{
  GstHarness *receiver;
  GstElement *sender;
  gchar *folder, *path;
} CclTestSocket;

/* Starts the pipeline of a launch line, with unixfdsink at its end. Returns FALSE, and says so,
 * where GStreamer has no such element. */
gboolean ccl_test_socket_open (CclTestSocket *socket, const gchar *line);
void ccl_test_socket_close (CclTestSocket *socket);

#endif
