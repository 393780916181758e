/* cudaccl - accounting of memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/account.h"
#include "engine/error.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

static void *
allocate (CclAccount *account, uint64_t count, size_t size, size_t alignment, const char *what)
{
  size_t bytes;
  void *memory = NULL;

  if (!__builtin_mul_overflow (count, size, &bytes)) {
    if (alignment == 0)
      memory = malloc (bytes);
    else if (posix_memalign (&memory, alignment, bytes) != 0)
      memory = NULL;
  }
  if (!memory) {
    ccl_fail (CCL_ERROR_NO_MEMORY,
              "out of memory: %.1f MiB for %s; use smaller frames or fewer components",
              (double) count * (double) size / (1024 * 1024), what);
    return NULL;
  }
  account->allocations++;
  account->bytes += bytes;
  return memory;
}

void *
ccl_account_malloc (CclAccount *account, uint64_t count, size_t size, const char *what)
{
  return allocate (account, count, size, 0, what);
}

void *
ccl_account_aligned (CclAccount *account, uint64_t count, size_t size, const char *what)
{
  void *memory = allocate (account, count, size, ALIGNMENT, what);

  return memory ? memset (memory, 0, count * size) : NULL;
}

CclStatus
ccl_account_mask (CclAccount *account, uint32_t width, uint32_t height, CclMask *mask)
{
  CclStatus status = ccl_mask_alloc (width, height, mask);

  account->allocations += status == CCL_OK;
  account->bytes += mask->pitch * mask->height * sizeof *mask->words;
  return status;
}
