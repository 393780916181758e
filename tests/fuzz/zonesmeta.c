/* cudaccl - fuzzing: the metadata of zones, with all that newer versions of GStreamer use
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/fuzz/newer.h"

#include "gst/meta/gstcclzonesmeta.c"
#include "gst/meta/gstcclzonesserialize.c"
