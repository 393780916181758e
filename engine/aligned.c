/* cudaccl - aligned memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/aligned.h"

#include <stdint.h>
#include <stdlib.h>

void *
ccl_aligned_alloc (size_t bytes)
{
  char *block = bytes > SIZE_MAX - CCL_ALIGNMENT ? NULL : calloc (1, bytes + CCL_ALIGNMENT);
  char *memory;

  if (!block)
    return NULL;
  /* calloc() aligns to more than a pointer, so there is room for one. */
  memory = block + CCL_ALIGNMENT - (uintptr_t) block % CCL_ALIGNMENT;
  ((void **) memory)[-1] = block;
  return memory;
}

void
ccl_aligned_free (void *memory)
{
  if (memory)
    free (((void **) memory)[-1]);
}
