/* cudaccl - accounting of memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_ACCOUNT_H
#define CCL_ACCOUNT_H

#include <cudaccl/mask.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Allocations of any kind of memory, so that a test can assert that a frame makes none. */
typedef struct CclAccount
{
  uint64_t allocations;
  uint64_t bytes;
} CclAccount;

/* malloc() of @count times @size bytes, counted in @account; on NULL the reason names @what. */
void *ccl_account_malloc (CclAccount *account, uint64_t count, size_t size, const char *what);

/* The same from ccl_aligned_alloc(). */
void *ccl_account_aligned (CclAccount *account, uint64_t count, size_t size, const char *what);

/* ccl_mask_alloc(), counted in @account. */
CclStatus ccl_account_mask (CclAccount *account, uint32_t width, uint32_t height, CclMask *mask);

#ifdef __cplusplus
}
#endif

#endif
