/* cudaccl - operations that follow the size of objects
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CLEANING_H
#define CCL_CLEANING_H

#include <cudaccl/mask.h>

#ifdef __cplusplus
extern "C" {
#endif

/* With CclConfig.auto_operations a session has three chains: one for far objects, one for near
 * ones, which removes more, and one for small objects beside near ones. It begins with the first.
 */
typedef enum CclChainKind
{
  CCL_CHAIN_FAR,
  CCL_CHAIN_NEAR,
  CCL_CHAIN_SMALL,
  CCL_CHAINS,
} CclChainKind;

typedef struct CclCleaning
{
  uint32_t n;      /* operations of all chains */
  uint32_t n_far;  /* how many of these are for far objects; 0 with only one chain */
  uint32_t n_near; /* for near ones; the others are for small ones */
  bool has_small;  /* the mask of a frame with near objects is cleaned for small ones, too */
  bool near;       /* those are in use */
  uint64_t large;  /* pixels: an object that is near */
  uint64_t small;  /* pixels: less is small beside such objects, and dropped from among them */
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

/* The operations of a chain. With one chain, all are the same. */
CclChainRange ccl_cleaning_range (const CclCleaning *cleaning, CclChainKind kind);

/* The chain of the next frame. */
static inline CclChainKind
ccl_cleaning_chain (const CclCleaning *cleaning)
{
  return cleaning->near ? CCL_CHAIN_NEAR : CCL_CHAIN_FAR;
}

/* Takes the components of a frame that came @elapsed nanoseconds after the one before. */
void ccl_cleaning_follow (CclCleaning *cleaning, const CclComponents *components, uint64_t elapsed);

/* Begins with far objects again. */
void ccl_cleaning_reset (CclCleaning *cleaning);

#ifdef __cplusplus
}
#endif

#endif
