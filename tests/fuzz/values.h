/* cudaccl - fuzzing: values of properties
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_FUZZ_VALUES_H
#define TESTS_FUZZ_VALUES_H

#include <gst/gst.h>
#include "tests/fuzz/input.h"

/* Draws a value in the property's range, whose ends and default are likely, as text for
 * gst_util_set_object_arg(): also operations, polygons and files that are valid. Values of several
 * properties may contradict each other. Free it with g_free(). */
gchar *fuzz_valid_value (FuzzInput *input, const GParamSpec *spec);

#endif
