/* cudaccl - fuzzing: the metadata, with all that newer versions of GStreamer use
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/newer.h"

#include "gst/ccl/gstcclmeta.c"
#if __has_include("gst/ccl/gstcclserialize.c")
#include "gst/ccl/gstcclserialize.c"
#endif
