/* cudaccl - the Mersenne Twister, MT19937
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The generator of the papers' random images; unlike rand(), it is the same on every machine. */

#ifndef TESTS_LIB_MT19937_H
#define TESTS_LIB_MT19937_H

#include <stdint.h>

typedef struct Mt19937
{
  uint32_t state[624];
  unsigned next;
} Mt19937;

void mt19937_seed (Mt19937 *mt, uint32_t seed);

/* 32 random bits. */
uint32_t mt19937_next (Mt19937 *mt);

/* A number in 0...n - 1; n is at least 1. */
uint32_t mt19937_below (Mt19937 *mt, uint32_t n);

/* A seed derived from another and a name, so that parts of a program draw independent numbers. */
uint32_t mt19937_mix (uint32_t seed, const char *name);

#endif
