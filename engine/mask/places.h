/* cudaccl - small objects beside near ones
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_PLACES_H
#define CCL_PLACES_H

#include "engine/account.h"

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The places of a picture where objects are far, learned while objects elsewhere are near. */
typedef struct CclPlaces CclPlaces;

/* Makes places for frames of this size, with at most @capacity components. Objects below @small
 * pixels are small. */
CclPlaces *ccl_places_new (uint32_t width, uint32_t height, uint64_t small, uint32_t capacity,
                           CclAccount *account);
void ccl_places_free (CclPlaces *places);

/* Advances to a frame that came @elapsed nanoseconds after the one before, and returns whether to
 * look for small objects in it. */
bool ccl_places_advance (CclPlaces *places, uint64_t elapsed);

/* Copies the near objects of a frame. */
void ccl_places_keep (CclPlaces *places, const CclComponents *near);

/* Takes the small ones of the same frame, and returns those that were kept with those that count,
 * in raster order of their boxes, valid until the next frame. */
CclComponents ccl_places_add (CclPlaces *places, const CclComponents *small);

/* The number of places with far objects. */
uint32_t ccl_places_count (const CclPlaces *places);

/* Forgets all. */
void ccl_places_reset (CclPlaces *places);

#ifdef __cplusplus
}
#endif

#endif
