/* cudaccl - operations that follow the size of objects
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CLEANING_H
#define CCL_CLEANING_H

#include <cudaccl/mask.h>

#ifdef __cplusplus
extern "C" {
#endif

/* With CclConfig.auto_operations a session has two chains: one for far objects, and one for near
 * ones, which removes more. It begins with the first. */
typedef struct CclCleaning
{
  uint32_t n;     /* operations of all chains */
  uint32_t n_far; /* how many of these are for far objects; 0 with only one chain */
  bool near;      /* the others are in use */
  uint64_t large; /* pixels: an object that is near */
  uint64_t
      time; /* ns: how long there was one, or too many, in each frame (far), or in none (near) */
} CclCleaning;

/* Some of a session's operations. */
typedef struct CclChainRange
{
  uint32_t first, n;
} CclChainRange;

/* Chooses the operations for frames of this size; there is room for CCL_MAX_OPERATIONS. */
void ccl_cleaning_init_auto (CclCleaning *cleaning, uint32_t width, uint32_t height,
                             CclOperation *operations);

/* The operations for far or, with @near, for near objects. With one chain, both are the same. */
CclChainRange ccl_cleaning_range (const CclCleaning *cleaning, bool near);

/* Takes the components of a frame that came @elapsed nanoseconds after the one before. */
void ccl_cleaning_follow (CclCleaning *cleaning, const CclComponents *components, uint64_t elapsed);

/* Begins with far objects again. */
void ccl_cleaning_reset (CclCleaning *cleaning);

#ifdef __cplusplus
}
#endif

#endif
