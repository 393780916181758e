/* cudaccl - frames as of a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_CAMERA_H
#define TESTS_BENCH_CAMERA_H

#include <stdint.h>

/* Draws frame number @n in NV12 without padding: a textured background with noise, and things in
 * front of it that move, with shadows; about 5 % of the pixels. @width and @height are even. */
void camera_draw (uint8_t *pixels, uint32_t width, uint32_t height, unsigned n, uint32_t seed);

#endif
