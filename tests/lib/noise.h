/* cudaccl - tests: numbers from -1 to 1 that are the same on all machines
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_NOISE_H
#define TESTS_LIB_NOISE_H

#include <glib.h>

static gdouble
get_noise (guint *state)
{
  *state = *state * 1664525u + 1013904223u;

  return (gdouble) (*state >> 8) / (1u << 24) * 2.0 - 1.0;
}

#endif /* TESTS_LIB_NOISE_H */
