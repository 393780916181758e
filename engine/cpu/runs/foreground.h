/* cudaccl - CPU backend: from frames to bits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_FOREGROUND_H
#define CCL_CPU_FOREGROUND_H

#include "engine/backend.h"
#include "engine/cpu/functions.h"

/* How the foreground of a frame is determined. */
typedef struct CclForeground
{
  const CclCpuFunctions *functions;
  const CclImage *image;
  const CclMask *region; /* pixels outside are background; NULL: the whole frame */
  uint32_t width;
  CclCut cut;
} CclForeground;

/* Copies a row of bits; those past the width become 0. Returns whether any bit is set. */
static inline bool
ccl_foreground_copy (uint64_t *bits, const uint64_t *from, uint32_t width, bool invert)
{
  const uint64_t flip = invert ? ~UINT64_C (0) : 0;
  size_t last = ccl_mask_words (width) - 1;
  uint64_t any = 0;

  for (size_t w = 0; w < last; w++)
    any |= bits[w] = from[w] ^ flip;
  any |= bits[last] = (from[last] ^ flip) & ccl_mask_last_bits (width);
  return any != 0;
}

/* Writes the ccl_mask_words() of row @y; returns whether any bit is set. */
static inline bool
ccl_foreground_row (const CclForeground *self, uint32_t y, uint64_t *bits)
{
  const uint8_t *row = self->image->data + y * self->image->stride;
  uint64_t any = 0;
  bool set;

  if (self->image->format == CCL_FORMAT_BITS)
    set = ccl_foreground_copy (bits, (const uint64_t *) row, self->width, self->cut.invert);
  else
    set = self->functions->pack_row (bits, row, self->width, &self->cut);
  if (!set || !self->region)
    return set;
  for (size_t w = 0; w < ccl_mask_words (self->width); w++)
    any |= bits[w] &= self->region->words[y * self->region->pitch + w];
  return any != 0;
}

#endif
