/* cudaccl - masks: checks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_ENGINE_MASK_H
#define CCL_ENGINE_MASK_H

#include <cudaccl/mask.h>

/* Checks that @mask is valid and in host memory; errors begin with @function. */
CclStatus ccl_check_mask (const CclMask *mask, const char *function);

#endif
