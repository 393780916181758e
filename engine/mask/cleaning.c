/* cudaccl - operations that follow the size of objects
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The right operations depend on how large objects are in the picture. Where they are as large as
 * people across a yard, whatever is much smaller is noise, or hangs on by a thin bridge. Where none
 * is, as in infrared pictures of far targets, the same operations would remove all objects: there
 * only gaps are closed and single specks dropped. Many specks are noise in either case. Beside near
 * objects, small ones are found by operations for objects of half of the size; places.c tells which
 * of them count.
 *
 * No parameter says which it is, so the largest components do. They come from the result, which is
 * the same on all backends, and so is the choice. All sizes are shares of the frame's shorter side:
 * the same scene needs the same shares at any resolution. The shares are those of docs/motion.md.
 */

#include "engine/mask/cleaning.h"

#define MILLISECOND UINT64_C (1000000)

#define NEAR_AFTER (300 * MILLISECOND)           /* with near objects; not after a flash */
#define FAR_AFTER (10 * 60 * 1000 * MILLISECOND) /* without any: specks at night stay away */

/* Far objects of a frame, at most: six on the recordings at hand, 20 and more where a camera
 * shakes. */
#define MOST_FAR 12

/* Areas, as divisors of the square of the side. */
#define LARGE_AREA 320
#define NEAR_AREA 830
#define FAR_AREA 5000

/* An odd number of pixels, about @thousandths of @side. */
static uint32_t
share_of (uint32_t side, uint32_t thousandths, uint32_t least)
{
  uint64_t share = (uint64_t) side * thousandths / 2000 * 2 + 1;

  share = share < CCL_MAX_OPERATION_SIZE ? share : CCL_MAX_OPERATION_SIZE;
  return share > least ? (uint32_t) share : least;
}

static CclOperation
drop_below (uint64_t area)
{
  return (CclOperation){ .kind = CCL_OPERATION_DROP, .size = area > 0 ? area : 1 };
}

void
ccl_cleaning_init_auto (CclCleaning *cleaning, uint32_t width, uint32_t height,
                        CclOperation *operations)
{
  const uint32_t side = width < height ? width : height;
  const uint64_t square = (uint64_t) side * side;
  const CclOperation chosen[] = {
    /* Far. */
    { .kind = CCL_OPERATION_CLOSE,
      .width = share_of (side, 6, 3),
      .height = share_of (side, 6, 3) },
    drop_below (square / FAR_AREA),
    /* Near: upright, as people are, so that legs stay and neighbours come apart. */
    { .kind = CCL_OPERATION_MEDIAN, .width = 3, .height = 3 },
    { .kind = CCL_OPERATION_OPEN,
      .width = share_of (side, 3, 1),
      .height = share_of (side, 30, 1) },
    { .kind = CCL_OPERATION_FILL },
    drop_below (square / NEAR_AREA),
    /* Small: half as high, and a quarter of the area. A median would make neighbours one. */
    { .kind = CCL_OPERATION_OPEN, .width = 1, .height = share_of (side, 15, 1) },
    drop_below (square / (4 * NEAR_AREA)),
  };

  *cleaning = (CclCleaning){
    .n = sizeof chosen / sizeof chosen[0],
    .n_far = 2,
    .n_near = 4,
    .large = square / LARGE_AREA,
    .small = square / NEAR_AREA,
  };
  for (uint32_t i = 0; i < cleaning->n; i++)
    operations[i] = chosen[i];
}

CclChainRange
ccl_cleaning_range (const CclCleaning *cleaning, CclChainKind kind)
{
  const uint32_t small = cleaning->n_far + cleaning->n_near;

  if (cleaning->n_far == 0)
    return (CclChainRange){ 0, cleaning->n };
  switch (kind) {
  case CCL_CHAIN_NEAR:
    return (CclChainRange){ cleaning->n_far, cleaning->n_near };
  case CCL_CHAIN_SMALL:
    return (CclChainRange){ small, cleaning->n - small };
  default:
    return (CclChainRange){ 0, cleaning->n_far };
  }
}

void
ccl_cleaning_follow (CclCleaning *cleaning, const CclComponents *components, uint64_t elapsed)
{
  bool large = false;

  for (uint32_t i = 0; i < components->count && !large; i++)
    large = components->items[i].area >= cleaning->large;
  if (!cleaning->near && components->found > MOST_FAR)
    large = true;
  if (large == cleaning->near) {
    cleaning->time = 0;
    return;
  }
  if (__builtin_add_overflow (cleaning->time, elapsed, &cleaning->time) ||
      cleaning->time >= (large ? NEAR_AFTER : FAR_AFTER)) {
    cleaning->near = large;
    cleaning->time = 0;
  }
}

void
ccl_cleaning_reset (CclCleaning *cleaning)
{
  cleaning->near = false;
  cleaning->time = 0;
}
