/* cudaccl - aligned memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_ALIGNED_H
#define CCL_ALIGNED_H

#include <stddef.h>

/* Bytes: a cache line, and the widest vector. */
#define CCL_ALIGNMENT 64

/* Returns @bytes of zeros at a multiple of CCL_ALIGNMENT, or NULL without memory. Free them with
 * ccl_aligned_free(). Large blocks take memory only where they are written. */
void *ccl_aligned_alloc (size_t bytes);
void ccl_aligned_free (void *memory);

#endif
