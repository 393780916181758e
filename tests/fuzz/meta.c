/* cudaccl - fuzzing: the metadata, with all that newer versions of GStreamer use
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/newer.h"

#include "gst/meta/gstcclclassnames.c"
#include "gst/meta/gstcclmeta.c"
#include "gst/meta/gstcclserialize.c"
