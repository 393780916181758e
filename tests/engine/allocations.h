/* cudaccl - checkccl: allocations of host memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_ENGINE_ALLOCATIONS_H
#define TESTS_ENGINE_ALLOCATIONS_H

#include <stdint.h>

/* Allocations of all threads so far, where the linker can count them (HAVE_WRAP), else 0. */
uint64_t allocations_made (void);

#endif
