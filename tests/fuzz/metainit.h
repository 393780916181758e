/* cudaccl - fuzzing: what the targets of metadata share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_FUZZ_METAINIT_H
#define TESTS_FUZZ_METAINIT_H

#include "tests/fuzz/newer.h"

/* The metadata compiled into the target. */
extern const GstMetaInfo *fuzz_ccl_info, *fuzz_zones_info;

/* Initialises GStreamer without plugins, and makes criticals fatal. */
void fuzz_meta_init (void);

#endif
