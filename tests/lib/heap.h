/* cudaccl - tests: bytes in use by malloc()
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_HEAP_H
#define TESTS_LIB_HEAP_H

#include <malloc.h>
#include <stddef.h>

/* 0 where it is not known. */
static inline size_t
test_heap_bytes (void)
{
#ifdef HAVE_MALLINFO2
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

#endif
