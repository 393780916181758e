/* cudaccl - the Mersenne Twister, MT19937
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* M. Matsumoto and T. Nishimura, "Mersenne Twister: a 623-dimensionally equidistributed uniform
 * pseudo-random number generator", ACM TOMACS 8(1), 1998; seeded as in the authors' version of 2002
 * and as C++'s std::mt19937. */

#include "tests/lib/mt19937.h"

#define N 624
#define M 397

void
mt19937_seed (Mt19937 *mt, uint32_t seed)
{
  mt->state[0] = seed;
  for (uint32_t i = 1; i < N; i++)
    mt->state[i] = 1812433253u * (mt->state[i - 1] ^ (mt->state[i - 1] >> 30)) + i;
  mt->next = N;
}

static void
twist (Mt19937 *mt)
{
  for (unsigned i = 0; i < N; i++) {
    uint32_t y = (mt->state[i] & 0x80000000u) | (mt->state[(i + 1) % N] & 0x7fffffffu);

    mt->state[i] = mt->state[(i + M) % N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
  }
  mt->next = 0;
}

uint32_t
mt19937_next (Mt19937 *mt)
{
  uint32_t y;

  if (mt->next == N)
    twist (mt);
  y = mt->state[mt->next++];
  y ^= y >> 11;
  y ^= (y << 7) & 0x9d2c5680u;
  y ^= (y << 15) & 0xefc60000u;
  return y ^ (y >> 18);
}

uint32_t
mt19937_below (Mt19937 *mt, uint32_t n)
{
  return (uint32_t) (((uint64_t) mt19937_next (mt) * n) >> 32);
}

uint32_t
mt19937_mix (uint32_t seed, const char *name)
{
  uint32_t hash = 2166136261u ^ seed; /* FNV-1a */

  for (; *name; name++)
    hash = (hash ^ (uint8_t) *name) * 16777619u;
  return hash;
}
