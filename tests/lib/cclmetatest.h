/* cudaccl - helpers for tests of serialised metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_META_TEST_H__
#define __CCL_META_TEST_H__

#include <gst/gst.h>

/* Metadata as it was sent, and whether it can be taken. */
typedef struct
{
  const gchar *what;
  guint8 version;
  const gchar *bytes;
  gsize size;
  gboolean good;
} CclTestSent;

/* Deserialises and checks it; returns whether it was taken. */
typedef gboolean (*CclTestReceiveFunc) (const gchar *bytes, gsize size, guint8 version);

/* What cannot be taken must be dropped with a warning that says why, and so must all that is
 * truncated. */
void ccl_test_receive (const CclTestSent *sent, CclTestReceiveFunc receive);

#endif
