/* cudaccl - accounting of memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/account.h"
#include "engine/aligned.h"
#include "engine/error.h"

#include <stdlib.h>

static void *
allocate (CclAccount *account, uint64_t count, size_t size, void *(*function) (size_t bytes),
          const char *what)
{
  size_t bytes;
  void *memory = NULL;

  if (!__builtin_mul_overflow (count, size, &bytes))
    memory = function (bytes);
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
  return allocate (account, count, size, malloc, what);
}

void *
ccl_account_aligned (CclAccount *account, uint64_t count, size_t size, const char *what)
{
  return allocate (account, count, size, ccl_aligned_alloc, what);
}

CclStatus
ccl_account_mask (CclAccount *account, uint32_t width, uint32_t height, CclMask *mask)
{
  CclStatus status = ccl_mask_alloc (width, height, mask);

  account->allocations += status == CCL_OK;
  account->bytes += mask->pitch * mask->height * sizeof *mask->words;
  return status;
}
